//! A run: the clock and the event loop.

mod branch;
mod prefetching;

use std::collections::BTreeMap;

use firstflight::{Avoidance, Startup, Time};
use firstflight_tcp::{Endpoint, Role};

use crate::arrivals::{Arrivals, Arrived, Process};
use crate::cpu::CpuStats;
use crate::fabric::{Device, Fabric};
use crate::foreign_hosts::ForeignFlow;
use crate::host::{Machines, TcpFlow};
use crate::network::{Application, Flow, Network, NetworkError, TcpSpec, Traffic};
use crate::on_off::{OnOff, OnOffEvent};
use crate::packet::{FlowId, LinkId, PacketId};
use crate::prefetch::{self, Prefetched};
use crate::probe::Probing;
use crate::probe_hosts::ProbeFlow;
use crate::random::{Purpose, Stream};
use crate::recorder::Recorder;
use crate::source::Cbr;
use crate::stats::{End, FlowStats, LinkStats};

/// The number of additional events for which the arrival of a flow counts, because its hosts take kilobytes.
const ARRIVAL: u64 = 100;

/// A run of a network: a pure function of the network and the seed.
#[derive(Clone, Debug)]
pub struct Sim<S, R, A, W> {
    now: Time,
    fabric: Fabric,
    flows: Vec<Hosts<S, R, A>>,
    /// Number of flows in the network description.
    own: usize,
    /// The arrival processes, each with its description.
    processes: Vec<(Process, Arrivals<S, R, A>)>,
    /// The flows that arrived so far, in order. Their numbers follow those of the flows in the description.
    arrived: Vec<Arrived>,
    seed: u64,
    most_events: u64,
    /// The events that the run handled.
    handled: u64,
    recorder: W,
    /// Data fetched for the next arrivals of each link.
    prefetched: Vec<Prefetched>,
    /// Properties of the hosts of every TCP flow.
    machines: Machines,
    /// The work of the processors of flows that are [`Hosts::Gone`], the client's first.
    spent: BTreeMap<u32, [CpuStats; 2]>,
}

/// The hosts of a flow.
#[derive(Clone, Debug)]
enum Hosts<S, R, A> {
    Tcp(Box<TcpFlow<S, R, A>>),
    Cbr(Box<Cbr>),
    OnOff(Box<OnOff>),
    Probe(Box<ProbeFlow>),
    Foreign(Box<ForeignFlow>),
    /// A constant-rate source that its link serves without events.
    InLink,
    /// The flow arrived during the run and has closed at both ends.
    Gone,
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The run reached the given instant.
    Time,
    /// The awaited flow has delivered its last byte.
    Finished,
    /// The connection of the awaited flow was aborted.
    Aborted,
    /// No event is left. The present is the instant of the last event.
    Idle,
    /// The events that the network allows are used up: [`Network::most_events`]. The run stays at the present instant.
    Spent,
}

impl<S: Startup, R: Startup, A: Avoidance, W: Recorder> Sim<S, R, A, W> {
    /// Returns the network at time zero, before the first event.
    ///
    /// # Errors
    /// Fails with the fault that makes the network impossible.
    pub fn new(network: &Network<S, R, A>, seed: u64, recorder: W) -> Result<Self, NetworkError> {
        network.check()?;
        let mut fabric = Fabric::new(network, seed);
        let machines =
            Machines { cpu: network.cpu, departures: network.departures, timer_noise: network.timer_noise };
        let flows = (0u32..)
            .zip(&network.flows)
            .map(|(id, flow)| Hosts::new(FlowId(id), flow, (seed, machines), &mut fabric))
            .collect();
        let mut processes = Vec::with_capacity(network.arrivals.len());
        for (index, spec) in (0u32..).zip(&network.arrivals) {
            let process = Process::new(index, spec, seed);
            fabric.wake_process(processes.len(), process.next());
            processes.push((process, spec.clone()));
        }
        fabric.set_drops_in_turn(W::NEEDS_DROPS_IN_ORDER);
        let own = network.flows.len();
        let prefetched = vec![Prefetched::default(); network.links.len()];
        Ok(Self {
            now: Time::ZERO,
            fabric,
            flows,
            own,
            processes,
            arrived: Vec::new(),
            seed,
            most_events: network.most_events,
            handled: 0,
            recorder,
            prefetched,
            machines,
            spent: BTreeMap::new(),
        })
    }

