//! The endpoint: one side of a connection, from the handshake to the close.

use core::num::NonZeroU16;

use firstflight::{
    Ask, Avoidance, Bytes, Controller, Note, Phase, Rate, RateCode, Sent, Span, Startup, Time,
};

use crate::clock;
use crate::config::Config;
use crate::quick_start::{IpOption, Negotiation, Options as QuickStart};
use crate::receiver::{Incoming, Receiver};
use crate::segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
use crate::sender::{AckInput, Agreed, Outgoing, Sender};
use crate::seq;

/// Which side opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends the SYN.
    Client,
    /// Waits for it.
    Server,
}

/// A segment that leaves now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// For data packets: the packet's number, its tag, and whether its data was sent before.
    pub sent: Option<Sent>,
}

/// What happened inside an endpoint, for whoever keeps the record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Happening {
    /// The three-way handshake is over on this side.
    Established,
    /// The controller began, left, reduced or undid something.
    Control(Note),
    /// A loss episode began; the bytes in flight.
    RecoveryBegan {
        /// Bytes sent and not cumulatively acknowledged.
        flight: Bytes,
    },
    /// A loss episode is over.
    RecoveryEnded,
    /// The retransmission timer fired with data outstanding.
    TimedOut,
    /// A Quick-Start request was answered: the rate approved, if any.
    QuickStart {
        /// The rate, in IP bits per second.
        approved: Option<Rate>,
    },
    /// Everything written and the FIN, if asked for, was acknowledged.
    AllAcknowledged,
    /// Both directions are closed.
    Closed,
    /// The peer reset the connection, or it was given up.
    Aborted,
}

/// The sender's state as figures and metrics want it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Who governs the window.
    pub phase: Phase,
    /// The window in force: the plan's, or recovery's while a loss is repaired.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The estimate of bytes in the network: sent, less delivered, less lost, plus retransmitted.
    pub in_flight: Bytes,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The newest round-trip sample.
    pub latest_rtt: Option<Span>,
    /// The least round-trip sample.
    pub min_rtt: Option<Span>,
    /// Whether a loss episode is being repaired.
    pub recovering: bool,
    /// First stream byte not cumulatively acknowledged.
    pub una: u64,
    /// Next new stream byte to send.
    pub nxt: u64,
}

/// Counters of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that carried nothing but data sent before.
    pub retransmissions: u64,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Reductions found spurious and undone.
    pub undone: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Pure ACKs sent.
    pub acks_sent: u64,
}

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

