//! The time before the measured flow begins. Other traffic reaches its steady state in this time.

use firstflight::Span;

use super::Scenario;
use crate::cross_entries::Beside;
use crate::keywords::Cross;
use crate::quantity::nanos;

/// The warm-up of responsive cross traffic is the maximum of this time and [`WARM_UP_RTTS`] base RTTs. If a transfer has a limit, these
/// RTTs last at most as long as the limit.
const WARM_UP: Span = Span::from_secs(10);
const WARM_UP_RTTS: u64 = 100;
/// The number of arrivals after which the number of concurrent transfers is steady. A warm-up of transfers ends after them if they take
/// less than [`WARM_UP`].
const WARM_UP_TRANSFERS: f64 = 50_000.0;
/// Quick-Start's routers measure before the flow begins for the maximum of this time and [`MEASURING_INTERVALS`] intervals.
const MEASURING: Span = Span::from_secs(1);
const MEASURING_INTERVALS: u64 = 10;

impl Scenario {
    /// Returns the time of the measured flow's SYN, counted from the beginning of the run. It does not depend on the scheme. Without other
    /// traffic, and next to traffic that has its own start, the SYN is sent at once. Responsive flows warm up before the SYN, unless
    /// transfers arrive faster than the bottleneck carries them. Before the SYN, Quick-Start's routers also measure the traffic. Sources
    /// with a constant rate or on/off periods have this time for every scheme, so that every scheme meets their datagrams in the same
    /// phase.
    pub fn flow_start(&self) -> Span {
        let measuring = MEASURING.max(self.measuring_interval() * MEASURING_INTERVALS);
        // Transfers that arrive faster than they finish have an unbounded backlog, and no steady state that a warm-up could reach.
        let piles_up = self.piles_up();
        let before = |entry: Beside| match entry.cross {
            _ if entry.start.is_some() => Span::ZERO,
            Cross::None => Span::ZERO,
            Cross::Cbr(_) | Cross::OnOff { .. } => measuring,
            _ if piles_up => measuring,
            // Bulk flows start in the first half of this time.
            Cross::Tcp(_) | Cross::Users { .. } => self.settling(WARM_UP).max(measuring),
            Cross::Poisson { .. } | Cross::Web(_) => {
                let settled = nanos(WARM_UP_TRANSFERS / self.transfers_per_second());
                self.settling(WARM_UP.min(settled)).max(measuring)
            }
        };
        self.traffic().map(before).max().unwrap_or(Span::ZERO)
    }

    /// Returns an upper bound of [`Scenario::flow_start`] that does not depend on the rates of the path.
    pub(super) fn latest_start(&self) -> Span {
        let measuring = MEASURING.max(self.measuring_interval() * MEASURING_INTERVALS);
        if self.has_cross() { measuring.max(WARM_UP).max(self.rtt * WARM_UP_RTTS) } else { Span::ZERO }
    }

    /// Returns the time from the beginning of the run within which bulk flows of cross traffic start, at random times. When the measured
    /// flow begins, each bulk flow is past its start-up. Its age then is between this time and twice this time, and the seed determines it.
    /// With a population, whose first flows may arrive at once, bulk flows start within half of the population's warm-up, or within a
    /// second if that is longer.
    pub fn bulk_spread(&self) -> Span {
        match &self.population {
            Some(flows) => (flows.warm_up / 2).max(Span::from_secs(1)),
            None => self.flow_start() / 2,
        }
    }

    /// Returns the maximum of `warm_up` and the time after which responsive flows are in congestion avoidance.
    fn settling(&self, warm_up: Span) -> Span {
        let round_trips = self.rtt * WARM_UP_RTTS;
        // The limit of a transfer bounds the work of its race, so it bounds the time before the transfer as well.
        warm_up.max(if self.is_sized() { round_trips.min(self.limit) } else { round_trips })
    }
}
