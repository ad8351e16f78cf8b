//! The round-trip estimator and the retransmission timeout (RFC 6298).

use firstflight::Span;

use super::dialect::LinuxEstimator;
use crate::config::RtoFloor;

/// RFC 6298 section 5.7: after a lost SYN.
const RTO_AFTER_LOST_SYN: Span = Span::from_secs(3);
/// Linux `TCP_RTO_MIN`, which bounds the variation's share of the timeout.
const LEAST_VARIATION: Span = Span::from_millis(200);
/// RFC 6298 section 2.5: a maximum may be placed on the RTO, of at least 60 seconds.
const MAX_RTO: Span = Span::from_secs(60);
/// Linux `TCP_RTO_MAX`.
const MAX_RTO_OF_LINUX: Span = Span::from_secs(120);

/// A longer round trip counts as this, 36 years, so that sums of a few cannot overflow.
const LONGEST: Span = Span::from_nanos(1 << 60);
const UNKNOWN: u64 = u64::MAX;

/// Smoothed round-trip time, its variation, and the timeout made of them.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// In nanoseconds; [`UNKNOWN`] before the first sample.
    srtt: u64,
    rttvar: u64,
    latest: Option<Span>,
    /// [`Span::MAX`] before the first.
    min: Span,
    min_rto: Span,
    /// The least that the variation counts for in the timeout, in nanoseconds.
    least_variation: u64,
    /// The greatest timeout.
    most: Span,
    /// A round trip that takes no longer than these nanoseconds is over twice before any timeout.
    short: u64,
    backoff: u32,
    /// How many samples there were, modulo 2^32.
    samples: u32,
    linux: Option<Box<LinuxEstimator>>,
    /// The timeout before there is a sample, not doubled.
    initial: Span,
}

/// What bounds the timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The least timeout.
    timeout: Span,
    /// The least that the variation counts for in the timeout.
    variation: Span,
    /// The timeout before any sample, if no bound is greater.
    initial: Span,
}

impl Bounds {
    /// The bounds for a least timeout of `min_rto` by the rule `floor`, and the timeout before any sample.
    pub(crate) fn new(floor: RtoFloor, min_rto: Span, initial: Span) -> Self {
        let min_rto = min_rto.min(LONGEST);
        match floor {
            // Samples come with every ACK, so on a steady path the variation falls to nothing and the timer to the
            // round trip itself. The RFC puts the clock's granularity under the variation for that; like Linux we put the
            // least timeout there, up to its 200 ms.
            RtoFloor::Timeout => Self {
                timeout: min_rto,
                variation: min_rto.min(LEAST_VARIATION),
                initial: initial.max(min_rto),
            },
            RtoFloor::Variation => Self { timeout: Span::ZERO, variation: min_rto, initial },
        }
    }
}

impl RttEstimator {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        // Twice the round trip is at most itself and the least variation, or at most the least timeout.
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

    /// An estimator that works as Linux's.
    pub(crate) fn as_linux(bounds: &Bounds) -> Self {
        let linux = Some(Box::new(LinuxEstimator::new(bounds.variation)));
        Self { linux, most: MAX_RTO_OF_LINUX.max(bounds.timeout), ..Self::new(bounds) }
    }

    /// A sample of the oldest segment that an ACK acknowledges goes into the estimate; the round trip of the `newest` into the
    /// least round trip (Linux `tcp_ack_update_rtt`). The stream from `una` to `nxt` is outstanding.
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

    /// A sample, after which the timeout is not doubled.
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        self.smooth(rtt);
    }

    /// RFC 6298 sections 2.2 and 2.3: alpha = 1/8, beta = 1/4, K = 4.
    pub(crate) fn smooth(&mut self, rtt: Span) {
        self.smooth_ordinary(rtt.clamp(Span::from_nanos(1), LONGEST));
    }

    /// Whether a sample is neither 0 nor longer than the longest that counts.
    #[inline]
    pub(crate) fn is_ordinary(rtt: Span) -> bool {
        // Both bounds are looked at in a step.
        rtt.nanos().wrapping_sub(1) < LONGEST.nanos()
    }

    /// [`RttEstimator::smooth`], for a sample that is ordinary.
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

    /// RFC 6298 section 2.3.
    fn timeout(&self) -> Span {
        Span::from_nanos(self.srtt + (self.rttvar * 4).max(self.least_variation)).max(self.min_rto)
    }

    /// Nanoseconds before which neither the timeout, if it was not doubled, nor the probe (RFC 8985 section 7.2) fires, as far
    /// as a short look tells.
    #[inline]
    pub(crate) fn least_wait(&self) -> u64 {
        if self.srtt <= self.short { self.srtt * 2 } else { self.least_long_wait() }
    }

    /// [`RttEstimator::least_wait`], where the round trip is not known, or is so long that the probe may come as late as the
    /// timeout.
    #[inline(never)]
    fn least_long_wait(&self) -> u64 {
        if self.srtt == UNKNOWN {
            return 0;
        }
        let timeout = (self.srtt + self.least_variation).max(self.min_rto.nanos()).min(self.most.nanos());
        (self.srtt * 2).min(timeout)
    }

    /// Doubles the timeout (RFC 6298 section 5.5), until there is a sample (Karn's algorithm). Without timestamps an ACK of
    /// what was sent again gives no sample and does not end the doubling: where the round trip is longer than the timeout there
    /// would never be a sample, and the timer would go off too soon for ever.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    pub(crate) fn syn_was_lost(&mut self) {
        self.initial = self.initial.max(RTO_AFTER_LOST_SYN).max(self.min_rto);
        self.backoff = 0;
    }

    /// The timeout: its base doubled as often as it was backed off.
    pub(crate) fn rto(&self) -> Span {
        let base = match (&self.linux, self.srtt()) {
            (_, None) => self.initial,
            (Some(linux), Some(_)) => linux.timeout().max(self.min_rto),
            (None, Some(_)) => self.timeout(),
        };
        (base * (1 << self.backoff)).min(self.most)
    }

    /// What the host has as the least timeout, whichever part of the timeout that bounds.
    #[inline]
    pub(crate) fn least(&self) -> Span {
        self.min_rto.max(Span::from_nanos(self.least_variation))
    }

    /// How often the timeout was doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    pub(crate) fn variation(&self) -> Span {
        Span::from_nanos(self.rttvar)
    }

    /// The fine-grained timeout of Vegas. Brakmo and Peterson leave the formula to Jacobson's; ns-2
    /// (`tcp-vegas.cc`) takes 17/16 of srtt and twice the variation.
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

    /// How many samples there were, modulo 2^32.
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

    /// RFC 6298 section 2.4, or Linux `tcp_rtt_estimator` with `tcp_rto_min`.
    #[test]
    fn the_least_timeout_is_under_the_timeout_or_under_what_it_adds_to_the_round_trip() {
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

    /// RFC 6298 section 2.1.
    #[test]
    fn before_any_sample_the_timeout_is_what_is_set_but_no_less_than_the_least() {
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
    fn later_samples_are_smoothed_by_an_eighth_and_the_variation_by_a_quarter() {
        let mut rtt = estimator(Span::ZERO);
        rtt.sample(Span::from_millis(80));
        rtt.sample(Span::from_millis(160));
        // rttvar = 3/4 * 40 + 1/4 * |80 - 160| = 50; srtt = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rtt.srtt(), Some(Span::from_millis(90)));
        assert_eq!(rtt.rto(), Span::from_millis(290));
    }

    #[test]
    fn the_timeout_is_never_below_its_minimum_and_doubles_up_to_a_minute() {
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
