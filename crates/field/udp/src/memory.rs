//! The bytes that connections hold, and the bounds on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that several connections hold together, and their bound.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: AtomicU64,
    most: u64,
}

impl Held {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { bytes: AtomicU64::new(0), most })
    }

    fn changes(&self, from: u64, to: u64) {
        self.bytes.fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
    }

    /// Returns half of the bound, and the free bytes, but at most half of the bound.
    fn left(&self) -> (u64, u64) {
        let half = (self.most / 2).max(1);
        (half, self.most.saturating_sub(self.bytes.load(Ordering::Relaxed)).min(half))
    }
}

/// A bound on the bytes that the connections of several hosts hold together: [`Options::shared_memory`](crate::Options::shared_memory).
#[derive(Clone, Debug)]
pub struct SharedMemory {
    pub(crate) bytes: u64,
    pub(crate) held: Arc<Held>,
}

impl SharedMemory {
    /// Makes a bound of this many bytes. [`Options::memory`](crate::Options::memory) describes its effect.
    pub fn new(bytes: u64) -> Self {
        Self { bytes, held: Held::new(bytes) }
    }
}

/// The bytes that a connection holds. They count both for its host and for its peer's source.
#[derive(Debug)]
pub(crate) struct Memory {
    all: Arc<Held>,
    of_source: Arc<Held>,
    held: u64,
}

impl Memory {
    pub(crate) fn new(all: Arc<Held>, of_source: Arc<Held>) -> Self {
        Self { all, of_source, held: 0 }
    }

    /// Records that the connection now holds this many bytes.
    pub(crate) fn holds(&mut self, bytes: u64) {
        for held in [&self.all, &self.of_source] {
            held.changes(self.held, bytes);
        }
        self.held = bytes;
    }

    /// Returns whether either bound is reached.
    pub(crate) fn is_full(&self) -> bool {
        [&self.all, &self.of_source].iter().any(|held| held.left().1 == 0)
    }

    /// Scales `bytes` by the free memory. Returns all of `bytes` while less than half of each bound is held. Above half, the result falls
    /// linearly to zero at the bound.
    pub(crate) fn grant(&self, bytes: u64) -> u64 {
        [&self.all, &self.of_source].into_iter().fold(bytes, |bytes, held| {
            let (half, left) = held.left();
            u64::try_from(u128::from(bytes) * u128::from(left) / u128::from(half)).unwrap_or(bytes)
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.holds(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_one_source_press_that_source_alone() {
        let all = Held::new(100);
        let (one, other) = (Held::new(24), Held::new(24));
        let mut hostile = Memory::new(Arc::clone(&all), Arc::clone(&one));
        let honest = Memory::new(Arc::clone(&all), other);
        assert_eq!(hostile.grant(1_000), 1_000);
        hostile.holds(12);
        assert_eq!((hostile.grant(1_000), honest.grant(1_000)), (1_000, 1_000));
        hostile.holds(18);
        assert_eq!((hostile.grant(1_000), hostile.is_full()), (500, false));
        hostile.holds(30);
        assert_eq!((hostile.grant(1_000), hostile.is_full()), (0, true));
        assert_eq!((honest.grant(1_000), honest.is_full()), (1_000, false));
        hostile.holds(75);
        assert_eq!(honest.grant(1_000), 500);
        hostile.holds(100);
        assert!(honest.is_full());
        drop(hostile);
        assert_eq!(honest.grant(u64::MAX), u64::MAX);
        assert_eq!(one.left(), (12, 12));
    }
}
