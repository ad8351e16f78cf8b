//! A host that follows a script, and records its events and the controller's decisions.

use std::collections::BTreeMap;

use firstflight::registry::{AnyController, Registry};
use firstflight::{
    Ack, Bytes, Call, Delivered, Event, FullMargin, Loss, LostPacket, Note, Origin, OwnedEvent, Pacing, Path,
    Phase, Plan, Rate, RoundTracker, RttSample, SendLimit, Sent, Span, Time, TraceRecord,
};
use firstflight_scenario::ByName;
use firstflight_trace::{Departures, FORMAT, Header, Hosts};

use crate::vector::{Config, Expect, Step, Vector};

/// The payload of a full packet, in bytes. Vectors count no headers, neither in windows nor in rates.
pub const MSS: u64 = 1_200;

/// A vector without its steps, and the controller that decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    /// The name of the vector's file.
    pub(crate) name: &'static str,
    /// The specification and section that decides.
    pub(crate) spec: &'static str,
    /// The rule that the vector reaches.
    pub(crate) says: &'static str,
    /// The relative deviation that is allowed.
    pub(crate) tolerance: f64,
    /// The scheme, as in `--schemes`.
    pub(crate) scheme: &'static str,
    /// The law.
    pub(crate) law: &'static str,
    /// The initial window in packets.
    pub(crate) initial: u32,
    /// The initial threshold in packets.
    pub(crate) ssthresh: Option<u64>,
    /// Whether slow start counts bytes.
    pub(crate) counts_bytes: bool,
    /// Whether the specification states a pacing rate.
    pub(crate) paces: bool,
    /// The settings of the scheme, for the reader of the file.
    pub(crate) parameters: &'static [(&'static str, u64)],
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    packet: Delivered,
    /// The offset at which the packet ends.
    end: u64,
    /// The values that a delivery rate needs (`P.first_sent_time` and `P.delivered_time` of the draft on delivery rates).
    first_sent: Time,
    delivered_at: Time,
}

/// A sender of a script.
pub(crate) struct Host {
    set: Set,
    controller: AnyController,
    /// The tracker that says for the file which ACKs end an RTT. It gets what the controller's own tracker gets.
    rounds: RoundTracker,
    path: Path,
    plan: Plan,
    flying: BTreeMap<u64, Flying>,
    next: u64,
    /// The first packet that was sent after the last reduction.
    recovers_at: u64,
    first_sent: Time,
    delivered_at: Time,
    note: Option<String>,
    steps: Vec<Step>,
    /// The calls in the format of traces, for the check against the laws of hosts.
    records: Vec<TraceRecord>,
}

/// A finished script: the vector, and the host's calls as a trace has them.
pub struct Script {
    /// The vector.
    pub vector: Vector,
    /// The header of the trace.
    pub header: Header,
    /// The calls of the trace.
    pub records: Vec<TraceRecord>,
}

impl Set {
    fn header(&self) -> Header {
        Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scheme: self.scheme.to_owned(),
            restart: "rfc5681".to_owned(),
            avoidance: self.law.to_owned(),
            iw_segments: self.initial,
            ssthresh_bytes: self.ssthresh.map(|packets| packets * MSS),
            hosts: Hosts::Controller,
            departures: Departures::AtOnce,
        }
    }

    /// Returns the vector, with steps.
    fn vector(&self, steps: Vec<Step>) -> Vector {
        let config = Config {
            mss_bytes: MSS,
            initial_window_bytes: u64::from(self.initial) * MSS,
            initial_ssthresh_bytes: self.ssthresh.map(|packets| packets * MSS),
            counts_bytes: self.counts_bytes,
            law: self.law,
            parameters: self.parameters.iter().copied().collect(),
        };
        let Self { name, spec, says, tolerance, .. } = *self;
        Vector { name: name.to_owned(), spec, says, tolerance, config, steps }
    }
}

impl Host {
    /// Creates the sender before its handshake.
    ///
    /// # Panics
    ///
    /// If no controller has the names of `set`: an error in a script.
    pub(crate) fn new(set: Set) -> Self {
        let controller = Registry::builtin().controller_of(&set.header());
        let controller = controller.unwrap_or_else(|error| panic!("{}: {error}", set.name));
        let mss = Bytes::new(MSS);
        let mut path = Path::new(Time::ZERO, mss, mss);
        path.limit = SendLimit::Window;
        let plan = controller.plan(&path);
        let mut host = Self {
            set,
            controller,
            rounds: RoundTracker::new(),
            path,
            plan,
            flying: BTreeMap::new(),
            next: 0,
            recovers_at: 0,
            first_sent: Time::ZERO,
            delivered_at: Time::ZERO,
            note: None,
            steps: Vec::new(),
            records: Vec::new(),
        };
        host.call(&Event::Begin(Origin::Fresh), |_| {});
        host
    }

