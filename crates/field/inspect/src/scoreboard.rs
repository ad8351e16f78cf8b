//! A sender's outstanding data as the capture shows it. It has the ranges of the stream with the times at which they passed, and the
//! selectively acknowledged bytes. The two are separate for efficiency: each acknowledgement above a hole reports a whole window again, but
//! only its new part takes time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::events::Origin;

/// A range of the stream that passed in one packet, or that was not seen although it must have been sent. Its map key is the offset of its
/// first byte.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Range {
    end: u64,
    /// Time at which the range was first seen. For an unseen range, the time at which the data after it was first seen.
    first_seen: u64,
    /// Number of retransmissions.
    again: u32,
    /// Whether no packet of the capture has this range.
    unseen: bool,
    /// Whether the range's transmission time is unknown.
    untimed: bool,
    /// Header fields of the last packet with this range, and (`last_seen`) the time at which it passed.
    origin: Origin,
    last_seen: u64,
}

/// The data that an ACK newly acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Acknowledged {
    /// Transmission time of the newest range that was newly acknowledged and sent only once.
    pub(crate) newest_sent: Option<u64>,
    /// Number of acknowledged bytes that no packet of the capture has.
    pub(crate) unseen: u64,
}

/// The outstanding ranges, in order. They cover everything between `una` and `next`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    ranges: BTreeMap<u64, Range>,
    /// The selectively acknowledged ranges, as a map from their first offset to their end. They neither overlap nor touch.
    sacked: BTreeMap<u64, u64>,
    /// Offset of the first byte that is not acknowledged.
    pub(crate) una: u64,
    /// Offset after the last byte that was seen or is known to exist.
    pub(crate) next: u64,
    /// Number of selectively acknowledged bytes.
    sacked_bytes: u64,
    /// Whether any byte was ever selectively acknowledged.
    pub(crate) has_sack: bool,
    /// Offset after the last byte that was acknowledged in any way.
    pub(crate) highest: u64,
}