/// The handshake in progress.
#[derive(Clone, Copy, Debug)]
struct Handshake {
    /// The SYN or SYN-ACK is to be sent.
    due: bool,
    /// When it was first sent, for the round-trip sample.
    sent_at: Option<Time>,
    /// How often it was sent again.
    retries: u32,
    /// When to send it again.
    timer: Option<Time>,
    /// An ACK is to follow the SYN-ACK, for the window that a SYN cannot say.
    window_due: bool,
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
/// The least MSS of a peer that is obeyed (Linux `TCP_MIN_SND_MSS`): each segment costs memory.
const LEAST_MSS: u16 = 48;
/// RFC 7323 section 2.3: the largest window scale.
const MAX_SCALE: u8 = 14;
/// The handshake is given up after this many retransmissions (Linux `tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;
/// RFC 6298 section 2.1: the first SYN is sent again after a second.
const SYN_TIMEOUT: Span = Span::from_secs(1);
/// RFC 4782 section 4.7.2: one with a Quick-Start request after three, for a router may take long over it.
const QUICK_START_SYN_TIMEOUT: Span = Span::from_secs(3);

/// One side of a connection. `S`, `R` and `A` are its start-up scheme, restart policy and avoidance law.
#[derive(Clone, Debug)]
pub struct Endpoint<S, R, A> {
    config: Config,
    state: State,
    handshake: Handshake,
    options: Options,
    peer: Peer,
    sender: Sender<S, R, A>,
    receiver: Receiver,
    /// `TS.Recent` (RFC 7323 section 4.3).
    recent_timestamp: u32,
    /// `Last.ACK.sent` (RFC 7323 section 4.3), as an offset.
    last_ack_sent: u64,
    quick_start: Negotiation,
    acks_sent: u64,
    probe_window: bool,
    all_acknowledged: bool,
    closed: bool,
    own: std::collections::VecDeque<Happening>,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// An endpoint that has done nothing yet: a server listens, a client waits for [`Endpoint::open`].
    pub fn new(role: Role, config: &Config, controller: Controller<S, R, A>) -> Self {
        let config = Config { mss: config.mss.clamp(1, MAX_MSS), ..*config };
        Self {
            config,
            state: match role {
                Role::Client => State::Closed,
                Role::Server => State::Listening,
            },
            handshake: Handshake { due: false, sent_at: None, retries: 0, timer: None, window_due: false },
            options: Options::default(),
            peer: Peer { initial: 0, mss: DEFAULT_MSS, scale: 0 },
            sender: Sender::new(&config, controller),
            receiver: Receiver::new(&config),
            recent_timestamp: 0,
            last_ack_sent: 0,
            quick_start: Negotiation::new(config.secret),
            acks_sent: 0,
            probe_window: false,
            all_acknowledged: false,
            closed: false,
            own: std::collections::VecDeque::new(),
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

    /// The application will write no more: a FIN follows the data.
    pub fn shut(&mut self) {
        self.sender.shut();
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed | State::Aborted => {}
            State::Listening => self.on_first_syn(now, segment),
            State::SynSent => self.on_answer_to_syn(now, segment),
            State::SynReceived | State::Open => self.on_established_segment(now, segment),
        }
        self.note_closing();
    }

    /// The instant of [`Endpoint::next_timer`] has come. Early calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        match self.state {
            State::Closed | State::Listening | State::Aborted => {}
            State::SynSent | State::SynReceived => {
                if self.handshake.timer.is_some_and(|at| at <= now) {
                    self.retry_handshake();
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
        if self.state == State::Aborted {
            return None;
        }
        if core::mem::take(&mut self.handshake.due) {
            return Some(self.send_handshake(now));
        }
        if core::mem::take(&mut self.handshake.window_due) {
            return Some(self.pure_ack(now));
        }
        if self.state != State::Open {
            return None;
        }
        if self.quick_start.owes_report() {
            return Some(self.report(now));
        }
        if let Some(outgoing) = self.sender.poll(now) {
            return Some(self.data_segment(now, &outgoing));
        }
        if core::mem::take(&mut self.probe_window) {
            // An old sequence number is unacceptable, so the peer answers with its window (RFC 9293
            // section 3.8.6.1 wants a segment that elicits an ACK; Linux sends this one).
            let mut segment = self.ack_segment(now);
            segment.seq = segment.seq.wrapping_sub(1);
            return Some(Transmit { segment, sent: None });
        }
        if self.receiver.ack_due() {
            return Some(self.pure_ack(now));
        }
        None
    }

    /// When to call [`Endpoint::on_timer`] next, whether or not anything arrives.
    pub fn next_timer(&self) -> Option<Time> {
        match self.state {
            State::Closed | State::Listening | State::Aborted => None,
            State::SynSent | State::SynReceived => self.handshake.timer,
            State::Open => match (self.sender.next_timer(), self.receiver.timer()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// The oldest happening not yet taken.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        self.sender.take_happening().or_else(|| self.own.pop_front())
    }

    /// The sender's state.
    pub fn snapshot(&self) -> Snapshot {
        let (srtt, latest_rtt, min_rtt) = self.sender.rtt();
        Snapshot {
            phase: self.sender.controller().phase(),
            cwnd: self.sender.window(),
            ssthresh: self.sender.ssthresh(),
            in_flight: self.sender.pipe(),
            srtt,
            latest_rtt,
            min_rtt,
            recovering: self.sender.recovering(),
            una: self.sender.una(),
            nxt: self.sender.nxt(),
        }
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            packets_sent: self.sender.packets_sent,
            retransmissions: self.sender.retransmissions,
            timeouts: self.sender.timeouts,
            probes: self.sender.probes,
            undone: self.sender.undone,
            received: self.receiver.received(),
            acks_sent: self.acks_sent,
        }
    }

    fn abort(&mut self) {
        if self.state != State::Aborted {
            self.state = State::Aborted;
            self.own.push_back(Happening::Aborted);
        }
    }

    fn note_closing(&mut self) {
        if self.sender.finished() && !core::mem::replace(&mut self.all_acknowledged, true) {
            self.own.push_back(Happening::AllAcknowledged);
        } else if !self.sender.finished() {
            self.all_acknowledged = false;
        }
        if self.sender.finished()
            && self.receiver.fin_arrived()
            && !core::mem::replace(&mut self.closed, true)
        {
            self.own.push_back(Happening::Closed);
        }
    }
}

/// The handshake.
impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    fn on_first_syn(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return;
        }
        self.take_syn(segment);
        self.hear_request(segment);
        self.state = State::SynReceived;
        self.handshake.due = true;
        self.sender.begin(now);
    }

    fn on_answer_to_syn(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let acknowledges = flags.has(Flags::ACK);
        if acknowledges && segment.ack != self.config.initial_sequence.wrapping_add(1) {
            return;
        }
        if flags.has(Flags::RST) {
            if acknowledges && self.quick_start.waits() && self.handshake.retries == 0 {
                // RFC 4782 section 4.7.2: it may be the option that was refused.
                self.retry_handshake();
            } else if acknowledges {
                self.abort();
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        self.hear_request(segment);
        if acknowledges {
            self.establish(now, segment);
            self.hear_answer(now, segment);
            self.receiver.challenge();
        } else {
            // Both sides opened at once (RFC 9293 section 3.5).
            self.state = State::SynReceived;
            self.handshake.due = true;
        }
    }

    /// Takes over what a SYN says.
    fn take_syn(&mut self, syn: &Segment) {
        self.peer = Peer {
            initial: syn.seq,
            mss: syn.mss.map_or(DEFAULT_MSS, NonZeroU16::get),
            scale: syn.window_scale.unwrap_or(0).min(MAX_SCALE),
        };
        // RFC 3168 section 6.1.1: ECE and CWR on a SYN ask for ECN; ECE alone on a SYN-ACK agrees.
        let wants_ecn = syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != syn.flags.has(Flags::ACK);
        self.options = Options {
            sack: self.config.sack && syn.sack_permitted,
            timestamps: self.config.timestamps && syn.timestamps.is_some(),
            scaling: self.config.window_scaling && syn.window_scale.is_some(),
            ecn: self.config.ecn && wants_ecn,
        };
        self.recent_timestamp = syn.timestamps.map_or(0, |timestamps| timestamps.value);
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Open;
        self.handshake.timer = None;
        let syn_lost = self.handshake.retries > 0;
        let rtt = self.handshake.sent_at.filter(|_| !syn_lost).map(|sent_at| now.since(sent_at));
        let mss = self.config.mss.min(self.peer.mss.max(LEAST_MSS));
        self.receiver.establish(mss, self.options.sack);
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        let window = if segment.flags.has(Flags::SYN) {
            u64::from(segment.window)
        } else {
            self.offered_window(segment)
        };
        let agreed = Agreed {
            mss,
            sack: self.options.sack,
            timestamps: self.options.timestamps,
            ecn: self.options.ecn,
            window,
            rtt,
            syn_lost,
        };
        self.own.push_back(Happening::Established);
        self.sender.establish(now, &agreed);
    }

    fn retry_handshake(&mut self) {
        self.handshake.timer = None;
        self.handshake.retries += 1;
        if self.handshake.retries > SYN_RETRIES {
            self.abort();
        } else {
            self.handshake.due = true;
        }
    }

    fn send_handshake(&mut self, now: Time) -> Transmit {
        self.handshake.sent_at.get_or_insert(now);
        let answer = self.state == State::SynReceived;
        // RFC 4782: a SYN or SYN-ACK sent again carries neither a request (section 4.7.2) nor a response (4.3).
        let first = self.handshake.retries == 0;
        let response = self.quick_start.take_response().filter(|_| answer && first);
        let quick_start = if first { self.request(now, 0) } else { None };
        let timeout = if quick_start.is_some() { QUICK_START_SYN_TIMEOUT } else { SYN_TIMEOUT };
        self.handshake.timer = Some(now + timeout * (1 << self.handshake.retries.min(6)));
        let offers = |own: bool, agreed: bool| if answer { agreed } else { own };
        let sack = offers(self.config.sack, self.options.sack);
        let scaling = offers(self.config.window_scaling, self.options.scaling);
        let timestamps = offers(self.config.timestamps, self.options.timestamps);
        let mut flags = Flags::SYN;
        if answer {
            flags = flags.with(Flags::ACK);
        }
        // RFC 3168 section 6.1.1.1: a SYN sent again asks for nothing.
        if offers(self.config.ecn && self.handshake.retries == 0, self.options.ecn) {
            flags = flags.with(Flags::ECE);
            if !answer {
                flags = flags.with(Flags::CWR);
            }
        }
        let window = u16::try_from(self.config.receive_buffer).unwrap_or(u16::MAX);
        // Who may start at a high rate must know the window beyond what a SYN can say (the Quick-Start analysis,
        // section II-A).
        self.handshake.window_due =
            response.is_some() && scaling && u64::from(window) < self.config.receive_buffer;
        let segment = Segment {
            seq: self.config.initial_sequence,
            ack: if answer { self.peer.initial.wrapping_add(1) } else { 0 },
            window,
            flags,
            mss: NonZeroU16::new(self.config.mss),
            window_scale: scaling.then(|| self.own_scale()),
            sack_permitted: sack,
            timestamps: timestamps
                .then(|| Timestamps { value: clock::stamp(now), echo: self.recent_timestamp }),
            quick_start: QuickStart::new(quick_start, response),
            ..Segment::default()
        };
        Transmit { segment, sent: None }
    }

    /// The least shift with which the whole buffer can be offered.
    fn own_scale(&self) -> u8 {
        (0..MAX_SCALE).find(|shift| self.config.receive_buffer >> shift <= 0xffff).unwrap_or(MAX_SCALE)
    }
}

/// Segments of an open connection.
impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    fn on_established_segment(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let next = self.receiver.next();
        let ahead = seq::distance(self.peer.initial, segment.seq, next);
        if flags.has(Flags::RST) {
            // RFC 5961 section 3: only a reset at exactly the next sequence number counts.
            if ahead == 0 {
                self.abort();
            } else {
                self.receiver.challenge();
            }
            return;
        }
        if flags.has(Flags::SYN) {
            // A SYN again: the peer did not get our answer.
            let again = self.state == State::SynReceived && segment.seq == self.peer.initial;
            if again
                && flags.has(Flags::ACK)
                && seq::distance(self.config.initial_sequence, segment.ack, 0) == 0
            {
                // The other half of a simultaneous open.
                self.establish(now, segment);
                self.receiver.challenge();
            } else if again && !flags.has(Flags::ACK) {
                // Our answer was lost: what follows measures no round trip, and the SYN-ACK counts as lost.
                self.handshake.due = true;
                self.handshake.retries += 1;
            } else {
                self.receiver.challenge();
            }
            return;
        }
        if !flags.has(Flags::ACK) {
            return;
        }
        if self.is_too_old(segment) {
            self.receiver.challenge();
            return;
        }
        let initial = self.config.initial_sequence;
        if self.state == State::SynReceived {
            // Nothing but the SYN was sent, so there is one acceptable acknowledgement.
            let inside = (0..=i64::try_from(self.receiver.room()).unwrap_or(i64::MAX)).contains(&ahead);
            if seq::distance(initial, segment.ack, 0) != 0 || !inside {
                return;
            }
            self.establish(now, segment);
        }
        // RFC 9293 section 3.10.7.4: a segment wholly outside the window is answered and its ACK not heard. Data
        // that arrived before goes on, to be reported as a duplicate.
        let length = i64::from(segment.sequence_length());
        let beyond = ahead > i64::try_from(self.receiver.room()).unwrap_or(i64::MAX);
        let before = ahead + length < 0 || length == 0 && ahead < 0;
        if beyond || before && length == 0 {
            self.receiver.challenge();
            return;
        }
        self.hear_request(segment);
        let start = seq::unwrap(self.peer.initial, segment.seq, next);
        // RFC 7323 section 4.3: the timestamp of the segment that the next ACK answers.
        if let Some(timestamps) = segment.timestamps
            && seq::distance(self.peer.initial, segment.seq, self.last_ack_sent) <= 0
        {
            self.recent_timestamp = timestamps.value;
        }
        if !before {
            self.take_ack(now, segment);
        }
        if self.quick_start.waits() {
            self.hear_answer(now, segment);
        }
        if length == 0 {
            return;
        }
        match start {
            Some(start) => {
                self.receiver.on_data(
                    now,
                    &Incoming {
                        start,
                        len: u64::from(segment.len),
                        fin: flags.has(Flags::FIN),
                        ce: self.options.ecn && segment.ecn == Ecn::Ce,
                        cwr: flags.has(Flags::CWR),
                    },
                );
            }
            None => self.receiver.challenge(),
        }
    }

    /// RFC 7323 section 5: protection against wrapped sequence numbers.
    fn is_too_old(&self, segment: &Segment) -> bool {
        self.options.timestamps
            && segment
                .timestamps
                .is_some_and(|timestamps| timestamps.value.wrapping_sub(self.recent_timestamp) > u32::MAX / 2)
    }

    fn offered_window(&self, segment: &Segment) -> u64 {
        let shift = if self.options.scaling { self.peer.scale } else { 0 };
        u64::from(segment.window) << shift
    }

    fn take_ack(&mut self, now: Time, segment: &Segment) {
        let initial = self.config.initial_sequence;
        let una = self.sender.una();
        let Some(ack) = seq::unwrap(initial, segment.ack, una) else { return };
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        let mut dsack = None;
        if self.options.sack {
            for (i, block) in segment.sack_blocks().iter().enumerate() {
                let start = seq::unwrap(initial, block.start, una);
                let end = seq::unwrap(initial, block.end, una);
                let (Some(start), Some(end)) = (start, end) else { continue };
                if start >= end || end > self.sender.nxt() {
                    continue;
                }
                // RFC 2883 section 4: below the cumulative ACK, or within the block that follows.
                let second = segment.sack_blocks().get(1).and_then(|second| {
                    Some((seq::unwrap(initial, second.start, una)?, seq::unwrap(initial, second.end, una)?))
                });
                let within_second = second.is_some_and(|(low, high)| low <= start && end <= high);
                if i == 0 && (end <= ack || within_second) {
                    dsack = Some((start, end));
                } else {
                    blocks[count] = (start, end);
                    count += 1;
                }
            }
        }
        blocks[..count].sort_unstable();
        let input = AckInput {
            ack,
            window: self.offered_window(segment),
            blocks: &blocks[..count],
            dsack,
            carries_data: segment.sequence_length() > 0,
            ece: segment.flags.has(Flags::ECE),
            echo: segment.timestamps.filter(|_| self.options.timestamps).map(|timestamps| timestamps.echo),
        };
        if !self.sender.on_ack(now, &input) {
            self.receiver.challenge();
        }
    }

    fn header(&mut self, now: Time, start: u64) -> Segment {
        let shift = if self.options.scaling { self.own_scale() } else { 0 };
        let window = self.receiver.window(shift);
        self.last_ack_sent = self.receiver.next();
        let mut flags = Flags::ACK;
        if self.options.ecn && self.receiver.ece() {
            flags = flags.with(Flags::ECE);
        }
        Segment {
            seq: seq::wrap(self.config.initial_sequence, start),
            ack: seq::wrap(self.peer.initial, self.receiver.next()),
            window,
            flags,
            timestamps: self
                .options
                .timestamps
                .then(|| Timestamps { value: clock::stamp(now), echo: self.recent_timestamp }),
            ..Segment::default()
        }
    }

    fn data_segment(&mut self, now: Time, outgoing: &Outgoing) -> Transmit {
        let mut segment = self.header(now, outgoing.start);
        segment.len = outgoing.len;
        if outgoing.fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        if outgoing.cwr {
            segment.flags = segment.flags.with(Flags::CWR);
        }
        // RFC 3168 section 6.1.5: retransmissions are not ECN-capable.
        if self.sender.ecn() && !outgoing.sent.retransmission {
            segment.ecn = Ecn::Ect0;
        }
        if self.sender.asks() && outgoing.len > 0 && !outgoing.sent.retransmission {
            segment.quick_start.set_ip(self.request(now, outgoing.start + u64::from(outgoing.len)));
        }
        if self.quick_start.owes_response() {
            segment.quick_start.set_response(self.quick_start.take_response());
        }
        if !self.receiver.has_blocks() {
            self.receiver.acknowledged();
        }
        Transmit { segment, sent: Some(outgoing.sent) }
    }

    fn pure_ack(&mut self, now: Time) -> Transmit {
        self.acks_sent += 1;
        Transmit { segment: self.ack_segment(now), sent: None }
    }

    fn ack_segment(&mut self, now: Time) -> Segment {
        let mut segment = self.header(now, self.sender.nxt());
        let responds = self.quick_start.owes_response();
        if responds {
            segment.quick_start.set_response(self.quick_start.take_response());
        }
        // A header has room for four blocks, or for three and one of the other two options.
        let others = usize::from(self.options.timestamps) + usize::from(responds);
        let limit = MAX_SACK_BLOCKS - others;
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let count = self.receiver.take_blocks(limit, &mut blocks);
        for (slot, (start, end)) in segment.sack.iter_mut().zip(&blocks[..count]) {
            *slot = SackBlock {
                start: seq::wrap(self.peer.initial, *start),
                end: seq::wrap(self.peer.initial, *end),
            };
        }
        segment.sack_count = u8::try_from(count).unwrap_or(0);
        self.receiver.acknowledged();
        segment
    }
}

/// Quick-Start (RFC 4782).
impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// The request that the scheme wants on the segment that leaves now, whose answer acknowledges up to `end`.
    #[cold]
    fn request(&mut self, now: Time, end: u64) -> Option<IpOption> {
        let Some(Ask::QuickStart { rate }) = self.sender.ask(now, end == 0) else { return None };
        let may = self.quick_start.may_ask() && !self.sender.lost_quick_start();
        let option = may.then(|| self.quick_start.request(rate, end));
        self.sender.asked(now, may);
        option
    }

    /// A request calls for a response, on an ACK that is not delayed (section 4.2).
    fn hear_request(&mut self, segment: &Segment) {
        if let Some(option) = segment.quick_start.ip()
            && self.quick_start.heard(option)
        {
            self.receiver.challenge();
        }
    }

    /// Whether `segment` answers our request; if so, the scheme is told what was approved.
    #[cold]
    fn hear_answer(&mut self, now: Time, segment: &Segment) {
        if let Some(approved) = self.quick_start.answer(self.sender.una(), segment.quick_start.response()) {
            let approved = approved.map(RateCode::rate);
            self.own.push_back(Happening::QuickStart { approved });
            self.sender.advise(now, approved);
        }
    }

    /// The report of the approved rate, on an ACK of its own ahead of the data: a full segment would not be let
    /// through with 8 bytes more.
    #[cold]
    fn report(&mut self, now: Time) -> Transmit {
        let approved = match self.sender.ask(now, false) {
            Some(Ask::ReportApproved { rate }) => {
                self.sender.asked(now, true);
                rate
            }
            Some(Ask::QuickStart { .. }) | None => Rate::ZERO,
        };
        let mut transmit = self.pure_ack(now);
        transmit.segment.quick_start.set_ip(self.quick_start.report(approved));
        transmit
    }
}
