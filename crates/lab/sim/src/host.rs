//! The hosts of a TCP flow: two endpoints, and the application of each.

mod cpu_host;
mod delayed_host;

use firstflight::{Avoidance, Span, Startup, Time};
use firstflight_tcp::{Departure, Endpoint, EndpointEvent, Fast, NextSegment, RepairSegment, Role};

use crate::app_writes::Writing;
use crate::cpu::{CpuSpec, CpuStats, Processors};
use crate::departures::{DepartureSpec, Departures};
use crate::fabric::Fabric;
use crate::lateness::Lateness;
use crate::network::{Application, TcpSpec};
use crate::packet::{FlowId, Label, PacketId, Payload};
use crate::prefetch::{fetch, fetch_first};
use crate::recorder::Recorder;
use crate::rounds::Progress;
use crate::stats::End;

/// Bytes written by an application that always has more to send: more than any run can carry, and small enough that sums do not overflow.
const ENDLESS: u64 = 1 << 62;

#[derive(Clone, Debug)]
#[repr(C)]
struct Host<S, R, A> {
    endpoint: Endpoint<S, R, A>,
    /// Time of the host's event: no later than its endpoint or its application needs it. If a timer moves to a later instant, the event is
    /// not moved at once but postponed when it occurs, because most timers move many times.
    armed: Option<Time>,
    /// Packets sent.
    packets: u64,
    /// The lateness of the endpoint's timers.
    lateness: Lateness,
    /// The latest instant that was passed to the endpoint.
    seen: Time,
    /// Whether both directions are closed, or the connection was aborted.
    closed: bool,
}

/// The two hosts of a flow. The order of fields matters: with many flows, few of them are in a cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TcpFlow<S, R, A> {
    client: Host<S, R, A>,
    id: FlowId,
    opened: bool,
    /// Total bytes that the client will write, if the number is finite.
    whole: Option<u64>,
    /// Bytes that the server has received in order.
    delivered: u64,
    rounds: Option<Box<Progress>>,
    writing: Option<Box<Writing>>,
    server: Host<S, R, A>,
    application: Application,
    /// The cause that keeps the hosts from acting at once, if there is one.
    hardware: Option<Box<Hardware>>,
}

/// Properties of the hosts of every TCP flow of a network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machines {
    /// The processors of hosts, if the work of hosts takes time.
    pub(crate) cpu: Option<CpuSpec>,
    /// Timer grain and bursts of senders. Processors take precedence.
    pub(crate) departures: Option<DepartureSpec>,
    /// The maximum lateness of senders' timers, for hosts with neither processors nor rough transmission.
    pub(crate) timer_noise: Span,
}

