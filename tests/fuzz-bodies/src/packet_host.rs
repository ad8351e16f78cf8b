//! A host with packet numbers like those of QUIC (RFC 9002). It reports the events that the contract with the controller lists for hosts
//! with packet numbers. It sends over a path with one bottleneck, in virtual time.

use std::collections::{BTreeMap, VecDeque};

use firstflight::registry::AnyController;
use firstflight::{
    Ack, Bytes, Call, Delivered, Event, Loss, LostPacket, Note, Origin, OwnedEvent, Pacer, Pacing, Path,
    Plan, Rate, RttSample, SendLimit, Sent, Span, Time, TraceRecord,
};

use firstflight_conformance::{Breach, Conformance};

/// Payload bytes and IP bytes of a full packet.
const MSS: Bytes = Bytes::new(1_200);
const WIRE: Bytes = Bytes::new(1_228);
/// The packet reordering threshold (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// The time reordering threshold as a fraction of the RTT (RFC 9002 section 6.1.2).
const TIME_THRESHOLD: (u64, u64) = (9, 8);
/// The persistent congestion threshold (RFC 9002 section 7.6.1).
const PERSISTENT: u64 = 3;
/// The peer's `max_ack_delay` (RFC 9000 section 18.2).
const MAX_ACK_DELAY: Span = Span::from_millis(25);
/// The timer granularity (RFC 9002 section 6.1.2).
const GRANULARITY: Span = Span::from_millis(1);

/// A path: a bottleneck with a drop-tail queue, and propagation.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The rate of the bottleneck.
    pub rate: Rate,
    /// The propagation delay of both directions together.
    pub rtt: Span,
    /// The maximum number of packets in the queue.
    pub queue: u64,
    /// The interval of ACK batches: ACKs arrive at whole multiples of it. With zero, each ACK arrives by itself.
    pub ack_batch: Span,
    /// Whether ACKs that arrive at the same time are merged into one ACK of all their packets.
    pub together: bool,
    /// The interval in which the bottleneck passes no packet.
    pub outage: Option<(Time, Time)>,
}

/// The result of a transfer.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Time from the first handshake packet to the last acknowledgement.
    pub time: Span,
    /// Packets that the bottleneck dropped.
    pub dropped: u64,
    /// The controller's notes, with their times.
    pub notes: Vec<(Time, Note)>,
    /// The congestion window after each loss.
    pub windows: Vec<(Time, Bytes)>,
    /// The number of reports of persistent congestion.
    pub persistent: u64,
    /// The laws of hosts that the trace breaks.
    pub breaches: Vec<Breach>,
    /// The congestion window at the end.
    pub window: Bytes,
}

impl Outcome {
    /// Returns the number of reductions of the window.
    pub fn reductions(&self) -> usize {
        self.notes.iter().filter(|(_, note)| matches!(note, Note::Reduced { .. })).count()
    }

    /// Returns the first exit of start-up: its cause, and the window at the exit.
    pub fn exit(&self) -> Option<(firstflight::Cause, Bytes)> {
        self.notes.iter().find_map(|(_, note)| match note {
            Note::Exited { exit, cwnd, .. } => Some((exit.cause, *cwnd)),
            _ => None,
        })
    }
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    delivered: Delivered,
    /// The offset at which the packet ends.
    end: u64,
}

/// One connection of the host.
#[derive(Debug)]
pub struct PacketHost {
    control: AnyController,
    path: Path,
    plan: Plan,
    pacer: Pacer,
    link: Link,
    /// The time at which the bottleneck will have sent all packets that it holds.
    busy: Time,
    /// Packets in flight on the link, in order of the arrival of their ACKs.
    acks: VecDeque<(Time, u64)>,
    in_flight: BTreeMap<u64, InFlight>,
    next_packet: u64,
    /// The number of full packets of data that remain to be sent, including lost ones.
    left: u64,
    largest_acked: Option<u64>,
    rtt_variation: Span,
    /// The time of the last reduction.
    recovery_start: Option<Time>,
    probes: u32,
    says_send_times: bool,
    first_sample: Option<Time>,
    conformance: Conformance,
    calls: usize,
    outcome: Outcome,
}

impl PacketHost {
    /// Makes a connection over `link` with `packets` full packets to send.
    pub fn new(control: AnyController, link: Link, packets: u64) -> Self {
        let mut path = Path::new(Time::from_nanos(1_000_000_000), MSS, WIRE);
        path.limit = SendLimit::Window;
        let mut host = Self {
            plan: control.plan(&path),
            control,
            path,
            pacer: Pacer::new(),
            link,
            busy: Time::ZERO,
            acks: VecDeque::new(),
            in_flight: BTreeMap::new(),
            next_packet: 0,
            left: packets,
            largest_acked: None,
            rtt_variation: Span::ZERO,
            recovery_start: None,
            probes: 0,
            says_send_times: true,
            first_sample: None,
            conformance: Conformance::new(),
            calls: 0,
            outcome: Outcome::default(),
        };
        host.path.cwnd = host.plan.window;
        host.shake_hands();
        host
    }