    /// Runs to `until`, or until no event is left. Events at `until` are handled.
    pub fn run(&mut self, until: Time) -> Stop {
        let stop = self.run_on(until);
        self.fabric.settle(self.now, &mut self.recorder);
        stop
    }

    /// Runs to `until` without bringing links up to date. Until another function has run the network further,
    /// counters of links, calls of the recorder about links, and the count of delivered datagrams may be as of an
    /// earlier instant. This makes a pause cheaper in a network with many links.
    pub fn run_on(&mut self, until: Time) -> Stop {
        self.run_while(until, None)
    }

    /// Runs until the last byte of a sized transfer is delivered or its connection is aborted, but not past `limit`.
    /// Other events of the same instant may be still to come.
    pub fn run_until_ended(&mut self, flow: FlowId, limit: Time) -> Stop {
        let stop = self.run_while(limit, Some(flow));
        self.fabric.settle(self.now, &mut self.recorder);
        stop
    }

    /// Returns the number of events that the run may take: [`Network::most_events`].
    pub fn most_events(&self) -> u64 {
        self.most_events
    }

    /// Returns the present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the counters of a flow; `None` if there is no such flow.
    pub fn flow(&self, flow: FlowId) -> Option<FlowStats> {
        self.fabric.flows.get(flow.index()).copied()
    }

    /// Returns the number of flows by now, including those that arrived.
    pub fn flow_count(&self) -> u32 {
        u32::try_from(self.flows.len()).unwrap_or(u32::MAX)
    }

    /// Returns how a flow arrived; `None` if there is no flow of this number, or if it is in the network description.
    pub fn arrived(&self, flow: FlowId) -> Option<Arrived> {
        self.arrived.get(flow.index().checked_sub(self.own)?).copied()
    }

    /// Returns the links from a flow's client to its server; `None` if there is no flow of this number.
    pub fn way(&self, flow: FlowId) -> Option<&[LinkId]> {
        self.fabric.forward(flow)
    }

    /// Returns the counters of a link; `None` if there is no such link.
    pub fn link(&self, link: LinkId) -> Option<LinkStats> {
        self.fabric.link(self.now, link)
    }

    /// Returns an endpoint of a TCP flow. `None` if there is no such TCP flow, or if it arrived during the run and is
    /// over.
    pub fn endpoint(&self, flow: FlowId, side: Role) -> Option<&Endpoint<S, R, A>> {
        match self.flows.get(flow.index())? {
            Hosts::Tcp(tcp) => Some(tcp.endpoint(side)),
            Hosts::Cbr(_)
            | Hosts::OnOff(_)
            | Hosts::Probe(_)
            | Hosts::Foreign(_)
            | Hosts::InLink
            | Hosts::Gone => None,
        }
    }

    /// Returns the results of a probing; `None` if the flow is not a probing.
    pub fn probing(&self, flow: FlowId) -> Option<&Probing> {
        match self.flows.get(flow.index())? {
            Hosts::Probe(probe) => Some(probe.probing()),
            Hosts::Tcp(_)
            | Hosts::Cbr(_)
            | Hosts::OnOff(_)
            | Hosts::Foreign(_)
            | Hosts::InLink
            | Hosts::Gone => None,
        }
    }

    /// Returns the work of the processor of a TCP host; `None` if there is no such host, or if its work takes no time.
    pub fn cpu(&self, flow: FlowId, side: Role) -> Option<&CpuStats> {
        match self.flows.get(flow.index())? {
            Hosts::Tcp(tcp) => tcp.cpu_stats(side),
            Hosts::Gone => Some(&self.spent.get(&flow.0)?[usize::from(side == Role::Server)]),
            Hosts::Cbr(_) | Hosts::OnOff(_) | Hosts::Probe(_) | Hosts::Foreign(_) | Hosts::InLink => None,
        }
    }

    /// Returns the number of packets that links have carried. A packet counts once per link. This measures the work
    /// of a run.
    pub fn packet_hops(&self) -> u64 {
        self.fabric.packet_hops(self.now)
    }

    /// Returns the recorder.
    pub fn recorder(&self) -> &W {
        &self.recorder
    }

    /// Ends the run and returns its recorder.
    pub fn into_recorder(self) -> W {
        self.recorder
    }

    /// Lets links handle each packet at the instant of its arrival, and gives constant-rate sources separate events.
    #[cfg(test)]
    pub(crate) fn look_at_once(&mut self) {
        for source in self.fabric.look_at_once() {
            let flow = source.flow();
            self.fabric.wake(flow, Role::Client, source.next());
            self.flows[flow.index()] = Hosts::Cbr(Box::new(source));
        }
    }

