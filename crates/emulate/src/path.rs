//! The two ways between the hosts, from a scenario.

use firstflight_scenario::Scenario;
use firstflight_scenario::topology::{Crossed, Topology};
use firstflight_sim::{Cross, LinkId, LinkSpec, PortFault, in_a_row};
use thiserror::Error;

use crate::addresses::Side;
use crate::way::Way;

/// The path between the hosts.
#[derive(Clone, Debug)]
pub struct Path<T> {
    /// The way from the sender, over the bottlenecks.
    pub forward: Way<T>,
    /// The way back.
    pub reverse: Way<T>,
    /// The host at which the forward way begins.
    pub sender: Side,
    /// Which links of the forward way are bottlenecks, by index.
    pub bottlenecks: Vec<usize>,
    /// Which links of the way back have a queue, by index.
    pub returns: Vec<usize>,
}

/// A path that real packets cannot have.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PathError {
    /// Cross traffic that needs simulated hosts, has a start, a stop or a direction, or is one entry too many.
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
    /// A link that cannot be.
    #[error("{0}")]
    Port(#[from] PortFault),
}

impl PathError {
    /// The key at fault, if it is one.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Cross(_) => Some("cross"),
            Self::Through | Self::Hosts => Some("topology"),
            Self::Port(_) => None,
        }
    }
}

impl<T> Path<T> {
    /// The path of a scenario, with the links that a race over it has. The forward way begins at `sender`.
    ///
    /// # Errors
    /// What of the scenario needs simulated hosts.
    pub fn new(scenario: &Scenario, sender: Side) -> Result<Self, PathError> {
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
        let bottlenecks = (0..).zip(&forward).filter(|(_, id)| topology.bottlenecks.contains(id));
        Ok(Self {
            forward: Way::new(ahead.collect(), scenario.seed)?,
            // The two ways draw independent numbers.
            reverse: Way::new(behind.collect(), !scenario.seed)?,
            sender,
            bottlenecks: bottlenecks.map(|(place, _)| place).collect(),
            returns: (0..back.len()).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
