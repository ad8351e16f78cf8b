//! The network between the hosts: links, routes, and the agenda of events.

use firstflight::Time;
use firstflight_tcp::{Role, Segment};

use crate::agenda::Agenda;
use crate::descriptor::{Descriptor, Fate};
use crate::link::Link;
use crate::network::{Network, Traffic};
use crate::packet::{FlowId, Label, LinkId, Packet, PacketId, Payload};
use crate::pool::Pool;
use crate::prefetch::{self, fetch};
use crate::quick_start::Router;
use crate::recorder::Recorder;
use crate::route_table::RouteTable;
use crate::source::Cbr;
use crate::spec::LinkSpec;
use crate::stats::{End, FlowStats, LinkStats};
use crate::topology::Route;

mod events;
mod passing;
mod upstream;

/// A link, and the router before it if the router takes part in Quick-Start.
#[derive(Clone, Debug)]
struct Hop {
    link: Link,
    router: Option<Box<Router>>,
}

impl Hop {
    /// Returns whether a datagram that leaves the network here always arrives once the link has accepted it.
    fn sinks(&self) -> bool {
        self.router.is_none() && matches!(&self.link, Link::DropTail(link) if link.is_quiet())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    links: Vec<Hop>,
    routes: RouteTable,
    /// The packets on links.
    packets: Pool,
    /// The datagrams of foreign flows, each at the index of its packet. Other packets have none. A place keeps its buffer for the next
    /// datagram.
    bodies: Vec<Vec<u8>>,
    pub(crate) flows: Vec<FlowStats>,
    agenda: Agenda,
    sequence: u64,
    /// The sequence number of the present event.
    present: u64,
    /// Number of arrival processes.
    processes: usize,
    /// A link that must process its announced packets as soon as possible.
    crowded: Option<LinkId>,
}

/// The device to which an event belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Device {
    Link(LinkId),
    Process(u32),
    Host(FlowId, Role),
}

impl Fabric {
    pub(crate) fn new<S, R, A>(network: &Network<S, R, A>, seed: u64) -> Self {
        let hop = |((id, spec), sole_upstream): ((u32, &LinkSpec), bool)| Hop {
            link: Link::new(LinkId(id), spec, seed, sole_upstream),
            router: spec.quick_start.map(|router| {
                Box::new(Router::new(router, (spec.rate, spec.rates.as_ref()), LinkId(id), seed))
            }),
        };
        let sole_upstream = upstream::behind_sole_upstream(network);
        let mut fabric = Self {
            links: (0u32..).zip(&network.links).zip(sole_upstream).map(hop).collect(),
            routes: RouteTable::default(),
            packets: Pool::default(),
            bodies: Vec::new(),
            flows: vec![FlowStats::default(); network.flows.len()],
            agenda: Agenda::new(
                network.links.len() + network.arrivals.len() + 2 * network.flows.len(),
                network.links.len(),
            ),
            sequence: 0,
            present: 0,
            processes: network.arrivals.len(),
            crowded: None,
        };
        for flow in &network.flows {
            let reverse = match flow.traffic {
                Traffic::Tcp(_) | Traffic::Probe(_) | Traffic::Foreign(_) => &*flow.reverse,
                Traffic::Cbr(_) | Traffic::OnOff(_) => &[],
            };
            fabric.routes.add(&flow.forward, reverse);
        }
        fabric
    }

    /// Makes links report drops in order of time from now on. If `in_turn` is false, links report drops whenever they
    /// catch up.
    pub(crate) fn set_drops_in_turn(&mut self, in_turn: bool) {
        for index in 0..self.links.len() {
            if let Link::DropTail(link) = &mut self.links[index].link {
                link.set_drops_in_turn(in_turn);
                self.refresh(LinkId(u32::try_from(index).unwrap_or(u32::MAX)));
            }
        }
    }

    /// Adds a flow during the run.
    pub(crate) fn add_flow(&mut self, route: &Route) -> FlowId {
        self.flows.push(FlowStats::default());
        self.agenda.grow(2);
        self.routes.add_route(route)
    }

    /// Removes the routers that take part in Quick-Start.
    pub(crate) fn remove_routers(&mut self) {
        self.links.iter_mut().for_each(|hop| hop.router = None);
    }

    /// Returns the route of a flow's client.
    pub(crate) fn forward(&self, flow: FlowId) -> Option<&[LinkId]> {
        self.routes.forward(flow)
    }

