//! The endpoint: one side of a connection, from the handshake to the close.

use firstflight::{Avoidance, Controller, Span, Startup, Time};

use crate::config::Config;
use crate::endpoint_event::EndpointEvent;
use crate::quick_start::Negotiation;
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use crate::sender::Sender;

use self::sack_memory::SackMemory;
use self::syn::{Handshake, Offer};

mod exchange;
mod fast;
mod handshake;
mod info;
mod interface;
mod linux_socket;
mod quick_start;
mod ranges;
mod sack_memory;
mod syn;

pub use fast::{Departure, Fast, NextSegment, RepairSegment};
pub use interface::{Role, Snapshot, Stats, Transmit};
pub use linux_socket::LinuxSocket;

/// State of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has happened yet.
    Closed,
    /// Waits for a SYN.
    Listening,
    /// The SYN was sent, or is ready to be sent.
    SynSent,
    /// The SYN-ACK was sent, or is ready to be sent.
    SynReceived,
    /// Data may be sent. The FINs show which directions are closed.
    Open,
    /// The connection was reset or given up.
    Aborted,
}

/// Parameters from the peer's SYN.
#[derive(Clone, Copy, Debug)]
struct Peer {
    initial: u32,
    mss: u16,
    scale: u8,
}

/// The options that both sides agreed to use.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    sack: bool,
    timestamps: bool,
    scaling: bool,
    ecn: bool,
}

/// The MSS of a peer that sends no MSS option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Maximum payload of an IPv4 packet with 40 bytes of headers.
const MAX_MSS: u16 = 65_495;

