//! What a sender has outstanding, as the capture shows it: ranges of the stream, each with when it passed.

use std::collections::VecDeque;

/// A stretch of the stream that passed in one packet, or that should have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// When it was first seen; for an unseen one, when what lies behind it was.
    pub(crate) first_seen: u64,
    /// How often it was sent again.
    pub(crate) again: u32,
    pub(crate) sacked: bool,
    /// Whether no packet of the capture holds it.
    pub(crate) unseen: bool,
    /// The IPv4 identification of the packet that held it last.
    pub(crate) identification: Option<u16>,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Heard {
    /// When the newest range was sent that was acknowledged for the first time and sent only once.
    pub(crate) newest_sent: Option<u64>,
    /// Bytes that were acknowledged and that no packet of the capture holds.
    pub(crate) unseen: u64,
}

impl Heard {
    fn of(&mut self, range: &Range) {
        if range.unseen {
            self.unseen += range.end - range.start;
        } else if range.again == 0 && !range.sacked {
            self.newest_sent = self.newest_sent.max(Some(range.first_seen));
        }
    }
}

/// The ranges outstanding, in order and without gaps between `una` and `next`.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    ranges: VecDeque<Range>,
    /// The first byte not acknowledged.
    pub(crate) una: u64,
    /// The byte after the last one seen or known to exist.
    pub(crate) next: u64,
    /// Bytes selectively acknowledged.
    sacked: u64,
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
    /// Whether the same packet was captured before.
    pub(crate) is_duplicate: bool,
}

impl Scoreboard {
    pub(crate) fn new(start: u64) -> Self {
        Self { ranges: VecDeque::new(), una: start, next: start, sacked: 0, has_sack: false, highest: start }
    }

