//! The endpoint: one side of a connection, from the handshake to the close.

use firstflight::{Avoidance, Controller, Span, Startup, Time};

use crate::config::Config;
use crate::happening::Happening;
use crate::quick_start::Negotiation;
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use crate::sender::Sender;

use self::exchange::SackMemory;
use self::handshake::{Handshake, Offer};

mod exchange;
mod fast;
mod handshake;
mod info;
mod interface;
mod quick_start;
mod ranges;

pub use fast::{Departure, Fast, NextSegment, RepairSegment};
pub use interface::{Role, Snapshot, Stats, Transmit};

/// Where the connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing happened yet.
    Closed,
    /// Waits for a SYN.
    Listening,
    /// The SYN is out.
    SynSent,
    /// The SYN-ACK is out.
    SynReceived,
    /// Data may flow; closing is told by the FINs.
    Open,
    /// Reset, or given up.
    Aborted,
}

/// What the peer offered in its SYN.
#[derive(Clone, Copy, Debug)]
struct Peer {
    initial: u32,
    mss: u16,
    scale: u8,
}

/// What both sides agreed to use.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    sack: bool,
    timestamps: bool,
    scaling: bool,
    ecn: bool,
}

/// The MSS that a peer is taken to have without the option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// What fits an IPv4 packet beside 40 bytes of headers.
const MAX_MSS: u16 = 65_495;

