//! Quick-Start routers (RFC 4782 section 3.3 and appendix D; Scharf's analysis, section V): what a router does with
//! requests for the link that it is about to put them on.
//!
//! A router approves what its capacity, up to a threshold, has left beside the measured traffic and what it approved
//! in the recent past and may not have seen yet. It keeps no state of flows. Each link, and so each direction, has a
//! router of its own.

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
    /// How much of the capacity may be in use, approvals included, in millionths.
    pub threshold_ppm: u32,
    /// The interval of measurement, D.
    pub interval: Span,
    /// What is made of measurements.
    pub estimator: Estimator,
    /// Whether a request for more than there is gets what there is, rather than nothing.
    pub reduces: bool,
    /// For how many intervals, the present one included, an approval is remembered; at least one.
    /// [`RouterSpec::slots`] gives the analysis's number, two are those of RFC 4782 appendix D.
    pub slots: u8,
    /// What of these counts (choice-21).
    pub ring: Ring,
}

impl RouterSpec {
    /// The slots that remember an approval until the traffic of a flow with a round trip of `rtt_max` was measured:
    /// ⌈`RTTmax` / D⌉ + 2 (the analysis, section V-B).
    pub fn slots(rtt_max: Span, interval: Span) -> u8 {
        let intervals = rtt_max.nanos().div_ceil(interval.nanos().max(1));
        u8::try_from(intervals.saturating_add(2)).unwrap_or(u8::MAX)
    }
}

impl Default for RouterSpec {
    /// The analysis's: 100 ms, the newest interval, round trips of up to 500 ms; 95 % of the capacity; reduction.
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

/// A router at work.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    spec: RouterSpec,
    /// Of what its link carries; it approves everything for one that takes no time.
    meter: Option<Meter>,
    recent: Recent,
    random: Stream,
    pub(crate) stats: QuickStartStats,
}

impl Router {
    /// The router ahead of the link `id` of this rate, or along this trace in its place.
    pub(crate) fn new(
        spec: RouterSpec,
        (rate, rates): (Option<Rate>, Option<&RateTrace>),
        id: LinkId,
        seed: u64,
    ) -> Self {
        Self {
            spec,
            meter: Capacity::of(rate, rates)
                .map(|capacity| Meter::new(spec.interval, spec.estimator, capacity)),
            recent: Recent::new(spec.slots, spec.ring),
            random: Stream::new(seed, Purpose::QuickStart, id.0, 0),
            stats: QuickStartStats::default(),
        }
    }

    /// The link took a packet of `wire` bytes in.
    pub(crate) fn carries(&mut self, now: Time, wire: u32) {
        let Some(meter) = &mut self.meter else { return };
        let intervals = meter.carries(now, wire);
        self.recent.advance(intervals);
    }

    /// A request for a rate of `code` passes. What is left of it.
    fn admit(&mut self, now: Time, code: RateCode) -> RateCode {
        let Some(meter) = &mut self.meter else { return code };
        let intervals = meter.advance(now);
        self.recent.advance(intervals);
        let left = self.available(now);
        let fits = RateCode::down(Rate::from_bps(left)).min(code);
        // A rate that fills the capacity to the very threshold is not approved (RFC 4782 appendix D: strictly less).
        let fits = if fits.rate().bps() < left {
            fits
        } else {
            RateCode::down(Rate::from_bps(left.saturating_sub(1)))
        };
        let granted = if self.spec.reduces || fits == code { fits } else { RateCode::DENIED };
        self.recent.add(granted.rate());
        granted
    }

    /// Threshold × the capacity at the time, less what is in use and what was approved of late, in bit/s.
    fn available(&self, now: Time) -> u64 {
        let Some(meter) = &self.meter else { return u64::MAX };
        let allowed = u128::from(meter.rate_at(now).bps()) * u128::from(self.spec.threshold_ppm) / MILLION;
        let approved = u128::from(self.recent.approved().bps());
        u64::try_from(allowed.saturating_sub(meter.used(now) + approved)).unwrap_or(u64::MAX)
    }

    /// What a request for a rate becomes.
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

/// The option of a packet that crosses a hop, whose router takes part or not.
#[cold]
pub(crate) fn pass(now: Time, router: Option<&mut Router>, option: IpOption) -> IpOption {
    let IpOption::Request { rate, ttl, hop_limit, nonce } = option else { return option };
    // Every router lowers the IP header's TTL; one that does not know Quick-Start leaves the QS TTL behind, by which
    // the sender sees it.
    let hop_limit = hop_limit.wrapping_sub(1);
    match router {
        Some(router) if !rate.is_denied() => router.answer(now, rate, ttl, hop_limit, nonce),
        Some(_) | None => IpOption::Request { rate, ttl, hop_limit, nonce },
    }
}

#[cfg(test)]
mod tests;
