//! The population that options make, and what it leaves no room for.

use firstflight::Span;

use super::ScenarioError;
use crate::cross::SizeLaw;
use crate::options::Options;
use crate::population::{Coming, Population};
use crate::quantity::{Decimal, show_span};
use crate::topology::Topology;
use crate::words::{Cross, QuickStartHops};

/// Why a population has no cross traffic, and no way back of its own.
const TRAFFIC: &str = "the flows are all the traffic that there is";
const BOTH_WAYS: &str = "the links between hosts are alike in both directions";

/// The population, if flows were asked for.
pub(super) fn population(options: &Options, topology: Topology) -> Result<Option<Population>, ScenarioError> {
    let hosts = matches!(topology, Topology::Hosts(_));
    let Some(flows) = options.flows else {
        let of_flows = [
            ("arrivals", options.arrivals.is_some()),
            ("sizes", options.sizes.is_some()),
            ("warm-up", options.warm_up.is_some()),
            ("mixed", options.mixed.is_some()),
        ];
        return match of_flows.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(ScenarioError::WithoutFlows { key }),
            None if hosts => Err(ScenarioError::HostsWithoutFlows { topology }),
            None => Ok(None),
        };
    };
    if !hosts {
        return Err(ScenarioError::FlowsWithoutHosts { topology });
    }
    let not_with_flows = [
        ("cross", options.cross.is_some_and(|cross| cross != Cross::None), TRAFFIC),
        ("rounds", options.rounds.is_some(), "a flow carries one transfer"),
        ("app", options.app.flatten().is_some(), "a flow's application writes all at once"),
        (
            "sizes",
            options.sizes.is_some() && options.duration.is_some(),
            "with a duration they go on until it ends",
        ),
        ("reverse-rate", options.reverse_rate.is_some(), BOTH_WAYS),
        ("reverse-queue", options.reverse_queue.flatten().is_some(), BOTH_WAYS),
        ("reverse-rtt-share", options.reverse_rtt_share.is_some(), BOTH_WAYS),
        ("ack-aggregation", options.ack_aggregation.flatten().is_some(), BOTH_WAYS),
        (
            "qs-hops",
            matches!(options.qs_hops, Some(QuickStartHops::First(_))),
            "the flows have no first hops in common; `all` or `none` is wanted",
        ),
    ];
    if let Some((key, _, why)) = not_with_flows.into_iter().find(|(_, given, _)| *given) {
        return Err(ScenarioError::NotWithFlows { key, why });
    }
    let arrivals = options.arrivals.unwrap_or(Coming::Poisson(Decimal::whole(20)));
    let steady = match arrivals {
        Coming::Poisson(_) => options.rtt.map_or(STEADY, |rtt| STEADY.max(rtt * STEADY_RTTS)),
        Coming::Every(_) => Span::ZERO,
    };
    let warm_up = options.warm_up.map_or(steady, |warm_up| warm_up.unwrap_or(Span::ZERO));
    if let Some(limit) = options.limit.filter(|limit| *limit <= warm_up) {
        let (limit, warm_up) = (show_span(limit), show_span(warm_up));
        return Err(ScenarioError::LimitInWarmUp { limit, warm_up });
    }
    Ok(Some(Population {
        flows,
        arrivals,
        sizes: options.sizes.unwrap_or(SizeLaw::Fixed),
        warm_up,
        mixed: options.mixed.unwrap_or(false),
    }))
}

/// A population's warm-up if arrivals are a Poisson process: at least so long, and so many base round trips.
const STEADY: Span = Span::from_secs(10);
const STEADY_RTTS: u64 = 100;

/// The time that a population takes to come.
pub(super) fn coming(population: Population) -> Span {
    population.warm_up + population.arrivals.mean_gap() * u64::from(population.flows)
}
