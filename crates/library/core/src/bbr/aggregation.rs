//! The degree of ACK aggregation (`BBR.extra_acked`).

use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Time};
use crate::verifier::barrier;

/// The windowed maximum of the data that ACKs delivered beyond the bandwidth estimate (the section on `BBR.extra_acked`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraAcked {
    interval_start: Time,
    delivered: Bytes32,
    /// The three maxima of Kathleen Nichols' windowed filter, which the draft cites: samples with their rounds. Each entry is the maximum
    /// of the samples after the previous entry.
    best: [(u32, Bytes32); 3],
}

/// `BBR.ExtraAckedFilterLen`, in rounds; during start-up the filter remembers one round.
const WINDOW: u32 = 10;
const STARTUP_WINDOW: u32 = 1;

impl ExtraAcked {
    /// Creates a filter without samples whose interval begins at `now`.
    pub(crate) const fn new(now: Time) -> Self {
        Self { interval_start: now, delivered: Bytes32::ZERO, best: [(0, Bytes32::ZERO); 3] }
    }

    /// Begins a new interval, as after an idle time.
    pub(crate) fn restart(&mut self, now: Time) {
        (self.interval_start, self.delivered) = (now, Bytes32::ZERO);
    }

    /// Adds the sample of an ACK (`UpdateACKAggregation`) that newly delivers `acked` bytes at `now`, in round `round`, against the
    /// estimate `bandwidth`. The sample counts at most as the window `cwnd`. `is_full` says whether the pipe has been full.
    pub(crate) fn acked(
        &mut self,
        (now, round): (Time, u32),
        acked: Bytes,
        bandwidth: Rate,
        cwnd: Bytes,
        is_full: bool,
    ) {
        let mut expected = bandwidth.over(now.since(self.interval_start));
        if self.delivered.wide() <= expected {
            self.restart(now);
            expected = Bytes::ZERO;
        }
        let delivered = self.delivered.wide() + acked;
        self.delivered = delivered.into();
        barrier(self);
        let window = if is_full { WINDOW } else { STARTUP_WINDOW };
        self.sampled(round, (delivered - expected).min(cwnd), window);
    }

    /// Returns `BBR.extra_acked`.
    pub(crate) fn max(&self) -> Bytes {
        self.best[0].1.wide()
    }

    fn sampled(&mut self, round: u32, extra: Bytes, window: u32) {
        let sample = (round, Bytes32::from(extra));
        let is_over = |(at, _): (u32, Bytes32)| round.wrapping_sub(at) > window;
        if extra >= self.max() || is_over(self.best[2]) {
            self.best = [sample; 3];
            return;
        }
        if extra >= self.best[1].1.wide() {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if extra >= self.best[2].1.wide() {
            self.best[2] = sample;
        }
        while is_over(self.best[0]) {
            self.best = [self.best[1], self.best[2], sample];
        }
        // A quarter of the window passed without a better second maximum, or half of the window without a better third one.
        if self.best[1].0 == self.best[0].0 && round.wrapping_sub(self.best[1].0) > window / 4 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if self.best[2].0 == self.best[1].0 && round.wrapping_sub(self.best[2].0) > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const RATE: Rate = Rate::from_bps(8_000_000);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// ACKs of 20 kB every 20 ms carry 8 Mbit/s: no ACK exceeds its interval permanently, and each is 20 kB early.
    #[test]
    fn held_back_acks_are_extra_by_what_one_release_delivers() {
        let mut extra = ExtraAcked::new(at(0));
        for release in 1..=8 {
            extra.acked((at(20 * release), 1), Bytes::new(20_000), RATE, Bytes::new(1 << 20), true);
        }
        assert_eq!(extra.max(), Bytes::new(20_000));
    }

    #[test]
    fn a_sample_is_at_most_the_window() {
        let mut extra = ExtraAcked::new(at(0));
        extra.acked((at(1), 0), Bytes::new(90_000), RATE, Bytes::new(30_000), true);
        assert_eq!(extra.max(), Bytes::new(30_000));
    }

    #[test]
    fn the_maximum_lasts_ten_rounds_and_in_start_up_one() {
        for (is_full, rounds) in [(true, WINDOW), (false, STARTUP_WINDOW)] {
            let mut extra = ExtraAcked::new(at(0));
            extra.acked((at(0), 0), Bytes::new(50_000), RATE, Bytes::new(1 << 20), is_full);
            for round in 1..=rounds {
                extra.acked(
                    (at(100 * u64::from(round)), round),
                    Bytes::new(3_000),
                    RATE,
                    Bytes::new(1 << 20),
                    is_full,
                );
                assert_eq!(extra.max(), Bytes::new(50_000), "round {round}");
            }
            let last = rounds + 1;
            extra.acked(
                (at(100 * u64::from(last)), last),
                Bytes::new(3_000),
                RATE,
                Bytes::new(1 << 20),
                is_full,
            );
            assert_eq!(extra.max(), Bytes::new(3_000));
        }
    }
}
