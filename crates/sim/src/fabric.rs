//! The network between the hosts: links at work, routes, and the agenda of what happens next.

use firstflight::Time;
use firstflight_tcp::Segment;

use crate::agenda::Agenda;
use crate::link::{Entry, Link};
use crate::network::{LinkSpec, Network, Traffic};
use crate::packet::{DropCause, FlowId, LinkId, Packet, PacketId, Payload, Side};
use crate::pool::{Parcel, Pool};
use crate::quick_start::{self, Router};
use crate::recorder::Recorder;
use crate::stats::{FlowStats, LinkStats};
use crate::topology::Route;

/// The ways of a flow: where each begins in [`Fabric::ways`], and how many links it has.
#[derive(Clone, Copy, Debug)]
struct Routes {
    forward: (u32, u32),
    reverse: (u32, u32),
}

/// A link and the router ahead of it, if that takes part in Quick-Start.
#[derive(Clone, Debug)]
struct Hop {
    link: Link,
    router: Option<Box<Router>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    links: Vec<Hop>,
    routes: Vec<Routes>,
    /// The links of all ways, one way after the other.
    ways: Vec<LinkId>,
    /// Packets on links.
    packets: Pool,
    pub(crate) flows: Vec<FlowStats>,
    agenda: Agenda,
    sequence: u64,
    /// How many processes bring flows up.
    processes: usize,
}

