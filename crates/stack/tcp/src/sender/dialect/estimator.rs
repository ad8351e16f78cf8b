//! Linux's RTT estimator (`tcp_rtt_estimator`). Unlike in RFC 6298, the variation rises slowly while the RTT falls, falls only once per
//! RTT, and is at least a fourth of the minimum RTO.

use firstflight::Span;

/// State of the estimator. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct LinuxEstimator {
    /// `srtt_us`: eight times the smoothed RTT.
    srtt: i64,
    /// `mdev_us`: four times the mean deviation.
    deviation: i64,
    /// `mdev_max_us`: the maximum of `mdev_us` in the current RTT.
    greatest: i64,
    /// `rttvar_us`: the term that the RTO adds to the smoothed RTT.
    variation: i64,
    /// `rtt_seq`: the next RTT begins when this stream offset is acknowledged.
    until: u64,
    /// `tcp_rto_min`: the minimum of `rttvar_us`.
    least: i64,
}

impl LinuxEstimator {
    /// Creates an estimator without samples. The term that the RTO adds to the smoothed RTT will be at least `least`.
    pub(in crate::sender) fn new(least: Span) -> Self {
        let least = i64::try_from(least.nanos()).unwrap_or(i64::MAX / 16).min(i64::MAX / 16);
        Self { srtt: 0, deviation: 0, greatest: 0, variation: 0, until: 0, least }
    }

    /// Processes an RTT sample while the data from `una` to `nxt` is outstanding.
    pub(in crate::sender) fn sample(&mut self, rtt: Span, una: u64, nxt: u64) {
        let rtt = i64::try_from(rtt.nanos()).unwrap_or(i64::MAX / 16).min(i64::MAX / 16);
        if self.srtt == 0 {
            self.srtt = (rtt * 8).max(1);
            self.deviation = rtt * 2;
            self.variation = self.deviation.max(self.least);
            self.greatest = self.variation;
            self.until = nxt;
            return;
        }
        let error = rtt - self.srtt / 8;
        self.srtt = (self.srtt + error).max(1);
        let more = error.abs() - self.deviation / 4;
        self.deviation += if error < 0 && more > 0 { more / 8 } else { more };
        if self.deviation > self.greatest {
            self.greatest = self.deviation;
            self.variation = self.variation.max(self.greatest);
        }
        if una > self.until {
            if self.greatest < self.variation {
                self.variation -= (self.variation - self.greatest) / 4;
            }
            self.until = nxt;
            self.greatest = self.least;
        }
    }

    pub(in crate::sender) fn smoothed(&self) -> Span {
        span(self.srtt / 8)
    }

    pub(in crate::sender) fn deviation(&self) -> Span {
        span(self.deviation / 4)
    }

    /// Returns the RTO (`tcp_set_rto`).
    pub(in crate::sender) fn timeout(&self) -> Span {
        span(self.srtt / 8 + self.variation)
    }
}

fn span(nanos: i64) -> Span {
    Span::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: &[u64]) -> LinuxEstimator {
        let mut estimator = LinuxEstimator::new(Span::from_millis(200));
        let mut nxt = 0;
        for sample in samples {
            estimator.sample(Span::from_millis(*sample), nxt, nxt + 10);
            nxt += 10;
        }
        estimator
    }

    #[test]
    fn the_timeout_on_a_steady_path_is_rtt_plus_200_ms() {
        assert_eq!(after(&[80]).timeout(), Span::from_millis(280));
        assert_eq!(after(&[80; 40]).timeout(), Span::from_millis(280));
    }

    #[test]
    fn a_longer_rtt_raises_the_deviation_immediately_and_a_shorter_one_gradually() {
        // The deviation is 4 x 200 = 800 ms at first. The error of 100 ms minus a fourth of this is negative.
        assert_eq!(after(&[400, 500]).deviation(), Span::from_millis(175));
        let (mut longer, mut shorter) = (after(&[100; 30]), after(&[100; 30]));
        longer.sample(Span::from_millis(180), 300, 310);
        shorter.sample(Span::from_millis(20), 300, 310);
        assert!(longer.deviation() > shorter.deviation() * 5, "{longer:?} {shorter:?}");
        assert_eq!((longer.smoothed(), shorter.smoothed()), (Span::from_millis(110), Span::from_millis(90)));
    }
}
