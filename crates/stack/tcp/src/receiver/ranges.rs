//! Disjoint ranges in order. Most ranges are added after the last one and removed from the beginning, when holes are created and filled.
//! This takes a few steps for any number of ranges. An operation in the middle needs a search and moves few ranges, as in a B-tree of two
//! levels.

use std::collections::VecDeque;

/// A range from a start to an end, without the end.
pub(super) type Range = (u64, u64);

/// Maximum number of ranges in one piece.
const PIECE: usize = 64;

/// The ranges, sorted by their start.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Lists of ranges in order. No list is empty. Of two neighbouring lists at least one is well filled, except at the beginning and the
    /// end.
    pieces: VecDeque<VecDeque<Range>>,
    count: usize,
}

impl Ranges {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Range> {
        self.pieces.front()?.front().copied()
    }

    /// Returns the last range that starts at or below `start`.
    pub(super) fn at_or_below(&self, start: u64) -> Option<Range> {
        let piece = self.pieces.get(self.piece_of(start))?;
        let after = piece.partition_point(|range| range.0 <= start);
        after.checked_sub(1).map(|last| piece[last])
    }

    /// Returns all ranges, the last one first.
    pub(super) fn downwards(&self) -> impl Iterator<Item = Range> {
        self.pieces.iter().rev().flat_map(|ranges| ranges.iter().rev().copied())
    }

    /// Returns the first range that starts above `start`.
    pub(super) fn above(&self, start: u64) -> Option<Range> {
        let piece = self.piece_of(start);
        let ranges = self.pieces.get(piece)?;
        let after = ranges.partition_point(|range| range.0 <= start);
        ranges.get(after).or_else(|| self.pieces.get(piece + 1)?.front()).copied()
    }

    /// Adds a range that starts above all others.
    #[inline]
    pub(super) fn push(&mut self, range: Range) {
        debug_assert!(
            self.above(range.0).is_none() && self.at_or_below(range.0).is_none_or(|last| last.0 < range.0)
        );
        self.count += 1;
        match self.pieces.back_mut() {
            Some(last) if last.len() < PIECE => last.push_back(range),
            _ => {
                // Most receivers have few ranges.
                let room = if self.count < PIECE { 4 } else { PIECE };
                let mut piece = VecDeque::with_capacity(room);
                piece.push_back(range);
                self.pieces.push_back(piece);
            }
        }
    }

    /// Removes the first range.
    #[inline]
    pub(super) fn pop_first(&mut self) {
        let Some(first) = self.pieces.front_mut() else { return };
        first.pop_front();
        self.count -= 1;
        if first.is_empty() {
            self.take_piece(0);
        }
    }

    /// Adds a range, or replaces the one that starts at the same offset.
    pub(super) fn insert(&mut self, range: Range) {
        let piece = self.piece_of(range.0);
        let Some(ranges) = self.pieces.get_mut(piece) else { return self.push(range) };
        let place = ranges.partition_point(|other| other.0 < range.0);
        if let Some(same) = ranges.get_mut(place).filter(|other| other.0 == range.0) {
            *same = range;
        } else if ranges.len() < PIECE {
            ranges.insert(place, range);
            self.count += 1;
        } else {
            let upper = ranges.split_off(PIECE / 2);
            self.pieces.insert(piece + 1, upper);
            self.insert(range);
        }
    }

    /// Removes the range that starts exactly at `start`, if there is one.
    pub(super) fn remove(&mut self, start: u64) {
        let piece = self.piece_of(start);
        let Some(ranges) = self.pieces.get_mut(piece) else { return };
        let Ok(place) = ranges.binary_search_by_key(&start, |range| range.0) else { return };
        ranges.remove(place);
        self.count -= 1;
        if ranges.is_empty() {
            self.take_piece(piece);
        } else {
            self.join_neighbours(piece);
            self.join_neighbours(piece.saturating_sub(1));
        }
    }

    /// Joins a piece and the next one if both together are short.
    fn join_neighbours(&mut self, piece: usize) {
        let length = |piece: usize| self.pieces.get(piece).map_or(PIECE, VecDeque::len);
        if length(piece) + length(piece + 1) <= PIECE * 3 / 4
            && let Some(upper) = self.take_piece(piece + 1)
        {
            self.pieces[piece].extend(upper);
        }
    }

