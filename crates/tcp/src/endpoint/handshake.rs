//! The handshake: SYN and SYN-ACK, what they offer and what both sides then agree on.

use core::num::NonZeroU16;

use firstflight::{Avoidance, Span, Startup, Time};

use crate::clock;
use crate::config::Config;
use crate::happening::Happening;
use crate::quick_start::Options as QuickStart;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Agreed;

use super::{DEFAULT_MSS, Endpoint, Options, Peer, State};

/// The least MSS of a peer that is obeyed (Linux `TCP_MIN_SND_MSS`): each segment costs memory.
const LEAST_MSS: u16 = 48;
/// RFC 7323 section 2.3: the largest window scale.
const MAX_SCALE: u8 = 14;
/// IP and TCP headers without options.
const HEADERS: u16 = 40;
/// The timestamps option, padded.
const TIMESTAMPS: u16 = 12;
/// RFC 4782 section 4.7.2: a SYN with a Quick-Start request is sent again after three seconds at least, for a router may take
/// long over it.
const QUICK_START_SYN_TIMEOUT: Span = Span::from_secs(3);

/// What of its settings an endpoint needs after it was made: what it offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) receive_buffer: u64,
    /// When a SYN or SYN-ACK is sent again for the first time (RFC 6298 section 2.1).
    initial_rto: Span,
    syn_retries: u32,
    linear_syns: u32,
    mss: u16,
    window_scale: Option<u8>,
    sack: bool,
    sack_blocks: bool,
    timestamps: bool,
    window_scaling: bool,
    ecn: bool,
    options_in_mss: bool,
}

impl Offer {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            receive_buffer: config.receive_buffer,
            initial_rto: config.initial_rto,
            syn_retries: config.syn_retries,
            linear_syns: config.linear_syns,
            mss: config.mss,
            window_scale: config.window_scale,
            sack: config.sack,
            sack_blocks: config.sack_blocks,
            timestamps: config.timestamps,
            window_scaling: config.window_scaling,
            ecn: config.ecn,
            options_in_mss: config.options_in_mss,
        }
    }
}

/// The handshake in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// The SYN or SYN-ACK is to be sent.
    pub(super) due: bool,
    /// When it was first sent, for the round-trip sample.
    sent_at: Option<Time>,
    /// How often it was sent again because the timer fired.
    retries: u32,
    /// How often the SYN-ACK was sent again because the peer's SYN came again.
    answers: u32,
    /// When to send it again.
    pub(super) timer: Option<Time>,
    /// An ACK is to follow the SYN-ACK, for the window that a SYN cannot say.
    pub(super) window_due: bool,
}

impl Handshake {
    /// The peer's SYN came again, so our answer was lost.
    pub(super) fn answer_again(&mut self) {
        self.due = true;
        self.answers = self.answers.saturating_add(1);
    }

