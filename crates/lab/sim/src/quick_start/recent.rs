//! The recent approvals of a router: the ring of the analysis (section V-B).
//!
//! An approval is added to every slot. When a measurement ends, the oldest slot is emptied and becomes the newest. A
//! slot therefore holds the approvals since it was emptied. The oldest slot, which is emptied next, has the maximum,
//! and its value is used. An approval is thus remembered for at least `slots` - 1 and less than `slots` intervals. The
//! sum over slots may be used instead (choice-21). It counts an approval once for every slot that has not been emptied
//! since.

use firstflight::Rate;

/// The slots that count as recently approved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ring {
    /// The slot that is emptied next.
    Oldest,
    /// All slots, added up.
    Sum,
}

#[derive(Clone, Debug)]
pub(super) struct Recent {
    ring: Ring,
    slots: Vec<Rate>,
    oldest: usize,
}

impl Recent {
    pub(super) fn new(slots: u8, ring: Ring) -> Self {
        Self { ring, slots: vec![Rate::ZERO; usize::from(slots.max(1))], oldest: 0 }
    }

    /// Handles the end of measurements.
    pub(super) fn advance(&mut self, measurements: u64) {
        for _ in 0..measurements.min(self.slots.len() as u64) {
            self.slots[self.oldest] = Rate::ZERO;
            self.oldest = (self.oldest + 1) % self.slots.len();
        }
    }

    /// Adds an approved rate.
    pub(super) fn add(&mut self, rate: Rate) {
        for slot in &mut self.slots {
            *slot += rate;
        }
    }

    /// Returns the rate that was approved and may not have been measured yet.
    pub(super) fn approved(&self) -> Rate {
        match self.ring {
            Ring::Oldest => self.slots[self.oldest],
            Ring::Sum => self.slots.iter().fold(Rate::ZERO, |sum, slot| sum + *slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_remembered_for_slots_minus_one_intervals() {
        let mut recent = Recent::new(3, Ring::Oldest);
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
    fn choice_21_the_sum_over_slots_counts_an_approval_for_every_slot() {
        let mut recent = Recent::new(3, Ring::Sum);
        recent.add(Rate::from_bps(5));
        let mut counted = vec![recent.approved().bps()];
        for _ in 0..3 {
            recent.advance(1);
            counted.push(recent.approved().bps());
        }
        assert_eq!(counted, [15, 10, 5, 0]);
    }

    #[test]
    fn a_long_silence_forgets_everything() {
        let mut recent = Recent::new(4, Ring::Oldest);
        recent.add(Rate::from_bps(5));
        recent.advance(u64::MAX);
        assert_eq!(recent.approved(), Rate::ZERO);
    }
}
