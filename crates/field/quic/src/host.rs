//! The host: from a stack's hooks to the events of a controller, and the plan back.

use alloc::sync::Arc;
use alloc::vec::Vec;

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{
    Ack, Avoidance, Bytes, Call, Controller, Delivered, Event, Loss, LostPacket, Note, Origin, OwnedEvent,
    Pacer, Pacing, Path, Phase, Plan, Rate, RttSample, SendLimit, Sent, Span, Startup, Time, TraceRecord,
};

use crate::episodes::Episodes;
use crate::exit_report::ExitReport;
use crate::in_flight::{InFlight, InFlightPacket};
use crate::observer::Observer;
use crate::permit::{Limit, Permit};
use crate::rate_sampler::RateSampler;
use crate::reports::{AckEnd, PacketSent};
use crate::round_trips::RoundTrips;
use crate::settings::Settings;
use crate::stage::{First, Stage};

/// A host whose parts are chosen by name.
pub type AnyHost = Host<AnyScheme, AnyRestart, AnyLaw>;

/// One connection, or one path of a connection: a controller, and what the contract of packet hosts needs.
///
/// A stack calls, in the order in which things happen:
///
/// - [`before_send`](Host::before_send), if it has a clock then, and [`on_packet_sent`](Host::on_packet_sent) for each ack-eliciting packet;
/// - for each ACK frame [`on_packet_acked`](Host::on_packet_acked) for each ack-eliciting packet that it newly acknowledges, then
///   [`on_ack_end`](Host::on_ack_end) once;
/// - after that, for losses, [`on_packet_lost`](Host::on_packet_lost) for each packet and [`on_loss`](Host::on_loss) once, or
///   [`on_unlisted_loss`](Host::on_unlisted_loss) alone; and for an ECN mark [`on_mark`](Host::on_mark);
/// - [`on_mtu`](Host::on_mtu), [`on_spurious_loss`](Host::on_spurious_loss) and [`on_path_change`](Host::on_path_change) when they happen.
///
/// After each call [`window`](Host::window), [`plan`](Host::plan) and [`pacer`](Host::pacer) say what may be sent. A debug assertion fails
/// if a stack forgets the end of an ACK. Lost packets without [`on_loss`](Host::on_loss) have no event.
#[derive(Clone, Debug)]
pub struct Host<S, R, A> {
    controller: Controller<S, R, A>,
    path: Path,
    plan: Plan,
    pacer: Pacer,
    headers: Bytes,
    stage: Stage,
    packets: InFlight,
    round_trips: RoundTrips,
    rate: RateSampler,
    episodes: Episodes,
    /// The ACK at hand: its packets, and the newest of them.
    acked: Vec<Delivered>,
    newest: Option<InFlightPacket>,
    /// The loss at hand, with the transmission time of its newest packet.
    lost: Vec<LostPacket>,
    newest_lost: Option<Time>,
    /// The number and the transmission time of the newest packet acknowledged so far.
    newest_acked: Option<(u64, Time)>,
    /// The instant since which the packets of this path are sent: that of the first ACK, or of the last change.
    path_began: Time,
    /// The instant of the last ACK, and the flight before it.
    before_ack: Option<(Time, Bytes)>,
    /// Whether a spurious loss is still to be reported: the hooks of some stacks have no clock.
    spurious: bool,
    /// Whether the present request of the plan was answered.
    answered: bool,
    /// The last exit that was not withdrawn.
    exit: Option<ExitReport>,
    observer: Option<Arc<dyn Observer>>,
    /// Whether the first packet after the first ACK is the handshake's.
    first: First,
    /// Bytes of handshake packets that were sent after the first ACK, until the next ACK.
    handshake_bytes: Bytes,
}

impl<S: Startup, R: Startup, A: Avoidance> Host<S, R, A> {
    /// Creates the host of a new connection, at `now`.
    pub fn new(controller: Controller<S, R, A>, settings: Settings, now: Time) -> Self {
        Self::observed(controller, settings, now, None)
    }

