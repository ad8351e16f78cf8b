//! Measures arrivals by the ACKs of a listener of this crate.
//!
//! The prober opens a connection, as a client does, and leaves out the first byte of its stream. Each packet of a train then arrives out of
//! order, because a byte before it is missing. The listener therefore acknowledges each packet at once (RFC 5681 section 4.2), and the
//! first SACK block of the ACK identifies the packet (RFC 2018 section 4, RFC 2883). The listener's application reads no data, and the
//! connection is reset when the probing is over.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight::probe::Train;
use firstflight_tcp::{Flags, Segment};

use crate::cookie::{self, Cookie};
use crate::frame::{HEADER, decode, encode};

/// The first port that connections use.
const FIRST_PORT: u64 = 1_024;
/// The maximum number of packets that can be distinguished at the same time.
const MAX_SLOTS: u32 = 4_096;

/// The connection of a probing.
#[derive(Debug)]
pub(super) struct Acks {
    ports: (u16, u16),
    /// The prober's initial sequence number. The listener's follows.
    own: u32,
    theirs: u32,
    cookie: Option<Cookie>,
    scale: u8,
    /// The listener's receive window in bytes.
    window: u32,
    /// Payload bytes of a packet of a train.
    payload: u16,
}

/// The meaning of a datagram of the listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// A SYN-ACK of this many bytes, TCP header included.
    SynAck(u16),
    /// A SYN-ACK of a listener without SACK.
    NoSack,
    /// An ACK that shows that the connection is open.
    Open,
    /// An ACK of a packet that begins at this offset from the stream's second byte.
    Packet(u32),
    /// The connection is refused or over.
    Reset,
    /// A segment of this connection that shows none of these.
    Nothing,
}

impl Acks {
    /// Makes the state of a connection to a listener. The two numbers are random, so that no one else can guess them.
    pub(super) fn new(peer: SocketAddr, [one, other]: [u64; 2]) -> Self {
        let span = u64::from(u16::MAX) - FIRST_PORT;
        let ours = u16::try_from(FIRST_PORT + one % span).unwrap_or(u16::MAX);
        let own = u32::try_from(other >> 32).unwrap_or_default();
        Self { ports: (ours, peer.port()), own, theirs: 0, cookie: None, scale: 0, window: 0, payload: 0 }
    }

    /// Writes a SYN of `length` bytes, TCP header included.
    pub(super) fn syn(&self, length: u16, out: &mut Vec<u8>) {
        let mss = NonZeroU16::new(length.saturating_sub(HEADER));
        let syn = Segment {
            seq: self.own,
            flags: Flags::SYN,
            window: u16::MAX,
            mss,
            window_scale: Some(0),
            sack_permitted: true,
            ..Segment::default()
        };
        let options = u16::try_from(syn.options_length()).unwrap_or(0);
        self.write(&Segment { len: length.saturating_sub(HEADER + options), ..syn }, &[], out);
    }

    /// Writes the ACK of the SYN-ACK, which opens the connection.
    pub(super) fn opening(&self, out: &mut Vec<u8>) {
        let cookie = self.cookie.unwrap_or_default();
        self.write(&self.acknowledging(self.own.wrapping_add(1), 0), &cookie, out);
    }

    /// Writes a packet of a train.
    pub(super) fn packet(&self, train: &Train, packet: u16, out: &mut Vec<u8>) {
        let slot = self.first_slot(train).wrapping_add(u32::from(packet)) % self.slots();
        let seq = self.own.wrapping_add(2).wrapping_add(slot * self.step());
        self.write(&self.acknowledging(seq, self.payload), &[], out);
    }

    /// Writes the reset that ends the connection.
    pub(super) fn reset(&self, out: &mut Vec<u8>) {
        let reset = self.acknowledging(self.own.wrapping_add(1), 0);
        self.write(&Segment { flags: Flags::RST.with(Flags::ACK), ..reset }, &[], out);
    }

    /// Sets the length of the packets that follow, TCP header included.
    pub(super) fn set_length(&mut self, length: u16) {
        self.payload = length.saturating_sub(HEADER).max(1);
    }

    /// Returns the number of packets that can be distinguished within the listener's window.
    pub(super) fn slots(&self) -> u32 {
        (self.window.saturating_sub(2) / self.step()).clamp(1, MAX_SLOTS)
    }

    /// Returns the listener's receive window in bytes.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// Returns the place of a packet in a train. The packet begins at this offset from the stream's second byte. `None` if the packet does
    /// not belong to the train.
    pub(super) fn place(&self, train: &Train, offset: u32) -> Option<u16> {
        let slots = self.slots();
        let slot =
            Some(offset / self.step()).filter(|slot| *slot < slots && offset.is_multiple_of(self.step()))?;
        let place = (slot + slots - self.first_slot(train)) % slots;
        u16::try_from(place).ok().filter(|place| *place < train.packets)
    }

    /// Reads a datagram of the listener. `None` if the datagram does not belong to this connection.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<Answer> {
        let read = decode(bytes)?;
        let segment = read.segment;
        if (read.source_port, read.destination_port) != (self.ports.1, self.ports.0) {
            return None;
        }
        // A reset is accepted if it answers a segment of this connection.
        if segment.flags.has(Flags::RST) {
            let answers = segment.seq == self.theirs.wrapping_add(1) && self.cookie.is_some()
                || segment.flags.has(Flags::ACK) && segment.ack == self.own.wrapping_add(1);
            return Some(if answers { Answer::Reset } else { Answer::Nothing });
        }
        if !segment.flags.has(Flags::ACK) || segment.ack != self.own.wrapping_add(1) {
            return Some(Answer::Nothing);
        }
        if segment.flags.has(Flags::SYN) {
            let Some(cookie) = cookie::find(read.options) else { return Some(Answer::Nothing) };
            (self.cookie, self.theirs) = (Some(cookie), segment.seq);
            self.scale = segment.window_scale.unwrap_or(0).min(14);
            return Some(if segment.sack_permitted {
                Answer::SynAck(u16::try_from(bytes.len()).unwrap_or(u16::MAX))
            } else {
                Answer::NoSack
            });
        }
        let Some(first) = segment.sack_blocks().first() else {
            self.window = u32::from(segment.window) << self.scale;
            return Some(Answer::Open);
        };
        Some(Answer::Packet(first.start.wrapping_sub(self.own.wrapping_add(2))))
    }

    fn first_slot(&self, train: &Train) -> u32 {
        u32::from(train.number) * u32::from(train.packets) % self.slots()
    }

    /// Returns the distance between the starts of two consecutive packets. One byte is left out between them.
    fn step(&self) -> u32 {
        u32::from(self.payload) + 1
    }

    fn acknowledging(&self, seq: u32, len: u16) -> Segment {
        let ack = self.theirs.wrapping_add(1);
        Segment { seq, ack, len, window: u16::MAX, flags: Flags::ACK, ..Segment::default() }
    }

    fn write(&self, segment: &Segment, further: &[u8], out: &mut Vec<u8>) {
        static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];
        out.clear();
        let payload = &ZEROS[..usize::from(segment.len)];
        // Encoding fails only if the options do not fit; these options fit.
        let _ = encode(self.ports, segment, further, [payload, &[]], out);
    }
}
