//! Data that arrived out of order: disjoint ranges above the first hole, and the choice of the ranges to report.

use super::ranges::Ranges;
use crate::segment::MAX_SACK_BLOCKS;

/// The out-of-order queue. It has only ranges; the host stores the bytes.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Reassembly {
    /// All ranges except the highest. They are disjoint and not adjacent.
    ranges: Ranges,
    /// The ranges that were changed last, the newest change first (RFC 2018 section 4), followed by empty entries. When one of them is
    /// acknowledged, no other range takes its place, as in Linux and FreeBSD (docs/decisions/tcp.md).
    recent: [(u64, u64); MAX_SACK_BLOCKS],
    /// The highest range, or [`NONE`] if there are no ranges. Most out-of-order data extends it or begins a new range above it.
    highest: (u64, u64),
}

/// The value for an absent range.
const NONE: (u64, u64) = (0, 0);

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // No range ends at offset 0.
        self.highest.1 == NONE.1
    }

    pub(crate) fn count(&self) -> usize {
        self.ranges.count() + usize::from(!self.is_empty())
    }

    /// Adds the range from `start` to `end`, which lies above the first hole. Returns the part of it that had arrived before, if any.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (low, high) = self.highest;
        if start < low {
            return self.insert_below(start, end);
        }
        let mut duplicate = None;
        if start <= high && !self.is_empty() {
            duplicate = (high > start).then_some((start, end.min(high)));
            self.highest.1 = high.max(end);
        } else {
            if !self.is_empty() {
                self.ranges.push(self.highest);
            }
            self.highest = (start, end);
        }
        self.note(self.highest);
        duplicate
    }

    /// Adds a range that begins below the highest one. Returns the part of the range that had arrived before.
    fn insert_below(&mut self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut duplicate = None;
        let (mut low, mut high) = (start, end);
        if let Some((before, before_end)) = self.ranges.at_or_below(start)
            && before_end >= start
        {
            if before_end > start {
                duplicate = Some((start, end.min(before_end)));
            }
            low = before;
            high = high.max(before_end);
        }
        while let Some((next, next_end)) = self.ranges.above(low).filter(|next| next.0 <= high) {
            if next < end && duplicate.is_none() {
                duplicate = Some((next.max(start), end.min(next_end)));
            }
            high = high.max(next_end);
            self.ranges.remove(next);
            self.forget(next);
        }
        let (next, next_end) = self.highest;
        if next <= high {
            if next < end && duplicate.is_none() {
                duplicate = Some((next, end.min(next_end)));
            }
            self.ranges.remove(low);
            self.forget(next);
            self.highest = (low, high.max(next_end));
            self.note(self.highest);
        } else {
            self.ranges.insert((low, high));
            self.note((low, high));
        }
        duplicate
    }

    /// Extends the in-order data to `end`, and removes the ranges that it reaches. Returns the new end of the in-order data. If part of the
    /// new data had arrived before, also returns the first such part.
    pub(crate) fn join(&mut self, end: u64) -> (u64, Option<(u64, u64)>) {
        let (mut next, mut overlap) = (end, None);
        while let Some((start, upto)) = self.ranges.first() {
            if start > next {
                return (next, overlap);
            }
            if start < end {
                overlap = overlap.or(Some((start, upto.min(end))));
            }
            next = next.max(upto);
            self.ranges.pop_first();
            self.forget(start);
        }
        let (start, upto) = self.highest;
        if start <= next && !self.is_empty() {
            if start < end {
                overlap = overlap.or(Some((start, upto.min(end))));
            }
            next = next.max(upto);
            self.highest = NONE;
            self.forget(start);
        }
        (next, overlap)
    }

    /// Returns the first range between `from` and `end` that has not arrived; `None` if there is none.
    pub(crate) fn gap(&self, from: u64, end: u64) -> Option<(u64, u64)> {
        let below = self.ranges.at_or_below(from).map_or(from, |range| range.1.max(from));
        let (low, high) = self.highest;
        let start = if (low..high).contains(&below) { high } else { below };
        let next = self.ranges.above(start).map(|range| range.0).or_else(|| (low > start).then_some(low));
        let upto = next.map_or(end, |next| next.min(end));
        (start < upto).then_some((start, upto))
    }

    /// Returns the number of segments of `size` bytes that arrived above `from`.
    pub(crate) fn segments_beyond(&self, from: u64, size: u64) -> u64 {
        let highest = (!self.is_empty()).then_some(self.highest);
        let beyond = highest.into_iter().chain(self.ranges.downwards()).take_while(|range| range.1 > from);
        beyond.map(|(start, end)| (end - start.max(from)).div_ceil(size.max(1))).sum()
    }

    /// Returns at most `limit` ranges to report, the most recent first.
    #[inline]
    pub(crate) fn report(&self, limit: usize) -> impl Iterator<Item = (u64, u64)> {
        self.recent.iter().copied().take_while(|range| *range != NONE).take(limit)
    }

    /// Records that a range was changed last.
    fn note(&mut self, range: (u64, u64)) {
        if self.recent[0].0 != range.0 {
            self.forget(range.0);
            self.recent.rotate_right(1);
        }
        self.recent[0] = range;
    }

    fn forget(&mut self, start: u64) {
        if let Some(at) = self.recent.iter().position(|range| range.0 == start && *range != NONE) {
            self.recent[at..].rotate_left(1);
            self.recent[MAX_SACK_BLOCKS - 1] = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_block_is_the_one_that_the_newest_segment_joined() {
        let mut queue = Reassembly::default();
        queue.insert(10, 20);
        queue.insert(30, 40);
        queue.insert(20, 25);
        assert_eq!(queue.report(4).collect::<Vec<_>>(), [(10, 25), (30, 40)]);
    }

    #[test]
    fn a_segment_that_fills_a_gap_merges_both_sides() {
        let mut queue = Reassembly::default();
        queue.insert(10, 20);
        queue.insert(30, 40);
        queue.insert(50, 60);
        queue.insert(20, 30);
        assert_eq!(queue.report(4).collect::<Vec<_>>(), [(10, 40), (50, 60)]);
        assert_eq!(queue.join(10), (40, None));
        assert_eq!(queue.count(), 1);
    }

    #[test]
    fn segments_beyond_a_place_are_those_of_every_range_above_it() {
        let mut queue = Reassembly::default();
        assert_eq!(queue.segments_beyond(0, 10), 0);
        queue.insert(10, 20);
        queue.insert(30, 60);
        queue.insert(70, 75);
        assert_eq!([0, 10, 20, 40, 60, 75].map(|from| queue.segments_beyond(from, 10)), [5, 5, 4, 3, 1, 0]);
    }

    #[test]
    fn the_part_of_a_segment_that_came_before_is_told() {
        let mut queue = Reassembly::default();
        queue.insert(10, 20);
        assert_eq!(queue.clone().join(15), (20, Some((10, 15))));
        assert_eq!(queue.clone().join(30), (30, Some((10, 20))));
        assert_eq!(queue.clone().join(10), (20, None));
    }

    #[test]
    fn previously_received_bytes_are_reported() {
        let mut queue = Reassembly::default();
        assert_eq!(queue.insert(10, 20), None);
        assert_eq!(queue.insert(15, 25), Some((15, 20)));
    }

    proptest! {
        #[test]
        fn ranges_equal_the_set_of_bytes_that_arrived(
            parts in proptest::collection::vec((0u64..60, 1u64..12), 1..40), upto in 0u64..70,
        ) {
            let mut queue = Reassembly::default();
            let mut model = [false; 80];
            for (start, len) in parts {
                let part = start..start + len;
                let arrived = |at: u64| model[usize::try_from(at).unwrap()];
                let before = part.clone().any(arrived);
                let duplicate = queue.insert(start, start + len);
                prop_assert_eq!(duplicate.is_some(), before);
                if let Some((low, high)) = duplicate {
                    prop_assert!(start <= low && high <= start + len && (low..high).all(arrived));
                }
                let first = (0u64..80).find(|at| arrived(*at) || part.contains(at));
                prop_assert_eq!(queue.clone().join(80).1.map(|(low, _)| low), first);
                for at in part {
                    model[usize::try_from(at).unwrap()] = true;
                }
                for end in upto..80 {
                    let lacks = |at: &u64| !model[usize::try_from(*at).unwrap()];
                    let low = (upto..end).find(lacks);
                    let gap = low.map(|low| (low, (low..end).find(|at| !lacks(at)).unwrap_or(end)));
                    prop_assert_eq!(queue.gap(upto, end), gap);
                }
                for (low, high) in queue.report(MAX_SACK_BLOCKS) {
                    prop_assert!((low..high).all(|at| model[usize::try_from(at).unwrap()]));
                    prop_assert!(low == 0 || !model[usize::try_from(low - 1).unwrap()]);
                    prop_assert!(!model[usize::try_from(high).unwrap()]);
                }
            }
            let (joined, _) = queue.join(upto);
            let expected = (upto..80).find(|at| !model[usize::try_from(*at).unwrap()]).unwrap();
            prop_assert_eq!(joined, expected);
        }
    }
}