/// What a host says of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: FlowId,
    pub(crate) from: Side,
    pub(crate) retransmission: bool,
    pub(crate) number: u64,
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
        let hop = |(id, spec): (u32, &LinkSpec)| Hop {
            link: Link::new(LinkId(id), spec, seed),
            router: spec.quick_start.map(|router| Box::new(Router::new(router, spec.rate, LinkId(id), seed))),
        };
        let mut fabric = Self {
            links: (0u32..).zip(&network.links).map(hop).collect(),
            routes: Vec::with_capacity(network.flows.len()),
            ways: Vec::new(),
            packets: Pool::default(),
            flows: vec![FlowStats::default(); network.flows.len()],
            agenda: Agenda::new(network.links.len() + network.arrivals.len() + 2 * network.flows.len()),
            sequence: 0,
            processes: network.arrivals.len(),
        };
        for flow in &network.flows {
            let reverse = match flow.traffic {
                Traffic::Tcp(_) => &*flow.reverse,
                Traffic::Cbr(_) | Traffic::OnOff(_) => &[],
            };
            fabric.add_routes(&flow.forward, reverse);
        }
        fabric
    }

    fn add_routes(&mut self, forward: &[LinkId], reverse: &[LinkId]) {
        let [forward, reverse] = [forward, reverse].map(|way| {
            let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
            let place = (number(self.ways.len()), number(way.len()));
            self.ways.extend_from_slice(way);
            place
        });
        self.routes.push(Routes { forward, reverse });
    }

    /// Another flow comes up.
    pub(crate) fn add_flow(&mut self, route: &Route) -> FlowId {
        self.add_routes(&route.forward, &route.reverse);
        self.flows.push(FlowStats::default());
        self.agenda.grow(2);
        FlowId(u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX))
    }

    /// Takes away the routers that take part in Quick-Start.
    pub(crate) fn remove_routers(&mut self) {
        self.links.iter_mut().for_each(|hop| hop.router = None);
    }

    /// The way of a flow's client.
    pub(crate) fn forward(&self, flow: FlowId) -> Option<&[LinkId]> {
        let (start, length) = self.routes.get(flow.index())?.forward;
        self.ways.get(start as usize..start as usize + length as usize)
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

    /// Where a host writes the segment that it sends next.
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

    /// A host puts the segment that it has written to [`Fabric::next_segment`] on the first link of its way.
    pub(crate) fn send_segment<W: Recorder>(&mut self, now: Time, label: Label, recorder: &mut W) {
        let Label { flow, from, retransmission, number } = label;
        let packet = self.packets.spare();
        let wire = packet.segment().map_or(0, Segment::ip_length);
        packet.flow = flow;
        packet.from = from;
        packet.retransmission = retransmission;
        packet.wire = wire;
        packet.number = number;
        packet.sent_at = now;
        packet.hop = 0;
        let clients_data = is_clients_data(packet);
        self.count(now, flow, clients_data);
        let id = self.packets.put_spare();
        self.enter_link(now, Parcel { id, flow, wire }, (from, 0), recorder);
    }

    /// A host puts a packet on the first link of its way.
    fn send<W: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut W) {
        self.count(now, packet.flow, is_clients_data(&packet));
        let id = self.packets.put(packet);
        self.enter(now, id, recorder);
    }

    /// Counts a packet that leaves.
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

    /// A host puts a datagram on its way. If that is one link, over which it is not lost, no packet is made of it.
    pub(crate) fn send_datagram<W: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut W) {
        let (start, length) = self.routes[packet.flow.index()].forward;
        let id = self.ways.get(start as usize).filter(|_| length == 1);
        let hop = id.map(|id| &mut self.links[id.index()]);
        let (Some(&id), Some(Hop { link, router: None })) = (id, hop.filter(|hop| hop.link.is_quiet()))
        else {
            return self.send(now, packet, recorder);
        };
        let flow = &mut self.flows[packet.flow.index()];
        flow.data_sent += 1;
        flow.first_data.get_or_insert(now);
        self.sequence += 1;
        let parcel = Parcel { id: PacketId::default(), flow: packet.flow, wire: packet.wire };
        let parts = (&mut self.packets, &mut *self.flows, &mut *recorder);
        if let Entry::Dropped(cause) = link.enter(now, parcel, true, self.sequence, parts) {
            self.drop(now, id, &Packet { hop: 1, ..packet }, cause, recorder);
        }
    }

    /// The event of a link: its first packet arrives at the far end, or one leaves its queue. Gives the packet if
    /// it arrives at a host that has to hear of it, which [`Fabric::forget`]s it then.
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) -> Option<PacketId> {
        let link = &mut self.links[id.index()].link;
        link.sink(now, &mut self.flows, recorder);
        let passage = link.event(now, (&mut self.packets, recorder));
        match link.next_event() {
            Some((at, sequence)) => self.agenda.set(id.index(), at, sequence),
            None => self.agenda.clear(id.index()),
        }
        let Some(passage) = passage else {
            self.hear_discipline(now, id, recorder);
            return None;
        };
        let name = passage.packet;
        if passage.is_lost() {
            let packet = self.packets.take(name);
            self.drop(now, id, &packet, DropCause::Random, recorder);
            return None;
        }
        let packet = self.packets.get(name);
        if self.hops_left(packet) > 0 {
            self.enter(now, name, recorder);
            return None;
        }
        if matches!(packet.payload, Payload::Datagram) {
            self.flows[packet.flow.index()].delivered_bytes += u64::from(packet.wire);
            self.packets.forget(name);
            return None;
        }
        Some(name)
    }

    /// A packet on a link, or one that just arrived.
    #[inline]
    pub(crate) fn packet(&self, name: PacketId) -> &Packet {
        self.packets.get(name)
    }

    /// A packet that arrived was heard.
    #[inline]
    pub(crate) fn forget(&mut self, name: PacketId) {
        self.packets.forget(name);
    }

    /// When the last of all packets on links arrives, quiet ones included.
    #[cold]
    #[inline(never)]
    pub(crate) fn last_arrival(&self) -> Time {
        self.links.iter().map(|hop| hop.link.last_arrival()).max().unwrap_or_default()
    }

    /// Brings links and the counters of quiet arrivals up to `now`.
    #[inline(never)]
    pub(crate) fn settle<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        for Hop { link, .. } in &mut self.links {
            link.sink(now, &mut self.flows, recorder);
            link.catch_up(now, recorder);
        }
    }

    /// Counters of a link that has settled.
    pub(crate) fn link(&self, now: Time, id: LinkId) -> Option<LinkStats> {
        let Hop { link, router } = self.links.get(id.index())?;
        let quick_start = router.as_ref().map(|router| router.stats);
        let stats = link.stats(now);
        Some(LinkStats { quick_start: quick_start.unwrap_or_default(), ..stats })
    }

    /// Packets accepted by links, each once for every link.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.links.iter().map(|hop| hop.link.stats(Time::ZERO).packets).sum()
    }

    /// Puts a packet on the next link of its way.
    fn enter<W: Recorder>(&mut self, now: Time, name: PacketId, recorder: &mut W) {
        let packet = self.packets.get(name);
        let parcel = Parcel { id: name, flow: packet.flow, wire: packet.wire };
        self.enter_link(now, parcel, (packet.from, packet.hop), recorder);
    }

    /// The same: whose packet it is, and over how many links it came.
    #[inline]
    fn enter_link<W: Recorder>(
        &mut self,
        now: Time,
        parcel: Parcel,
        (from, hop): (Side, u16),
        recorder: &mut W,
    ) {
        let routes = &self.routes[parcel.flow.index()];
        let (start, length) = if from == Side::Client { routes.forward } else { routes.reverse };
        let Some(&id) = self.ways.get(start as usize + usize::from(hop)).filter(|_| u32::from(hop) < length)
        else {
            self.packets.forget(parcel.id);
            return;
        };
        let packet = self.packets.get_mut(parcel.id);
        packet.hop = hop + 1;
        let Hop { link, router } = &mut self.links[id.index()];
        let quiet = match &packet.payload {
            Payload::Datagram => u32::from(hop) + 1 == length,
            Payload::Segment(segment) => {
                if !segment.quick_start.is_empty() {
                    quick_start::pass(now, router.as_deref_mut(), packet);
                }
                false
            }
        };
        self.sequence += 1;
        let parts = (&mut self.packets, &mut *self.flows, &mut *recorder);
        let entry = link.enter(now, parcel, quiet, self.sequence, parts);
        let managed = link.is_managed();
        if let Some(router) = router.as_mut().filter(|_| !matches!(entry, Entry::Dropped(_))) {
            router.carries(now, parcel.wire);
        }
        match entry {
            Entry::Behind => {}
            Entry::Quietly => self.packets.forget(parcel.id),
            Entry::Next(at, sequence) => self.agenda.set(id.index(), at, sequence),
            Entry::Dropped(cause) => {
                let packet = self.packets.take(parcel.id);
                self.drop(now, id, &packet, cause, recorder);
            }
        }
        if managed {
            self.hear_discipline(now, id, recorder);
        }
    }

    /// Counts and tells what the discipline of a link's queue just dropped and marked.
    #[cold]
    #[inline(never)]
    fn hear_discipline<W: Recorder>(&mut self, now: Time, id: LinkId, recorder: &mut W) {
        while let Some(packet) = self.links[id.index()].link.take_marked() {
            if is_clients_data(&packet) {
                self.flows[packet.flow.index()].data_marked += 1;
            }
            recorder.marked(now, id, &packet);
        }
        while let Some(packet) = self.links[id.index()].link.take_dropped() {
            self.drop(now, id, &packet, DropCause::Queue, recorder);
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

    fn hops_left(&self, packet: &Packet) -> u32 {
        let routes = &self.routes[packet.flow.index()];
        let (_, length) = if packet.from == Side::Client { routes.forward } else { routes.reverse };
        length.saturating_sub(u32::from(packet.hop))
    }
}

fn is_clients_data(packet: &Packet) -> bool {
    packet.from == Side::Client && packet.is_data()
}