    /// Returns the next event: its time, its sequence number, and the device's number on the agenda.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u64, u32)> {
        self.agenda.next()
    }

    /// Returns the device of this number on the agenda.
    #[inline]
    pub(crate) fn device(&self, name: u32) -> Device {
        let (place, links) = (name as usize, self.links.len());
        if place < links {
            return Device::Link(LinkId(name));
        }
        let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
        match place.checked_sub(links + self.processes) {
            None => Device::Process(number(place - links)),
            Some(host) if host % 2 == 0 => Device::Host(FlowId(number(host / 2)), Role::Client),
            Some(host) => Device::Host(FlowId(number(host / 2)), Role::Server),
        }
    }

    /// Makes the event of this sequence number the present event.
    pub(crate) fn happens(&mut self, sequence: u64) {
        self.present = sequence;
    }

    /// Returns how a flow ended; `None` if it has not ended.
    pub(crate) fn end(&self, flow: FlowId) -> Option<End> {
        self.flows.get(flow.index())?.end
    }

    /// Wakes a host at `at`; removes its wake-up if `at` is `None`.
    pub(crate) fn wake(&mut self, flow: FlowId, side: Role, at: Option<Time>) {
        let hosts = self.links.len() + self.processes;
        self.wake_at(hosts + 2 * flow.index() + usize::from(side == Role::Server), at);
    }

    /// Wakes an arrival process at `at`; removes its wake-up if `at` is `None`.
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

    /// Returns the segment into which a host writes the next segment that it sends.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> &mut Segment {
        let spare = self.packets.spare();
        if matches!(spare.payload, Payload::Datagram) {
            spare.payload = Payload::Segment(Segment::default());
        }
        match &mut spare.payload {
            Payload::Segment(segment) => segment,
            Payload::Datagram => unreachable!("it was made a segment"),
        }
    }

    /// Returns the empty buffer into which a foreign host writes the next datagram that it sends. The segment of
    /// [`Fabric::next_segment`] describes it.
    pub(crate) fn next_body(&mut self) -> &mut Vec<u8> {
        let place = self.packets.spare_id().index();
        if self.bodies.len() <= place {
            self.bodies.resize_with(place + 1, Vec::new);
        }
        let body = &mut self.bodies[place];
        body.clear();
        body
    }

    /// Returns the bytes in the buffer of [`Fabric::next_body`].
    pub(crate) fn next_body_length(&self) -> u32 {
        let body = self.bodies.get(self.packets.spare_id().index());
        body.map_or(0, |body| u32::try_from(body.len()).unwrap_or(u32::MAX))
    }

    /// Returns the datagram of a packet of a foreign flow.
    pub(crate) fn body(&self, name: PacketId) -> &[u8] {
        self.bodies.get(name.index()).map_or(&[], Vec::as_slice)
    }

    /// Copies the datagram of a packet of a foreign flow to another packet.
    fn copy_body(&mut self, from: PacketId, to: PacketId) {
        if self.bodies.is_empty() {
            return;
        }
        let body = self.body(from).to_vec();
        if self.bodies.len() <= to.index() {
            self.bodies.resize_with(to.index() + 1, Vec::new);
        }
        self.bodies[to.index()] = body;
    }

    /// Sends the segment that a host has written to [`Fabric::next_segment`] over the first link of its route.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place but for timers")]
    pub(crate) fn send_segment<W: Recorder>(&mut self, now: Time, label: Label, recorder: &mut W) {
        let Label { flow, from, retransmission, number, wire, is_data, asks } = label;
        self.count(now, flow, from == Role::Client && is_data);
        let (name, packet) = self.packets.take_spare();
        packet.flow = flow;
        packet.from = from;
        packet.retransmission = retransmission;
        packet.wire = wire;
        packet.number = number;
        packet.sent_at = now;
        let start = self.routes.start(flow, from);
        self.sequence += 1;
        let descriptor = Descriptor::segment(name, start.position, wire, asks).in_place(self.sequence);
        self.enter_link(now, (start.first(), start.second()), descriptor, recorder);
    }

    /// Counts a packet that leaves its host.
    #[inline]
    fn count(&mut self, now: Time, flow: FlowId, clients_data: bool) {
        let flow = &mut self.flows[flow.index()];
        if clients_data {
            flow.data_sent += 1;
            flow.first_data.get_or_insert(now);
        } else {
            flow.control_sent += 1;
        }
    }

    /// Lets the link of a constant-rate source admit its datagrams itself. Returns the source if the link cannot; the
    /// source then needs events.
    pub(crate) fn take_on(&mut self, source: Cbr) -> Option<Cbr> {
        let start = self.routes.start(source.flow(), Role::Client);
        let Some(id) = start.only() else { return Some(source) };
        match &mut self.links[id.index()] {
            Hop { link: Link::DropTail(link), .. } => {
                let refused = link.take_on(source).err();
                self.refresh(id);
                refused
            }
            Hop { .. } => Some(source),
        }
    }

    /// Sends a datagram of a client. If its route is one link that loses nothing, the datagram needs no packet.
    pub(crate) fn send_datagram<W: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut W) {
        self.count(now, packet.flow, true);
        let start = self.routes.start(packet.flow, Role::Client);
        if let Some(id) = start.only().filter(|id| self.links[id.index()].sinks()) {
            return self.send_to_sink(now, id, &packet, recorder);
        }
        let name = self.packets.put(packet);
        self.sequence += 1;
        let descriptor = Descriptor::datagram(name, start.position, packet.wire).in_place(self.sequence);
        self.enter(now, descriptor, recorder);
    }

    /// Sends a datagram of a host, which the other host handles when it arrives.
    pub(crate) fn send_to_host<W: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut W) {
        let Packet { flow, from, wire, .. } = packet;
        self.count(now, flow, from == Role::Client);
        let start = self.routes.start(flow, from);
        let name = self.packets.put(packet);
        self.sequence += 1;
        // To links the datagram is a segment, because something depends on the instant of its arrival.
        let descriptor = Descriptor::segment(name, start.position, wire, false).in_place(self.sequence);
        self.enter(now, descriptor, recorder);
    }

    /// Sends a datagram to the sink at the far end of a link that loses nothing.
    fn send_to_sink<W: Recorder>(&mut self, now: Time, id: LinkId, packet: &Packet, recorder: &mut W) {
        self.admit_announced(now, id, self.present, recorder);
        self.sequence += 1;
        let Link::DropTail(link) = &mut self.links[id.index()].link else { return };
        let flow = packet.flow;
        match link.admit(now, (packet.wire, self.sequence), || flow.index(), recorder) {
            Ok(schedule) => {
                link.make_room(now, &mut self.flows, recorder);
                let position = self.routes.start(flow, Role::Client).position;
                let descriptor =
                    Descriptor::datagram(PacketId::default(), position, packet.wire).in_place(self.sequence);
                link.take(now, descriptor, schedule, Fate::Sinks(flow.0), recorder);
                if link.doubts_since_entry() {
                    self.refresh(id);
                }
            }
            Err(cause) => self.drop(now, id, packet, cause, recorder),
        }
    }

    /// Returns the packet on which a link's event most likely depends, or the packet `others` places after it.
    #[inline]
    pub(crate) fn upcoming(&self, id: LinkId, others: u64) -> Option<PacketId> {
        let Link::DropTail(link) = &self.links[id.index()].link else { return None };
        link.upcoming(others)
    }

    /// Fetches into the cache a packet that arrives at a link later.
    #[inline]
    pub(crate) fn fetch_later(&self, id: LinkId) {
        if let Link::DropTail(link) = &self.links[id.index()].link {
            link.fetch_later();
        }
    }

    /// Returns whether packets, or the flows that wait for a timer, take so much memory that the next one is in no
    /// cache.
    #[inline]
    pub(crate) fn is_beyond_caches(&self) -> bool {
        self.packets.places() > prefetch::MANY || self.agenda.count() > prefetch::MANY
    }

    /// Returns the number of the device whose event comes second; `None` where there are few events.
    #[inline]
    pub(crate) fn after_next(&self) -> Option<u32> {
        self.agenda.after_next()
    }

    /// Fetches into the cache what is stored of a flow.
    #[inline]
    pub(crate) fn fetch(&self, flow: FlowId) {
        fetch(&self.flows[flow.index()]);
        self.routes.fetch(flow);
    }

    /// Returns a packet on a link, or one that just arrived.
    #[inline]
    pub(crate) fn packet(&self, name: PacketId) -> &Packet {
        self.packets.get(name)
    }

    /// Frees a packet that its host has handled.
    #[inline]
    pub(crate) fn forget(&mut self, name: PacketId) {
        self.packets.forget(name);
    }

    /// Returns when the last packet on any link arrives, including packets without an arrival event.
    #[cold]
    #[inline(never)]
    pub(crate) fn last_arrival(&self) -> Time {
        self.links.iter().map(|hop| hop.link.last_arrival()).max().unwrap_or_default()
    }

    /// Brings links and the counters of arrived datagrams up to `now`.
    #[inline(never)]
    pub(crate) fn settle<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        for index in 0..self.links.len() {
            if matches!(&self.links[index].link, Link::DropTail(link) if link.rests()) {
                continue;
            }
            let id = LinkId(u32::try_from(index).unwrap_or(u32::MAX));
            // Packets that are handed on reach the next links after `now`, because otherwise those links would have
            // had events.
            self.admit_announced(now, id, u64::MAX, recorder);
            if let Link::DropTail(link) = &mut self.links[index].link {
                link.settle(now, &mut self.flows, recorder);
                self.refresh(id);
            }
        }
    }

    /// Returns the counters of a link that has settled; `None` if there is no such link.
    pub(crate) fn link(&self, now: Time, id: LinkId) -> Option<LinkStats> {
        let Hop { link, router } = self.links.get(id.index())?;
        let quick_start = router.as_ref().map(|router| router.stats);
        let stats = link.stats(now);
        Some(LinkStats { quick_start: quick_start.unwrap_or_default(), ..stats })
    }

    /// Returns the number of packets accepted by links that have settled. A packet counts once per link.
    pub(crate) fn packet_hops(&self, now: Time) -> u64 {
        self.links.iter().map(|hop| hop.link.accepted(now)).sum()
    }
}

fn is_clients_data(packet: &Packet) -> bool {
    packet.from == Role::Client && packet.is_data()
}

#[cfg(test)]
mod tests;
