//! The utilisation of a link, measured over intervals.
//!
//! The meter needs no events. The work done by an instant is exactly the work accepted minus the work still to be done
//! then.

use firstflight::{Rate, Span, Time};

use super::capacity::Capacity;

/// The number of parts into which stored means divide a unit of work.
const SCALE: u64 = 1 << 10;

/// A router's estimate of the utilisation of its link, from measurements over intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimator {
    /// The utilisation in the newest interval.
    Interval,
    /// The mean of intervals with exponentially falling weights.
    Ewma {
        /// The weight of the newest interval, in millionths.
        weight_ppm: u32,
    },
    /// The maximum utilisation of the newest intervals.
    Peak {
        /// Number of intervals; at least one. RFC 4782 appendix B.2 mentions 3 to 20 of 0.15 s.
        intervals: u8,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Meter {
    interval: u64,
    estimator: Estimator,
    /// The end of the present interval.
    ends: u64,
    capacity: Capacity,
    /// The accepted work, in the units of the capacity.
    work: u64,
    /// The work that had been done by the end of the last interval.
    before: u64,
    /// The mean, in units of work times [`SCALE`]. The next field holds the newest intervals as a ring, in units of
    /// work.
    mean: u64,
    newest: Vec<u64>,
    /// Number of intervals that are over.
    over: u64,
}

impl Meter {
    pub(super) fn new(interval: Span, estimator: Estimator, capacity: Capacity) -> Self {
        let interval = interval.nanos().max(1);
        let kept = match estimator {
            Estimator::Interval | Estimator::Ewma { .. } => 1,
            Estimator::Peak { intervals } => usize::from(intervals.max(1)),
        };
        Self {
            interval,
            estimator,
            ends: interval,
            capacity,
            work: 0,
            before: 0,
            mean: 0,
            newest: vec![0; kept],
            over: 0,
        }
    }

    /// Counts a packet of `wire` bytes that the link accepted. Returns the number of intervals that ended before.
    pub(super) fn carries(&mut self, now: Time, wire: u32) -> u64 {
        let intervals = self.advance(now);
        self.work = self.work.saturating_add(self.capacity.take(now, wire));
        intervals
    }

    /// Ends the intervals that are over by `now`. Returns their number.
    pub(super) fn advance(&mut self, now: Time) -> u64 {
        if now.nanos() < self.ends {
            return 0;
        }
        let before = self.over;
        // Once all accepted work is done and the remembered intervals are idle, further intervals change nothing.
        let last = now.nanos();
        while self.ends <= last {
            let idle = self.ends >= self.capacity.done_at().saturating_add(self.interval);
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
        // Along a trace the end of a transmission is rounded to a nanosecond, in which a fast step carries more than a
        // bit.
        let done = self.done_by(self.ends).max(self.before);
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

    /// Returns the work that is done by an instant.
    fn done_by(&self, at: u64) -> u64 {
        self.work.saturating_sub(self.capacity.left(at))
    }

    /// Returns the rate of the link at an instant.
    pub(super) fn rate_at(&self, now: Time) -> Rate {
        self.capacity.rate_at(now)
    }

    /// Returns the estimate in bit/s, rounded up.
    pub(super) fn used(&self, now: Time) -> u128 {
        let (work, nanos) = self.done(now);
        let unit = self.capacity.of_one_a_nanosecond().bps();
        (u128::from(unit) * u128::from(work)).div_ceil(u128::from(nanos.max(1)))
    }

    /// Returns the estimate: an amount of work, and the nanoseconds that it took. Before the end of the first interval
    /// the work is that done so far.
    fn done(&self, now: Time) -> (u64, u64) {
        if self.over == 0 {
            return (self.done_by(now.nanos()), now.nanos());
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
    use crate::trace::RateTrace;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A byte takes a millisecond; intervals are of 100 ms.
    fn meter(estimator: Estimator) -> Meter {
        along(None, estimator)
    }

    fn along(trace: Option<&RateTrace>, estimator: Estimator) -> Meter {
        let capacity = Capacity::of(Some(Rate::from_bps(8_000)), trace);
        Meter::new(Span::from_millis(100), estimator, capacity.expect("it takes time"))
    }

    /// Returns the estimate in thousandths of 8 kbit/s.
    fn permille(meter: &Meter, now: Time) -> u128 {
        meter.used(now) / 8
    }

    #[test]
    fn work_that_waits_counts_when_it_is_done() {
        let mut meter = meter(Estimator::Interval);
        assert_eq!(meter.carries(at(50), 120), 0);
        assert_eq!(meter.advance(at(100)), 1);
        assert_eq!(permille(&meter, at(100)), 500);
        assert_eq!(meter.advance(at(210)), 1);
        assert_eq!(permille(&meter, at(210)), 700);
        assert_eq!(meter.advance(at(350)), 1);
        assert_eq!(permille(&meter, at(350)), 0);
    }

    #[test]
    fn a_partial_first_interval_counts_up_to_the_present() {
        let mut meter = meter(Estimator::Interval);
        assert_eq!(permille(&meter, at(0)), 0);
        meter.carries(at(10), 5);
        assert_eq!(permille(&meter, at(20)), 250);
    }

    #[test]
    fn a_mean_begins_with_the_first_interval_and_moves_by_its_weight() {
        let mut meter = meter(Estimator::Ewma { weight_ppm: 100_000 });
        meter.carries(at(0), 50);
        meter.advance(at(100));
        assert_eq!(permille(&meter, at(100)), 500);
        meter.carries(at(100), 100);
        meter.advance(at(200));
        assert_eq!(permille(&meter, at(200)), 550);
    }

    #[test]
    fn a_peak_is_remembered_for_as_many_intervals_as_it_says() {
        let mut meter = meter(Estimator::Peak { intervals: 3 });
        meter.carries(at(0), 80);
        for now in [100, 200, 300] {
            meter.advance(at(now));
            assert_eq!(permille(&meter, at(now)), 800);
        }
        meter.advance(at(400));
        assert_eq!(permille(&meter, at(400)), 0);
    }

    #[test]
    fn a_long_silence_ends_all_its_intervals() {
        let mut meter = meter(Estimator::Ewma { weight_ppm: 500_000 });
        meter.carries(at(0), 100);
        assert_eq!(meter.advance(at(1_000_000_050)), 10_000_000);
        assert_eq!(permille(&meter, at(1_000_000_050)), 0);
        assert_eq!(meter.advance(at(1_000_000_100)), 1);
    }

    #[test]
    fn a_meter_on_a_rate_trace_counts_carried_bits_per_interval() {
        // The rate is 8 kbit/s, from 150 ms on 80, none from 250 to 320 ms, then 40.
        let steps = [(0, 8_000), (150, 80_000), (250, 0), (320, 40_000)];
        let trace = RateTrace::new(&steps.map(|(millis, bps)| (at(millis), Rate::from_bps(bps))));
        let mut meter = along(trace.ok().as_ref(), Estimator::Interval);
        // The work done is 100 bytes by 100 ms, 50 more by 150, 500 by 200, 500 by 250, 400 by 400, and the last 100 by
        // 420 ms.
        for byte in 0..1_650 {
            meter.carries(at(0), 1);
            assert!(byte > 0 || permille(&meter, at(0)) == 0);
        }
        assert_eq!(meter.used(at(50)), 8_000);
        let mut used = |millis| {
            meter.advance(at(millis));
            (meter.used(at(millis)), meter.rate_at(at(millis)).bps())
        };
        assert_eq!(used(100), (8_000, 8_000));
        assert_eq!(used(200), (8 * 5_500, 80_000));
        assert_eq!(used(300), (8 * 5_000, 0));
        assert_eq!(used(400), (8 * 4_000, 40_000));
        assert_eq!(used(500), (8 * 1_000, 40_000));
        assert_eq!(used(600), (0, 40_000));
    }
}