    /// Bytes in flight: outstanding, less those selectively acknowledged.
    pub(crate) fn flight(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.sacked)
    }

    /// The place up to which the stream would be acknowledged, had all that the receiver has come in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.una + self.sacked
    }

    /// A packet with the bytes `start..end` passed.
    pub(crate) fn saw(&mut self, at: u64, start: u64, end: u64, identification: Option<u16>) -> Sighting {
        let mut sighting = Sighting::default();
        if identification.is_some() && self.has_packet(start, end, identification) {
            sighting.is_duplicate = true;
            return sighting;
        }
        // What is acknowledged already was sent again for nothing.
        sighting.again = end.min(self.una).saturating_sub(start);
        let (from, to) = (start.max(self.una), end.min(self.next));
        if from < to {
            self.cut_at(from);
            self.cut_at(to);
            let first = self.index_of(from);
            for range in self.ranges.range_mut(first..).take_while(|range| range.end <= to) {
                let bytes = range.end - range.start;
                sighting.first_seen = sighting.first_seen.max(Some(range.first_seen));
                if range.unseen {
                    sighting.filled += bytes;
                    sighting.exposed =
                        Some(sighting.exposed.map_or(range.first_seen, |at| at.min(range.first_seen)));
                    range.unseen = false;
                } else {
                    sighting.again += bytes;
                }
                range.again += 1;
                range.identification = identification;
            }
        }
        if end > self.next {
            let new = Range {
                start: start.max(self.next),
                end,
                first_seen: at,
                again: 0,
                sacked: false,
                unseen: false,
                identification,
            };
            if start > self.next {
                self.ranges.push_back(Range { start: self.next, end: start, unseen: true, ..new });
            }
            sighting.new = end - new.start;
            self.ranges.push_back(new);
            self.next = end;
        }
        sighting
    }

    /// A hole was filled by a packet that only came late: it was not sent again.
    pub(crate) fn came_late(&mut self, start: u64, end: u64, at: u64) {
        let first = self.index_of(start.max(self.una));
        for range in self.ranges.range_mut(first..).take_while(|range| range.end <= end) {
            range.again = range.again.saturating_sub(1);
            range.first_seen = at;
        }
    }

    /// Everything before `to` is acknowledged; beyond `next`, bytes come to light that no packet held.
    pub(crate) fn acknowledge(&mut self, to: u64) -> Heard {
        let mut heard = Heard { unseen: to.saturating_sub(self.next), ..Heard::default() };
        self.next = self.next.max(to);
        while let Some(range) = self.ranges.front_mut().filter(|range| range.start < to) {
            let part = Range { end: range.end.min(to), ..*range };
            heard.of(&part);
            if part.sacked {
                self.sacked -= part.end - part.start;
            }
            if part.end < range.end {
                range.start = part.end;
                break;
            }
            self.ranges.pop_front();
        }
        self.una = self.una.max(to);
        self.highest = self.highest.max(to);
        heard
    }

    /// A block of selective acknowledgement: what it newly covers.
    pub(crate) fn sack(&mut self, start: u64, end: u64) -> Heard {
        let (start, end) = (start.max(self.una), end.min(self.next));
        let mut heard = Heard::default();
        if start >= end {
            return heard;
        }
        self.cut_at(start);
        self.cut_at(end);
        let first = self.index_of(start);
        for range in self.ranges.range_mut(first..).take_while(|range| range.end <= end) {
            if !range.sacked {
                heard.of(range);
                range.sacked = true;
                self.sacked += range.end - range.start;
            }
        }
        self.has_sack = true;
        self.highest = self.highest.max(end);
        heard
    }

    /// Whether one packet with these bytes and this identification was the last that held them.
    fn has_packet(&self, start: u64, end: u64, identification: Option<u16>) -> bool {
        let at = self.index_of(start);
        self.ranges.get(at).is_some_and(|range| {
            range.start == start && range.end == end && range.identification == identification
        })
    }

    /// The place of the range that holds the byte `place`, or of the first one behind it.
    fn index_of(&self, place: u64) -> usize {
        self.ranges.partition_point(|range| range.end <= place)
    }

    /// Makes a range begin at `place`, if one holds it.
    fn cut_at(&mut self, place: u64) {
        let at = self.index_of(place);
        if let Some(range) = self.ranges.get_mut(at)
            && range.start < place
        {
            let front = Range { end: place, ..*range };
            range.start = place;
            self.ranges.insert(at, front);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_new_again_or_filling_a_hole() {
        let mut board = Scoreboard::new(0);
        assert_eq!(board.saw(1, 0, 100, None), Sighting { new: 100, ..Sighting::default() });
        assert_eq!(board.saw(2, 200, 300, None).new, 100);
        assert_eq!(board.flight(), 300);
        let filling = board.saw(9, 100, 200, None);
        assert_eq!((filling.filled, filling.exposed), (100, Some(2)));
        assert_eq!(board.saw(10, 50, 150, None).again, 100);
        let mixed = board.saw(11, 250, 350, None);
        assert_eq!((mixed.new, mixed.again, mixed.first_seen), (50, 50, Some(2)));
    }

    #[test]
    fn the_same_packet_captured_twice_is_one() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, Some(7));
        assert!(board.saw(1, 0, 100, Some(7)).is_duplicate);
        assert!(!board.saw(2, 0, 100, Some(8)).is_duplicate);
    }

    #[test]
    fn a_sample_is_of_the_newest_range_that_was_sent_once() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, None);
        board.saw(2, 100, 200, None);
        board.saw(3, 200, 300, None);
        board.saw(9, 100, 200, None);
        assert_eq!(board.sack(200, 300).newest_sent, Some(3));
        assert_eq!(board.flight(), 200);
        assert_eq!(board.acknowledge(300), Heard { newest_sent: Some(1), unseen: 0 });
        assert_eq!(board.flight(), 0);
    }

    #[test]
    fn bytes_acknowledged_and_never_seen_are_counted() {
        let mut board = Scoreboard::new(0);
        board.saw(1, 0, 100, None);
        board.saw(2, 150, 200, None);
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
                    0 => { board.saw(at as u64, board.una.saturating_sub(100) + from, board.una + from + length, None); }
                    1 => { board.acknowledge(board.una + from); }
                    _ => { board.sack(board.una + from, board.una + from + length); }
                }
                let mut place = board.una;
                for range in &board.ranges {
                    prop_assert_eq!(range.start, place);
                    prop_assert!(range.end > range.start);
                    place = range.end;
                }
                prop_assert_eq!(place, board.next);
                let sacked: u64 = board.ranges.iter().filter(|r| r.sacked).map(|r| r.end - r.start).sum();
                prop_assert_eq!(sacked, board.sacked);
            }
        }
    }
}
