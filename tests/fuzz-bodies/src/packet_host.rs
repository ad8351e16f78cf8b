//! A sender with packet numbers like those of QUIC (RFC 9002), over a path with one bottleneck, in virtual time. It detects losses and
//! retransmits; `firstflight_quic::Host` keeps the contract with the controller.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firstflight::registry::AnyController;
use firstflight::{Bytes, Note, Rate, Span, Time, TraceRecord};
use firstflight_conformance::{Breach, Conformance};
use firstflight_quic::{AckEnd, AnyHost, Limit, Observer, PacketSent, Permit, Settings};

/// Payload bytes and IP bytes of a full packet.
const MSS: Bytes = Bytes::new(1_200);
const WIRE: Bytes = Bytes::new(1_228);
/// The packet reordering threshold (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// The time reordering threshold as a fraction of the RTT (RFC 9002 section 6.1.2).
const TIME_THRESHOLD: (u64, u64) = (9, 8);
/// The persistent congestion threshold (RFC 9002 section 7.6.1).
const PERSISTENT: u64 = 3;
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
    /// The calls of the host, which any controller with the same parts can replay.
    pub records: Vec<TraceRecord>,
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

/// The record of a host's calls.
#[derive(Debug, Default)]
struct Seen(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    notes: Vec<(Time, Note)>,
    records: Vec<TraceRecord>,
}

impl Seen {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Seen {
    fn records_calls(&self) -> bool {
        true
    }

    fn on_call(&self, record: TraceRecord) {
        let mut calls = self.calls();
        calls.notes.extend(record.notes.iter().map(|note| (record.path.now, *note)));
        calls.records.push(record);
    }
}

/// One connection of the sender.
#[derive(Debug)]
pub struct PacketHost {
    host: AnyHost,
    now: Time,
    link: Link,
    /// The time at which the bottleneck will have sent all packets that it holds.
    busy: Time,
    /// Packets in flight on the link, in order of the arrival of their ACKs.
    acks: VecDeque<(Time, u64)>,
    /// The transmission time of each packet in flight.
    in_flight: BTreeMap<u64, Time>,
    next_packet: u64,
    /// The number of full packets of data that remain to be sent, including lost ones.
    left: u64,
    largest_acked: Option<u64>,
    probes: u32,
    last_sent: Time,
    first_sample: Time,
    seen: Arc<Seen>,
    outcome: Outcome,
}

impl PacketHost {
    /// Makes a connection over `link` with `packets` full packets to send. The handshake is over.
    ///
    /// # Panics
    /// A controller whose first window does not hold three packets of the handshake.
    pub fn new(control: AnyController, link: Link, packets: u64) -> Self {
        let seen = Arc::<Seen>::default();
        let now = Time::from_nanos(1_000_000_000);
        let settings = Settings { mtu: MSS, headers: WIRE - MSS, ..Settings::default() };
        let mut host = AnyHost::observed(control, settings, now, Some(seen.clone()));
        assert!(host.window() >= MSS * 3, "the handshake fits the first window");
        host.set_backlog(Some((MSS * packets).get()));
        let hello = PacketSent { number: Some(0), bytes: MSS.get() };
        host.on_packet_sent(now, hello);
        let established = now + link.rtt;
        host.on_packet_acked(established, hello, now);
        host.on_ack_end(established, AckEnd { in_flight: None, app_limited: false });
        Self {
            host,
            now: established,
            link,
            busy: Time::ZERO,
            acks: VecDeque::new(),
            in_flight: BTreeMap::new(),
            next_packet: 0,
            left: packets,
            largest_acked: None,
            probes: 0,
            last_sent: now,
            first_sample: established,
            seen,
            outcome: Outcome::default(),
        }
    }

    /// Returns the controller's notes so far.
    pub fn notes(&self) -> Vec<(Time, Note)> {
        self.seen.calls().notes.clone()
    }

    /// Runs until all packets are acknowledged.
    pub fn run(mut self) -> Outcome {
        let start = self.first_sample - self.link.rtt;
        while !self.step() {}
        self.outcome.time = self.now.since(start);
        self.outcome.window = self.host.window();
        let calls = core::mem::take(&mut *self.seen.calls());
        let mut conformance = Conformance::new();
        for (index, record) in calls.records.iter().enumerate() {
            conformance.check_record(index + 1, record);
        }
        self.outcome.breaches = conformance.finish().listed().to_vec();
        (self.outcome.notes, self.outcome.records) = (calls.notes, calls.records);
        self.outcome
    }

    /// Runs until `at`, or until all packets are acknowledged.
    pub fn run_until(&mut self, at: Time) {
        while self.now < at && !self.step() {}
    }

    /// Returns the current congestion window.
    pub fn window(&self) -> Bytes {
        self.host.window()
    }

    /// Moves the connection to another link (RFC 9000 section 9.4). Data in flight is retransmitted. The controller does not learn whether
    /// the old link delivered it.
    pub fn migrate(&mut self, link: Link) {
        self.left += self.in_flight.len() as u64;
        self.in_flight.clear();
        self.acks.clear();
        self.link = link;
        self.busy = self.now;
        self.probes = 0;
        self.set_backlog();
        self.host.on_path_change(self.now);
    }

    fn set_backlog(&mut self) {
        self.host.set_backlog(Some((MSS * self.left).get()));
    }