/// The causes that keep hosts from acting at once.
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
        let is_plain = machines.cpu.is_none() && machines.departures.is_none();
        let noise = if is_plain { machines.timer_noise } else { Span::ZERO };
        let host = |role, config, noise| Host {
            endpoint: Endpoint::new(role, config, spec.controller.clone()),
            armed: None,
            packets: 0,
            lateness: Lateness::new(noise, id, seed),
            seen: Time::ZERO,
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
            client: host(Role::Client, &spec.client, noise),
            server: host(Role::Server, &spec.server, Span::ZERO),
            hardware: match machines {
                Machines { cpu: Some(cpu), .. } => {
                    let mss = spec.client.mss.min(spec.server.mss);
                    Some(Box::new(Hardware::Processors(Processors::new(cpu, mss))))
                }
                Machines { departures: Some(departures), .. } => {
                    Some(Box::new(Hardware::Departures(Departures::new(departures, id, seed))))
                }
                Machines { cpu: None, departures: None, .. } => None,
            },
        }
    }

    /// Returns the work of a host's processor, if its work takes time.
    pub(crate) fn cpu_stats(&self, side: Role) -> Option<&CpuStats> {
        match self.hardware.as_deref()? {
            Hardware::Processors(both) => Some(both.stats(side)),
            Hardware::Departures(_) => None,
        }
    }

    /// Fetches a host into the cache.
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

    /// Returns whether both hosts have nothing left to do.
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
        let mut clock = now;
        if side == Role::Client && !self.opened {
            if recorder.wants_trace(self.id) {
                self.client.endpoint.record_trace();
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
            clock = host.clock(now);
            host.endpoint.on_timer(clock);
            if side == Role::Client {
                self.act(now, recorder);
                self.stop(now, fabric);
            }
        }
        self.serve_woken((now, clock), side, fabric, recorder);
    }

    /// Stops the client's application if that is due: it sends no data beyond what has been sent.
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

    /// Records that the server has received the whole transfer, if that is so. The server then closes.
    fn note_end(&mut self, now: Time, whole: u64, fabric: &mut Fabric) {
        if self.delivered == whole {
            fabric.flows[self.id.index()].end.get_or_insert(End::Delivered(now));
            self.server.endpoint.shut();
        }
    }

    /// Handles a packet that arrived at `side`. The packet is freed before another is sent.
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
        if self.host(side).lateness.is_some() {
            self.catch_up(now, side, fabric, recorder);
        }
        let Payload::Segment(segment) = &fabric.packet(name).payload else {
            return fabric.forget(name);
        };
        recorder.arrived(now, self.id, side, segment);
        let host = self.host(side);
        host.seen = now;
        host.endpoint.on_segment(now, segment);
        fabric.forget(name);
        if side == Role::Server {
            self.note_delivery(now, fabric, recorder);
        }
        self.serve(now, side, fabric, recorder);
    }

    /// Handles the timers of a host that were due before `now` and are late. Call this before a segment is handled: otherwise a packet that
    /// waits for a late timer would get the time of the segment's arrival, and the pacer would lose the time in between.
    #[cold]
    #[inline(never)]
    fn catch_up<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let mut last = None;
        loop {
            let host = self.host(side);
            let due = host.endpoint.next_timer().filter(|due| *due < now && Some(*due) != last);
            let Some(due) = due else { return };
            last = Some(due);
            let clock = due.max(host.seen);
            host.seen = clock;
            host.endpoint.on_timer(clock);
            self.send((now, clock), side, fabric, recorder);
        }
    }

    /// Does the work of [`TcpFlow::on_timer`] for a host that does not act at once, once the flow is open.
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

    /// Does the work of [`TcpFlow::receive`] for a host that does not act at once.
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

    /// Lets the client's application do what is due at `now`.
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

    /// Returns when the application of a host next has something to do.
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

    /// Reports the rounds whose data is delivered. The end of a round may determine when the next one begins.
    fn end_rounds<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        let Some(rounds) = &mut self.rounds else { return };
        while let Some(round) = rounds.ended(now, self.delivered) {
            recorder.round_ended(now, self.id, round);
        }
        let next = rounds.next();
        self.client.set_timer(now, (self.id, Role::Client), next, fabric);
    }

    /// Records the in-order data of the server. The server closes with the last byte of a sized transfer.
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

    /// Sends packets and sets the timer after a host was woken at `now`. `clock` is the instant passed to the endpoint.
    #[inline(never)]
    fn serve_woken<W: Recorder>(
        &mut self,
        (now, clock): (Time, Time),
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        self.send((now, clock), side, fabric, recorder);
        let (id, next) = (self.id, self.next_act(side));
        let host = self.host(side);
        // A timer in the past, requested by an endpoint that was just woken, would stop the clock for ever.
        let timer = host.timer(next).map(|at| at.max(now.after_nanos(1)));
        host.arm((id, side), timer, fabric);
        let endpoint = &self.endpoint(side);
        recorder.state(now, id, side, || endpoint.snapshot());
    }

    /// Sends and sets the timer after an endpoint has handled a segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn serve<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        self.send((now, now), side, fabric, recorder);
        let (id, next) = (self.id, self.next_act(side));
        self.host(side).set_timer(now, (id, side), next, fabric);
        let endpoint = &self.endpoint(side);
        recorder.state(now, id, side, || endpoint.snapshot());
    }

    /// Sends the packets that a host may send, and reports events. `times` holds the instant, and the instant passed to the endpoint.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place but for timers")]
    fn send<W: Recorder>(&mut self, times: (Time, Time), side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let (now, clock) = times;
        let id = self.id;
        let host = self.host(side);
        host.tell(now, (id, side), fabric, recorder);
        // The usual packet of each side has a separate function.
        match (side, host.endpoint.fast().ready()) {
            (_, NextSegment::Nothing) => {}
            (Role::Client, NextSegment::Full) => self.send_full(times, side, fabric, recorder),
            (Role::Server, NextSegment::Ack) => {
                let segment = fabric.next_segment();
                let ip_length = host.endpoint.fast().pure_ack(clock, segment);
                recorder.sent(now, id, side, host.packets, segment, None);
                let label = host.label(id, side, ip_length, false);
                fabric.send_segment(now, label, recorder);
                host.tell(now, (id, side), fabric, recorder);
            }
            (Role::Client, NextSegment::Other) if host.endpoint.fast().is_repairing() => {
                self.send_repair(times, side, fabric, recorder);
            }
            (Role::Client | Role::Server, NextSegment::Full | NextSegment::Ack | NextSegment::Other) => {
                self.send_any(times, side, fabric, recorder);
            }
        }
    }

    /// Does the work of [`TcpFlow::send`] if a full segment of new data may be sent: sends it and all packets that may follow.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place but for timers")]
    fn send_full<W: Recorder>(
        &mut self,
        times: (Time, Time),
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let (now, clock) = times;
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            let (ip_length, last) = host.endpoint.fast().full_segment(clock, segment);
            recorder.sent(now, id, side, host.packets, segment, Some(&host.endpoint.fast().last_full()));
            let label = host.label(id, side, ip_length, true);
            fabric.send_segment(now, label, recorder);
            if last {
                return host.tell(now, (id, side), fabric, recorder);
            }
            if host.endpoint.fast().ready() != NextSegment::Full {
                return self.send_any(times, side, fabric, recorder);
            }
        }
    }

    /// Does the work of [`TcpFlow::send`] while losses are repaired.
    #[inline(never)]
    fn send_repair<W: Recorder>(
        &mut self,
        times: (Time, Time),
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let (now, clock) = times;
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            match host.endpoint.fast().repair_segment(clock, segment) {
                RepairSegment::Leaves(sent, ip_length) => {
                    recorder.sent(now, id, side, host.packets, segment, Some(&sent));
                    let label = host.label(id, side, ip_length, true);
                    let label = Label { retransmission: sent.retransmission, ..label };
                    fabric.send_segment(now, label, recorder);
                }
                RepairSegment::Nothing => return host.tell(now, (id, side), fabric, recorder),
                RepairSegment::Other => return self.send_any(times, side, fabric, recorder),
            }
        }
    }

    /// Does the work of [`TcpFlow::send`] for packets of any kind.
    #[inline(never)]
    fn send_any<W: Recorder>(
        &mut self,
        times: (Time, Time),
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let (now, clock) = times;
        let id = self.id;
        let host = self.host(side);
        loop {
            let segment = fabric.next_segment();
            // The result is read in place: a copy right after a piecewise store would stall the processor.
            let departure = host.endpoint.fast().transmit_into(clock, segment);
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
    /// Returns the label of a packet being sent. Its data, if it has any, is new.
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
        while let Some(record) = self.endpoint.poll_trace() {
            recorder.record(flow, &record);
        }
        while let Some(event) = self.endpoint.poll_event() {
            self.closed |= matches!(event, EndpointEvent::Closed | EndpointEvent::Aborted);
            if event == EndpointEvent::Aborted {
                fabric.flows[flow.index()].end.get_or_insert(End::Aborted(now));
            }
            let endpoint = &self.endpoint;
            recorder.event(now, flow, side, &event, || endpoint.snapshot());
        }
    }

    /// Returns when the host is to be woken: when the next timer of its endpoint fires, or at `next`, when its application has something to
    /// do.
    #[inline]
    fn timer(&self, next: Option<Time>) -> Option<Time> {
        Time::earlier(self.endpoint.next_timer().map(|due| self.lateness.fires(due)), next)
    }

    /// Returns the endpoint's clock when the host is woken at `now`. A timer that fires late sees the instant at which it was due, as Linux
    /// stamps a paced packet with its scheduled transmission time. Lateness therefore does not lower a pacing rate.
    fn clock(&mut self, now: Time) -> Time {
        let has_fired = |due: &Time| self.lateness.is_some() && self.lateness.fires(*due) <= now;
        let due = self.endpoint.next_timer().filter(has_fired);
        let clock = due.map_or(now, |due| due.clamp(self.seen, now));
        self.seen = clock;
        clock
    }

    /// Moves the host's event to the first instant at which it is needed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn set_timer(&mut self, now: Time, whose: (FlowId, Role), next: Option<Time>, fabric: &mut Fabric) {
        if next.is_some() || !self.endpoint.fast().needs_no_waking_before(self.armed) {
            self.look_at_timer(now, whose, next, fabric);
        }
    }

    /// Does the work of [`Host::set_timer`] out of line.
    #[inline(never)]
    fn look_at_timer(&mut self, now: Time, whose: (FlowId, Role), next: Option<Time>, fabric: &mut Fabric) {
        let timer = self.timer(next);
        let stands = match (self.armed, timer) {
            (Some(armed), Some(timer)) => armed <= timer,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let timer = timer.map(|at| at.max(now));
        // An event that is due stays before other events of this instant.
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
