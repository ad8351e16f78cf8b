//! A budget of bytes that peers may use, with a limit for all sources together and one for each source.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use firstflight_udp::Source;

/// The number of shares of a budget. One source may use one share.
const SHARES: u64 = 4;
/// If there are more sources than this, those that hold no bytes are forgotten.
const CROWD: usize = 64;

/// A budget of bytes. One source may use a quarter of it.
#[derive(Debug)]
pub(super) struct Budget {
    most: u64,
    taken: AtomicU64,
    by: Mutex<BTreeMap<Source, Arc<AtomicU64>>>,
}

/// The bytes of a budget that one connection holds. They go back to the budget when this is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    budget: Arc<Budget>,
    of_source: Arc<AtomicU64>,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU64::new(0), by: Mutex::default() })
    }

    /// Returns an empty holding for a connection of this source.
    pub(super) fn share(self: &Arc<Self>, source: Source) -> Taken {
        let mut by = self.by.lock().unwrap_or_else(PoisonError::into_inner);
        if by.len() >= CROWD {
            by.retain(|_, taken| Arc::strong_count(taken) > 1 || taken.load(Ordering::Relaxed) > 0);
        }
        let of_source = Arc::clone(by.entry(source).or_default());
        Taken { budget: Arc::clone(self), of_source, bytes: 0 }
    }
}

impl Taken {
    /// Makes the number of bytes held `bytes`. Returns whether there is room; if not, the number is unchanged.
    pub(super) fn is_now(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let has_room = |taken: &AtomicU64, most: u64| taken.load(Ordering::Relaxed) + more <= most;
        if more > 0
            && !(has_room(&self.budget.taken, self.budget.most)
                && has_room(&self.of_source, self.budget.most / SHARES))
        {
            return false;
        }
        for taken in [&self.budget.taken, &*self.of_source] {
            taken.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        }
        self.bytes = bytes;
        true
    }

    /// Takes `more` additional bytes. Returns whether there is room; if not, none is taken.
    pub(super) fn takes(&mut self, more: u64) -> bool {
        self.is_now(self.bytes + more)
    }

    /// Keeps the bytes out of the budget for ever.
    pub(super) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        for taken in [&self.budget.taken, &*self.of_source] {
            taken.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_has_a_quarter_and_what_is_dropped_is_given_back() {
        let budget = Budget::new(100);
        let source = |last: u8| Source::of([192, 0, 2, last].into());
        let mut one = budget.share(source(1));
        assert!(one.is_now(20) && one.is_now(25) && !one.is_now(26));
        let mut same = budget.share(source(1));
        assert!(!same.takes(1) && one.is_now(10) && same.takes(15) && !same.takes(1));
        let mut others: Vec<_> = (2..=4).map(|last| budget.share(source(last))).collect();
        assert!(others.iter_mut().all(|other| other.takes(25)));
        assert!(!budget.share(source(5)).takes(1));
        drop(same);
        assert!(budget.share(source(5)).takes(15));
        one.keep();
        assert!(!budget.share(source(1)).takes(16) && budget.share(source(1)).takes(15));
        others.clear();
        (0..200).for_each(|last| drop(budget.share(source(last))));
        assert!(budget.by.lock().unwrap().len() <= CROWD);
    }
}
