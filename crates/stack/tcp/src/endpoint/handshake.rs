//! The handshake: SYN and SYN-ACK, and the options that both sides agree on.

use core::num::NonZeroU16;

use firstflight::{Avoidance, Span, Startup, Time};

use crate::clock;
use crate::endpoint_event::EndpointEvent;
use crate::quick_start::Options as QuickStart;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Agreed;

use super::syn::Offer;
use super::{DEFAULT_MSS, Endpoint, Options, Peer, State};

/// Minimum MSS accepted from a peer (Linux `TCP_MIN_SND_MSS`). It is limited because each segment costs memory.
const MIN_MSS: u16 = 48;
/// The largest window scale shift (RFC 7323 section 2.3).
const MAX_SCALE: u8 = 14;
/// Length of the IP and TCP headers without options, in bytes.
const HEADERS: u16 = 40;
/// Length of the timestamps option with padding, in bytes.
const TIMESTAMPS: u16 = 12;
/// Minimum time before the retransmission of a SYN with a Quick-Start request (RFC 4782 section 4.7.2). A router may need long to process
/// it.
const QUICK_START_SYN_TIMEOUT: Span = Span::from_secs(3);

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    pub(super) fn on_first_syn(&mut self, now: Time, segment: &Segment) {
        // RFC 9293 section 3.10.7.2: before a SYN, no ACK is acceptable.
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
        self.on_request(segment);
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
                // RFC 4782 section 4.7.2: the peer may have refused the SYN because of its Quick-Start option.
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
        self.on_request(segment);
        if acknowledges {
            self.establish(now, segment);
            self.on_answer(now, segment);
            self.receiver.acknowledge_now();
        } else {
            // Both sides sent a SYN at the same time (RFC 9293 section 3.5).
            self.state = State::SynReceived;
            self.handshake.due = true;
        }
    }

    /// Stores the parameters of the peer's SYN.
    fn take_syn(&mut self, now: Time, syn: &Segment) {
        let scaling = self.offer.window_scaling && syn.window_scale.is_some();
        self.peer = Peer {
            initial: syn.seq,
            mss: syn.mss.map_or(DEFAULT_MSS, NonZeroU16::get),
            scale: if scaling { syn.window_scale.unwrap_or(0).min(MAX_SCALE) } else { 0 },
        };
        // RFC 3168 section 6.1.1: ECE and CWR on a SYN request ECN. ECE without CWR on a SYN-ACK accepts it.
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
        let mss = self.offer.mss.min(self.peer.mss.max(MIN_MSS));
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
        self.sender.journal.note_of_endpoint(EndpointEvent::Established);
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

    /// Checks whether the SYN or SYN-ACK was sent so often that the endpoint gives up. With linear retries it also gives up after the time
    /// that `syn_retries` doubled intervals would have taken (Linux `tcp_write_timeout`).
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
        // RFC 4782: a retransmitted SYN carries no request (section 4.7.2), and a retransmitted SYN-ACK no response (section 4.3).
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
        // RFC 3168 section 6.1.1.1: a retransmitted SYN does not request ECN.
        if offers(self.offer.ecn && self.handshake.retries == 0, self.options.ecn) {
            flags = flags.with(Flags::ECE);
            if !answer {
                flags = flags.with(Flags::CWR);
            }
        }
        let window = u16::try_from(self.offer.receive_buffer).unwrap_or(u16::MAX);
        // A peer that may start at a high rate needs to know a window that is larger than the field of a SYN (the Quick-Start analysis,
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

    /// Returns the window scale shift to offer: the configured one or else the smallest with which the whole receive buffer can be offered.
    pub(super) fn own_scale(&self) -> u8 {
        let bits = u64::BITS - self.offer.receive_buffer.leading_zeros();
        let least = u8::try_from(bits.saturating_sub(16)).unwrap_or(MAX_SCALE);
        self.offer.window_scale.unwrap_or(least).min(MAX_SCALE)
    }
}
