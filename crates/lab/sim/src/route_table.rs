//! The routes of all flows.

use firstflight_tcp::Role;

use crate::packet::{FlowId, LinkId, Position};
use crate::prefetch::fetch;
use crate::topology::Route;

/// The marker of the end of each route.
const END: LinkId = LinkId(u32::MAX);

/// The beginning of a route, with its first two links, which every packet needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) position: Position,
    first: LinkId,
    second: LinkId,
}

impl Start {
    /// Returns the first link; `None` if there is none.
    #[inline]
    pub(crate) fn first(self) -> Option<LinkId> {
        (self.first != END).then_some(self.first)
    }

    /// Returns the first link if it is the whole route, else `None`.
    #[inline]
    pub(crate) fn only(self) -> Option<LinkId> {
        self.first().filter(|_| self.second().is_none())
    }

    /// Returns the second link; `None` if there is none.
    #[inline]
    pub(crate) fn second(self) -> Option<LinkId> {
        (self.second != END).then_some(self.second)
    }
}

/// The routes of all flows: the beginning of each, and their links one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteTable {
    /// For each flow, the beginning of its client's route and of its server's.
    starts: Vec<[Start; 2]>,
    links: Vec<LinkId>,
}

impl RouteTable {
    /// Adds the routes of another flow.
    pub(crate) fn add(&mut self, forward: &[LinkId], reverse: &[LinkId]) -> FlowId {
        let starts = [forward, reverse].map(|route| {
            let position = Position::at(u32::try_from(self.links.len()).unwrap_or(u32::MAX));
            self.links.extend_from_slice(route);
            self.links.push(END);
            let link = |index| route.get(index).copied().unwrap_or(END);
            Start { position, first: link(0), second: link(1) }
        });
        self.starts.push(starts);
        FlowId(u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX))
    }

    pub(crate) fn add_route(&mut self, route: &Route) -> FlowId {
        self.add(&route.forward, &route.reverse)
    }

    /// Returns the beginning of a host's route.
    #[inline]
    pub(crate) fn start(&self, flow: FlowId, side: Role) -> Start {
        let [client, server] = self.starts[flow.index()];
        if side == Role::Client { client } else { server }
    }

    /// Fetches the beginnings of a flow's routes into the cache.
    #[inline]
    pub(crate) fn fetch(&self, flow: FlowId) {
        fetch(&self.starts[flow.index()]);
    }

    /// Returns the link at a position; `None` at the end of a route.
    #[inline]
    pub(crate) fn link(&self, position: Position) -> Option<LinkId> {
        let link = self.links[position.place() as usize];
        (link != END).then_some(link)
    }

    /// Returns whether `link` is at this position.
    #[inline]
    pub(crate) fn is_at(&self, position: Position, link: LinkId) -> bool {
        self.links[position.place() as usize] == link
    }

    /// Returns the route of a flow's client; `None` if there is no such flow.
    pub(crate) fn forward(&self, flow: FlowId) -> Option<&[LinkId]> {
        let [start, end] = self.starts.get(flow.index())?.map(|start| start.position.place() as usize);
        self.links.get(start..end.checked_sub(1)?)
    }
}
