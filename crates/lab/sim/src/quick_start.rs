//! Quick-Start routers (RFC 4782 section 3.3 and appendix D; Scharf's analysis, section V), which answer
//! requests for a rate.
//!
//! A router approves the capacity of its link up to a threshold, minus the measured traffic, and minus recent approvals whose traffic may
//! not have been measured yet. It keeps no per-flow state. Each link, and so each direction, has its own router.

mod capacity;
mod meter;
mod recent;

use firstflight::{Rate, RateCode, Span, Time};
use firstflight_tcp::quick_start::{IpOption, Nonce};

use crate::packet::LinkId;
use crate::random::{Purpose, Stream};
use crate::stats::QuickStartStats;
use crate::trace::RateTrace;
use capacity::Capacity;
pub use meter::Estimator;
use meter::Meter;
use recent::Recent;
pub use recent::Ring;

/// Parts in a whole of [`RouterSpec::threshold_ppm`].
const MILLION: u128 = 1_000_000;

/// A router that takes part in Quick-Start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouterSpec {
    /// Maximum share of the capacity in use, including approvals, in millionths.
    pub threshold_ppm: u32,
    /// The interval of measurement, D.
    pub interval: Span,
    /// Estimator of the measurements.
    pub estimator: Estimator,
    /// Whether a request that exceeds the available rate gets the available rate, rather than nothing.
    pub reduces: bool,
    /// Number of intervals, including the present one, for which an approval is remembered; at least one. [`RouterSpec::slots`] gives the
    /// number of the analysis; RFC 4782 appendix D has two.
    pub slots: u8,
    /// The slots whose approvals count as recent (choice-21).
    pub ring: Ring,
}

/// A router's answer to a request for a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Approval {
    /// The router approves up to the unused rate of the link by measurements.
    Unused(RouterSpec),
    /// Approves up to the present rate of the link, whatever the link carries. A host does this for its own interface.
    Capacity,
    /// Approves every request.
    All,
}

impl From<RouterSpec> for Approval {
    fn from(spec: RouterSpec) -> Self {
        Self::Unused(spec)
    }
}

impl RouterSpec {
    /// Returns the number of slots that remember an approval until the traffic of a flow with an RTT of `rtt_max` was measured: ⌈`RTTmax` /
    /// D⌉ + 2 (the analysis, section V-B).
    pub fn slots(rtt_max: Span, interval: Span) -> u8 {
        let intervals = rtt_max.nanos().div_ceil(interval.nanos().max(1));
        u8::try_from(intervals.saturating_add(2)).unwrap_or(u8::MAX)
    }
}

impl Default for RouterSpec {
    /// Returns the values of the analysis: an interval of 100 ms, the estimate of the newest interval, slots for round trips of up to 500
    /// ms, 95 % of the capacity, and reduction.
    fn default() -> Self {
        let interval = Span::from_millis(100);
        Self {
            threshold_ppm: 950_000,
            interval,
            estimator: Estimator::Interval,
            reduces: true,
            slots: Self::slots(Span::from_millis(500), interval),
            ring: Ring::Oldest,
        }
    }
}

/// The state of a router.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    policy: Policy,
    random: Stream,
    pub(crate) stats: QuickStartStats,
}

/// A router's knowledge of its link.
#[derive(Clone, Debug)]
enum Policy {
    /// The router approves every request. This is so before a link whose transmissions take no time.
    All,
    /// The router knows the link's rate only.
    Capacity(Capacity),
    /// The router knows the link's load and its recent approvals.
    Unused(Box<Unused>),
}

/// The unused rate of a link.
#[derive(Clone, Debug)]
struct Unused {
    spec: RouterSpec,
    meter: Meter,
    recent: Recent,
}

