//! The RTT estimator and the retransmission timeout (RFC 6298).

use firstflight::Span;

use super::dialect::estimator::LinuxEstimator;
use crate::config::RtoFloor;

/// The RTO after a lost SYN (RFC 6298 section 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::from_secs(3);
/// Minimum of the RTO's variation term (Linux `TCP_RTO_MIN`).
const MIN_VARIATION: Span = Span::from_millis(200);
/// Minimum of the RTO's variation term in ns-2: three quarters of a clock tick of 10 ms, times four.
const LEAST_VARIATION_OF_NS2: Span = Span::from_millis(30);
/// Maximum RTO. RFC 6298 section 2.5 allows one of at least 60 seconds.
const MAX_RTO: Span = Span::from_secs(60);
/// Maximum RTO of Linux (`TCP_RTO_MAX`).
const MAX_RTO_OF_LINUX: Span = Span::from_secs(120);

/// Maximum RTT sample, 36 years. Longer samples are limited to it, so that sums of a few samples cannot overflow.
const LONGEST: Span = Span::from_nanos(1 << 60);
const UNKNOWN: u64 = u64::MAX;

/// The smoothed RTT, its variation, and the RTO that is computed from them.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// The smoothed RTT in nanoseconds; [`UNKNOWN`] before the first sample.
    srtt: u64,
    rttvar: u64,
    latest: Option<Span>,
    /// The minimum RTT; [`Span::MAX`] before the first sample.
    min: Span,
    min_rto: Span,
    /// Minimum of the RTO's variation term, in nanoseconds.
    least_variation: u64,
    /// The maximum RTO.
    most: Span,
    /// Maximum smoothed RTT, in nanoseconds, for which twice the smoothed RTT never exceeds the RTO. Used for a quick check.
    short: u64,
    backoff: u32,
    /// Number of samples, modulo 2^32.
    samples: u32,
    linux: Option<Box<LinuxEstimator>>,
    /// The RTO before the first sample, without doubling.
    initial: Span,
}

/// Bounds of the RTO.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Minimum RTO.
    timeout: Span,
    /// Minimum of the variation term of the RTO.
    variation: Span,
    /// RTO before any sample, if no other bound is greater.
    initial: Span,
}

impl Bounds {
    /// Computes the bounds for the minimum RTO `min_rto`, the rule `floor`, and an RTO of `initial` before any sample.
    pub(crate) fn new(floor: RtoFloor, min_rto: Span, initial: Span) -> Self {
        let min_rto = min_rto.min(LONGEST);
        match floor {
            // Every ACK gives a sample, so on a steady path the variation falls to zero and the RTO to the RTT itself. To avoid this, the
            // RFC bounds the variation term by the clock's granularity. Like Linux, this code bounds it by the minimum RTO instead, at most
            // Linux's 200 ms.
            RtoFloor::Timeout => Self {
                timeout: min_rto,
                variation: min_rto.min(MIN_VARIATION),
                initial: initial.max(min_rto),
            },
            RtoFloor::Ns2 => Self {
                timeout: min_rto,
                variation: min_rto.min(LEAST_VARIATION_OF_NS2),
                initial: initial.max(min_rto),
            },
            RtoFloor::Variation => Self { timeout: Span::ZERO, variation: min_rto, initial },
        }
    }
}