    /// How often the SYN or SYN-ACK was sent again, for whatever reason: if it was, an ACK of it measures no round trip, and
    /// one was lost.
    fn repetitions(&self) -> u32 {
        self.retries.saturating_add(self.answers)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    pub(super) fn on_first_syn(&mut self, now: Time, segment: &Segment) {
        // RFC 9293 section 3.10.7.2: whatever acknowledges is too early.
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.refused_ack = Some(segment.ack);
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        self.hear_request(segment);
        self.state = State::SynReceived;
        self.handshake.due = true;
        self.sender.begin(now);
    }

    pub(super) fn on_answer_to_syn(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let acknowledges = flags.has(Flags::ACK);
        if acknowledges && segment.ack != self.initial_sequence.wrapping_add(1) {
            if !flags.has(Flags::RST) {
                self.refused_ack = Some(segment.ack);
            }
            return;
        }
        if flags.has(Flags::RST) {
            if acknowledges && self.quick_start.waits() && self.handshake.retries == 0 {
                // RFC 4782 section 4.7.2: it may be the option that was refused.
                self.retry_handshake(now);
            } else if acknowledges {
                self.abort();
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        self.hear_request(segment);
        if acknowledges {
            self.establish(now, segment);
            self.hear_answer(now, segment);
            self.receiver.acknowledge_now();
        } else {
            // Both sides opened at once (RFC 9293 section 3.5).
            self.state = State::SynReceived;
            self.handshake.due = true;
        }
    }

    /// Takes over what a SYN says.
    fn take_syn(&mut self, now: Time, syn: &Segment) {
        let scaling = self.offer.window_scaling && syn.window_scale.is_some();
        self.peer = Peer {
            initial: syn.seq,
            mss: syn.mss.map_or(DEFAULT_MSS, NonZeroU16::get),
            scale: if scaling { syn.window_scale.unwrap_or(0).min(MAX_SCALE) } else { 0 },
        };
        // RFC 3168 section 6.1.1: ECE and CWR on a SYN ask for ECN; ECE alone on a SYN-ACK agrees.
        let wants_ecn = syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != syn.flags.has(Flags::ACK);
        self.options = Options {
            sack: self.offer.sack && syn.sack_permitted,
            timestamps: self.offer.timestamps && syn.timestamps.is_some(),
            scaling,
            ecn: self.offer.ecn && wants_ecn,
        };
        self.recent_timestamp = syn.timestamps.map_or(0, |timestamps| timestamps.value);
        self.stamped_at = now;
    }

    pub(super) fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Open;
        self.handshake.timer = None;
        self.refused_ack = None;
        let syns_lost = self.handshake.repetitions();
        let rtt = self.handshake.sent_at.filter(|_| syns_lost == 0).map(|sent_at| now.since(sent_at));
        let mss = self.offer.mss.min(self.peer.mss.max(LEAST_MSS));
        let stamps = if self.options.timestamps { TIMESTAMPS } else { 0 };
        let payload = if self.offer.options_in_mss { mss.saturating_sub(stamps).max(1) } else { mss };
        let scale = if self.options.scaling { self.own_scale() } else { 0 };
        self.receiver.establish(mss, self.options.sack && self.offer.sack_blocks, scale);
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        let window = if segment.flags.has(Flags::SYN) {
            u64::from(segment.window)
        } else {
            self.offered_window(segment)
        };
        self.largest_window = window;
        let agreed = Agreed {
            mss: payload,
            sack: self.options.sack,
            headers: HEADERS + stamps,
            ecn: self.options.ecn,
            window,
            rtt,
            syns_lost,
        };
        self.sender.journal.note_of_endpoint(Happening::Established);
        self.sender.establish(now, &agreed);
    }

    pub(super) fn retry_handshake(&mut self, now: Time) {
        self.handshake.timer = None;
        if self.handshake_is_vain(now) {
            self.abort();
        } else {
            self.handshake.retries += 1;
            self.handshake.due = true;
        }
    }

    /// Whether the SYN or SYN-ACK was sent often enough; with linear retries it also is after the time that as many
    /// doubled ones would have taken (Linux `tcp_write_timeout`).
    fn handshake_is_vain(&self, now: Time) -> bool {
        let Offer { initial_rto, syn_retries, linear_syns, .. } = self.offer;
        let linear = if self.state == State::SynSent { linear_syns } else { 0 };
        let took = self.handshake.sent_at.map_or(Span::ZERO, |sent_at| now.since(sent_at));
        let doubled = initial_rto * ((2_u64 << syn_retries.min(32)) - 1);
        self.handshake.retries >= syn_retries.saturating_add(linear) || linear > 0 && took >= doubled
    }

    pub(super) fn send_handshake(&mut self, now: Time) -> Segment {
        self.handshake.sent_at.get_or_insert(now);
        let answer = self.state == State::SynReceived;
        // RFC 4782: a SYN or SYN-ACK sent again carries neither a request (section 4.7.2) nor a response (4.3).
        let first = self.handshake.repetitions() == 0;
        let response = self.quick_start.take_response().filter(|_| answer && first);
        let quick_start = if first { self.request(now, 0) } else { None };
        let least = if quick_start.is_some() { QUICK_START_SYN_TIMEOUT } else { Span::ZERO };
        let timeout = self.offer.initial_rto.max(least);
        let linear = if answer { 0 } else { self.offer.linear_syns };
        self.handshake.timer =
            Some(now + timeout * (1 << self.handshake.retries.saturating_sub(linear).min(6)));
        let offers = |own: bool, agreed: bool| if answer { agreed } else { own };
        let sack = offers(self.offer.sack, self.options.sack);
        let scaling = offers(self.offer.window_scaling, self.options.scaling);
        let timestamps = offers(self.offer.timestamps, self.options.timestamps);
        let mut flags = Flags::SYN;
        if answer {
            flags = flags.with(Flags::ACK);
        }
        // RFC 3168 section 6.1.1.1: a SYN sent again asks for nothing.
        if offers(self.offer.ecn && self.handshake.retries == 0, self.options.ecn) {
            flags = flags.with(Flags::ECE);
            if !answer {
                flags = flags.with(Flags::CWR);
            }
        }
        let window = u16::try_from(self.offer.receive_buffer).unwrap_or(u16::MAX);
        // Who may start at a high rate must know the window beyond what a SYN can say (the Quick-Start analysis,
        // section II-A).
        self.handshake.window_due =
            response.is_some() && scaling && u64::from(window) < self.offer.receive_buffer;
        Segment {
            seq: self.initial_sequence,
            ack: if answer { self.peer.initial.wrapping_add(1) } else { 0 },
            window,
            flags,
            mss: NonZeroU16::new(self.offer.mss),
            window_scale: scaling.then(|| self.own_scale()),
            sack_permitted: sack,
            timestamps: timestamps
                .then(|| Timestamps { value: clock::stamp(now), echo: self.recent_timestamp }),
            quick_start: QuickStart::new(quick_start, response),
            ..Segment::default()
        }
    }

    /// The least shift with which the whole buffer can be offered.
    pub(super) fn own_scale(&self) -> u8 {
        let bits = u64::BITS - self.offer.receive_buffer.leading_zeros();
        let least = u8::try_from(bits.saturating_sub(16)).unwrap_or(MAX_SCALE);
        self.offer.window_scale.unwrap_or(least).min(MAX_SCALE)
    }
}