/// One side of a connection. `S`, `R` and `A` are the types of its start-up scheme, restart policy and avoidance law. Fields that every
/// segment uses are adjacent in memory: they are at the end of the receiver and at the beginning of the sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint<S, R, A> {
    receiver: Receiver,
    peer: Peer,
    /// `Last.ACK.sent` (RFC 7323 section 4.3), as a stream offset.
    last_ack_sent: u64,
    /// `MAX.SND.WND`: the maximum window that the peer has offered (RFC 5961 section 5.2).
    largest_window: u64,
    /// `SND.WL1` (RFC 9293 section 3.10.7.4), as a stream offset: the start of the newest segment that was processed.
    newest_start: u64,
    acks_sent: u64,
    /// `TS.Recent` (RFC 7323 section 4.3).
    recent_timestamp: u32,
    /// The initial sequence number of this side.
    initial_sequence: u32,
    state: State,
    options: Options,
    /// Whether header prediction may be used, the result of the last check ([`Endpoint::can_predict`]). It may be `false` although prediction
    /// may be used.
    predicting: bool,
    /// Whether a repair with a fast path is in progress, the result of the last check ([`Endpoint::is_in_repair`]). Never set together with
    /// `predicting`.
    in_repair: bool,
    probe_window: bool,
    /// Whether this side sent its FIN before the peer's FIN arrived.
    closed_first: bool,
    /// Whether a RST is ready to be sent.
    reset_due: bool,
    all_acknowledged: bool,
    closed: bool,
    sender: Sender<S, R, A>,
    sack_memory: SackMemory,
    handshake: Handshake,
    quick_start: Negotiation,
    offer: Offer,
    /// The time at which `TS.Recent` was received.
    stamped_at: Time,
    /// The time at which the last challenge ACK was triggered.
    challenged_at: Option<Time>,
    /// The acknowledgement number of an ACK for unsent data that arrived before the connection was open. The answer is a RST (RFC 9293
    /// sections 3.10.7.3 and 3.10.7.4).
    refused_ack: Option<u32>,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Creates an unused endpoint. A server listens, a client waits for [`Endpoint::open`].
    pub fn new(role: Role, config: &Config, controller: Controller<S, R, A>) -> Self {
        let config = Config { mss: config.mss.clamp(1, MAX_MSS), ..*config };
        Self {
            offer: Offer::new(&config),
            state: match role {
                Role::Client => State::Closed,
                Role::Server => State::Listening,
            },
            handshake: Handshake::default(),
            options: Options::default(),
            peer: Peer { initial: 0, mss: DEFAULT_MSS, scale: 0 },
            sender: Sender::new(&config, controller),
            receiver: Receiver::new(&config),
            recent_timestamp: 0,
            last_ack_sent: 0,
            largest_window: 0,
            stamped_at: Time::ZERO,
            challenged_at: None,
            newest_start: 0,
            refused_ack: None,
            sack_memory: SackMemory::default(),
            quick_start: Negotiation::new(config.secret),
            predicting: false,
            in_repair: false,
            acks_sent: 0,
            probe_window: false,
            all_acknowledged: false,
            closed_first: false,
            reset_due: false,
            closed: false,
            initial_sequence: config.initial_sequence,
        }
    }

    /// Starts the connection: the client's SYN becomes ready to be sent. A second call does nothing.
    pub fn open(&mut self, now: Time) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.handshake.due = true;
            self.sender.begin(now);
        }
    }

    /// Adds `bytes` bytes that the application has to send. Does nothing after [`Endpoint::shut`].
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// Lets the application read up to `bytes` bytes that are in order. Returns the number of bytes read.
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Returns the next sequence number that the endpoint expects (`RCV.NXT`).
    pub fn next_expected(&self) -> u32 {
        crate::seq::wrap(self.peer.initial, self.receiver.next())
    }

    /// Makes an ACK ready to send, if the connection is open. It shows the peer that the handshake is complete on this side.
    pub fn acknowledge(&mut self) {
        self.leave_fast_path();
        if self.state == State::Open {
            self.receiver.acknowledge_now();
        }
    }

    /// Sets the user timeout: how long data is retransmitted, or a zero window probed, before the connection is given up. If `exact` is
    /// true, the connection ends exactly after this time. Otherwise it ends when the next retransmission or probe is due.
    pub fn set_user_timeout(&mut self, timeout: Span, exact: bool) {
        self.sender.user_timeout.set(timeout, exact);
    }

    /// Resets the connection. A RST becomes ready to be sent, and nothing is sent after it.
    pub fn reset(&mut self) {
        self.leave_fast_path();
        if matches!(self.state, State::SynReceived | State::Open) {
            self.reset_due = true;
        }
        self.abort();
    }

    /// Discards data that the application wrote and that was not sent. With [`Config::offload`], discards only the data that had no room in
    /// the send buffer; the data in the buffer is still sent. Returns the resulting length of the stream in bytes. [`Endpoint::shut`] must
    /// be called afterwards.
    pub fn take_back(&mut self) -> u64 {
        self.sender.take_back()
    }

    /// Closes this side of the connection: a FIN follows the data.
    pub fn shut(&mut self) {
        self.predicting = false;
        self.sender.shut();
    }

    /// Processes a segment that arrived.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if !(self.predicting || self.enter_fast_path()) || !self.on_predicted_segment(now, segment) {
            self.on_other_segment(now, segment);
        }
    }

    /// Processes a segment that header prediction did not handle. Afterwards, transmissions and the next segment may be predicted again.
    #[inline(never)]
    fn on_other_segment(&mut self, now: Time, segment: &Segment) {
        if self.in_repair && self.on_ack_in_repair(now, segment) {
            return;
        }
        self.leave_fast_path();
        if self.state == State::Open {
            self.on_established_segment(now, segment);
        } else {
            self.on_early_segment(now, segment);
        }
        self.note_closing();
        self.enter_fast_path();
    }

    /// Processes a segment that arrives before the connection is open or after it ended.
    #[cold]
    fn on_early_segment(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed | State::Aborted => {}
            State::Listening => self.on_first_syn(now, segment),
            State::SynSent => self.on_answer_to_syn(now, segment),
            State::SynReceived | State::Open => self.on_established_segment(now, segment),
        }
    }

    /// Processes the timers that are due. To be called at the time of [`Endpoint::next_timer`]. Earlier calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        self.leave_fast_path();
        // A timeout may clear the SACK marks.
        self.sack_memory = SackMemory::default();
        match self.state {
            State::Closed | State::Listening | State::Aborted => {}
            State::SynSent | State::SynReceived => {
                if self.handshake.timer.is_some_and(|at| at <= now) {
                    self.retry_handshake(now);
                }
            }
            State::Open => {
                self.receiver.on_timer(now);
                if self.sender.on_timer(now) {
                    self.abort();
                }
                self.probe_window |= self.sender.take_persist_probe();
            }
        }
    }

    /// Returns the next segment that may be sent at `now`, or `None`. To be called until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut segment = Segment::default();
        let departure = self.transmit_into(now, &mut segment)?;
        Some(Transmit { segment, sent: departure.sent, offset: self.offset_of(&segment) })
    }

    /// Implements [`Fast::transmit_into`].
    fn transmit_into(&mut self, now: Time, place: &mut Segment) -> Option<Departure> {
        match self.ready() {
            NextSegment::Full => {
                let (ip_length, last) = self.full_segment(now, place);
                Some(Departure { sent: Some(self.sender.last_full()), last, ip_length, asks: false })
            }
            NextSegment::Ack => {
                let ip_length = self.predicted_ack(now, place);
                Some(Departure { sent: None, last: true, ip_length, asks: false })
            }
            NextSegment::Nothing => None,
            NextSegment::Other => self.next_transmit(now, place),
        }
    }

    #[inline(never)]
    fn next_transmit(&mut self, now: Time, place: &mut Segment) -> Option<Departure> {
        self.in_repair = false;
        let mut last = false;
        if self.state != State::Open || self.handshake.due || self.handshake.window_due {
            *place = self.unopened_transmit(now)?;
            let more = self.handshake.due | self.handshake.window_due;
            last = matches!(self.state, State::SynSent | State::SynReceived) && !more;
        } else if self.quick_start.owes_report() {
            *place = self.report(now);
        } else if let Some(outgoing) = self.sender.poll(now) {
            self.data_segment(now, &outgoing, place);
            return Some(Departure::of(place, Some(outgoing.sent)));
        } else if core::mem::take(&mut self.probe_window) {
            // The probe has an old sequence number, which is unacceptable, so the peer answers with its window. RFC 9293 section 3.8.6.1
            // requires a segment that triggers an ACK; Linux sends this one.
            self.ack_segment(now, place);
            place.seq = place.seq.wrapping_sub(1);
        } else if self.receiver.ack_due() {
            self.pure_ack(now, place);
            last = true;
        } else {
            return None;
        }
        Some(Departure { last, ..Departure::of(place, None) })
    }

    /// Returns the next segment before the connection is open, when it opens, or after it was reset.
    #[cold]
    fn unopened_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.state == State::Aborted {
            return core::mem::take(&mut self.reset_due).then(|| self.reset_segment(now));
        }
        if let Some(seq) = self.refused_ack.take() {
            return Some(Segment { seq, flags: Flags::RST, ..Segment::default() });
        }
        if core::mem::take(&mut self.handshake.due) {
            return Some(self.send_handshake(now));
        }
        if core::mem::take(&mut self.handshake.window_due) {
            // The peer scales this window, though the connection is not open yet.
            self.receiver.set_scale(self.own_scale());
            let mut segment = Segment::default();
            self.pure_ack(now, &mut segment);
            return Some(segment);
        }
        None
    }

    /// Implements [`Fast::needs_no_waking_before`].
    #[inline]
    fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        if self.predicting {
            self.receiver.timer().is_none() && self.sender.needs_no_waking_before(at)
        } else {
            self.needs_no_waking_in_repair_before(at)
        }
    }

    /// Returns when to call [`Endpoint::on_timer`] next, if nothing arrives before; `None` if no timer runs.
    pub fn next_timer(&self) -> Option<Time> {
        match self.state {
            State::Closed | State::Listening | State::Aborted => None,
            State::SynSent | State::SynReceived => self.handshake.timer,
            State::Open => Time::earlier(self.sender.next_timer(), self.receiver.timer()),
        }
    }

    /// Returns the oldest recorded event that was not taken yet.
    pub fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.sender.journal.take_event()
    }

    /// Starts to record the controller's calls for [`Endpoint::poll_trace`]. The caller must then take them.
    pub fn record_trace(&mut self) {
        self.sender.record_trace();
    }

    /// Returns the oldest recorded call of the controller that was not taken yet.
    pub fn poll_trace(&mut self) -> Option<firstflight::TraceRecord> {
        self.sender.journal.take_trace()
    }

    /// Returns the state of the sender.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "who asks often looks at little of it")]
    pub fn snapshot(&self) -> Snapshot {
        let (srtt, latest_rtt, min_rtt) = self.sender.rtt();
        Snapshot {
            phase: self.sender.controller().phase(),
            cwnd: self.sender.window(),
            ssthresh: self.sender.ssthresh(),
            in_flight: self.sender.payload_in_network(),
            srtt,
            latest_rtt,
            min_rtt,
            rtt_samples: self.sender.rtt_samples(),
            recovering: self.sender.recovering(),
            una: self.sender.una(),
            nxt: self.sender.nxt(),
            train: self.sender.train(),
        }
    }

    /// Returns the counters of the endpoint.
    pub fn stats(&self) -> Stats {
        Stats {
            packets_sent: self.sender.packets_sent(),
            retransmissions: self.sender.counters.retransmissions,
            timeouts: self.sender.counters.timeouts,
            probes: self.sender.counters.probes,
            undone: self.sender.counters.undone,
            received: self.receiver.received(),
            acks_sent: self.acks_sent,
        }
    }

    #[cfg(test)]
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.leave_fast_path();
        self.sender.expect_acks(on);
    }

    #[cfg(test)]
    pub(crate) fn sender(&self) -> &Sender<S, R, A> {
        &self.sender
    }

    fn abort(&mut self) {
        if self.state != State::Aborted {
            self.state = State::Aborted;
            self.sender.journal.note_of_endpoint(EndpointEvent::Aborted);
        }
    }

    fn note_closing(&mut self) {
        if !self.sender.is_shut() {
            self.all_acknowledged = false;
            return;
        }
        if self.sender.finished() && !core::mem::replace(&mut self.all_acknowledged, true) {
            self.sender.journal.note_of_endpoint(EndpointEvent::AllAcknowledged);
        } else if !self.sender.finished() {
            self.all_acknowledged = false;
        }
        if self.sender.finished()
            && self.receiver.fin_arrived()
            && !core::mem::replace(&mut self.closed, true)
        {
            self.sender.journal.note_of_endpoint(EndpointEvent::Closed);
        }
    }
}
