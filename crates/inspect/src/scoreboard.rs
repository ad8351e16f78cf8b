//! What a sender has outstanding, as the capture shows it: ranges of the stream, each with when it passed, and which
//! bytes were selectively acknowledged. The two are apart, so that an acknowledgement that tells of a whole window
//! again, as each behind a hole does, costs no more than what is new in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::events::Origin;

/// A stretch of the stream that passed in one packet, or that should have; its first byte is its key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Range {
    end: u64,
    /// When it was first seen; for an unseen one, when what lies behind it was.
    first_seen: u64,
    /// How often it was sent again.
    again: u32,
    /// Whether no packet of the capture holds it.
    unseen: bool,
    /// The packet that held it last, and when that passed.
    origin: Origin,
    last_seen: u64,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Heard {
    /// When the newest range was sent that was acknowledged for the first time and sent only once.
    pub(crate) newest_sent: Option<u64>,
    /// Bytes that were acknowledged and that no packet of the capture holds.
    pub(crate) unseen: u64,
}

/// The ranges outstanding, in order and without gaps between `una` and `next`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    ranges: BTreeMap<u64, Range>,
    /// What was selectively acknowledged of them: from, to; neither overlapping nor adjacent.
    sacked: BTreeMap<u64, u64>,
    /// The first byte not acknowledged.
    pub(crate) una: u64,
    /// The byte after the last one seen or known to exist.
    pub(crate) next: u64,
    /// Bytes selectively acknowledged.
    sacked_bytes: u64,
    /// Whether anything ever was.
    pub(crate) has_sack: bool,
    /// The end of the last byte acknowledged in any way.
    pub(crate) highest: u64,
}

/// What a packet's bytes were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sighting {
    /// Bytes beyond all before.
    pub(crate) new: u64,
    /// Bytes seen before.
    pub(crate) again: u64,
    /// Bytes that fill a hole, and when the oldest hole that they fill came to light.
    pub(crate) filled: u64,
    pub(crate) exposed: Option<u64>,
    /// When the newest of the bytes seen before, or of the holes, was first seen.
    pub(crate) first_seen: Option<u64>,
    /// When the newest of them last passed.
    pub(crate) last_seen: Option<u64>,
    /// How often any of it had been sent again before.
    pub(crate) before: u32,
    /// Whether the same packet was captured before.
    pub(crate) is_duplicate: bool,
}

impl Scoreboard {
    pub(crate) fn new(start: u64) -> Self {
        Self {
            ranges: BTreeMap::new(),
            sacked: BTreeMap::new(),
            una: start,
            next: start,
            sacked_bytes: 0,
            has_sack: false,
            highest: start,
        }
    }

    /// Gives back what an empty map keeps.
    pub(crate) fn shrink(&mut self) {
        if self.ranges.is_empty() {
            self.ranges = BTreeMap::new();
        }
        if self.sacked.is_empty() {
            self.sacked = BTreeMap::new();
        }
    }

