//! How busy a link is, measured over intervals.
//!
//! Busy time is exact without an event of its own: of all the work that a link took in, what is not done at an
//! instant is what it still transmits after it.

use firstflight::{Span, Time};

use super::Estimator;

/// Fractions of a nanosecond in which means are kept.
const SCALE: u64 = 1 << 10;

#[derive(Clone, Debug)]
pub(super) struct Meter {
    interval: u64,
    estimator: Estimator,
    /// When the present interval ends.
    ends: u64,
    /// Nanoseconds of work taken in, and when it is done.
    work: u64,
    done_at: u64,
    /// Nanoseconds of work that were done by the end of the last interval.
    before: u64,
    /// The mean, or the newest intervals as a ring; in nanoseconds, the mean in fractions of them.
    mean: u64,
    newest: Vec<u64>,
    /// How many intervals are over.
    over: u64,
}

impl Meter {
    pub(super) fn new(interval: Span, estimator: Estimator) -> Self {
        let interval = interval.nanos().max(1);
        let kept = match estimator {
            Estimator::Interval | Estimator::Ewma { .. } => 1,
            Estimator::Peak { intervals } => usize::from(intervals.max(1)),
        };
        Self {
            interval,
            estimator,
            ends: interval,
            work: 0,
            done_at: 0,
            before: 0,
            mean: 0,
            newest: vec![0; kept],
            over: 0,
        }
    }

    /// The link took in work of this length; how many intervals ended before.
    pub(super) fn carries(&mut self, now: Time, work: Span) -> u64 {
        let intervals = self.advance(now);
        self.work = self.work.saturating_add(work.nanos());
        self.done_at = self.done_at.max(now.nanos()).saturating_add(work.nanos());
        intervals
    }

    /// Ends the intervals that are over by `now`; how many.
    pub(super) fn advance(&mut self, now: Time) -> u64 {
        if now.nanos() < self.ends {
            return 0;
        }
        let before = self.over;
        // Beyond what is still transmitted and what is remembered all intervals are alike.
        let last = now.nanos();
        while self.ends <= last {
            let idle = self.ends >= self.done_at.saturating_add(self.interval);
            let forgotten = self.over - before > 64 * (self.newest.len() as u64);
            if idle && forgotten {
                let skipped = (last - self.ends) / self.interval + 1;
                self.ends += skipped * self.interval;
                self.over += skipped;
                break;
            }
            self.end_interval();
        }
        self.over - before
    }

    fn end_interval(&mut self) {
        let done = self.work - self.done_at.saturating_sub(self.ends).min(self.work);
        let busy = done - self.before;
        self.before = done;
        self.ends += self.interval;
        let place = usize::try_from(self.over % self.newest.len() as u64).unwrap_or(0);
        self.newest[place] = busy;
        self.over += 1;
        if let Estimator::Ewma { weight_ppm } = self.estimator {
            let weight = u128::from(weight_ppm.min(1_000_000));
            let sample = u128::from(busy) * u128::from(SCALE);
            let mean = if self.over == 1 {
                sample
            } else {
                (u128::from(self.mean) * (1_000_000 - weight) + sample * weight) / 1_000_000
            };
            self.mean = u64::try_from(mean).unwrap_or(u64::MAX);
        }
    }

    /// The estimate as busy nanoseconds and of how many. Before the first interval is over, what there is of it.
    pub(super) fn busy(&self, now: Time) -> (u64, u64) {
        if self.over == 0 {
            let now = now.nanos();
            return (self.work - self.done_at.saturating_sub(now).min(self.work), now);
        }
        match self.estimator {
            Estimator::Interval | Estimator::Peak { .. } => {
                (self.newest.iter().copied().max().unwrap_or(0), self.interval)
            }
            Estimator::Ewma { .. } => (self.mean, self.interval * SCALE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// The estimate in thousandths.
    fn permille(meter: &Meter, now: Time) -> u64 {
        let (busy, of) = meter.busy(now);
        busy * 1_000 / of.max(1)
    }

    #[test]
    fn work_that_waits_counts_when_it_is_done() {
        let mut meter = Meter::new(ms(100), Estimator::Interval);
        assert_eq!(meter.carries(at(50), ms(120)), 0);
        assert_eq!(meter.advance(at(100)), 1);
        assert_eq!(permille(&meter, at(100)), 500);
        assert_eq!(meter.advance(at(210)), 1);
        assert_eq!(permille(&meter, at(210)), 700);
        assert_eq!(meter.advance(at(350)), 1);
        assert_eq!(permille(&meter, at(350)), 0);
    }

    #[test]
    fn before_the_first_interval_is_over_it_counts_as_far_as_it_goes() {
        let mut meter = Meter::new(ms(100), Estimator::Interval);
        assert_eq!(permille(&meter, at(0)), 0);
        meter.carries(at(10), ms(5));
        assert_eq!(permille(&meter, at(20)), 250);
    }

    #[test]
    fn a_mean_begins_with_the_first_interval_and_moves_by_its_weight() {
        let mut meter = Meter::new(ms(100), Estimator::Ewma { weight_ppm: 100_000 });
        meter.carries(at(0), ms(50));
        meter.advance(at(100));
        assert_eq!(permille(&meter, at(100)), 500);
        meter.carries(at(100), ms(100));
        meter.advance(at(200));
        assert_eq!(permille(&meter, at(200)), 550);
    }

    #[test]
    fn a_peak_is_remembered_for_as_many_intervals_as_it_says() {
        let mut meter = Meter::new(ms(100), Estimator::Peak { intervals: 3 });
        meter.carries(at(0), ms(80));
        for now in [100, 200, 300] {
            meter.advance(at(now));
            assert_eq!(permille(&meter, at(now)), 800);
        }
        meter.advance(at(400));
        assert_eq!(permille(&meter, at(400)), 0);
    }

    #[test]
    fn a_long_silence_ends_all_its_intervals() {
        let mut meter = Meter::new(ms(100), Estimator::Ewma { weight_ppm: 500_000 });
        meter.carries(at(0), ms(100));
        assert_eq!(meter.advance(at(1_000_000_050)), 10_000_000);
        assert_eq!(permille(&meter, at(1_000_000_050)), 0);
        assert_eq!(meter.advance(at(1_000_000_100)), 1);
    }
}
