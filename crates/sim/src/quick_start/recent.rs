//! What a router approved of late: the ring of the analysis (section V-B).
//!
//! An approval is added to every slot. When a measurement ends the oldest slot is emptied and becomes the newest, so
//! each holds what was approved since it was emptied. The one that is emptied next holds the most, and is what
//! counts (choice-21: not the sum over slots, which would count an approval once for every slot). An approval is so
//! remembered for at least `slots` - 1 and less than `slots` intervals.

use firstflight::Rate;

#[derive(Clone, Debug)]
pub(super) struct Recent {
    slots: Vec<Rate>,
    oldest: usize,
}

impl Recent {
    pub(super) fn new(slots: u8) -> Self {
        Self { slots: vec![Rate::ZERO; usize::from(slots.max(1))], oldest: 0 }
    }

    /// Measurements ended.
    pub(super) fn advance(&mut self, measurements: u64) {
        for _ in 0..measurements.min(self.slots.len() as u64) {
            self.slots[self.oldest] = Rate::ZERO;
            self.oldest = (self.oldest + 1) % self.slots.len();
        }
    }

    /// A rate was approved.
    pub(super) fn add(&mut self, rate: Rate) {
        for slot in &mut self.slots {
            *slot += rate;
        }
    }

    /// What was approved and may not have been measured yet.
    pub(super) fn approved(&self) -> Rate {
        self.slots[self.oldest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_remembered_for_one_interval_less_than_there_are_slots_and_counted_once() {
        let mut recent = Recent::new(3);
        recent.add(Rate::from_bps(5));
        recent.advance(1);
        recent.add(Rate::from_bps(7));
        assert_eq!(recent.approved().bps(), 12);
        recent.advance(1);
        assert_eq!(recent.approved().bps(), 12);
        recent.advance(1);
        assert_eq!(recent.approved().bps(), 7);
        recent.advance(1);
        assert_eq!(recent.approved().bps(), 0);
    }

    #[test]
    fn a_long_silence_forgets_everything() {
        let mut recent = Recent::new(4);
        recent.add(Rate::from_bps(5));
        recent.advance(u64::MAX);
        assert_eq!(recent.approved(), Rate::ZERO);
    }
}