impl Router {
    /// Returns the router before the link `id`, which has this rate or follows this trace.
    pub(crate) fn new(
        approval: Approval,
        (rate, rates): (Option<Rate>, Option<&RateTrace>),
        id: LinkId,
        seed: u64,
    ) -> Self {
        let policy = match (approval, Capacity::of(rate, rates)) {
            (Approval::All, _) | (_, None) => Policy::All,
            (Approval::Capacity, Some(capacity)) => Policy::Capacity(capacity),
            (Approval::Unused(spec), Some(capacity)) => Policy::Unused(Box::new(Unused {
                spec,
                meter: Meter::new(spec.interval, spec.estimator, capacity),
                recent: Recent::new(spec.slots, spec.ring),
            })),
        };
        Self {
            policy,
            random: Stream::new(seed, Purpose::QuickStart, id.0, 0),
            stats: QuickStartStats::default(),
        }
    }

    /// Counts a packet of `wire` bytes that the link accepted.
    pub(crate) fn carries(&mut self, now: Time, wire: u32) {
        let Policy::Unused(unused) = &mut self.policy else { return };
        let intervals = unused.meter.carries(now, wire);
        unused.recent.advance(intervals);
    }

    /// Handles a request for the rate `code`. Returns the approved rate.
    fn admit(&mut self, now: Time, code: RateCode) -> RateCode {
        match &mut self.policy {
            Policy::All => code,
            Policy::Capacity(capacity) => RateCode::down(capacity.rate_at(now)).min(code),
            Policy::Unused(unused) => unused.admit(now, code),
        }
    }

    /// Returns the answer to a request for a rate.
    fn answer(&mut self, now: Time, rate: RateCode, ttl: u8, hop_limit: u8, nonce: Nonce) -> IpOption {
        let granted = self.admit(now, rate);
        self.count(rate, granted);
        if granted.is_denied() {
            return IpOption::Request { rate: granted, ttl: 0, hop_limit, nonce: Nonce::default() };
        }
        #[expect(clippy::cast_possible_truncation, reason = "half of the random bits are enough")]
        let nonce =
            if granted < rate { nonce.lowered(rate, granted, self.random.bits() as u32) } else { nonce };
        IpOption::Request { rate: granted, ttl: ttl.wrapping_sub(1), hop_limit, nonce }
    }

    fn count(&mut self, asked: RateCode, granted: RateCode) {
        self.stats.asked += 1;
        match granted {
            RateCode::DENIED => self.stats.refused += 1,
            code if code == asked => self.stats.granted += 1,
            _ => self.stats.reduced += 1,
        }
    }
}

impl Unused {
    /// Handles a request for the rate `code`. Returns the approved rate.
    fn admit(&mut self, now: Time, code: RateCode) -> RateCode {
        let intervals = self.meter.advance(now);
        self.recent.advance(intervals);
        let left = self.available(now);
        let fits = RateCode::down(Rate::from_bps(left)).min(code);
        // A rate that fills the capacity exactly to the threshold is not approved (RFC 4782 appendix D: strictly less).
        let fits = if fits.rate().bps() < left {
            fits
        } else {
            RateCode::down(Rate::from_bps(left.saturating_sub(1)))
        };
        let granted = if self.spec.reduces || fits == code { fits } else { RateCode::DENIED };
        self.recent.add(granted.rate());
        granted
    }

    /// Returns the rate that may be approved, in bit/s: the threshold's share of the capacity, minus the traffic and the recent approvals.
    fn available(&self, now: Time) -> u64 {
        let allowed =
            u128::from(self.meter.rate_at(now).bps()) * u128::from(self.spec.threshold_ppm) / MILLION;
        let approved = u128::from(self.recent.approved().bps());
        u64::try_from(allowed.saturating_sub(self.meter.used(now) + approved)).unwrap_or(u64::MAX)
    }
}

/// Returns the option of a packet after a hop. `router` is the hop's router, if it takes part.
#[cold]
pub(crate) fn pass(now: Time, router: Option<&mut Router>, option: IpOption) -> IpOption {
    let IpOption::Request { rate, ttl, hop_limit, nonce } = option else { return option };
    // Every router lowers the IP header's TTL. One that does not know Quick-Start leaves the QS TTL unchanged, and the sender sees the
    // difference.
    let hop_limit = hop_limit.wrapping_sub(1);
    match router {
        Some(router) if !rate.is_denied() => router.answer(now, rate, ttl, hop_limit, nonce),
        Some(_) | None => IpOption::Request { rate, ttl, hop_limit, nonce },
    }
}

#[cfg(test)]
mod tests;
