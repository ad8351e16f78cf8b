//! The population that options describe, and the keys that it excludes.

use firstflight::Span;

use super::{ScenarioError, ScenarioFault};
use crate::cross::SizeLaw;
use crate::options::Options;
use crate::population::{ArrivalProcess, Population};
use crate::quantity::{Decimal, show_span};
use crate::topology::Topology;

/// The population, if flows were asked for.
pub(super) fn population(options: &Options) -> Result<Option<Population>, ScenarioError> {
    let topology = options.plain.topology;
    let flows = match (options.flows, topology) {
        (None, Topology::Hosts(_)) => {
            return Err(ScenarioFault::HostsWithoutFlows { topology }.of("topology"));
        }
        (None, _) => return Ok(None),
        (Some(flows), Topology::Hosts(_)) => flows,
        (Some(_), _) => return Err(ScenarioFault::FlowsWithoutHosts { topology }.of("topology")),
    };
    let arrivals = options.arrivals.unwrap_or(ArrivalProcess::Poisson(Decimal::whole(20)));
    let steady = match arrivals {
        ArrivalProcess::Poisson(_) => options.rtt.map_or(STEADY, |rtt| STEADY.max(rtt * STEADY_RTTS)),
        ArrivalProcess::Every(_) => Span::ZERO,
    };
    let warm_up = options.warm_up.map_or(steady, |warm_up| warm_up.unwrap_or(Span::ZERO));
    if let Some(limit) = options.limit.filter(|limit| *limit <= warm_up) {
        let (limit, warm_up) = (show_span(limit), show_span(warm_up));
        return Err(ScenarioFault::LimitInWarmUp { limit, warm_up }.of("limit"));
    }
    Ok(Some(Population {
        flows,
        arrivals,
        sizes: options.sizes.unwrap_or(SizeLaw::Fixed),
        warm_up,
        mixed: options.mixed,
    }))
}

/// A population's warm-up if arrivals are a Poisson process: at least this long, and at least this many base round trips.
const STEADY: Span = Span::from_secs(10);
const STEADY_RTTS: u64 = 100;

/// The time until the last flow of a population has arrived, in the mean.
pub(super) fn arriving(population: Population) -> Span {
    population.warm_up + population.arrivals.mean_gap() * u64::from(population.flows)
}
