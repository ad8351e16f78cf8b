//! The network between the hosts: links at work, routes, and the agenda of what happens next.

use firstflight::Time;

use crate::agenda::Agenda;
use crate::link::{Entry, Link};
use crate::network::{LinkSpec, Network, Traffic};
use crate::packet::{DropCause, FlowId, LinkId, Packet, Payload, Side};
use crate::quick_start::{self, Router};
use crate::recorder::Recorder;
use crate::stats::{FlowStats, LinkStats};
use crate::topology::Route;

/// The ways of a flow.
#[derive(Clone, Debug)]
struct Routes {
    forward: Box<[LinkId]>,
    reverse: Box<[LinkId]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    links: Vec<Link>,
    /// The router of each link, if that takes part in Quick-Start.
    routers: Vec<Option<Box<Router>>>,
    routes: Vec<Routes>,
    pub(crate) flows: Vec<FlowStats>,
    agenda: Agenda,
    sequence: u64,
    /// How many processes bring flows up.
    processes: usize,
}

/// Whose event is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Device {
    Link(LinkId),
    Process(u32),
    Host(FlowId, Side),
}

impl Fabric {
    pub(crate) fn new<S, R, A>(network: &Network<S, R, A>, seed: u64) -> Self {
        let link = |(id, spec)| Link::new(LinkId(id), spec, seed);
        let router = |(id, spec): (u32, &LinkSpec)| {
            spec.quick_start.map(|router| Box::new(Router::new(router, spec.rate, LinkId(id), seed)))
        };
        let route = |flow: &crate::network::Flow<S, R, A>| Routes {
            forward: flow.forward.clone().into_boxed_slice(),
            reverse: match flow.traffic {
                Traffic::Tcp(_) => flow.reverse.clone().into_boxed_slice(),
                Traffic::Cbr(_) | Traffic::OnOff(_) => Box::default(),
            },
        };
        Self {
            links: (0u32..).zip(&network.links).map(link).collect(),
            routers: (0u32..).zip(&network.links).map(router).collect(),
            routes: network.flows.iter().map(route).collect(),
            flows: vec![FlowStats::default(); network.flows.len()],
            agenda: Agenda::new(network.links.len() + network.arrivals.len() + 2 * network.flows.len()),
            sequence: 0,
            processes: network.arrivals.len(),
        }
    }