/// One side of a connection. `S`, `R` and `A` are its start-up scheme, restart policy and avoidance law. The fields that every
/// segment touches lie together: the receiver ends with them, and the sender begins with them.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint<S, R, A> {
    receiver: Receiver,
    peer: Peer,
    /// `Last.ACK.sent` (RFC 7323 section 4.3), as an offset.
    last_ack_sent: u64,
    /// `MAX.SND.WND`: the largest window that the peer ever offered (RFC 5961 section 5.2).
    largest_window: u64,
    /// `SND.WL1` (RFC 9293 section 3.10.7.4), as an offset: where the newest segment began that was heard.
    newest_start: u64,
    acks_sent: u64,
    /// `TS.Recent` (RFC 7323 section 4.3).
    recent_timestamp: u32,
    /// Our initial sequence number.
    initial_sequence: u32,
    state: State,
    options: Options,
    /// Whether segments may be predicted ([`Endpoint::is_smooth`]), as far as that was looked at: may be `false` though they
    /// may.
    smooth: bool,
    /// Whether a repair with a fast way is under way ([`Endpoint::is_mending`]), as far as that was looked at. Never set while
    /// `smooth` is.
    mending: bool,
    probe_window: bool,
    /// Our FIN went first.
    closed_first: bool,
    /// A RST is to be sent.
    reset_due: bool,
    all_acknowledged: bool,
    closed: bool,
    sender: Sender<S, R, A>,
    sack_memory: SackMemory,
    handshake: Handshake,
    quick_start: Negotiation,
    offer: Offer,
    /// When `TS.Recent` was heard.
    stamped_at: Time,
    /// When the last challenge ACK was called for.
    challenged_at: Option<Time>,
    /// The number of an ACK, before the connection is open, of what was not sent: it is answered with a RST (RFC 9293 sections
    /// 3.10.7.3 and 3.10.7.4).
    refused_ack: Option<u32>,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// An endpoint that has done nothing yet: a server listens, a client waits for [`Endpoint::open`].
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
            smooth: false,
            mending: false,
            acks_sent: 0,
            probe_window: false,
            all_acknowledged: false,
            closed_first: false,
            reset_due: false,
            closed: false,
            initial_sequence: config.initial_sequence,
        }
    }

    /// Starts the connection: the client's SYN becomes ready to transmit. A second call does nothing.
    pub fn open(&mut self, now: Time) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.handshake.due = true;
            self.sender.begin(now);
        }
    }

    /// The application has `bytes` more to send. After [`Endpoint::shut`] it is ignored.
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// The application takes up to `bytes` that are in order; how many it got.
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Sets whether small segments wait for the acknowledgement of small ones (Nagle), as they do at first. Only for an
    /// endpoint with [`Config::offload`].
    pub fn set_nagle(&mut self, on: bool) {
        self.sender.shaper.set_nagle(on);
    }

    /// The sequence number that the endpoint expects next (`RCV.NXT`).
    pub fn next_expected(&self) -> u32 {
        crate::seq::wrap(self.peer.initial, self.receiver.next())
    }

    /// Sets whether segments that are not full are held back (Linux `TCP_CORK`). Only for an endpoint with [`Config::offload`].
    pub fn set_cork(&mut self, on: bool) {
        self.sender.shaper.set_cork(on);
    }

    /// The application has `bytes` more to send and will write more soon: a segment that is not full waits for that, or for an
    /// ACK (Linux `MSG_MORE`). Only for an endpoint with [`Config::offload`].
    pub fn write_more(&mut self, bytes: u64) {
        self.sender.write_more(bytes);
    }

    /// Sends what waits to fill a segment as it is. Only for an endpoint with [`Config::offload`].
    pub fn push(&mut self) {
        self.sender.shaper.push();
    }

    /// Sets whether ACKs may be quick ([`crate::AckPolicy::Linux`]). If they may, an ACK that is delayed leaves now, unless
    /// there is data to read.
    pub fn set_quick_ack(&mut self, on: bool) {
        self.receiver.set_quick_ack(on);
    }

    /// An ACK leaves now, if the connection is open: for a host whose peer waits for a sign that the handshake is over here too.
    pub fn acknowledge(&mut self) {
        self.takes_a_closer_look();
        if self.state == State::Open {
            self.receiver.acknowledge_now();
        }
    }

    /// Bounds the bytes that are written and not sent. Without this there is no bound. Only for an endpoint with
    /// [`Config::offload`].
    pub fn set_unsent_limit(&mut self, bytes: u64) {
        self.sender.shaper.set_unsent_limit(bytes);
    }

    /// Sets the user timeout: for how long data is sent again, or a closed window probed, before the connection is given up.
    /// The connection ends when the next of these is due after that, or at that very instant if `exact`.
    pub fn set_user_timeout(&mut self, timeout: Span, exact: bool) {
        self.sender.user_timeout.set(timeout, exact);
    }

    /// Bounds the bytes that are written and not acknowledged. Without this there is no bound. Only for an endpoint with
    /// [`Config::offload`].
    pub fn set_send_limit(&mut self, bytes: u64) {
        self.sender.shaper.set_send_limit(bytes);
    }

    /// Whether more of its burst follows the segment that left last: on the wire they are one packet until the device has
    /// parted them. Only for an endpoint with [`Config::offload`].
    pub fn is_in_burst(&self) -> bool {
        self.sender.shaper.is_in_burst()
    }

    /// Bytes written that found no room within [`Endpoint::set_send_limit`]. They are taken in as room is made.
    pub fn untaken(&self) -> u64 {
        self.sender.shaper.untaken()
    }

    /// Gives up what found no room. Gives how many bytes that is.
    pub fn drop_untaken(&mut self) -> u64 {
        self.sender.drop_untaken()
    }

    /// Resets the connection: a RST is ready to transmit, and nothing after it.
    pub fn reset(&mut self) {
        self.takes_a_closer_look();
        if matches!(self.state, State::SynReceived | State::Open) {
            self.reset_due = true;
        }
        self.abort();
    }

    /// The application gives up the data that it wrote and that has not left. With [`Config::offload`] it gives up the data that
    /// has found no room in the send buffer, and the data within the buffer still leaves. The method returns how long the stream
    /// then is, in bytes. [`Endpoint::shut`] should follow.
    pub fn take_back(&mut self) -> u64 {
        self.sender.take_back()
    }

    /// The application will write no more: a FIN follows the data.
    pub fn shut(&mut self) {
        self.smooth = false;
        self.sender.shut();
    }

    /// A segment arrived.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if !(self.smooth || self.turns_smooth()) || !self.on_predicted_segment(now, segment) {
            self.on_other_segment(now, segment);
        }
    }

    /// A segment arrived that was not predicted. What leaves for it may be predicted again, and so may the next segment.
    #[inline(never)]
    fn on_other_segment(&mut self, now: Time, segment: &Segment) {
        if self.mending && self.on_ack_in_repair(now, segment) {
            return;
        }
        self.takes_a_closer_look();
        if self.state == State::Open {
            self.on_established_segment(now, segment);
        } else {
            self.on_early_segment(now, segment);
        }
        self.note_closing();
        self.turns_smooth();
    }

    /// A segment arrived before the connection is open, or too late.
    #[cold]
    fn on_early_segment(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed | State::Aborted => {}
            State::Listening => self.on_first_syn(now, segment),
            State::SynSent => self.on_answer_to_syn(now, segment),
            State::SynReceived | State::Open => self.on_established_segment(now, segment),
        }
    }

    /// The instant of [`Endpoint::next_timer`] has come. Early calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        self.takes_a_closer_look();
        // A timeout may forget what was SACKed.
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

    /// The next segment that may leave at `now`, if any. Call until it gives none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut segment = Segment::default();
        let departure = self.transmit_into(now, &mut segment)?;
        Some(Transmit { segment, sent: departure.sent, offset: self.offset_of(&segment) })
    }

    /// [`Fast::transmit_into`].
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
        self.mending = false;
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
            // An old sequence number is unacceptable, so the peer answers with its window (RFC 9293
            // section 3.8.6.1 wants a segment that elicits an ACK; Linux sends this one).
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

    /// What leaves before the connection is open, or as it opens, or after it was reset.
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
            let mut segment = Segment::default();
            self.pure_ack(now, &mut segment);
            return Some(segment);
        }
        None
    }

    /// [`Fast::needs_no_waking_before`].
    #[inline]
    fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        if self.smooth {
            self.receiver.timer().is_none() && self.sender.needs_no_waking_before(at)
        } else {
            self.needs_no_waking_in_repair_before(at)
        }
    }

    /// When to call [`Endpoint::on_timer`] next, whether or not anything arrives.
    pub fn next_timer(&self) -> Option<Time> {
        match self.state {
            State::Closed | State::Listening | State::Aborted => None,
            State::SynSent | State::SynReceived => self.handshake.timer,
            State::Open => Time::earlier(self.sender.next_timer(), self.receiver.timer()),
        }
    }

    /// The oldest happening not yet taken.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        self.sender.journal.take_happening()
    }

    /// Keeps what the controller is told from now on, until [`Endpoint::poll_told`] takes it. A host that asks for this must
    /// take it.
    pub fn keep_told(&mut self) {
        self.sender.keep_told();
    }

    /// The oldest call of the controller not yet taken.
    pub fn poll_told(&mut self) -> Option<firstflight::TraceRecord> {
        self.sender.journal.take_told()
    }

    /// The sender's state.
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

    /// Counters.
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
        self.takes_a_closer_look();
        self.sender.expect_acks(on);
    }

    #[cfg(test)]
    pub(crate) fn sender(&self) -> &Sender<S, R, A> {
        &self.sender
    }

    fn abort(&mut self) {
        if self.state != State::Aborted {
            self.state = State::Aborted;
            self.sender.journal.note_of_endpoint(Happening::Aborted);
        }
    }

    fn note_closing(&mut self) {
        if !self.sender.is_shut() {
            self.all_acknowledged = false;
            return;
        }
        if self.sender.finished() && !core::mem::replace(&mut self.all_acknowledged, true) {
            self.sender.journal.note_of_endpoint(Happening::AllAcknowledged);
        } else if !self.sender.finished() {
            self.all_acknowledged = false;
        }
        if self.sender.finished()
            && self.receiver.fin_arrived()
            && !core::mem::replace(&mut self.closed, true)
        {
            self.sender.journal.note_of_endpoint(Happening::Closed);
        }
    }
}