    /// Sends every packet that may be sent, then processes the next event. Returns whether the transfer is over.
    fn step(&mut self) -> bool {
        let paced = self.send();
        if self.left == 0 && self.in_flight.is_empty() {
            return true;
        }
        let ack = self.acks.front().map(|(at, _)| *at);
        let timers = [ack, paced, self.host.plan().wake, self.loss_at(), self.probe_at()];
        let next = timers.into_iter().flatten().min().expect("something is to happen");
        self.now = self.now.max(next);
        self.host.wake_up(self.now);
        if ack.is_some_and(|at| at <= self.now) {
            self.take_acks();
        } else if self.loss_at().is_some_and(|at| at <= self.now) {
            self.find_losses();
        } else if self.probe_at().is_some_and(|at| at <= self.now) && paced.is_none() {
            self.probes += 1;
            self.left += 1;
            self.transmit();
        }
        false
    }

    /// Sends until the window, the pacer or the data ends. Returns the time at which the pacer releases the next packet.
    fn send(&mut self) -> Option<Time> {
        while self.left > 0 {
            match self.host.before_send(self.now, MSS.get()) {
                Permit::Now => self.transmit(),
                Permit::WindowFull => {
                    self.host.set_limit(Limit::Window);
                    return None;
                }
                Permit::At(at) => {
                    self.host.set_limit(Limit::Pacing);
                    return Some(at);
                }
                Permit::Held => {
                    self.host.set_limit(Limit::Pacing);
                    return None;
                }
            }
        }
        self.host.set_limit(Limit::App);
        None
    }

    fn transmit(&mut self) {
        let number = self.next_packet;
        self.next_packet += 1;
        self.set_backlog();
        self.left -= 1;
        self.host.on_packet_sent(self.now, packet(number));
        self.in_flight.insert(number, self.now);
        self.last_sent = self.now;
        self.enter_link(number);
    }

    fn enter_link(&mut self, packet: u64) {
        let now = self.now;
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
        let mut newest = None;
        while let Some((at, number)) = self.acks.front().copied()
            && at <= self.now
        {
            self.acks.pop_front();
            // A packet that was declared lost is no longer in flight.
            let Some(sent_at) = self.in_flight.remove(&number) else { continue };
            self.host.on_packet_acked(self.now, packet(number), sent_at);
            newest = newest.max(Some(number));
            if !self.link.together {
                self.end_ack(newest.take());
            }
        }
        self.end_ack(newest);
    }

    fn end_ack(&mut self, newest: Option<u64>) {
        if newest.is_none() {
            return;
        }
        self.largest_acked = self.largest_acked.max(newest);
        self.probes = 0;
        let in_flight = MSS.get() * self.in_flight.len() as u64;
        self.host.on_ack_end(self.now, AckEnd { in_flight: Some(in_flight), app_limited: self.left == 0 });
        self.find_losses();
    }

    fn probe_at(&self) -> Option<Time> {
        let probe = self.host.path().rto * (1 << self.probes.min(16));
        (!self.in_flight.is_empty()).then_some(self.last_sent + probe)
    }

    /// Returns the time threshold of loss detection. A packet sent this long ago counts as lost if a later one was acknowledged.
    fn patience(&self) -> Span {
        let path = self.host.path();
        let rtt = path.srtt.max(path.latest_rtt).unwrap_or(Span::from_millis(333));
        rtt.scale(TIME_THRESHOLD.0, TIME_THRESHOLD.1).max(GRANULARITY)
    }

    fn loss_at(&self) -> Option<Time> {
        let (_, oldest) = self.in_flight.range(..self.largest_acked?).next()?;
        Some(*oldest + self.patience())
    }

    /// Finds lost packets (RFC 9002 section 6.1). A packet is lost if a packet three numbers later was acknowledged, or if a later packet
    /// was acknowledged and enough time has passed.
    fn find_losses(&mut self) {
        let Some(largest) = self.largest_acked else { return };
        let (now, patience) = (self.now, self.patience());
        let is_lost =
            |number: u64, sent_at: Time| number + PACKET_THRESHOLD <= largest || sent_at + patience <= now;
        let candidates = self.in_flight.range(..largest).map(|(number, sent_at)| (*number, *sent_at));
        let missing: Vec<(u64, Time)> =
            candidates.filter(|(number, sent_at)| is_lost(*number, *sent_at)).collect();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return };
        for (number, sent_at) in &missing {
            self.in_flight.remove(number);
            self.host.on_packet_lost(*number, MSS.get(), Some(*sent_at));
        }
        self.left += missing.len() as u64;
        self.set_backlog();
        let persistent = self.is_persistent(*first, *last, missing.len() as u64);
        self.outcome.persistent += u64::from(persistent);
        self.host.on_loss(now, persistent);
        self.outcome.windows.push((now, self.host.window()));
    }

    /// Returns whether there is persistent congestion (RFC 9002 section 7.6.2): all packets sent over a long enough time were lost, and an
    /// RTT sample existed before them.
    fn is_persistent(&self, first: (u64, Time), last: (u64, Time), missing: u64) -> bool {
        let whole = last.0 - first.0 + 1 == missing;
        whole && first.1 >= self.first_sample && last.1.since(first.1) > self.host.path().rto * PERSISTENT
    }
}

fn packet(number: u64) -> PacketSent {
    PacketSent { number: Some(number), bytes: MSS.get() }
}