    /// Creates the host of a new connection, at `now`, with an observer of its calls.
    pub fn observed(
        controller: Controller<S, R, A>,
        settings: Settings,
        now: Time,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        let Settings { mtu, headers, max_ack_delay } = settings;
        let round_trips = RoundTrips::new(max_ack_delay);
        let mut path = Path::new(now, mtu, mtu + headers);
        path.limit = SendLimit::Window;
        path.rto = round_trips.probe_timeout(None);
        let plan = controller.plan(&path);
        path.cwnd = plan.window;
        let mut host = Self {
            controller,
            path,
            plan,
            pacer: Pacer::new(),
            headers,
            stage: Stage::Handshake { lost: false, newest: None },
            packets: InFlight::default(),
            round_trips,
            rate: RateSampler::default(),
            episodes: Episodes::default(),
            acked: Vec::new(),
            newest: None,
            lost: Vec::new(),
            newest_lost: None,
            newest_acked: None,
            path_began: now,
            before_ack: None,
            spurious: false,
            answered: false,
            exit: None,
            observer,
            first: First::Expected,
            handshake_bytes: Bytes::ZERO,
        };
        host.report(&Event::Begin(Origin::Fresh));
        host
    }

    /// Returns the window in bytes, within which the stack may have packets in flight. In the handshake it is the initial window. Packets of
    /// the handshake that were sent after the first ACK, such as a client's Finished, are in flight next to those of the window.
    pub fn window(&self) -> Bytes {
        self.plan.window + self.handshake_bytes
    }

