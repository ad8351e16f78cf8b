//! The stream bytes received without a gap, although the stack delivers them in any order.

use std::collections::BTreeMap;

/// The received parts of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct InOrder {
    /// Bytes received without a gap from the start.
    reached: u64,
    /// Parts behind a gap, each as start and end.
    behind: BTreeMap<u64, u64>,
}

impl InOrder {
    /// Returns the bytes received without a gap from the start of the stream.
    pub(crate) const fn reached(&self) -> u64 {
        self.reached
    }

    /// Adds a received part.
    pub(crate) fn add(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        if offset > self.reached {
            let known = self.behind.entry(offset).or_insert(end);
            *known = (*known).max(end);
            return;
        }
        self.reached = self.reached.max(end);
        while let Some(first) = self.behind.first_entry().filter(|first| *first.key() <= self.reached) {
            self.reached = self.reached.max(first.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_behind_a_gap_count_once_the_gap_is_filled() {
        let mut seen = InOrder::default();
        for (offset, len, reached) in
            [(0, 10, 10), (20, 5, 10), (25, 5, 10), (15, 2, 10), (10, 10, 30), (5, 5, 30)]
        {
            seen.add(offset, len);
            assert_eq!(seen.reached(), reached, "after {offset}");
        }
    }
}
