//! Detects from the delivery rate that the pipe is full.

use crate::units::Rate;

/// The growth of the delivery rate below which a round is flat (section "Exiting Acceleration Based on Bandwidth Plateau").
const GROWTH: (u64, u64) = (125, 100);
/// The number of consecutive flat rounds that make a plateau (the same section).
const FLAT_ROUNDS: u8 = 3;

/// Looks for a plateau of the delivery rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FullPipe {
    /// `BBR.full_bw`.
    baseline: Option<Rate>,
    flat_rounds: u8,
    /// Whether a round ended with an ACK without a sample. The next sample then counts for that round.
    waits: bool,
}

impl FullPipe {
    /// Creates an estimator without samples.
    pub(crate) const fn new() -> Self {
        Self { baseline: None, flat_rounds: 0, waits: false }
    }

    /// Restarts the search with a first baseline (`ResetFullBW`).
    pub(crate) const fn reset(&mut self, baseline: Option<Rate>) {
        *self = Self { baseline, flat_rounds: 0, waits: false };
    }

    /// Adds the delivery rate of an ACK (`CheckFullBWReached`).
    pub(crate) fn acked(&mut self, round_started: bool, rate: Option<Rate>, is_app_limited: bool) {
        // The draft's rounds end with a sample. Here a round may end with an ACK for a part of a packet, which brings
        // no sample.
        self.waits |= round_started;
        let Some(rate) = rate else { return };
        if self.is_full() || !core::mem::take(&mut self.waits) || is_app_limited {
            return;
        }
        if self.baseline.is_none_or(|baseline| rate >= baseline.scale(GROWTH.0, GROWTH.1)) {
            self.reset(Some(rate));
        } else {
            self.flat_rounds += 1;
        }
    }

    /// Returns whether the pipe is full (`BBR.full_bw_now`).
    pub(crate) const fn is_full(&self) -> bool {
        self.flat_rounds >= FLAT_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rates: &[u64]) -> FullPipe {
        let mut pipe = FullPipe::new();
        for rate in rates {
            pipe.acked(true, Some(Rate::from_bps(*rate)), false);
        }
        pipe
    }

    #[test]
    fn three_rounds_of_little_growth_fill_the_pipe() {
        assert!(!after(&[100, 200, 240, 240]).is_full());
        assert!(after(&[100, 200, 240, 240, 240]).is_full());
        assert!(!after(&[100, 200, 240, 240, 250, 250, 250]).is_full(), "250 is a quarter more than 200");
    }

    #[test]
    fn samples_that_the_application_limits_do_not_count() {
        let mut pipe = after(&[100, 100, 100]);
        pipe.acked(true, Some(Rate::from_bps(100)), true);
        assert!(!pipe.is_full());
        pipe.acked(true, None, false);
        pipe.acked(false, Some(Rate::from_bps(100)), false);
        assert!(pipe.is_full(), "the round that ended without a sample counts with the next one");
    }
}