    /// Returns the script's result.
    pub(crate) fn end(self) -> Script {
        Script { vector: self.set.vector(self.steps), header: self.set.header(), records: self.records }
    }

    /// Adds a note to the next step.
    pub(crate) fn note(&mut self, text: &str) {
        self.note = Some(text.to_owned());
    }

    /// Returns the time in microseconds.
    pub(crate) fn now(&self) -> u64 {
        self.path.now.nanos() / 1_000
    }

    /// Advances the time.
    ///
    /// # Panics
    ///
    /// If the time is past: an error in a script.
    pub(crate) fn at(&mut self, micros: u64) {
        assert!(micros >= self.now(), "{}: {micros} us is before {}", self.set.name, self.now());
        self.path.now = Time::from_nanos(micros * 1_000);
    }

    /// Returns the window in force.
    pub(crate) fn window(&self) -> u64 {
        self.plan.window.get()
    }

    /// Returns the bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.path.flight.get()
    }

    /// Returns the pacing rate in bytes per second; `None` on the ACK clock.
    pub(crate) fn pacing(&self) -> Option<u64> {
        match self.plan.pacing {
            Pacing::Rate { rate, .. } => Some(rate.bps() / 8),
            _ => None,
        }
    }

    /// Returns the time of the requested wake-up.
    pub(crate) fn wake(&self) -> Option<u64> {
        self.plan.wake.map(|at| at.nanos().div_ceil(1_000))
    }

    /// Returns whether start-up goes on.
    pub(crate) fn is_starting(&self) -> bool {
        self.controller.phase() == Phase::Startup
    }

    /// Returns the number of packets sent.
    pub(crate) const fn sent(&self) -> u64 {
        self.next
    }

    /// Returns the numbers of the packets in flight, the oldest first.
    pub(crate) fn flying(&self) -> Vec<u64> {
        self.flying.keys().copied().collect()
    }

    /// Returns the transmission time of a packet in flight.
    pub(crate) fn sent_at(&self, number: u64) -> u64 {
        self.flying[&number].packet.sent_at.nanos() / 1_000
    }

    /// Sets whether the application limits the packets sent from now on.
    pub(crate) fn app_limited(&mut self, limited: bool) {
        self.path.limit = if limited { SendLimit::App } else { SendLimit::Window };
    }

    /// Completes the handshake, whose RTT was `rtt` microseconds.
    pub(crate) fn established(&mut self, rtt: u64, handshake_lost: bool) {
        self.at(rtt);
        let sample = (!handshake_lost).then_some(Span::from_micros(rtt));
        if let Some(sample) = sample {
            self.path.sampled(sample);
        }
        let event = Event::Established { rtt: sample, syn_lost: handshake_lost };
        let rtt_us = sample.map(|_| rtt);
        self.call(&event, |_| {});
        self.record(Step { event: "established", rtt_us, handshake_lost, ..Step::default() });
    }

    /// Sends `count` packets now.
    pub(crate) fn send(&mut self, count: u64) {
        let before = self.expected();
        for _ in 0..count {
            if self.flying.is_empty() {
                (self.first_sent, self.delivered_at) = (self.path.now, self.path.now);
            }
            let bytes = Bytes::new(MSS);
            let packet = Delivered {
                packet: self.next,
                bytes,
                sent_at: self.path.now,
                tag: self.plan.tag,
                delivered_at_send: self.path.delivered,
                limit: self.path.limit,
                retransmitted: false,
                selectively: false,
            };
            let sent = Sent { packet: self.next, bytes, tag: self.plan.tag, retransmission: false };
            self.rounds.sent(self.path.flight + bytes);
            self.call(&Event::Sent(sent), |path| path.sent(bytes));
            let (first_sent, delivered_at) = (self.first_sent, self.delivered_at);
            let flying = Flying { packet, end: self.path.nxt, first_sent, delivered_at };
            self.flying.insert(self.next, flying);
            self.next += 1;
        }
        let app_limited = self.path.limit == SendLimit::App;
        let (packets, bytes) = (Some(count), Some(count * MSS));
        let step = Step {
            event: "sent",
            packets,
            bytes,
            through_bytes: Some(self.path.nxt),
            app_limited,
            ..Step::default()
        };
        self.record(step);
        // Most transmissions decide nothing.
        if let Some(step) =
            self.steps.last_mut().filter(|step| step.note.is_none() && step.expect.as_ref() == Some(&before))
        {
            step.expect = None;
        }
    }

    /// Sends all packets that the window permits.
    pub(crate) fn fill(&mut self) {
        let room = self.window().saturating_sub(self.in_flight()) / MSS;
        if room > 0 {
            self.send(room);
        }
    }

    /// Acknowledges the `count` oldest packets by one ACK, `delay` microseconds after the newest of them was sent. Then fills the window.
    pub(crate) fn ack_oldest(&mut self, count: usize, delay: u64) {
        let numbers: Vec<u64> = self.flying.keys().copied().take(count).collect();
        self.at(self.now().max(self.sent_at(numbers[numbers.len() - 1]) + delay));
        self.ack(&numbers);
        self.fill();
    }

    /// Acknowledges the packets that are in flight now, `every` by one ACK, until an RTT is over or start-up ends.
    pub(crate) fn round(&mut self, every: usize, delay: u64) {
        let mut left = self.flying.len();
        while left > 0 && self.is_starting() {
            let count = every.min(left);
            left -= count;
            self.ack_oldest(count, delay);
        }
    }

    /// Reports an ACK of these packets, which arrived now. The newest packet gives the RTT and the delivery rate.
    pub(crate) fn ack(&mut self, numbers: &[u64]) {
        let flown: Vec<Flying> = numbers.iter().map(|number| self.flying[number]).collect();
        let newest = flown[flown.len() - 1];
        let rtt = self.path.now.since(newest.packet.sent_at);
        let packets: Vec<Delivered> = flown.iter().map(|flying| flying.packet).collect();
        let mut ack = Ack::of_packets(&packets);
        ack.counts_bytes = self.set.counts_bytes;
        ack.rtt = Some(RttSample { rtt, handshake: false });
        self.path.recovering &= newest.packet.packet < self.recovers_at;
        self.path.acked(&ack, newest.end);
        (self.first_sent, self.delivered_at) = (newest.packet.sent_at, self.path.now);
        ack.delivery_rate = self.delivery_rate(&newest);
        for number in numbers {
            self.flying.remove(number);
        }
        let mut judged = ack;
        self.rounds.acked(&mut judged, &self.path, self.margin());
        self.call(&Event::Acked(ack), |_| {});
        let step = Step {
            event: "acked",
            packets: Some(packets.len() as u64),
            bytes: Some(ack.bytes.get()),
            through_bytes: Some(newest.end),
            rtt_us: Some(rtt.nanos() / 1_000),
            delivery_rate_bytes_per_second: ack
                .delivery_rate
                .filter(|_| self.set.law == "bbr" || self.set.scheme.starts_with("leap"))
                .map(|rate| rate.bps() / 8),
            round_ended: judged.round_ended,
            app_limited: newest.packet.limit == SendLimit::App,
            window_unused: judged.growth.is_zero() && !self.path.recovering,
            recovering: self.path.recovering,
            ..Step::default()
        };
        self.record(step);
    }

    /// Returns the delivery rate of an ACK (draft-ietf-ccwg-bbr, section "Delivery Rate Samples"): bytes over the longer of the times in
    /// which they were sent and delivered. A shorter interval than the minimum RTT gives no sample.
    fn delivery_rate(&self, newest: &Flying) -> Option<Rate> {
        let sending = newest.packet.sent_at.since(newest.first_sent);
        let interval = sending.max(self.path.now.since(newest.delivered_at));
        if self.path.min_rtt.is_some_and(|min| interval < min) {
            return None;
        }
        let rate = (self.path.delivered - newest.packet.delivered_at_send).per(interval)?;
        // Exact vectors give the controller the whole bytes per second that the file has.
        Some(if self.set.tolerance > 0.0 { rate } else { Rate::from_bps(rate.bps() / 8 * 8) })
    }

    /// Reports that these packets were found lost now.
    pub(crate) fn lose(&mut self, numbers: &[u64]) {
        let flown: Vec<Flying> = numbers.iter().filter_map(|number| self.flying.remove(number)).collect();
        let of = |flying: &Flying| {
            let Delivered { packet, bytes, tag, .. } = flying.packet;
            LostPacket { packet, bytes, tag }
        };
        let packets: Vec<LostPacket> = flown.iter().map(of).collect();
        let mut loss = Loss::new(&packets);
        let newest = flown[flown.len() - 1];
        loss.sent_at = Some(newest.packet.sent_at);
        if newest.packet.packet >= self.recovers_at {
            self.recovers_at = self.next;
        }
        self.path.recovering = true;
        self.call(&Event::Lost(loss), |path| path.lost(&loss));
        let step = Step {
            event: "lost",
            packets: Some(packets.len() as u64),
            bytes: Some(loss.bytes.get()),
            through_bytes: Some(newest.end),
            ..Step::default()
        };
        self.record(step);
    }

    /// Reports a congestion mark on the newest acknowledged packet, which was sent at `sent_at` microseconds.
    pub(crate) fn mark(&mut self, sent_at: u64) {
        self.recovers_at = self.next;
        self.path.recovering = true;
        self.call(&Event::Marked { sent_at: Some(Time::from_nanos(sent_at * 1_000)) }, |_| {});
        self.record(Step { event: "marked", ..Step::default() });
    }

    /// Reports that the retransmission timer expired. Everything in flight is lost.
    pub(crate) fn time_out(&mut self, repeated: bool) {
        self.flying.clear();
        let all = Loss::of(self.path.flight);
        self.path.recovering = false;
        self.call(&Event::TimedOut { repeated }, |path| path.lost(&all));
        // RFC 6298 section 5.5.
        self.path.rto = self.path.rto * 2;
        self.record(Step { event: "timed_out", repeated, ..Step::default() });
    }

    /// Reports that the last reduction answered a loss that did not happen.
    pub(crate) fn spurious(&mut self) {
        self.path.recovering = false;
        self.call(&Event::SpuriousLoss, |_| {});
        self.record(Step { event: "spurious_loss", ..Step::default() });
    }

    /// Reports new data after an idle time.
    ///
    /// # Panics
    ///
    /// If no restart begins: an error in a script.
    pub(crate) fn new_data(&mut self) {
        let idle = self.path.last_sent.map(|at| self.path.now.since(at).nanos() / 1_000);
        assert!(self.controller.before_new_data(&self.path), "{}: not idle", self.set.name);
        self.after(Call::NewData, |_| {});
        self.record(Step { event: "idle_ended", idle_us: idle, ..Step::default() });
    }

    /// Reports that the requested wake-up is due.
    pub(crate) fn woken(&mut self) {
        self.call(&Event::Woken, |_| {});
        self.record(Step { event: "timer", ..Step::default() });
    }

    fn margin(&self) -> FullMargin {
        match self.controller.phase() {
            Phase::Avoidance => FullMargin::Avoidance,
            Phase::Startup | Phase::Restart => FullMargin::Startup,
        }
    }

    fn call(&mut self, event: &Event<'_>, counts: impl FnOnce(&mut Path)) {
        self.controller.on(event, &self.path);
        self.after(Call::On(OwnedEvent::new(event)), counts);
    }

    /// Takes the plan and the notes of a call, and then counts what the event changed.
    fn after(&mut self, call: Call, counts: impl FnOnce(&mut Path)) {
        let path = self.path;
        self.plan = self.controller.plan(&path);
        let notes: Vec<Note> = std::iter::from_fn(|| self.controller.take_note()).collect();
        for note in &notes {
            match note {
                Note::Began(_) => self.rounds.begin(&path),
                Note::Undone { .. } => self.rounds.begin_round(&path),
                _ => {}
            }
        }
        self.records.push(TraceRecord { call, path, plan: self.plan, notes, judged: None });
        self.path.cwnd = self.plan.window;
        self.path.wake = self.plan.wake;
        counts(&mut self.path);
    }

    fn expected(&self) -> Expect {
        let phase = match self.controller.phase() {
            Phase::Startup => "startup",
            Phase::Restart => "restart",
            Phase::Avoidance => "avoidance",
        };
        Expect {
            cwnd_bytes: self.window(),
            ssthresh_bytes: self.plan.ssthresh.map(Bytes::get),
            pacing_bytes_per_second: self.set.paces.then(|| self.pacing()),
            phase,
        }
    }

    /// Adds a step with the state after its event, the note and the decision.
    fn record(&mut self, mut step: Step) {
        (step.time_us, step.in_flight_bytes) = (self.now(), self.in_flight());
        (step.note, step.expect) = (self.note.take(), Some(self.expected()));
        self.steps.push(step);
    }
}