    /// Returns whether a datagram of a link's own source ever arrived together with another packet. The order of the
    /// two then differs from a run in which sources have events.
    #[cfg(test)]
    pub(crate) fn has_ties(&self) -> bool {
        self.fabric.has_ties()
    }

    /// Runs to `until`, or until the awaited flow has ended.
    #[inline(never)]
    fn run_while(&mut self, until: Time, awaited: Option<FlowId>) -> Stop {
        loop {
            if let Some(end) = awaited.and_then(|flow| self.fabric.end(flow)) {
                return match end {
                    End::Delivered(_) => Stop::Finished,
                    End::Aborted(_) => Stop::Aborted,
                };
            }
            let (at, device) = match self.fabric.next() {
                Some((at, sequence, device)) => (at, Some((sequence, device))),
                None => (self.fabric.last_arrival().max(self.now), None),
            };
            if at > until {
                self.now = self.now.max(until);
                return Stop::Time;
            }
            if self.handled >= self.most_events && device.is_some() {
                return Stop::Spent;
            }
            self.now = at;
            match device {
                Some((sequence, device)) => {
                    self.handled += 1;
                    self.fabric.happens(sequence);
                    self.happen(self.fabric.device(device));
                }
                None => return Stop::Idle,
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once an event, and from one place")]
    fn happen(&mut self, device: Device) {
        match device {
            Device::Link(link) => {
                if let Some(packet) = self.fabric.event(self.now, link, &mut self.recorder) {
                    if self.flows.len() > prefetch::FEW && self.fabric.is_beyond_caches() {
                        self.prefetch_next(link);
                    }
                    self.deliver(packet);
                }
            }
            Device::Process(process) => self.start_due(process as usize),
            Device::Host(flow, side) => {
                if self.flows.len() > prefetch::FEW && self.fabric.is_beyond_caches() {
                    self.prefetch_after_timer();
                }
                match &mut self.flows[flow.index()] {
                    Hosts::Tcp(tcp) => tcp.on_timer(self.now, side, &mut self.fabric, &mut self.recorder),
                    Hosts::Cbr(source) => {
                        self.fabric.flows[flow.index()].started.get_or_insert(self.now);
                        self.fabric.send_datagram(self.now, source.packet(), &mut self.recorder);
                        source.advance();
                        self.fabric.wake(flow, side, source.next());
                    }
                    Hosts::OnOff(source) => {
                        run_on_off(source, self.now, &mut self.fabric, &mut self.recorder);
                    }
                    Hosts::Probe(probe) => probe.on_timer(self.now, &mut self.fabric, &mut self.recorder),
                    Hosts::Foreign(foreign) => {
                        foreign.on_timer(self.now, side, &mut self.fabric, &mut self.recorder);
                    }
                    Hosts::InLink | Hosts::Gone => {}
                }
                if flow.index() >= self.own {
                    self.retire(flow);
                }
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn deliver(&mut self, name: PacketId) {
        let packet = self.fabric.packet(name);
        let (flow, from) = (packet.flow, packet.from);
        let Hosts::Tcp(tcp) = &mut self.flows[flow.index()] else {
            return self.deliver_datagram(name);
        };
        // The code for each side is separate, and hardly ever checks the side.
        match from {
            Role::Server => tcp.receive(self.now, Role::Client, name, &mut self.fabric, &mut self.recorder),
            Role::Client => tcp.receive(self.now, Role::Server, name, &mut self.fabric, &mut self.recorder),
        }
        if tcp.is_over() && flow.index() >= self.own {
            self.retire(flow);
        }
    }

    /// Delivers a datagram to a host that handles it.
    #[cold]
    #[inline(never)]
    fn deliver_datagram(&mut self, name: PacketId) {
        let packet = *self.fabric.packet(name);
        if let Hosts::Foreign(foreign) = &mut self.flows[packet.flow.index()] {
            let side = if packet.from == Role::Client { Role::Server } else { Role::Client };
            return foreign.receive(self.now, side, name, &mut self.fabric, &mut self.recorder);
        }
        self.fabric.forget(name);
        if let Hosts::Probe(probe) = &mut self.flows[packet.flow.index()] {
            probe.receive(self.now, &packet, &mut self.fabric, &mut self.recorder);
        }
    }

    /// Starts the flows of an arrival process that are due.
    #[cold]
    #[inline(never)]
    fn start_due(&mut self, process: usize) {
        while let Some(arrived) = self.processes[process].0.take(self.now) {
            let spec = &self.processes[process].1;
            let route = spec.ways.route(arrived.way);
            let ends = spec.mix.get(arrived.choice as usize);
            let (Some(route), Some(ends)) = (route, ends) else { continue };
            self.handled += ARRIVAL;
            let id = self.fabric.add_flow(&route);
            let tcp = TcpSpec {
                client: ends.client,
                server: ends.server,
                controller: ends.controller.clone(),
                application: spec.until.map_or(Application::Sized(arrived.bytes), Application::Until),
            };
            self.recorder.flow_arrived(self.now, id, arrived, &route.forward);
            let mut tcp = Box::new(TcpFlow::new(id, &tcp, self.seed, self.machines));
            tcp.on_timer(self.now, Role::Client, &mut self.fabric, &mut self.recorder);
            self.flows.push(Hosts::Tcp(tcp));
            self.arrived.push(arrived);
        }
        self.fabric.wake_process(process, self.processes[process].0.next());
    }

    /// Frees the hosts of a flow that arrived during the run, once it has closed at both ends.
    #[cold]
    #[inline(never)]
    fn retire(&mut self, flow: FlowId) {
        let place = &mut self.flows[flow.index()];
        let Hosts::Tcp(tcp) = &*place else { return };
        if tcp.is_over() {
            let of = |side| tcp.cpu_stats(side).cloned();
            if let (Some(client), Some(server)) = (of(Role::Client), of(Role::Server)) {
                self.spent.insert(flow.0, [client, server]);
            }
            *place = Hosts::Gone;
            self.fabric.wake(flow, Role::Client, None);
            self.fabric.wake(flow, Role::Server, None);
            // The user of an arrival process may have waited for this flow.
            let number = self.arrived[flow.index() - self.own].process as usize;
            let process = &mut self.processes[number].0;
            if process.over(self.now) {
                self.fabric.wake_process(number, process.next());
            }
        }
    }
}

/// Handles the event of an on/off source.
#[inline(never)]
fn run_on_off<W: Recorder>(source: &mut OnOff, now: Time, fabric: &mut Fabric, recorder: &mut W) {
    let flow = source.flow();
    match source.on_timer(now) {
        OnOffEvent::Offers(rate) => {
            fabric.flows[flow.index()].started.get_or_insert(now);
            recorder.offered(now, flow, rate.bps());
        }
        OnOffEvent::Sends(packet) => fabric.send_datagram(now, packet, recorder),
    }
    if let Some(stop) = source.cut_off_at() {
        recorder.offered(stop, flow, 0);
    }
    fabric.wake(flow, Role::Client, source.next());
}

impl<S: Startup, R: Startup, A: Avoidance> Hosts<S, R, A> {
    /// Returns the hosts of a flow. Puts their first event on the agenda.
    fn new(id: FlowId, flow: &Flow<S, R, A>, (seed, machines): (u64, Machines), fabric: &mut Fabric) -> Self {
        let spread = flow.start_spread.nanos().saturating_add(1);
        let put_off = Stream::new(seed, Purpose::Start, id.0, 0).below(spread);
        let start = flow.start + firstflight::Span::from_nanos(put_off);
        let (hosts, first) = match &flow.traffic {
            Traffic::Tcp(spec) => (Self::Tcp(Box::new(TcpFlow::new(id, spec, seed, machines))), Some(start)),
            Traffic::Cbr(spec) => {
                let source = Cbr::new(id, *spec, start, seed);
                if flow.muted {
                    return Self::Cbr(Box::new(source));
                }
                match fabric.take_on(source) {
                    None => return Self::InLink,
                    Some(source) => {
                        let first = source.next();
                        (Self::Cbr(Box::new(source)), first)
                    }
                }
            }
            Traffic::OnOff(spec) => {
                let (source, first) = OnOff::new(id, *spec, start, seed);
                (Self::OnOff(Box::new(source)), first)
            }
            Traffic::Probe(spec) => {
                (Self::Probe(Box::new(ProbeFlow::new(id, (**spec).clone()))), Some(start))
            }
            Traffic::Foreign(spec) => {
                (Self::Foreign(Box::new(ForeignFlow::new(id, (**spec).clone(), seed))), Some(start))
            }
        };
        if let Some(first) = first.filter(|_| !flow.muted) {
            fabric.wake(id, Role::Client, Some(first));
        }
        hosts
    }
}

#[cfg(test)]
mod tests;