    /// Another flow comes up.
    pub(crate) fn add_flow(&mut self, route: &Route) -> FlowId {
        let (forward, reverse) = (route.forward.clone(), route.reverse.clone());
        self.routes.push(Routes { forward: forward.into_boxed_slice(), reverse: reverse.into_boxed_slice() });
        self.flows.push(FlowStats::default());
        self.agenda.grow(2);
        FlowId(u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX))
    }

    /// The way of a flow's client.
    pub(crate) fn forward(&self, flow: FlowId) -> Option<&[LinkId]> {
        self.routes.get(flow.index()).map(|routes| &*routes.forward)
    }

    /// The next event.
    pub(crate) fn next(&self) -> Option<(Time, Device)> {
        let (at, place) = self.agenda.next()?;
        let links = self.links.len();
        let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
        let device = match place.checked_sub(links + self.processes) {
            None if place < links => Device::Link(LinkId(number(place))),
            None => Device::Process(number(place - links)),
            Some(host) if host % 2 == 0 => Device::Host(FlowId(number(host / 2)), Side::Client),
            Some(host) => Device::Host(FlowId(number(host / 2)), Side::Server),
        };
        Some((at, device))
    }

    /// Wakes a host at an instant, or no more.
    pub(crate) fn wake(&mut self, flow: FlowId, side: Side, at: Option<Time>) {
        let hosts = self.links.len() + self.processes;
        self.wake_at(hosts + 2 * flow.index() + usize::from(side == Side::Server), at);
    }

    /// Wakes a process that brings flows up, or no more.
    pub(crate) fn wake_process(&mut self, process: usize, at: Option<Time>) {
        self.wake_at(self.links.len() + process, at);
    }

    fn wake_at(&mut self, place: usize, at: Option<Time>) {
        match at {
            Some(at) => {
                self.sequence += 1;
                self.agenda.set(place, at, self.sequence);
            }
            None => self.agenda.clear(place),
        }
    }

    /// A host puts a packet on the first link of its way.
    pub(crate) fn send<W: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut W) {
        let flow = &mut self.flows[packet.flow.index()];
        if is_clients_data(&packet) {
            flow.data_sent += 1;
            flow.first_data.get_or_insert(now);
        } else {
            flow.control_sent += 1;
        }
        self.enter(now, packet, recorder);
    }

    /// The event of a link: its first packet arrives at the far end, or one leaves its queue. Gives the packet if
    /// it arrives at a host that has to hear of it.
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<Packet> {
        self.sink(now, id, recorder);
        let link = &mut self.links[id.index()];
        let passage = link.event(now, recorder);
        match link.next_event() {
            Some((at, sequence)) => self.agenda.set(id.index(), at, sequence),
            None => self.agenda.clear(id.index()),
        }
        let Some(passage) = passage else {
            self.hear_discipline(now, id, recorder);
            return None;
        };
        let packet = passage.packet;
        if passage.is_lost() {
            self.drop(now, id, &packet, DropCause::Random, recorder);
            return None;
        }
        if self.hops_left(&packet) == 0 {
            let datagram = matches!(packet.payload, Payload::Datagram);
            if datagram {
                self.flows[packet.flow.index()].delivered_bytes += u64::from(packet.wire);
            }
            return (!datagram).then_some(packet);
        }
        self.enter(now, packet, recorder);
        None
    }

    /// When the last of all packets on links arrives, quiet ones included.
    #[cold]
    #[inline(never)]
    pub(crate) fn last_arrival(&self) -> Time {
        self.links.iter().map(Link::last_arrival).max().unwrap_or_default()
    }

    /// Brings links and the counters of quiet arrivals up to `now`.
    #[inline(never)]
    pub(crate) fn settle<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        for index in 0..u32::try_from(self.links.len()).unwrap_or(u32::MAX) {
            self.sink(now, LinkId(index), recorder);
            self.links[index as usize].catch_up(now, recorder);
        }
    }

    /// Counters of a link that has settled.
    pub(crate) fn link(&self, now: Time, id: LinkId) -> Option<LinkStats> {
        let quick_start = self.routers.get(id.index())?.as_ref().map(|router| router.stats);
        let stats = self.links.get(id.index())?.stats(now);
        Some(LinkStats { quick_start: quick_start.unwrap_or_default(), ..stats })
    }

    /// Packets accepted by links, each once for every link.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.links.iter().map(|link| link.stats(Time::ZERO).packets).sum()
    }

    /// Puts a packet on the next link of its way.
    fn enter<W: Recorder>(&mut self, now: Time, mut packet: Packet, recorder: &mut W) {
        let Some(&id) = self.way(&packet).get(usize::from(packet.hop)) else { return };
        packet.hop += 1;
        let router = &mut self.routers[id.index()];
        if packet.segment().is_some_and(|segment| !segment.quick_start.is_empty()) {
            quick_start::pass(now, router.as_deref_mut(), &mut packet);
        }
        let quiet = matches!(packet.payload, Payload::Datagram) && self.hops_left(&packet) == 0;
        if quiet {
            self.sink(now, id, recorder);
        }
        self.sequence += 1;
        let link = &mut self.links[id.index()];
        let entry = link.enter(now, packet, quiet, self.sequence, recorder);
        let managed = link.is_managed();
        if let (Some(router), Entry::Behind | Entry::Next(..)) = (&mut self.routers[id.index()], entry) {
            router.carries(now, packet.wire);
        }
        match entry {
            Entry::Behind => {}
            Entry::Next(at, sequence) => self.agenda.set(id.index(), at, sequence),
            Entry::Dropped(cause) => self.drop(now, id, &packet, cause, recorder),
        }
        if managed {
            self.hear_discipline(now, id, recorder);
        }
    }

    /// Counts and tells what the discipline of a link's queue just dropped and marked.
    #[cold]
    #[inline(never)]
    fn hear_discipline<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) {
        while let Some(packet) = self.links[id.index()].take_marked() {
            if is_clients_data(&packet) {
                self.flows[packet.flow.index()].data_marked += 1;
            }
            recorder.marked(now, id, &packet);
        }
        while let Some(packet) = self.links[id.index()].take_dropped() {
            self.drop(now, id, &packet, DropCause::Queue, recorder);
        }
    }

    /// Counts the datagrams that have reached their sink over a link, ahead of any packet that matters.
    #[inline]
    fn sink<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) {
        while self.links[id.index()].begins_quietly()
            && let Some(passage) = self.links[id.index()].quiet_arrival(now, recorder)
        {
            self.flows[passage.packet.flow.index()].delivered_bytes += u64::from(passage.packet.wire);
        }
    }

    fn drop<W: Recorder>(
        &mut self,
        now: Time,
        link: LinkId,
        packet: &Packet,
        cause: DropCause,
        recorder: &mut W,
    ) {
        let flow = &mut self.flows[packet.flow.index()];
        match (is_clients_data(packet), cause) {
            (true, DropCause::Queue) => flow.data_dropped_by_queue += 1,
            (true, DropCause::Policer) => flow.data_dropped_by_policer += 1,
            (true, DropCause::Random) => flow.data_dropped_at_random += 1,
            (false, _) => flow.control_dropped += 1,
        }
        recorder.dropped(now, link, packet, cause);
    }

    fn way(&self, packet: &Packet) -> &[LinkId] {
        let routes = &self.routes[packet.flow.index()];
        match packet.from {
            Side::Client => &routes.forward,
            Side::Server => &routes.reverse,
        }
    }

    fn hops_left(&self, packet: &Packet) -> usize {
        self.way(packet).len().saturating_sub(usize::from(packet.hop))
    }
}

fn is_clients_data(packet: &Packet) -> bool {
    packet.from == Side::Client && packet.is_data()
}