    /// Returns the plan in force. In the handshake its pacing is [`Pacing::Hold`], which holds application data only; see
    /// [`Host::is_established`].
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the pacer: when the next packet may be sent.
    pub fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    /// Returns the connection as the controller sees it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the handshake is over: the first ACK has arrived.
    pub fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Established)
    }

    /// Returns the phase of the controller.
    pub fn phase(&self) -> Phase {
        self.controller.phase()
    }

    /// Returns the last exit from start-up or restart that was not withdrawn; `None` if there is none yet.
    pub fn exit(&self) -> Option<&ExitReport> {
        self.exit.as_ref()
    }

    /// Returns the rate that the last exit learned, in IP bits per second; `None` if it learned none.
    pub fn learned_rate(&self) -> Option<Rate> {
        self.exit.and_then(|report| report.exit.learned.rate)
    }

    /// Returns `rate`, in IP bits per second, as payload bits per second.
    pub fn payload_rate(&self, rate: Rate) -> Rate {
        rate.scale(self.path.mss.get(), self.path.wire.get())
    }

    /// Reports a wake-up of the plan that is due, for a stack that can wake at [`Plan::wake`]. Any other call does so too.
    pub fn wake_up(&mut self, now: Time) {
        if now > self.path.now {
            self.settle_first();
        }
        self.path.now = self.path.now.max(now);
        if core::mem::take(&mut self.spurious) && self.episodes.undo() {
            self.path.recovering = self.recovering();
            self.report(&Event::SpuriousLoss);
        }
        if self.plan.wake.is_some_and(|at| at <= self.path.now) {
            self.report(&Event::Woken);
        }
    }

    /// Returns whether a packet of `bytes` may be sent now, for a stack that has a clock before it sends. After an idle time this asks the
    /// restart policy first.
    pub fn before_send(&mut self, now: Time, bytes: u64) -> Permit {
        self.wake_up(now);
        if !self.is_established() {
            // The handshake's packets are not in the accounts: the stack compares them with the window.
            return Permit::Now;
        }
        self.ask_after_idle();
        if self.path.pipe + self.first.bytes() + Bytes::new(bytes) > self.plan.window {
            return Permit::WindowFull;
        }
        match self.pacer.ready_at(Bytes::new(bytes) + self.headers, false) {
            Some(at) if at > self.path.now => Permit::At(at),
            Some(_) => Permit::Now,
            None => Permit::Held,
        }
    }

    /// Reports a packet that was sent now: an ack-eliciting packet, probes of a timeout included. Call this before any call for a packet
    /// that is sent later.
    pub fn on_packet_sent(&mut self, now: Time, packet: PacketSent) {
        self.check_complete();
        if self.first.is_handshake(&packet) {
            self.handshake_bytes += self.first.bytes();
            self.first = First::Decided;
        }
        self.wake_up(now);
        let bytes = Bytes::new(packet.bytes);
        if !self.is_established() || bytes > self.path.mss {
            return;
        }
        self.settle_first();
        let may_be_handshake = packet.number.is_some() && bytes < self.path.mss;
        if matches!(self.first, First::Expected) && may_be_handshake {
            self.first = First::Undecided(packet);
            return;
        }
        self.first = First::Decided;
        self.count_sent(packet);
    }

    /// Reports the undecided packet as data. It was sent now, because a later call does this before the time advances.
    fn settle_first(&mut self) {
        if let First::Undecided(first) = self.first {
            self.first = First::Decided;
            self.count_sent(first);
        }
    }

    fn count_sent(&mut self, packet: PacketSent) {
        let bytes = Bytes::new(packet.bytes);
        self.ask_after_idle();
        let (number, tag, now) = (self.packets.next(), self.plan.tag, self.path.now);
        let delivered = Delivered {
            packet: number,
            bytes,
            sent_at: now,
            tag,
            delivered_at_send: self.path.delivered,
            limit: self.path.limit,
            retransmitted: false,
            selectively: false,
        };
        let at_send = self.rate.on_send(now, self.packets.is_empty());
        self.pacer.sent(now, bytes + self.headers);
        self.report(&Event::Sent(Sent { packet: number, bytes, tag, retransmission: false }));
        self.path.sent(bytes);
        if let Some(backlog) = &mut self.path.backlog {
            *backlog -= bytes;
        }
        self.packets.push(packet.number, delivered, self.path.nxt, at_send, self.path.mss);
        (self.path.flight, self.path.pipe) = (self.packets.bytes(), self.packets.bytes());
        self.before_ack = None;
    }

    /// Reports that an ACK newly acknowledges a packet that was sent at `sent_at`. The order within an ACK is free. The host leaves out
    /// packets that it does not know: the handshake's, probes of the path MTU and packets of an earlier path.
    pub fn on_packet_acked(&mut self, now: Time, packet: PacketSent, sent_at: Time) {
        self.discard_incomplete_loss();
        self.wake_up(now);
        if let Stage::Handshake { newest, .. } = &mut self.stage {
            *newest = (*newest).max(Some(sent_at));
            return;
        }
        let Some(found) = self.packets.take(packet.number, packet.bytes, sent_at) else { return };
        self.acked.push(found.delivered);
        if self.newest.is_none_or(|newest| newest.delivered.packet < found.delivered.packet) {
            self.newest = Some(found);
        }
    }

    /// Reports the end of an ACK frame. The first one ends the handshake.
    pub fn on_ack_end(&mut self, now: Time, end: AckEnd) {
        self.discard_incomplete_loss();
        self.wake_up(now);
        if self.is_established() {
            self.settle_first();
            (self.first, self.handshake_bytes) = (First::Decided, Bytes::ZERO);
        }
        match self.stage {
            Stage::Handshake { newest: None, .. } => {}
            Stage::Handshake { lost, newest: Some(newest) } => self.establish(newest, lost),
            Stage::Established => {
                if let Some(newest) = self.newest.take() {
                    self.acknowledge(&newest, end);
                }
                self.limit_after_ack(end.app_limited);
            }
        }
    }

    fn establish(&mut self, newest: Time, syn_lost: bool) {
        self.stage = Stage::Established;
        self.path_began = self.path.now;
        let rtt = Some(self.path.now.since(newest)).filter(|rtt| !rtt.is_zero());
        if let Some(rtt) = rtt {
            self.round_trips.sample(&mut self.path, rtt);
        }
        self.path.last_received = Some(self.path.now);
        self.report(&Event::Established { rtt, syn_lost });
    }

    fn acknowledge(&mut self, newest: &InFlightPacket, end: AckEnd) {
        if self.acked.windows(2).any(|pair| pair[0].packet > pair[1].packet) {
            self.acked.sort_unstable_by_key(|packet| packet.packet);
        }
        let packets = core::mem::take(&mut self.acked);
        let Delivered { packet, sent_at, delivered_at_send, .. } = newest.delivered;
        let now = self.path.now;
        // RFC 9002 section 5.1: a sample needs a largest acknowledged packet that is newly acknowledged.
        let is_newest = self.newest_acked.is_none_or(|(before, _)| packet > before);
        let rtt = Some(now.since(sent_at)).filter(|rtt| is_newest && !rtt.is_zero());
        if let Some(rtt) = rtt {
            self.round_trips.sample(&mut self.path, rtt);
        }
        if is_newest {
            self.newest_acked = Some((packet, sent_at));
        }
        let mut ack = Ack::of_packets(&packets);
        ack.rtt = rtt.map(|rtt| RttSample { rtt, handshake: false });
        let before = self.path.flight;
        if let Some(in_flight) = end.in_flight {
            self.packets.reconcile(Bytes::new(in_flight), packet);
        }
        (self.path.flight, self.path.pipe) = (self.packets.bytes(), self.packets.bytes());
        self.path.delivered += ack.bytes;
        self.path.una = if self.packets.is_empty() { self.path.nxt } else { self.path.una.max(newest.end) };
        self.path.last_received = Some(now);
        self.path.recovering = self.recovering();
        self.rate.on_ack(now, sent_at);
        let carried = self.path.delivered - delivered_at_send;
        let rate = RateSampler::sample(now, sent_at, newest.at_send, carried);
        ack.delivery_rate = rate.map(|rate| rate.scale(self.path.wire.get(), self.path.mss.get()));
        self.report(&Event::Acked(ack));
        self.acked = packets;
        self.acked.clear();
        self.before_ack = Some((now, before));
    }

    fn limit_after_ack(&mut self, app_limited: bool) {
        let paced = matches!(self.plan.pacing, Pacing::Rate { .. } | Pacing::Train { .. });
        self.path.limit = match (app_limited, self.path.limit) {
            (true, _) => SendLimit::App,
            (false, SendLimit::App) if paced => SendLimit::Pacing,
            (false, SendLimit::App) => SendLimit::Window,
            (false, limit) => limit,
        };
        if app_limited && self.pacer.train_begun() {
            self.cut_train();
        }
    }

    /// Reports that a packet was found lost; [`Host::on_loss`] follows after the last. `sent_at` is its transmission time, if the stack
    /// reports that.
    pub fn on_packet_lost(&mut self, number: u64, bytes: u64, sent_at: Option<Time>) {
        debug_assert!(self.newest.is_none(), "on_packet_acked without on_ack_end");
        let found = match (&mut self.stage, sent_at) {
            (Stage::Handshake { lost, .. }, _) => {
                *lost = true;
                None
            }
            (Stage::Established, Some(at)) => self.packets.take(Some(number), bytes, at),
            (Stage::Established, None) => self.packets.take_lost(number, bytes),
        };
        if let Some(found) = found {
            self.add_lost(&found.delivered);
        }
    }

    fn add_lost(&mut self, lost: &Delivered) {
        let Delivered { packet, bytes, tag, sent_at, .. } = *lost;
        self.lost.push(LostPacket { packet, bytes, tag });
        self.newest_lost = self.newest_lost.max(Some(sent_at));
    }

    /// Reports the loss of the packets listed by [`Host::on_packet_lost`]. `persistent` says whether they establish persistent congestion
    /// (RFC 9002 section 7.6).
    pub fn on_loss(&mut self, now: Time, persistent: bool) {
        self.wake_up(now);
        let Some(sent_at) = self.newest_lost.take() else { return };
        let mut packets = core::mem::take(&mut self.lost);
        packets.sort_unstable_by_key(|packet| packet.packet);
        self.episodes.on_loss(self.path.now, sent_at, persistent);
        let after = self.packets.bytes();
        self.path.flight = self.flight_before();
        self.path.pipe = after;
        if self.packets.is_empty() {
            self.path.una = self.path.nxt;
        }
        self.path.recovering = self.recovering();
        let mut loss = Loss::new(&packets);
        loss.sent_at = Some(sent_at);
        loss.persistent = persistent;
        self.report(&Event::Lost(loss));
        self.path.flight = after;
        if persistent {
            self.round_trips.forget_minimum();
        }
        self.lost = packets;
        self.lost.clear();
    }

    /// Reports a loss of `bytes` in all, for a stack that does not list the packets. `newest` is the transmission time of the newest lost
    /// packet. The lost packets are the oldest in flight, because the thresholds of RFC 9002 section 6.1 are monotonic.
    pub fn on_unlisted_loss(&mut self, now: Time, newest: Time, bytes: u64, persistent: bool) {
        if let Stage::Handshake { lost, .. } = &mut self.stage {
            *lost = true;
            return;
        }
        let mut found = Bytes::ZERO;
        while found < Bytes::new(bytes) {
            let Some(packet) = self.packets.take_oldest(newest) else { break };
            found += packet.delivered.bytes;
            self.add_lost(&packet.delivered);
        }
        self.on_loss(now, persistent);
    }

    /// Reports an ECN mark that the peer echoed (RFC 9002 section 7.1), after the end of its ACK. `sent_at` is the transmission time of the
    /// newest packet that the ACK acknowledges, ack-eliciting or not.
    pub fn on_mark(&mut self, now: Time, sent_at: Time) {
        self.check_complete();
        self.wake_up(now);
        // The mark of a packet of the handshake, or of an earlier path, has no event.
        let Some((_, newest)) = self.newest_acked.filter(|_| sent_at >= self.path_began) else { return };
        let sent_at = sent_at.min(newest);
        self.episodes.on_mark(self.path.now, sent_at);
        self.path.flight = self.flight_before();
        self.path.recovering = self.recovering();
        self.report(&Event::Marked { sent_at: Some(sent_at) });
        self.path.flight = self.path.pipe;
    }

    /// Reports that the packets of the last loss arrived after all. Without a clock, this takes effect with the next call that has one,
    /// which is the ACK that shows the arrival.
    pub fn on_spurious_loss(&mut self) {
        self.spurious = self.is_established();
    }

    /// Reports the MTU of the path: the maximum UDP payload.
    pub fn on_mtu(&mut self, mtu: u64) {
        let mtu = Bytes::new(mtu);
        if mtu != self.path.mss && !mtu.is_zero() {
            (self.path.mss, self.path.wire) = (mtu, mtu + self.headers);
            self.report(&Event::MssChanged);
        }
    }

    /// Sets the `max_ack_delay` that the peer keeps from now on (the ACK frequency extension can change it).
    pub fn set_max_ack_delay(&mut self, delay: Span) {
        self.round_trips.set_max_ack_delay(delay);
        self.path.rto = self.round_trips.probe_timeout(self.path.srtt);
    }

    /// Reports that the connection continues over another path (RFC 9000 section 9.4). The host forgets the packets in flight: later
    /// reports of them have no event.
    pub fn on_path_change(&mut self, now: Time) {
        self.check_complete();
        self.wake_up(now);
        if !self.is_established() {
            return;
        }
        self.forget_in_flight();
        self.episodes = Episodes::default();
        self.spurious = false;
        let path = &mut self.path;
        (path.srtt, path.latest_rtt, path.min_rtt) = (None, None, None);
        path.recovering = false;
        self.round_trips = self.round_trips.afresh();
        self.path.rto = self.round_trips.probe_timeout(None);
        self.report(&Event::Begin(Origin::PathChange));
    }

    /// Forgets the packets in flight, for a stack that copies its controller for a rebinding of the same path: later reports of them have no
    /// event, to the controller nothing is in flight, and what the controller learned stays.
    pub fn forget_in_flight(&mut self) {
        self.packets.clear();
        self.acked.clear();
        self.lost.clear();
        (self.newest, self.newest_lost) = (None, None);
        (self.newest_acked, self.before_ack, self.path_began) = (None, None, self.path.now);
        if self.is_established() {
            (self.first, self.handshake_bytes) = (First::Decided, Bytes::ZERO);
        }
        let path = &mut self.path;
        (path.flight, path.pipe, path.una) = (Bytes::ZERO, Bytes::ZERO, path.nxt);
    }

    /// Sets what kept the stack from sending more. If the application had nothing to send, the rest of a train is cut.
    pub fn set_limit(&mut self, limit: Limit) {
        self.path.limit = limit.into();
        if limit == Limit::App && self.is_established() {
            self.cut_train();
        }
    }

    /// Sets how much the application has ready to send; `None` if the stack cannot know. The host counts packets off until the next call.
    pub fn set_backlog(&mut self, bytes: Option<u64>) {
        self.path.backlog = bytes.map(Bytes::new);
    }

    fn cut_train(&mut self) {
        if self.pacer.train_left() > 0 {
            self.pacer.cut_train();
            self.report(&Event::TrainCut(self.plan.tag));
        }
    }

    fn ask_after_idle(&mut self) {
        if self.packets.is_empty() && self.controller.before_new_data(&self.path) {
            self.adopt(|| Call::NewData);
        }
    }

    /// Returns the flight before the ACK that arrived now, or the present flight.
    fn flight_before(&self) -> Bytes {
        let at_ack = self.before_ack.filter(|(at, _)| *at == self.path.now);
        at_ack.map_or(self.path.flight, |(_, before)| before)
    }

    fn recovering(&self) -> bool {
        self.episodes.recovering(self.newest_acked.map(|(_, sent_at)| sent_at))
    }

    fn check_complete(&mut self) {
        debug_assert!(self.newest.is_none(), "on_packet_acked without on_ack_end");
        self.discard_incomplete_loss();
    }

    /// Discards lost packets that [`Host::on_loss`] did not follow: stacks report packets of an earlier path so.
    fn discard_incomplete_loss(&mut self) {
        if !self.lost.is_empty() {
            self.lost.clear();
            self.newest_lost = None;
            (self.path.flight, self.path.pipe) = (self.packets.bytes(), self.packets.bytes());
        }
    }

    fn report(&mut self, event: &Event<'_>) {
        self.controller.on(event, &self.path);
        self.adopt(|| Call::On(OwnedEvent::new(event)));
        if self.plan.ask.is_none() {
            self.answered = false;
        } else if !core::mem::replace(&mut self.answered, true) {
            // No QUIC stack asks routers for a rate.
            self.report(&Event::Asked(false));
        }
    }

    fn adopt(&mut self, call: impl FnOnce() -> Call) {
        self.plan = self.controller.plan(&self.path);
        self.pacer.adopt(&self.plan);
        let observer = self.observer.clone();
        let mut notes = Vec::new();
        let records = observer.as_ref().is_some_and(|observer| observer.records_calls());
        while let Some(note) = self.controller.take_note() {
            self.note(&note);
            if records {
                notes.push(note);
            }
        }
        if let Some(observer) = observer.filter(|_| records) {
            let record = TraceRecord { call: call(), path: self.path, plan: self.plan, notes, judged: None };
            observer.on_call(record);
        }
        (self.path.cwnd, self.path.wake) = (self.plan.window, self.plan.wake);
    }

    fn note(&mut self, note: &Note) {
        let at = self.path.now;
        if let Some(observer) = &self.observer {
            observer.on_note(at, note);
        }
        match *note {
            Note::Exited { exit, phase, cwnd, flight } => {
                let report = ExitReport { at, exit, phase, window: cwnd, in_flight: flight };
                self.exit = Some(report);
                if let Some(observer) = &self.observer {
                    observer.on_exit(&report);
                }
            }
            Note::Continued | Note::Undone { exit: true } => self.exit = None,
            Note::Began(_) | Note::Reduced { .. } | Note::Undone { exit: false } => {}
        }
    }
}