    /// Runs the handshake under the controller: three packets are sent within its first window, without [`Event::Sent`].
    fn shake_hands(&mut self) {
        self.path.backlog = Some(MSS * self.left);
        self.say(&Event::Begin(Origin::Fresh));
        assert!(self.plan.window >= MSS * 3, "the handshake fits the first window");
        self.answer_ask();
        self.path.now = self.path.now + self.link.rtt;
        let rtt = self.link.rtt;
        self.sample(rtt);
        self.say(&Event::Established { rtt: Some(rtt), syn_lost: false });
    }

    /// Makes the host omit the send times of lost packets.
    #[must_use]
    pub fn without_send_times(mut self) -> Self {
        self.says_send_times = false;
        self
    }

    /// Returns the controller's notes so far.
    pub fn notes(&self) -> &[(Time, Note)] {
        &self.outcome.notes
    }

    /// Runs until all packets are acknowledged.
    pub fn run(mut self) -> Outcome {
        let start = self.path.now - self.link.rtt;
        while !self.step() {}
        self.outcome.time = self.path.now.since(start);
        self.outcome.window = self.plan.window;
        self.outcome.breaches = self.conformance.finish().listed().to_vec();
        self.outcome
    }

    /// Runs until `at`, or until all packets are acknowledged.
    pub fn run_until(&mut self, at: Time) {
        while self.path.now < at && !self.step() {}
    }

    /// Returns the current congestion window.
    pub fn window(&self) -> Bytes {
        self.plan.window
    }

    /// Moves the connection to another link (RFC 9000 section 9.4). Data in flight is retransmitted. The controller does not learn whether
    /// the old link delivered it.
    pub fn migrate(&mut self, link: Link) {
        self.left += self.in_flight.len() as u64;
        self.in_flight.clear();
        self.acks.clear();
        self.link = link;
        self.busy = self.path.now;
        self.probes = 0;
        self.recovery_start = None;
        let path = &mut self.path;
        (path.flight, path.pipe, path.una) = (Bytes::ZERO, Bytes::ZERO, path.nxt);
        (path.srtt, path.latest_rtt, path.min_rtt) = (None, None, None);
        path.recovering = false;
        path.backlog = Some(MSS * self.left);
        self.say(&Event::Begin(Origin::PathChange));
    }

    /// Sends every packet that may be sent, then processes the next event. Returns whether the transfer is over.
    fn step(&mut self) -> bool {
        self.send();
        if self.left == 0 && self.in_flight.is_empty() {
            return true;
        }
        let ack = self.acks.front().map(|(at, _)| *at);
        let paced = self.pace_at();
        let timers = [ack, paced, self.plan.wake, self.loss_at(), self.probe_at()];
        let next = timers.into_iter().flatten().min().expect("something is to happen");
        self.path.now = self.path.now.max(next);
        if self.plan.wake.is_some_and(|wake| wake <= self.path.now) {
            self.say(&Event::Woken);
        }
        if ack.is_some_and(|at| at <= self.path.now) {
            self.take_acks();
        } else if self.loss_at().is_some_and(|at| at <= self.path.now) {
            self.find_losses(self.path.flight);
        } else if self.probe_at().is_some_and(|at| at <= self.path.now) && paced.is_none() {
            self.probes += 1;
            self.left += 1;
            self.transmit();
        }
        false
    }

    fn say(&mut self, event: &Event<'_>) {
        self.control.on(event, &self.path);
        self.adopt(Call::On(OwnedEvent::new(event)));
    }

    fn adopt(&mut self, call: Call) {
        self.plan = self.control.plan(&self.path);
        self.pacer.adopt(&self.plan);
        let notes: Vec<Note> = std::iter::from_fn(|| self.control.take_note()).collect();
        self.outcome.notes.extend(notes.iter().map(|note| (self.path.now, *note)));
        self.calls += 1;
        let record = TraceRecord { call, path: self.path, plan: self.plan, notes, judged: None };
        self.conformance.check_record(self.calls, &record);
        (self.path.cwnd, self.path.wake) = (self.plan.window, self.plan.wake);
    }

    /// Answers a request of the plan. This host does not ask any router.
    fn answer_ask(&mut self) {
        if self.plan.ask.is_some() {
            self.say(&Event::Asked(false));
        }
    }

    /// Returns the time at which the pacer releases the next packet, if window and data allow the packet.
    fn pace_at(&self) -> Option<Time> {
        let at = self.pacer.ready_at(WIRE, false)?;
        (self.left > 0 && self.has_room() && at > self.path.now).then_some(at)
    }