/// How many bytes of a packet are new, repeated, or fill a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sighting {
    /// Number of bytes above all earlier ones.
    pub(crate) new: u64,
    /// Number of bytes seen before.
    pub(crate) again: u64,
    /// Number of bytes that fill a hole. `exposed` is the time at which the oldest of these holes was detected.
    pub(crate) filled: u64,
    pub(crate) exposed: Option<u64>,
    /// Time at which the newest of the bytes seen before, or of the holes, was first seen.
    pub(crate) first_seen: Option<u64>,
    /// Time at which the newest of the bytes seen before last passed.
    pub(crate) last_seen: Option<u64>,
    /// Maximum number of earlier retransmissions of any of these bytes.
    pub(crate) before: u32,
    /// Whether the packet is a captured copy of an earlier one.
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

    /// Releases the memory of empty maps.
    pub(crate) fn shrink(&mut self) {
        if self.ranges.is_empty() {
            self.ranges = BTreeMap::new();
        }
        if self.sacked.is_empty() {
            self.sacked = BTreeMap::new();
        }
    }

    /// Returns the bytes in flight: the outstanding bytes minus the selectively acknowledged ones.
    pub(crate) fn flight(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.sacked_bytes)
    }

    /// Returns the offset up to which the stream would be acknowledged if all received bytes were in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.una + self.sacked_bytes
    }

    /// Records a packet with the bytes `start..end`. A packet that passes less than `soon` after the previous one with these bytes cannot
    /// be a retransmission.
    pub(crate) fn saw(&mut self, at: u64, start: u64, end: u64, origin: &Origin, soon: u64) -> Sighting {
        let mut sighting = Sighting::default();
        if self.has_packet(start, end, origin) || self.has_copy(at, start, end, origin, soon) {
            sighting.is_duplicate = true;
            return sighting;
        }
        // Data below `una` was retransmitted unnecessarily.
        sighting.again = end.min(self.una).saturating_sub(start);
        let (from, to) = (start.max(self.una), end.min(self.next));
        if from < to {
            self.on_retransmission(at, (from, to), origin, &mut sighting);
        }
        if end > self.next {
            let begin = start.max(self.next);
            let new = Range {
                end,
                first_seen: at,
                again: 0,
                unseen: false,
                untimed: false,
                origin: *origin,
                last_seen: at,
            };
            if begin > self.next {
                self.ranges.insert(self.next, Range { end: begin, unseen: true, ..new });
            }
            sighting.new = end - begin;
            self.ranges.insert(begin, new);
            self.next = end;
        }
        sighting
    }

    /// Records a packet with bytes that passed before or fill a hole. The bytes become one range, so that a packet that passes many times
    /// does not split the range each time.
    fn on_retransmission(
        &mut self,
        at: u64,
        (from, to): (u64, u64),
        origin: &Origin,
        sighting: &mut Sighting,
    ) {
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
        let one = Range {
            end: to,
            first_seen,
            again,
            unseen: false,
            untimed: false,
            origin: *origin,
            last_seen: at,
        };
        self.ranges.insert(from, one);
    }

    /// Records that a hole was filled by a packet that arrived late, not by a retransmission.
    pub(crate) fn came_late(&mut self, start: u64, end: u64, at: u64) {
        for (_, range) in self.ranges.range_mut(start.max(self.una)..end) {
            range.again = range.again.saturating_sub(1);
            range.first_seen = at;
        }
    }

    /// Marks the packet with these bytes as having a wrong time. It gives no RTT sample.
    pub(crate) fn forget_time(&mut self, start: u64, end: u64) {
        self.ranges.range_mut(start..end).for_each(|(_, range)| range.untimed = true);
    }

    /// Acknowledges everything before `to`. If `to` is above `next`, the capture has no packet with the bytes between.
    pub(crate) fn acknowledge(&mut self, to: u64) -> Acknowledged {
        let mut brought = Acknowledged { unseen: to.saturating_sub(self.next), ..Acknowledged::default() };
        self.next = self.next.max(to);
        while let Some(first) = self.ranges.first_entry().filter(|first| *first.key() < to) {
            let (start, range) = first.remove_entry();
            let end = range.end.min(to);
            let sacked = self.drop_sacked(end);
            if range.unseen {
                brought.unseen += end - start;
            } else if range.again == 0 && !range.untimed && sacked < end - start {
                brought.newest_sent = brought.newest_sent.max(Some(range.first_seen));
            }
            if end < range.end {
                self.ranges.insert(end, range);
            }
        }
        self.una = self.una.max(to);
        self.highest = self.highest.max(to);
        brought
    }

    /// Removes the selective acknowledgements before `to`. Returns the number of bytes that they covered.
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

    /// Adds a SACK block, and returns what it newly acknowledges.
    pub(crate) fn sack(&mut self, start: u64, end: u64) -> Acknowledged {
        let (start, end) = (start.max(self.una), end.min(self.next));
        let mut brought = Acknowledged::default();
        if start >= end {
            return brought;
        }
        // Goes from the block's end to its beginning. Ranges already covered are joined with the block; the data between them is new.
        let (mut from, mut to) = (start, end);
        let mut until = end;
        while let Some((&known, &known_end)) =
            self.sacked.range(..=end).next_back().filter(|(_, known_end)| **known_end >= start)
        {
            self.sacked.remove(&known);
            self.covers(known_end.max(start), until, &mut brought);
            (from, to, until) = (from.min(known), to.max(known_end), known.max(start));
        }
        self.covers(start, until, &mut brought);
        self.sacked.insert(from, to);
        self.has_sack = true;
        self.highest = self.highest.max(end);
        brought
    }

    /// Counts bytes that are selectively acknowledged for the first time.
    fn covers(&mut self, from: u64, to: u64, brought: &mut Acknowledged) {
        if from >= to {
            return;
        }
        self.sacked_bytes += to - from;
        let first = self.ranges.range(..=from).next_back().map_or(from, |(start, _)| *start);
        for (_, range) in self.ranges.range(first..to) {
            if range.end > from && range.again == 0 && !range.untimed && !range.unseen {
                brought.newest_sent = brought.newest_sent.max(Some(range.first_seen));
            }
        }
    }

    /// Checks whether the last packet with exactly these bytes had the same IP identification.
    fn has_packet(&self, start: u64, end: u64, origin: &Origin) -> bool {
        let identification = origin.identification;
        let is_it = |range: &Range| range.end == end && range.origin.identification == identification;
        identification.is_some() && self.ranges.get(&start).is_some_and(is_it)
    }

    /// Checks whether the packet is a copy of the last packets with these bytes, whole or in pieces. Copies have the same TCP timestamp,
    /// and passed at another capture point or so recently that no acknowledgement can have arrived since.
    fn has_copy(&self, at: u64, start: u64, end: u64, origin: &Origin, soon: u64) -> bool {
        if origin.stamp.is_none() || end > self.next || start < self.una {
            return false;
        }
        let first = self.ranges.range(..=start).next_back().map_or(start, |(first, _)| *first);
        let is_copied = |from: u64, range: &Range| {
            let Origin { stamp, point, identification } = range.origin;
            let is_close = at.saturating_sub(range.last_seen) < soon;
            // If the same bytes have another IP identification, it is another packet, for example the rescue retransmission of RFC 6675
            // section 4.
            let both = identification.zip(origin.identification);
            let is_other = (from, range.end) == (start, end) && both.is_some_and(|(one, other)| one != other);
            !range.unseen && stamp == origin.stamp && (point != origin.point || is_close && !is_other)
        };
        self.ranges.range(first..end).all(|(from, range)| is_copied(*from, range))
    }

    /// Splits the range that contains the offset `place`, if there is one, so that a range begins there.
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
        assert_eq!(board.acknowledge(300), Acknowledged { newest_sent: Some(1), unseen: 0 });
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
