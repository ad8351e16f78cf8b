//! The ideal senders of a path whose available rate is constant: one knows the path from the first moment, one after a round trip.

use firstflight::Span;
use firstflight_measure::Hop;
use firstflight_measure::ideal::ideal_fct;
use firstflight_scenario::Scenario;
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::topology::Topology;

/// Returns the only hop of a path if the available rate is constant during a transfer's life. The path must have one bottleneck with a
/// constant rate, and its other traffic must be of constant rate or endless flows. `None` for other paths.
pub(super) fn steady_hop(scenario: &Scenario) -> Option<Hop> {
    let alone = Hop { delay: scenario.rtt - scenario.reverse_delay(), ..Hop::default() };
    if scenario.beside.iter().any(|entry| !entry.reverse) {
        return None;
    }
    let hop = match scenario.cross {
        Cross::None => alone,
        Cross::Cbr(rate) => Hop { constant: rate.bps(), ..alone },
        Cross::Tcp(bulk) => Hop { lives: vec![(0, None); bulk.flows as usize], ..alone },
        Cross::OnOff { .. } | Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_) => return None,
    };
    let varies = scenario.rate_trace.is_some()
        || scenario.outage.is_some()
        || scenario.rounds.is_some()
        || scenario.app.is_some();
    (scenario.is_sized() && !varies && scenario.topology == Topology::Single).then_some(hop)
}

/// Returns the ideal completion time over a path with a [steady hop](steady_hop); `None` for other paths.
pub(super) fn steady_ideal(scenario: &Scenario) -> Option<Span> {
    let (hop, ideal) = (steady_hop(scenario)?, scenario.ideal_sender());
    ideal_fct(&ideal.stream(&[hop], 0), 0, ideal.ip_bytes?).map(Span::from_nanos)
}