    fn has_room(&self) -> bool {
        self.path.pipe + MSS <= self.plan.window
    }

    fn send(&mut self) {
        if self.in_flight.is_empty() && self.left > 0 && self.control.before_new_data(&self.path) {
            self.adopt(Call::NewData);
        }
        self.answer_ask();
        loop {
            if self.left == 0 {
                self.path.limit = SendLimit::App;
                self.cut_train();
                return;
            }
            if !self.has_room() {
                self.path.limit = SendLimit::Window;
                return;
            }
            match self.pacer.ready_at(WIRE, false) {
                Some(at) if at <= self.path.now => self.transmit(),
                _ => {
                    self.path.limit = SendLimit::Pacing;
                    return;
                }
            }
        }
    }

    /// Shortens a train if there is no more data for it.
    fn cut_train(&mut self) {
        if matches!(self.plan.pacing, Pacing::Train { .. }) && self.pacer.train_left() > 0 {
            self.pacer.cut_train();
            self.say(&Event::TrainCut(self.plan.tag));
        }
    }

    fn transmit(&mut self) {
        let (packet, tag, now) = (self.next_packet, self.plan.tag, self.path.now);
        self.next_packet += 1;
        self.left -= 1;
        let limit = if self.left == 0 { SendLimit::App } else { self.path.limit };
        let delivered = Delivered {
            packet,
            bytes: MSS,
            sent_at: now,
            tag,
            delivered_at_send: self.path.delivered,
            limit,
            retransmitted: false,
            selectively: false,
        };
        self.pacer.sent(now, WIRE);
        self.say(&Event::Sent(Sent { packet, bytes: MSS, tag, retransmission: false }));
        let path = &mut self.path;
        path.flight += MSS;
        path.pipe += MSS;
        path.nxt += MSS.get();
        path.last_sent = Some(now);
        path.backlog = Some(MSS * self.left);
        self.in_flight.insert(packet, InFlight { delivered, end: path.nxt });
        self.enter_link(packet);
    }

    fn enter_link(&mut self, packet: u64) {
        let now = self.path.now;
        let each = self.link.rate.time_for(WIRE);
        let waiting = self.busy.since(now).nanos().div_ceil(each.nanos().max(1));
        let out = self.link.outage.is_some_and(|(from, to)| from <= now && now < to);
        if out || waiting > self.link.queue {
            self.outcome.dropped += u64::from(!out);
            return;
        }
        self.busy = self.busy.max(now) + each;
        let batch = self.link.ack_batch.nanos().max(1);
        let arrives = (self.busy + self.link.rtt).nanos().next_multiple_of(batch);
        self.acks.push_back((Time::from_nanos(arrives), packet));
    }

    /// Processes the ACKs that arrive now: as one merged ACK, or one after another.
    fn take_acks(&mut self) {
        let mut acked = Vec::new();
        while let Some((at, packet)) = self.acks.front().copied()
            && at <= self.path.now
        {
            self.acks.pop_front();
            // A packet that was declared lost is no longer in flight.
            let Some(flying) = self.in_flight.remove(&packet) else { continue };
            acked.push(flying);
            if !self.link.together {
                self.acknowledged(&acked);
                acked.clear();
            }
        }
        if !acked.is_empty() {
            self.acknowledged(&acked);
        }
    }

    fn acknowledged(&mut self, acked: &[InFlight]) {
        let (packets, newest): (Vec<Delivered>, _) =
            (acked.iter().map(|flying| flying.delivered).collect(), acked[acked.len() - 1]);
        let packet = newest.delivered;
        let before = self.path.flight;
        self.largest_acked = self.largest_acked.max(Some(packet.packet));
        self.probes = 0;
        let rtt = self.path.now.since(packet.sent_at);
        self.sample(rtt);
        let mut ack = Ack::of_packets(&packets);
        ack.rtt = Some(RttSample { rtt, handshake: false });
        let path = &mut self.path;
        path.flight -= ack.bytes;
        path.pipe -= ack.bytes;
        path.delivered += ack.bytes;
        path.una = if self.in_flight.is_empty() { path.nxt } else { path.una.max(newest.end) };
        path.last_received = Some(path.now);
        path.recovering = self.recovery_start.is_some_and(|start| packet.sent_at < start);
        ack.delivery_rate = (path.delivered - packet.delivered_at_send).per(rtt).map(wire_rate);
        self.say(&Event::Acked(ack));
        self.find_losses(before);
    }

