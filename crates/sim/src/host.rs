//! The hosts of a TCP flow: two endpoints, and the application of each.

mod busy;
mod rough;

use firstflight::{Avoidance, Startup, Time};
use firstflight_tcp::{Departure, Endpoint, Fast, Happening, NextSegment, RepairSegment, Role};

use crate::cpu::{CpuSpec, CpuStats, Processors};
use crate::departures::{DepartureSpec, Departures};
use crate::fabric::Fabric;
use crate::network::{Application, TcpSpec};
use crate::packet::{FlowId, Label, PacketId, Payload};
use crate::prefetch::{fetch, fetch_first};
use crate::recorder::Recorder;
use crate::rounds::Progress;
use crate::stats::End;
use crate::writes::Writing;

/// The bytes that an application writes that always has more to send: more than any run can carry, and little enough
/// for sums not to overflow.
const ENDLESS: u64 = 1 << 62;

#[derive(Clone, Debug)]
#[repr(C)]
struct Host<S, R, A> {
    endpoint: Endpoint<S, R, A>,
    /// When the host's event is due: no later than its endpoint or its application needs it. If a timer moves to a
    /// later instant the event stays where it is, and is put off when it comes. Most timers move many times.
    armed: Option<Time>,
    /// Packets sent.
    packets: u64,
    /// Whether both directions are closed, or the connection was aborted.
    closed: bool,
}

/// The two hosts of a flow. The order of fields matters, because of many flows few are in a cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TcpFlow<S, R, A> {
    client: Host<S, R, A>,
    id: FlowId,
    opened: bool,
    /// The bytes that the client will write in all, if there is an end to them.
    whole: Option<u64>,
    /// Bytes that the server has in order.
    delivered: u64,
    rounds: Option<Box<Progress>>,
    writing: Option<Box<Writing>>,
    server: Host<S, R, A>,
    application: Application,
    /// What keeps the hosts from acting at once, if anything does.
    hardware: Option<Box<Hardware>>,
}

/// What the hosts of every TCP flow of a network are made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machines {
    /// Their processors, if what they do takes time.
    pub(crate) cpu: Option<CpuSpec>,
    /// How roughly senders' packets leave. Processors go before it.
    pub(crate) departures: Option<DepartureSpec>,
}

/// What keeps hosts from acting at once.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a flow without any has an empty box, and a flow with some has one"
)]
enum Hardware {
    /// Processors that take time.
    Processors(Processors),
    /// A timer, or segmentation offload, between the sender's endpoint and its first link.
    Departures(Departures),
}

impl<S: Startup, R: Startup, A: Avoidance> TcpFlow<S, R, A> {
    pub(crate) fn new(id: FlowId, spec: &TcpSpec<S, R, A>, seed: u64, machines: Machines) -> Self {
        let host = |role, config| Host {
            endpoint: Endpoint::new(role, config, spec.controller.clone()),
            armed: None,
            packets: 0,
            closed: false,
        };
        Self {
            id,
            application: spec.application,
            opened: false,
            rounds: match spec.application {
                Application::Rounds(rounds) => Some(Box::new(Progress::new(rounds, id, seed))),
                Application::Bulk
                | Application::Sized(_)
                | Application::Writes(_)
                | Application::Until(_) => None,
            },
            writing: None,
            whole: match spec.application {
                Application::Bulk | Application::Until(_) => None,
                Application::Sized(bytes) => Some(bytes),
                Application::Rounds(rounds) => Some(rounds.total()),
                Application::Writes(writes) => Some(writes.total),
            },
            delivered: 0,
            client: host(Role::Client, &spec.client),
            server: host(Role::Server, &spec.server),
            hardware: match machines {
                Machines { cpu: Some(cpu), .. } => {
                    let mss = spec.client.mss.min(spec.server.mss);
                    Some(Box::new(Hardware::Processors(Processors::new(cpu, mss))))
                }
                Machines { departures: Some(departures), .. } => {
                    Some(Box::new(Hardware::Departures(Departures::new(departures, id, seed))))
                }
                Machines { cpu: None, departures: None } => None,
            },
        }
    }

    /// What a host's processor has done, if its work takes time.
    pub(crate) fn cpu_stats(&self, side: Role) -> Option<&CpuStats> {
        match self.hardware.as_deref()? {
            Hardware::Processors(both) => Some(both.stats(side)),
            Hardware::Departures(_) => None,
        }
    }