impl RttEstimator {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        // For RTTs up to `short`, `2 * srtt <= srtt + least_variation` or `2 * srtt <= min_rto`, unless `most` is smaller.
        let Bounds { timeout: min_rto, variation: least_variation, initial } = *bounds;
        let most = MAX_RTO.max(min_rto);
        Self {
            srtt: UNKNOWN,
            short: least_variation.max(min_rto / 2).min(most / 2).nanos(),
            rttvar: 0,
            latest: None,
            min: Span::MAX,
            min_rto,
            least_variation: least_variation.nanos(),
            most,
            backoff: 0,
            samples: 0,
            linux: None,
            initial,
        }
    }

    /// Creates an estimator that works like Linux's.
    pub(crate) fn as_linux(bounds: &Bounds) -> Self {
        let linux = Some(Box::new(LinuxEstimator::new(bounds.variation)));
        Self { linux, most: MAX_RTO_OF_LINUX.max(bounds.timeout), ..Self::new(bounds) }
    }

    /// Processes samples as Linux does (`tcp_ack_update_rtt`). `rtt` is the RTT of the oldest segment that an ACK acknowledges, for the
    /// estimate. `newest` is the RTT of the newest segment, for the minimum RTT. The data from `una` to `nxt` is outstanding.
    pub(crate) fn sample_as_linux(&mut self, rtt: Span, newest: Span, una: u64, nxt: u64) {
        let Some(linux) = &mut self.linux else { return self.sample(newest) };
        linux.sample(rtt, una, nxt);
        self.latest = Some(newest);
        self.samples = self.samples.wrapping_add(1);
        self.min = self.min.min(newest);
        self.srtt = linux.smoothed().nanos();
        self.rttvar = linux.deviation().nanos();
        self.backoff = 0;
    }

    /// Processes a sample and ends the doubling of the RTO.
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        self.smooth(rtt);
    }

    /// Adds a sample to the estimate (RFC 6298 sections 2.2 and 2.3: alpha = 1/8, beta = 1/4, K = 4).
    pub(crate) fn smooth(&mut self, rtt: Span) {
        self.smooth_ordinary(rtt.clamp(Span::from_nanos(1), LONGEST));
    }

    /// Checks whether a sample is neither 0 nor too long (`LONGEST`).
    #[inline]
    pub(crate) fn is_ordinary(rtt: Span) -> bool {
        // One comparison checks both bounds.
        rtt.nanos().wrapping_sub(1) < LONGEST.nanos()
    }

    /// Smooths the RTT, as [`RttEstimator::smooth`], by a sample for which [`RttEstimator::is_ordinary`] holds.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from two places, one of which seldom comes to it")]
    pub(crate) fn smooth_ordinary(&mut self, rtt: Span) {
        debug_assert!(Self::is_ordinary(rtt), "{rtt:?}");
        self.latest = Some(rtt);
        self.samples = self.samples.wrapping_add(1);
        self.min = self.min.min(rtt);
        let rtt = rtt.nanos();
        if self.srtt == UNKNOWN {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
        } else {
            self.rttvar = self.rttvar * 3 / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt * 7 / 8 + rtt / 8;
        }
    }

    /// Returns the RTO without doubling (RFC 6298 section 2.3).
    fn timeout(&self) -> Span {
        Span::from_nanos(self.srtt + (self.rttvar * 4).max(self.least_variation)).max(self.min_rto)
    }

    /// Returns a quick lower bound, in nanoseconds, of the times after which the RTO (if it was not doubled) and the probe (RFC 8985
    /// section 7.2) fire.
    #[inline]
    pub(crate) fn least_wait(&self) -> u64 {
        if self.srtt <= self.short { self.srtt * 2 } else { self.least_long_wait() }
    }

    /// Returns the wait of [`RttEstimator::least_wait`] if the RTT is unknown, or so long that the probe may come as late as the RTO.
    #[inline(never)]
    fn least_long_wait(&self) -> u64 {
        if self.srtt == UNKNOWN {
            return 0;
        }
        let timeout = (self.srtt + self.least_variation).max(self.min_rto.nanos()).min(self.most.nanos());
        (self.srtt * 2).min(timeout)
    }

    /// Doubles the RTO (RFC 6298 section 5.5), until there is a sample (Karn's algorithm). Without timestamps, the ACK of a retransmission
    /// gives no sample and does not end the doubling. Otherwise, if the RTT exceeds the RTO, there would never be a sample, and the timer
    /// would always fire too early.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    pub(crate) fn syn_was_lost(&mut self) {
        self.initial = self.initial.max(RTO_AFTER_LOST_SYN).max(self.min_rto);
        self.backoff = 0;
    }

    /// Returns the RTO: the base value, doubled as many times as [`RttEstimator::back_off`] was called since the last sample.
    pub(crate) fn rto(&self) -> Span {
        let base = match (&self.linux, self.srtt()) {
            (_, None) => self.initial,
            (Some(linux), Some(_)) => linux.timeout().max(self.min_rto),
            (None, Some(_)) => self.timeout(),
        };
        (base * (1 << self.backoff)).min(self.most)
    }

    /// Returns the minimum RTO of the host, whichever part of the RTO it bounds.
    #[inline]
    pub(crate) fn least(&self) -> Span {
        self.min_rto.max(Span::from_nanos(self.least_variation))
    }

    /// Returns how many times the RTO was doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    pub(crate) fn variation(&self) -> Span {
        Span::from_nanos(self.rttvar)
    }

    /// Returns the fine-grained timeout of Vegas. Brakmo and Peterson refer to Jacobson's formula; ns-2 (`tcp-vegas.cc`) uses 17/16 of the
    /// sum of srtt and twice the variation. `None` before the first sample.
    pub(crate) fn fine(&self) -> Option<Span> {
        self.srtt().map(|srtt| (srtt + self.variation() * 2).scale(17, 16))
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        (self.srtt != UNKNOWN).then(|| Span::from_nanos(self.srtt))
    }

    pub(crate) fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// Returns the number of samples, modulo 2^32.
    pub(crate) fn samples(&self) -> u32 {
        self.samples
    }

    pub(crate) fn min(&self) -> Option<Span> {
        self.latest.map(|_| self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(floor: RtoFloor, min_rto: Span) -> Bounds {
        Bounds::new(floor, min_rto, Span::from_secs(1))
    }

    fn estimator(min_rto: Span) -> RttEstimator {
        RttEstimator::new(&bounds(RtoFloor::Timeout, min_rto))
    }

    /// RFC 6298 section 2.4 bounds the timeout; Linux `tcp_rtt_estimator` with `tcp_rto_min` bounds its variation term.
    #[test]
    fn the_minimum_rto_bounds_the_timeout_or_its_variation_term() {
        let after = |floor, make: fn(&Bounds) -> RttEstimator| {
            let mut rtt = make(&bounds(floor, Span::from_secs(1)));
            for _ in 0..200 {
                rtt.sample_as_linux(Span::from_millis(300), Span::from_millis(300), 0, 0);
            }
            rtt.rto()
        };
        for make in [RttEstimator::new, RttEstimator::as_linux] {
            assert_eq!(after(RtoFloor::Timeout, make), Span::from_secs(1));
            assert_eq!(after(RtoFloor::Variation, make).nanos().div_ceil(1_000_000), 1_300);
        }
    }

    /// `TcpAgent::rtt_timeout` of ns-2 bounds only the whole timeout; `rtt_update` keeps three quarters of a tick of variation.
    #[test]
    fn the_floor_of_ns2_adds_no_minimum_to_a_long_round_trip() {
        let after = |floor, path| {
            let mut rtt = RttEstimator::new(&bounds(floor, Span::from_millis(200)));
            for _ in 0..200 {
                rtt.sample(Span::from_millis(path));
            }
            rtt.rto().nanos().div_ceil(1_000_000)
        };
        assert_eq!([80, 160, 240].map(|path| after(RtoFloor::Ns2, path)), [200, 200, 270]);
        assert_eq!([80, 160, 240].map(|path| after(RtoFloor::Timeout, path)), [280, 360, 440]);
    }

    /// RFC 6298 section 2.1 defines this timeout.
    #[test]
    fn the_initial_timeout_is_configured_and_bounded_only_under_a_timeout_floor() {
        let at_first = |floor, initial| {
            RttEstimator::new(&Bounds::new(floor, Span::from_secs(1), Span::from_millis(initial))).rto()
        };
        assert_eq!(at_first(RtoFloor::Timeout, 3_000), Span::from_secs(3));
        assert_eq!(at_first(RtoFloor::Timeout, 300), Span::from_secs(1));
        assert_eq!(at_first(RtoFloor::Variation, 300), Span::from_millis(300));
    }

    #[test]
    fn the_first_sample_sets_the_timeout_to_three_times_itself() {
        let mut rtt = estimator(Span::ZERO);
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.srtt(), Some(Span::from_millis(100)));
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    #[test]
    fn later_samples_update_srtt_by_an_eighth_and_rttvar_by_a_quarter() {
        let mut rtt = estimator(Span::ZERO);
        rtt.sample(Span::from_millis(80));
        rtt.sample(Span::from_millis(160));
        // rttvar = 3/4 * 40 + 1/4 * |80 - 160| = 50; srtt = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rtt.srtt(), Some(Span::from_millis(90)));
        assert_eq!(rtt.rto(), Span::from_millis(290));
    }

    #[test]
    fn the_timeout_respects_its_minimum_and_doubles_up_to_a_minute() {
        let mut rtt = estimator(Span::from_secs(1));
        rtt.sample(Span::from_millis(10));
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_secs(4));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.sample(Span::from_millis(10));
        assert_eq!(rtt.rto(), Span::from_secs(1));
    }

    #[test]
    fn on_a_steady_path_the_timeout_stays_well_above_the_round_trip() {
        let mut rtt = estimator(Span::from_millis(200));
        for _ in 0..1_000 {
            rtt.sample(Span::from_millis(600));
        }
        assert!(rtt.rto() >= Span::from_millis(800), "{:?}", rtt.rto());
    }

    #[test]
    fn a_lost_syn_makes_the_timeout_three_seconds() {
        let mut rtt = estimator(Span::from_millis(200));
        rtt.syn_was_lost();
        assert_eq!(rtt.rto(), Span::from_secs(3));
    }
}