    fn sample(&mut self, rtt: Span) {
        let path = &mut self.path;
        self.first_sample.get_or_insert(path.now);
        let before = path.srtt.unwrap_or(rtt);
        let away = rtt.max(before) - rtt.min(before);
        self.rtt_variation = path.srtt.map_or(rtt / 2, |_| self.rtt_variation.scale(3, 4) + away / 4);
        path.latest_rtt = Some(rtt);
        path.srtt = Some(before.scale(7, 8) + rtt.scale(1, 8));
        path.min_rtt = Some(path.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.path.rto = self.probe_timeout();
    }

    /// Returns the probe timeout (RFC 9002 section 6.2.1).
    fn probe_timeout(&self) -> Span {
        let srtt = self.path.srtt.unwrap_or(Span::from_millis(333));
        srtt + (self.rtt_variation * 4).max(GRANULARITY) + MAX_ACK_DELAY
    }

    fn probe_at(&self) -> Option<Time> {
        let last_sent = self.path.last_sent.filter(|_| !self.in_flight.is_empty())?;
        Some(last_sent + self.probe_timeout() * (1 << self.probes.min(16)))
    }

    /// Returns the time threshold of loss detection. A packet sent this long ago counts as lost if a later one was acknowledged.
    fn patience(&self) -> Span {
        let rtt = self.path.srtt.max(self.path.latest_rtt).unwrap_or(Span::from_millis(333));
        rtt.scale(TIME_THRESHOLD.0, TIME_THRESHOLD.1).max(GRANULARITY)
    }

    fn loss_at(&self) -> Option<Time> {
        let largest = self.largest_acked?;
        let (_, oldest) = self.in_flight.range(..largest).next()?;
        Some(oldest.delivered.sent_at + self.patience())
    }

    /// Finds lost packets (RFC 9002 section 6.1). A packet is lost if a packet three numbers later was acknowledged, or if a later packet
    /// was acknowledged and enough time has passed. `before` is the flight before the ACK that shows the loss; a law halves this flight.
    fn find_losses(&mut self, before: Bytes) {
        let Some(largest) = self.largest_acked else { return };
        let (now, patience) = (self.path.now, self.patience());
        let is_lost = |packet: u64, flying: &InFlight| {
            packet + PACKET_THRESHOLD <= largest || flying.delivered.sent_at + patience <= now
        };
        let missing: Vec<Delivered> = self
            .in_flight
            .range(..largest)
            .filter(|(packet, flying)| is_lost(**packet, flying))
            .map(|(_, flying)| flying.delivered)
            .collect();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return };
        for packet in &missing {
            self.in_flight.remove(&packet.packet);
        }
        self.left += missing.len() as u64;
        let persistent =
            self.is_persistent(first.packet, last.packet, last.sent_at.since(first.sent_at), &missing);
        self.outcome.persistent += u64::from(persistent);
        let bytes = missing.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        if self.recovery_start.is_none_or(|start| last.sent_at >= start) || persistent {
            self.recovery_start = if persistent { None } else { Some(now) };
        }
        let newest = self.largest_sent_at();
        let path = &mut self.path;
        path.recovering =
            self.recovery_start.is_some_and(|start| newest.is_none_or(|sent_at| sent_at < start));
        let after = path.flight - bytes;
        path.flight = before;
        path.pipe -= bytes;
        path.backlog = Some(MSS * self.left);
        if self.in_flight.is_empty() {
            path.una = path.nxt;
        }
        let packets: Vec<LostPacket> = missing.iter().map(as_lost).collect();
        let sent_at = Some(last.sent_at).filter(|_| self.says_send_times);
        let mut loss = Loss::new(&packets);
        loss.sent_at = sent_at;
        loss.persistent = persistent;
        self.say(&Event::Lost(loss));
        self.path.flight = after;
        self.outcome.windows.push((now, self.plan.window));
    }

    /// Returns whether there is persistent congestion (RFC 9002 section 7.6.2): all packets sent over a long enough time were lost, and an
    /// RTT sample existed before them.
    fn is_persistent(&self, first: u64, last: u64, apart: Span, missing: &[Delivered]) -> bool {
        let whole = last - first + 1 == missing.len() as u64;
        let sampled = self.first_sample.is_some_and(|at| missing.iter().all(|packet| packet.sent_at >= at));
        whole && sampled && apart > self.probe_timeout() * PERSISTENT
    }

    /// Returns the send time of the newest acknowledged packet. The recovery episode is over if this time is after its start.
    fn largest_sent_at(&self) -> Option<Time> {
        self.path.last_received.map(|at| at - self.path.latest_rtt.unwrap_or_default())
    }
}

fn as_lost(packet: &Delivered) -> LostPacket {
    LostPacket { packet: packet.packet, bytes: packet.bytes, tag: packet.tag }
}

/// Converts a rate in payload bytes to the rate in IP bytes.
fn wire_rate(payload: Rate) -> Rate {
    payload.scale(WIRE.get(), MSS.get())
}