    /// Removes a piece, and frees memory, because most receivers have no out-of-order data.
    fn take_piece(&mut self, piece: usize) -> Option<VecDeque<Range>> {
        let taken = self.pieces.remove(piece);
        if self.pieces.len() * 4 <= self.pieces.capacity() {
            self.pieces.shrink_to(self.pieces.len() * 2);
        }
        taken
    }

    /// Returns the index of the piece to which a range that starts at `start` belongs.
    fn piece_of(&self, start: u64) -> usize {
        self.pieces.partition_point(|ranges| ranges[0].0 <= start).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns the number of heap bytes.
    fn memory(ranges: &Ranges) -> usize {
        let inner: usize = ranges.pieces.iter().map(|piece| piece.capacity() * size_of::<Range>()).sum();
        inner + ranges.pieces.capacity() * size_of::<VecDeque<Range>>()
    }

    #[test]
    fn ranges_use_48_bytes_each_at_maximum_after_any_removals() {
        let mut full = Ranges::default();
        (0..20_000).for_each(|start| full.insert((start * 7_919 % 20_000, 0)));
        assert!(memory(&full) <= full.count() * 48, "{}", memory(&full));
        for downwards in [false, true] {
            let mut ranges = full.clone();
            for kept in [2, 8, 32, 128] {
                for start in 0..20_000 {
                    let start = if downwards { 19_999 - start } else { start };
                    if start % kept != 0 {
                        ranges.remove(start);
                    }
                }
                assert_eq!(ranges.count(), (0..20_000).filter(|start| start % kept == 0).count());
                assert!(memory(&ranges) <= ranges.count() * 48, "one of {kept}: {}", memory(&ranges));
            }
        }
    }

    #[test]
    fn nothing_is_kept_once_the_last_range_is_gone() {
        let mut ranges = Ranges::default();
        (0..200).for_each(|start| ranges.push((start, start)));
        (0..200).for_each(|_| ranges.pop_first());
        assert_eq!(memory(&ranges), 0);
        ranges.insert((1, 2));
        ranges.remove(1);
        assert_eq!(memory(&ranges), 0);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u8),
        PopFirst(u8),
        Insert(u16),
        Remove(u16),
        RemoveFrom(u16, u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (1u8..200).prop_map(Step::Push),
            1 => (1u8..100).prop_map(Step::PopFirst),
            6 => (0u16..1_000).prop_map(Step::Insert),
            6 => (0u16..1_000).prop_map(Step::Remove),
            3 => (0u16..1_000, 1u8..200).prop_map(|(start, count)| Step::RemoveFrom(start, count)),
        ];
        proptest::collection::vec(step, 1..60)
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_a_tree(steps in steps()) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeMap::new());
            for (end, step) in (0..).zip(steps) {
                match step {
                    Step::Push(count) => for _ in 0..count {
                        let start = model.last_key_value().map_or(0, |(last, _)| last + 3);
                        ranges.push((start, end));
                        model.insert(start, end);
                    },
                    Step::PopFirst(count) => for _ in 0..count {
                        ranges.pop_first();
                        model.pop_first();
                    },
                    Step::Insert(start) => {
                        ranges.insert((start.into(), end));
                        model.insert(start.into(), end);
                    }
                    Step::Remove(start) => {
                        ranges.remove(start.into());
                        model.remove(&start.into());
                    }
                    Step::RemoveFrom(start, count) => for _ in 0..count {
                        let next = ranges.above(start.into());
                        prop_assert_eq!(next, model.range(u64::from(start) + 1..).next().map(|(s, e)| (*s, *e)));
                        let Some((start, _)) = next else { break };
                        ranges.remove(start);
                        model.remove(&start);
                    },
                }
                prop_assert_eq!(ranges.count(), model.len());
                prop_assert_eq!(ranges.first(), model.first_key_value().map(|(s, e)| (*s, *e)));
                for start in (0..1_200).step_by(5) {
                    let below = model.range(..=start).next_back().map(|(s, e)| (*s, *e));
                    prop_assert_eq!(ranges.at_or_below(start), below);
                }
                prop_assert!(ranges.pieces.iter().flatten().copied().eq(model.iter().map(|(s, e)| (*s, *e))));
                prop_assert!(ranges.pieces.iter().all(|piece| (1..=PIECE).contains(&piece.len())));
            }
        }
    }
}