    /// Bytes in flight: outstanding, less those selectively acknowledged.
    pub(crate) fn flight(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.sacked_bytes)
    }

    /// The place up to which the stream would be acknowledged, had all that the receiver has come in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.una + self.sacked_bytes
    }

    /// A packet with the bytes `start..end` passed; what is sent again is so later than `soon` after it passed.
    pub(crate) fn saw(&mut self, at: u64, start: u64, end: u64, origin: &Origin, soon: u64) -> Sighting {
        let mut sighting = Sighting::default();
        if self.has_packet(start, end, origin) || self.has_copy(at, start, end, origin, soon) {
            sighting.is_duplicate = true;
            return sighting;
        }
        // What is acknowledged already was sent again for nothing.
        sighting.again = end.min(self.una).saturating_sub(start);
        let (from, to) = (start.max(self.una), end.min(self.next));
        if from < to {
            self.sent_again(at, (from, to), origin, &mut sighting);
        }
        if end > self.next {
            let begin = start.max(self.next);
            let new = Range { end, first_seen: at, again: 0, unseen: false, origin: *origin, last_seen: at };
            if begin > self.next {
                self.ranges.insert(self.next, Range { end: begin, unseen: true, ..new });
            }
            sighting.new = end - begin;
            self.ranges.insert(begin, new);
            self.next = end;
        }
        sighting
    }

    /// The bytes passed again, or filled a hole, in one packet: from now on they are one range, so that a packet
    /// that passes often finds what it left.
    fn sent_again(&mut self, at: u64, (from, to): (u64, u64), origin: &Origin, sighting: &mut Sighting) {
        self.cut_at(from);
        self.cut_at(to);
        while let Some((start, range)) =
            self.ranges.range(from..to).next_back().map(|(start, range)| (*start, *range))
        {
            self.ranges.remove(&start);
            let bytes = range.end - start;
            sighting.first_seen = sighting.first_seen.max(Some(range.first_seen));
            if range.unseen {
                sighting.filled += bytes;
                sighting.exposed =
                    Some(sighting.exposed.map_or(range.first_seen, |at| at.min(range.first_seen)));
            } else {
                sighting.again += bytes;
                sighting.last_seen = sighting.last_seen.max(Some(range.last_seen));
            }
            sighting.before = sighting.before.max(range.again);
        }
        let first_seen = sighting.first_seen.unwrap_or(0);
        let again = sighting.before + 1;
        let one = Range { end: to, first_seen, again, unseen: false, origin: *origin, last_seen: at };
        self.ranges.insert(from, one);
    }

    /// A hole was filled by a packet that only came late: it was not sent again.
    pub(crate) fn came_late(&mut self, start: u64, end: u64, at: u64) {
        for (_, range) in self.ranges.range_mut(start.max(self.una)..end) {
            range.again = range.again.saturating_sub(1);
            range.first_seen = at;
        }
    }

    /// Everything before `to` is acknowledged; beyond `next`, bytes come to light that no packet held.
    pub(crate) fn acknowledge(&mut self, to: u64) -> Heard {
        let mut heard = Heard { unseen: to.saturating_sub(self.next), ..Heard::default() };
        self.next = self.next.max(to);
        while let Some(first) = self.ranges.first_entry().filter(|first| *first.key() < to) {
            let (start, range) = first.remove_entry();
            let end = range.end.min(to);
            let sacked = self.drop_sacked(end);
            if range.unseen {
                heard.unseen += end - start;
            } else if range.again == 0 && sacked < end - start {
                heard.newest_sent = heard.newest_sent.max(Some(range.first_seen));
            }
            if end < range.end {
                self.ranges.insert(end, range);
            }
        }
        self.una = self.una.max(to);
        self.highest = self.highest.max(to);
        heard
    }

    /// Forgets what was selectively acknowledged before `to`: how many bytes.
    fn drop_sacked(&mut self, to: u64) -> u64 {
        let mut bytes = 0;
        while let Some(first) = self.sacked.first_entry().filter(|first| *first.key() < to) {
            let (start, end) = first.remove_entry();
            bytes += end.min(to) - start;
            if to < end {
                self.sacked.insert(to, end);
            }
        }
        self.sacked_bytes -= bytes;
        bytes
    }

    /// A block of selective acknowledgement: what it newly covers.
    pub(crate) fn sack(&mut self, start: u64, end: u64) -> Heard {
        let (start, end) = (start.max(self.una), end.min(self.next));
        let mut heard = Heard::default();
        if start >= end {
            return heard;
        }
        // From behind: what is covered already joins the block, and what lies between is new.
        let (mut from, mut to) = (start, end);
        let mut until = end;
        while let Some((&known, &known_end)) =
            self.sacked.range(..=end).next_back().filter(|(_, known_end)| **known_end >= start)
        {
            self.sacked.remove(&known);
            self.covers(known_end.max(start), until, &mut heard);
            (from, to, until) = (from.min(known), to.max(known_end), known.max(start));
        }
        self.covers(start, until, &mut heard);
        self.sacked.insert(from, to);
        self.has_sack = true;
        self.highest = self.highest.max(end);
        heard
    }

    /// These bytes are selectively acknowledged for the first time.
    fn covers(&mut self, from: u64, to: u64, heard: &mut Heard) {
        if from >= to {
            return;
        }
        self.sacked_bytes += to - from;
        let first = self.ranges.range(..=from).next_back().map_or(from, |(start, _)| *start);
        for (_, range) in self.ranges.range(first..to) {
            if range.end > from && range.again == 0 && !range.unseen {
                heard.newest_sent = heard.newest_sent.max(Some(range.first_seen));
            }
        }
    }

    /// Whether one packet with these bytes and this identification was the last that held them.
    fn has_packet(&self, start: u64, end: u64, origin: &Origin) -> bool {
        let identification = origin.identification;
        let is_it = |range: &Range| range.end == end && range.origin.identification == identification;
        identification.is_some() && self.ranges.get(&start).is_some_and(is_it)
    }

    /// Whether packets with the same timestamp, at another place or sooner ago than anything can be answered, were the last
    /// that held these bytes, whole or in other pieces.
    fn has_copy(&self, at: u64, start: u64, end: u64, origin: &Origin, soon: u64) -> bool {
        if origin.stamp.is_none() || end > self.next || start < self.una {
            return false;
        }
        let first = self.ranges.range(..=start).next_back().map_or(start, |(first, _)| *first);
        let is_copied = |from: u64, range: &Range| {
            let Origin { stamp, point, identification } = range.origin;
            let is_close = at.saturating_sub(range.last_seen) < soon;
            // The same bytes under another identification are another packet, such as the rescue of RFC 6675 section 4.
            let both = identification.zip(origin.identification);
            let is_other = (from, range.end) == (start, end) && both.is_some_and(|(one, other)| one != other);
            !range.unseen && stamp == origin.stamp && (point != origin.point || is_close && !is_other)
        };
        self.ranges.range(first..end).all(|(from, range)| is_copied(*from, range))
    }

    /// Makes a range begin at `place`, if one holds it.
    fn cut_at(&mut self, place: u64) {
        if let Some((_, range)) = self.ranges.range_mut(..place).next_back()
            && range.end > place
        {
            let behind = *range;
            range.end = place;
            self.ranges.insert(place, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(identification: u16) -> Origin {
        Origin { identification: Some(identification), ..Origin::default() }
    }

    #[test]
    fn bytes_are_new_again_or_filling_a_hole() {
        let mut board = Scoreboard::new(0);
        assert_eq!(board.saw(1, 0, 100, &Origin::default(), 0), Sighting { new: 100, ..Sighting::default() });
        assert_eq!(board.saw(2, 200, 300, &Origin::default(), 0).new, 100);
        assert_eq!(board.flight(), 300);
        let filling = board.saw(9, 100, 200, &Origin::default(), 0);
        assert_eq!((filling.filled, filling.exposed), (100, Some(2)));
        assert_eq!(board.saw(10, 50, 150, &Origin::default(), 0).again, 100);
        let mixed = board.saw(11, 250, 350, &Origin::default(), 0);
        assert_eq!((mixed.new, mixed.again, mixed.first_seen), (50, 50, Some(2)));
    }

    #[test]
    fn the_same_packet_captured_twice_is_one() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, &packet(7), 0);
        assert!(board.saw(1, 0, 100, &packet(7), 0).is_duplicate);
        assert!(!board.saw(2, 0, 100, &packet(8), 0).is_duplicate);
    }

    #[test]
    fn the_same_bytes_and_timestamp_under_another_identification_are_another_packet() {
        let stamped = |identification| Origin { stamp: Some(5), identification, ..Origin::default() };
        for (second, is_duplicate) in [(Some(7), true), (Some(8), false), (None, true)] {
            let mut board = Scoreboard::new(0);
            board.saw(1, 0, 100, &stamped(Some(7)), 50);
            assert_eq!(board.saw(2, 0, 100, &stamped(second), 50).is_duplicate, is_duplicate, "{second:?}");
        }
    }

    #[test]
    fn a_sample_is_of_the_newest_range_that_was_sent_once() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, &Origin::default(), 0);
        board.saw(2, 100, 200, &Origin::default(), 0);
        board.saw(3, 200, 300, &Origin::default(), 0);
        board.saw(9, 100, 200, &Origin::default(), 0);
        assert_eq!(board.sack(200, 300).newest_sent, Some(3));
        assert_eq!(board.flight(), 200);
        assert_eq!(board.acknowledge(300), Heard { newest_sent: Some(1), unseen: 0 });
        assert_eq!(board.flight(), 0);
    }

    #[test]
    fn bytes_acknowledged_and_never_seen_are_counted() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, &Origin::default(), 0);
        board.saw(2, 150, 200, &Origin::default(), 0);
        assert_eq!(board.acknowledge(250).unseen, 100);
        assert_eq!((board.una, board.next), (250, 250));
    }

    proptest! {
        #[test]
        fn the_ranges_stay_whole_and_in_order(
            steps in prop::collection::vec((0_u8..3, 0_u64..500, 1_u64..200), 1..200)
        ) {
            let mut board = Scoreboard::new(0);
            for (at, (what, from, length)) in steps.into_iter().enumerate() {
                match what {
                    0 => { board.saw(at as u64, board.una.saturating_sub(100) + from, board.una + from + length, &Origin::default(), 0); }
                    1 => { board.acknowledge(board.una + from); }
                    _ => { board.sack(board.una + from, board.una + from + length); }
                }
                let mut place = board.una;
                for (start, range) in &board.ranges {
                    prop_assert_eq!(*start, place);
                    prop_assert!(range.end > *start);
                    place = range.end;
                }
                prop_assert_eq!(place, board.next);
                let mut last = None;
                for (from, to) in &board.sacked {
                    prop_assert!(from < to && *from >= board.una && *to <= board.next);
                    prop_assert!(last.is_none_or(|last| last < from));
                    last = Some(to);
                }
                prop_assert_eq!(board.sacked.iter().map(|(from, to)| to - from).sum::<u64>(), board.sacked_bytes);
            }
        }
    }
}
