//! Makes the two directions between the hosts from a scenario.

use firstflight::Rate;
use firstflight_scenario::Scenario;
use firstflight_scenario::topology::{Crossed, Topology};
use firstflight_sim::{Cross, LinkId, LinkSpec, PortFault, RateTrace, in_a_row};
use thiserror::Error;

use crate::addresses::Side;
use crate::link_chain::LinkChain;

/// The path between the hosts.
#[derive(Clone, Debug)]
pub struct Path<T> {
    /// The direction from the sender, which crosses the bottlenecks.
    pub forward: LinkChain<T>,
    /// The direction to the sender, the return path.
    pub reverse: LinkChain<T>,
    /// The host at which the forward direction begins.
    pub sender: Side,
    /// The indices of the bottlenecks among the forward links.
    pub bottlenecks: Vec<usize>,
    /// The indices of the links of the return path that have a queue.
    pub returns: Vec<usize>,
    /// The highest rate of a bottleneck in the forward direction, then the rate of the return path.
    pub rates: [Rate; 2],
}

/// Why real packets cannot cross a path.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PathError {
    /// Cross traffic that is only simulated: it needs simulated hosts, has a start, a stop or a direction, or is one of several entries.
    #[error(
        "cross: `{0}` is only simulated; real packets are crossed by `none`, one rate or one `onoff:`, of the whole run and in the data's direction, or by programs that you start"
    )]
    Cross(String),
    /// Cross traffic that crosses several links.
    #[error(
        "topology: datagrams that cross all hops need a simulator; `cross=each` or one hop, as in `cross=1`, is allowed"
    )]
    Through,
    /// A topology of hosts.
    #[error("topology: there are two hosts; `single` and `parking-lot:hops=N` are allowed")]
    Hosts,
    /// A link that is impossible.
    #[error("{0}")]
    Port(#[from] PortFault),
}

impl PathError {
    /// Returns the key at fault, if the fault is that of a key.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Cross(_) => Some("cross"),
            Self::Through | Self::Hosts => Some("topology"),
            Self::Port(_) => None,
        }
    }
}

impl<T> Path<T> {
    /// Makes the path of a scenario, with the links that a race over it has. The forward direction begins at `sender`.
    ///
    /// # Errors
    /// The part of the scenario that needs simulated hosts.
    pub fn new(scenario: &Scenario, sender: Side) -> Result<Self, PathError> {
        let scenario = &*scenario.at_seed(scenario.seed);
        if let Some(entry) = scenario.beside.first() {
            return Err(PathError::Cross(entry.to_string()));
        }
        if scenario.cross.is_responsive() {
            return Err(PathError::Cross(scenario.cross.to_string()));
        }
        match scenario.topology {
            Topology::Hosts(_) => return Err(PathError::Hosts),
            Topology::ParkingLot { cross: Crossed::Through, hops }
                if hops > 1 && scenario.datagrams().is_some() =>
            {
                return Err(PathError::Through);
            }
            Topology::Single | Topology::ParkingLot { .. } => {}
        }
        let hops = scenario.topology.hops();
        let topology = in_a_row(&scenario.path(), hops, &[(0, hops)]);
        let (forward, back) = topology
            .routes
            .into_iter()
            .next()
            .map(|route| (route.forward, route.reverse))
            .unwrap_or_default();
        let crossed: Vec<LinkId> = scenario
            .topology
            .crossings()
            .into_iter()
            .flat_map(|(from, to)| topology.bottlenecks.get(from as usize..to as usize).unwrap_or_default())
            .copied()
            .collect();
        let datagrams = scenario.datagrams();
        let link = |id: &LinkId| topology.links.get(id.0 as usize).cloned();
        let ahead = forward.iter().enumerate().filter_map(|(hop, id)| {
            let quick_start = scenario.approval(hop, !topology.bottlenecks.contains(id));
            let cross: Vec<Cross> = datagrams.filter(|_| crossed.contains(id)).into_iter().collect();
            Some((LinkSpec { quick_start, ..link(id)? }, cross))
        });
        let behind = back.iter().filter_map(|id| Some((link(id)?, Vec::new())));
        let steps = scenario.rate_trace.iter().flat_map(RateTrace::steps);
        let fastest = steps.map(|(_, rate)| *rate).fold(scenario.rate, Rate::max);
        let bottlenecks = (0..).zip(&forward).filter(|(_, id)| topology.bottlenecks.contains(id));
        Ok(Self {
            forward: LinkChain::new(ahead.collect(), scenario.seed)?,
            // The two directions use independent random numbers.
            reverse: LinkChain::new(behind.collect(), !scenario.seed)?,
            sender,
            bottlenecks: bottlenecks.map(|(place, _)| place).collect(),
            returns: (0..back.len()).collect(),
            rates: [fastest, scenario.reverse_rate],
        })
    }
}

#[cfg(test)]
mod tests;
