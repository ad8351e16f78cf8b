//! The maximum work of a run. Other traffic may start any number of transfers, more than the path carries, and each takes events of the
//! simulation.

use firstflight::{Bytes, Span, Time};
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::population::ArrivalProcess;
use firstflight_scenario::{Goal, Scenario};
use firstflight_sim::Stop;

use crate::error::RunError;

/// The number of events allowed for any run.
const BASE: u64 = 2_000_000;

/// Events allowed for each full packet that the path or a source of datagrams may send during the run. A full packet takes about two events
/// (5,326 for 3,493 packets of one flow). A transfer of a kilobyte takes six, plus a hundred for its arrival (bench/log.md). So nearly two
/// short transfers may start for each full packet.
const PER_PACKET: u64 = 200;

/// Events allowed for each flow that the scenario names, in addition to the events of its packets.
const PER_FLOW: u64 = 1_000;

/// The maximum length of a warm-up that is counted, unless the limit is longer.
const WARM_UP: Span = Span::from_secs(60);

/// Returns the number of events that a run of the scenario may take. It is proportional to the number of measured transfers, and to what
/// the path carries until the limit and in the warm-up, which ends at `start`.
pub(crate) fn allowed(scenario: &Scenario, start: Time) -> u64 {
    let time = start.since(Time::ZERO).min(WARM_UP.max(scenario.limit)) + scenario.limit;
    let sender = scenario.ideal_sender();
    let most = sender.rates.iter().map(|(_, bps)| *bps).max().unwrap_or(0);
    let hops = u64::from(scenario.topology.hops());
    let mut bps = most.saturating_mul(hops);
    let mut flows = scenario.rounds.map_or(1, |rounds| u64::from(rounds.clients));
    for entry in scenario.traffic() {
        let (sent, count) = match entry.cross {
            Cross::Cbr(rate) | Cross::OnOff { rate, .. } => (rate.bps(), 1),
            Cross::Tcp(bulk) => (0, u64::from(bulk.flows)),
            Cross::Users { users, .. } => (0, u64::from(users)),
            Cross::None | Cross::Poisson { .. } | Cross::Web(_) => (0, 1),
        };
        let back = if entry.reverse { scenario.rate_of(&entry).bps() } else { 0 };
        bps = bps.saturating_add(sent.saturating_mul(hops)).saturating_add(back.saturating_mul(hops));
        flows = flows.saturating_add(count);
    }
    if let Some(population) = &scenario.population {
        flows = flows.saturating_add(u64::from(population.flows));
        if let ArrivalProcess::Users(users) = population.arrivals {
            flows = flows.saturating_add(u64::from(users));
        }
        // Flows between hosts use both directions.
        bps = bps.saturating_mul(2);
    }
    let transfers = flows.saturating_mul(scenario.rounds.map_or(1, |rounds| u64::from(rounds.count)));
    let packets = match scenario.goal {
        Goal::Size(size) => packets(size, u64::from(scenario.mss))
            .saturating_mul(transfers)
            .min(carried(most, time, scenario)),
        Goal::Duration(_) => 0,
    };
    let packets = packets.saturating_add(carried(bps, time, scenario));
    BASE.saturating_add(packets.saturating_mul(PER_PACKET)).saturating_add(transfers.saturating_mul(PER_FLOW))
}

fn packets(size: Bytes, mss: u64) -> u64 {
    size.get().div_ceil(mss.max(1))
}

/// Returns the number of full packets that a rate carries in a time.
fn carried(bps: u64, time: Span, scenario: &Scenario) -> u64 {
    let bits = u128::from(bps) * u128::from(time.nanos()) / 1_000_000_000;
    u64::try_from(bits / u128::from(8 * scenario.packet().max(1))).unwrap_or(u64::MAX)
}

/// Returns an error if the run stopped because its `events` are spent. `at` is the simulated time.
pub(crate) fn check(stop: Stop, events: u64, at: Time) -> Result<(), RunError> {
    match stop {
        Stop::Spent => Err(RunError::TooMuchWork { events, at }),
        Stop::Time | Stop::Finished | Stop::Aborted | Stop::Idle => Ok(()),
    }
}