    /// Fetches a host.
    #[inline]
    pub(crate) fn fetch(&self, side: Role) {
        let (host, bytes) = match side {
            Role::Client => (&self.client, Fast::<S, R, A>::FIRST_OF_SENDING),
            Role::Server => (&self.server, Fast::<S, R, A>::FIRST_OF_RECEIVING),
        };
        fetch_first(&host.endpoint, bytes);
        fetch(&host.armed);
        fetch(&self.id);
        fetch(&self.writing);
    }

    pub(crate) fn endpoint(&self, side: Role) -> &Endpoint<S, R, A> {
        match side {
            Role::Client => &self.client.endpoint,
            Role::Server => &self.server.endpoint,
        }
    }

    /// Whether neither host has anything left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.client.closed && self.server.closed
    }

    /// Handles the timer of a host. The client's first timer starts the flow.
    pub(crate) fn on_timer<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        if side == Role::Client && !self.opened {
            if recorder.wants_told(self.id) {
                self.client.endpoint.keep_told();
            }
            self.open(now, fabric);
            self.act(now, recorder);
        } else if self.hardware.is_some() {
            return self.on_timer_of_hardware(now, side, fabric, recorder);
        } else {
            let (id, next) = (self.id, self.next_act(side));
            let host = self.host(side);
            let timer = host.timer(next);
            if timer.is_none_or(|timer| timer > now) {
                host.armed = timer;
                fabric.wake(id, side, timer);
                return;
            }
            host.endpoint.on_timer(now);
            if side == Role::Client {
                self.act(now, recorder);
                self.stop(now, fabric);
            }
        }
        self.serve_woken(now, side, fabric, recorder);
    }

    /// Stops the client's application if that is due: what has left is all that it sends.
    fn stop(&mut self, now: Time, fabric: &mut Fabric) {
        if self.writing.as_ref().is_none_or(|writing| !writing.has_stopped(now)) {
            return;
        }
        self.writing = None;
        let sent = self.client.endpoint.take_back();
        self.client.endpoint.shut();
        self.whole = Some(sent);
        self.note_end(now, sent, fabric);
    }

    /// Notes that the server has the whole transfer, if it has. The server then closes.
    fn note_end(&mut self, now: Time, whole: u64, fabric: &mut Fabric) {
        if self.delivered == whole {
            fabric.flows[self.id.index()].end.get_or_insert(End::Delivered(now));
            self.server.endpoint.shut();
        }
    }

    /// Handles a packet that arrived at `side`. The packet is freed before any other is sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place for each side")]
    pub(crate) fn receive<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        name: PacketId,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        if self.hardware.is_some() {
            return self.receive_by_hardware(now, side, name, fabric, recorder);
        }
        let Payload::Segment(segment) = &fabric.packet(name).payload else {
            return fabric.forget(name);
        };
        recorder.arrived(now, self.id, side, segment);
        self.host(side).endpoint.on_segment(now, segment);
        fabric.forget(name);
        if side == Role::Server {
            self.note_delivery(now, fabric, recorder);
        }
        self.serve(now, side, fabric, recorder);
    }

    /// [`TcpFlow::on_timer`] of a host that does not act at once, once the flow is open.
    #[cold]
    #[inline(never)]
    fn on_timer_of_hardware<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        match self.hardware.as_deref() {
            Some(Hardware::Departures(_)) => self.on_timer_of_rough_host(now, side, fabric, recorder),
            Some(Hardware::Processors(_)) | None => self.work(now, side, fabric, recorder),
        }
    }

    /// [`TcpFlow::receive`] of a host that does not act at once.
    #[cold]
    #[inline(never)]
    fn receive_by_hardware<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        name: PacketId,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        match self.hardware.as_deref() {
            Some(Hardware::Departures(_)) => self.receive_at_rough_host(now, side, name, fabric, recorder),
            Some(Hardware::Processors(_)) | None => self.receive_later(now, side, name, fabric, recorder),
        }
    }

    fn open(&mut self, now: Time, fabric: &mut Fabric) {
        self.opened = true;
        fabric.flows[self.id.index()].started = Some(now);
        self.client.endpoint.open(now);
        match self.application {
            Application::Bulk => self.client.endpoint.write(ENDLESS),
            Application::Sized(bytes) => {
                self.client.endpoint.write(bytes);
                self.client.endpoint.shut();
            }
            Application::Rounds(_) => {
                if let Some(rounds) = &mut self.rounds {
                    rounds.start(now);
                }
            }
            Application::Writes(writes) => self.writing = Some(Box::new(Writing::new(writes, now))),
            Application::Until(at) => {
                self.client.endpoint.write(ENDLESS);
                self.writing = Some(Box::new(Writing::until(at)));
            }
        }
    }

    /// Lets the client's application do what is due.
    fn act<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        self.begin_round(now, recorder);
        if let Some(writing) = self.writing.as_mut().filter(|writing| !writing.stops()) {
            self.client.endpoint.write(writing.take(now));
            if writing.is_over() {
                self.client.endpoint.shut();
                self.writing = None;
            }
        }
    }

    /// When the application of a host next has something to do.
    #[inline]
    fn next_act(&self, side: Role) -> Option<Time> {
        if side == Role::Server {
            return None;
        }
        let (rounds, writing) = (self.rounds.as_deref(), self.writing.as_deref());
        rounds.and_then(Progress::next).or_else(|| writing.and_then(Writing::next))
    }

    /// Writes the reply of a round, if one is due.
    fn begin_round<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        let (Application::Rounds(spec), Some(rounds)) = (self.application, &mut self.rounds) else { return };
        while let Some(round) = rounds.begin(now) {
            self.client.endpoint.write(spec.bytes);
            if rounds.is_last() {
                self.client.endpoint.shut();
            }
            recorder.round_began(now, self.id, round);
        }
    }

    /// Reports the rounds that end with what was delivered. That may decide when the next round begins.
    fn end_rounds<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        let Some(rounds) = &mut self.rounds else { return };
        while let Some(round) = rounds.ended(now, self.delivered) {
            recorder.round_ended(now, self.id, round);
        }
        let next = rounds.next();
        self.client.set_timer(now, (self.id, Role::Client), next, fabric);
    }

    /// Notes what the server has in order. The server closes with the last byte of a sized transfer.
    fn note_delivery<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        let received = self.server.endpoint.stats().received;
        if received == self.delivered {
            return;
        }
        self.delivered = received;
        let stats = &mut fabric.flows[self.id.index()];
        stats.delivered_bytes = received;
        if self.whole == Some(received) {
            stats.end.get_or_insert(End::Delivered(now));
            self.server.endpoint.shut();
        }
        recorder.delivered(now, self.id, received);
        self.end_rounds(now, fabric, recorder);
    }

    /// Sends and sets the timer after a host was woken.
    #[inline(never)]
    fn serve_woken<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        self.send(now, side, fabric, recorder);
        let (id, next) = (self.id, self.next_act(side));
        let host = self.host(side);
        // An endpoint that was just woken and asks for a timer in the past would stop the clock for ever.
        let timer = host.timer(next).map(|at| at.max(now.after_nanos(1)));
        host.arm((id, side), timer, fabric);
        let endpoint = &self.endpoint(side);
        recorder.state(now, id, side, || endpoint.snapshot());
    }

    /// Sends and sets the timer after an endpoint has handled a segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn serve<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        self.send(now, side, fabric, recorder);
        let (id, next) = (self.id, self.next_act(side));
        self.host(side).set_timer(now, (id, side), next, fabric);
        let endpoint = &self.endpoint(side);
        recorder.state(now, id, side, || endpoint.snapshot());
    }

    /// Sends what may leave a host, and reports what happened.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place but for timers")]
    fn send<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let id = self.id;
        let host = self.host(side);
        host.tell(now, (id, side), fabric, recorder);
        // The usual packet of each side has a function of its own.
        match (side, host.endpoint.fast().ready()) {
            (_, NextSegment::Nothing) => {}
            (Role::Client, NextSegment::Full) => self.send_full(now, side, fabric, recorder),
            (Role::Server, NextSegment::Ack) => {
                let segment = fabric.next_segment();
                let ip_length = host.endpoint.fast().pure_ack(now, segment);
                recorder.sent(now, id, side, host.packets, segment, None);
                let label = host.label(id, side, ip_length, false);
                fabric.send_segment(now, label, recorder);
                host.tell(now, (id, side), fabric, recorder);
            }
            (Role::Client, NextSegment::Other) if host.endpoint.fast().is_repairing() => {
                self.send_repair(now, side, fabric, recorder);
            }
            (Role::Client | Role::Server, NextSegment::Full | NextSegment::Ack | NextSegment::Other) => {
                self.send_any(now, side, fabric, recorder);
            }
        }
    }

    /// [`TcpFlow::send`] where a full segment of new data may leave: sends it and all that may leave after it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place but for timers")]
    fn send_full<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            let (ip_length, last) = host.endpoint.fast().full_segment(now, segment);
            recorder.sent(now, id, side, host.packets, segment, Some(&host.endpoint.fast().last_full()));
            let label = host.label(id, side, ip_length, true);
            fabric.send_segment(now, label, recorder);
            if last {
                return host.tell(now, (id, side), fabric, recorder);
            }
            if host.endpoint.fast().ready() != NextSegment::Full {
                return self.send_any(now, side, fabric, recorder);
            }
        }
    }

    /// [`TcpFlow::send`] while losses are repaired.
    #[inline(never)]
    fn send_repair<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            match host.endpoint.fast().repair_segment(now, segment) {
                RepairSegment::Leaves(sent, ip_length) => {
                    recorder.sent(now, id, side, host.packets, segment, Some(&sent));
                    let label = host.label(id, side, ip_length, true);
                    let label = Label { retransmission: sent.retransmission, ..label };
                    fabric.send_segment(now, label, recorder);
                }
                RepairSegment::Nothing => return host.tell(now, (id, side), fabric, recorder),
                RepairSegment::Other => return self.send_any(now, side, fabric, recorder),
            }
        }
    }

    /// [`TcpFlow::send`] for packets of any kind.
    #[inline(never)]
    fn send_any<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            // The result is read in place: a copy right after a piecewise store would stall the processor.
            let departure = host.endpoint.fast().transmit_into(now, segment);
            let Some(Departure { sent, last, ip_length, asks }) = &departure else { break };
            recorder.sent(now, id, side, host.packets, segment, sent.as_ref());
            let retransmission = sent.as_ref().is_some_and(|sent| sent.retransmission);
            let label = host.label(id, side, *ip_length, segment.len > 0);
            let label = Label { retransmission, asks: *asks, ..label };
            fabric.send_segment(now, label, recorder);
            if *last {
                break;
            }
        }
        host.tell(now, (id, side), fabric, recorder);
    }

    #[inline]
    fn host(&mut self, side: Role) -> &mut Host<S, R, A> {
        match side {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Host<S, R, A> {
    /// The label of a packet that leaves. Its data, if it has any, was not sent before.
    #[inline]
    fn label(&mut self, flow: FlowId, from: Role, wire: u32, is_data: bool) -> Label {
        let number = self.packets;
        self.packets += 1;
        Label { flow, from, retransmission: false, number, wire, is_data, asks: false }
    }

    #[inline]
    fn tell<W: Recorder>(&mut self, now: Time, whose: (FlowId, Role), fabric: &mut Fabric, recorder: &mut W) {
        if self.endpoint.fast().has_news() {
            self.tell_news(now, whose, fabric, recorder);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_news<W: Recorder>(
        &mut self,
        now: Time,
        (flow, side): (FlowId, Role),
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        while let Some(told) = self.endpoint.poll_told() {
            recorder.told(flow, &told);
        }
        while let Some(happening) = self.endpoint.poll_happening() {
            self.closed |= matches!(happening, Happening::Closed | Happening::Aborted);
            if happening == Happening::Aborted {
                fabric.flows[flow.index()].end.get_or_insert(End::Aborted(now));
            }
            let endpoint = &self.endpoint;
            recorder.happening(now, flow, side, &happening, || endpoint.snapshot());
        }
    }

    /// When the host wants to be woken: the next timer of its endpoint, or `next`, when its application has something
    /// to do.
    #[inline]
    fn timer(&self, next: Option<Time>) -> Option<Time> {
        Time::earlier(self.endpoint.next_timer(), next)
    }

    /// Moves the host's event to the first instant at which it is needed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn set_timer(&mut self, now: Time, whose: (FlowId, Role), next: Option<Time>, fabric: &mut Fabric) {
        if next.is_some() || !self.endpoint.fast().needs_no_waking_before(self.armed) {
            self.look_at_timer(now, whose, next, fabric);
        }
    }

    /// [`Host::set_timer`] at length.
    #[inline(never)]
    fn look_at_timer(&mut self, now: Time, whose: (FlowId, Role), next: Option<Time>, fabric: &mut Fabric) {
        let timer = self.timer(next);
        let stands = match (self.armed, timer) {
            (Some(armed), Some(timer)) => armed <= timer,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let timer = timer.map(|at| at.max(now));
        // An event that is due stays before what else happens now.
        if !stands && (timer.is_none() || self.armed != timer) {
            self.arm(whose, timer, fabric);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few steps")]
    fn arm(&mut self, (flow, side): (FlowId, Role), timer: Option<Time>, fabric: &mut Fabric) {
        self.armed = timer;
        fabric.wake(flow, side, timer);
    }
}
