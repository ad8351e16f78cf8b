//! Sets of stream offsets: an independent reassembler.

use std::collections::BTreeMap;

/// Disjoint ranges of offsets that do not touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `[start, end)`.
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        while let Some((&from, &to)) = self.0.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        if start < end {
            self.0.insert(start, end);
        }
    }

    /// Returns the end of the range that begins at zero; zero without one.
    pub(crate) fn prefix(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }

    /// Returns the number of ranges beyond that.
    pub(crate) fn beyond(&self) -> usize {
        self.0.len() - usize::from(self.0.contains_key(&0))
    }

    /// Checks whether it holds all of `[start, end)`.
    pub(crate) fn holds(&self, start: u64, end: u64) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, to)| *to >= end)
    }
}

#[test]
fn ranges_merge_where_they_touch() {
    let mut ranges = Ranges::default();
    for (start, end) in [(10, 20), (30, 40), (0, 5), (20, 30), (7, 8)] {
        ranges.add(start, end);
    }
    assert_eq!((ranges.prefix(), ranges.holds(10, 40), ranges.holds(5, 8)), (5, true, false));
    assert_eq!(ranges.beyond(), 2);
    ranges.add(4, 12);
    assert_eq!((ranges.prefix(), ranges.beyond()), (40, 0));
}
