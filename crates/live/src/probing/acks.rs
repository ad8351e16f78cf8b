//! Arrivals by the ACKs of a listener of this crate.
//!
//! The prober opens a connection, as a client does, and leaves out the first byte of its stream. Each packet of a train then comes
//! out of order, with a byte left out before it: the listener answers it at once (RFC 5681 section 4.2), and the first SACK block of the answer is
//! the packet (RFC 2018 section 4, RFC 2883). Whoever reads the stream gets nothing of it, and sees the connection reset when the probing is over.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight_probe::Train;
use firstflight_tcp::{Flags, Segment};

use crate::cookie::{self, Cookie};
use crate::frame::{HEADER, decode, encode};

/// The first port of those that connections have.
const FIRST_PORT: u64 = 1_024;
/// The most packets that are told apart at a time.
const MOST_SLOTS: u32 = 4_096;

/// The connection of a probing.
#[derive(Debug)]
pub(super) struct Acks {
    ports: (u16, u16),
    /// Our initial sequence number, and the listener's.
    own: u32,
    theirs: u32,
    cookie: Option<Cookie>,
    scale: u8,
    /// What the listener takes beyond what it acknowledges.
    window: u32,
    /// Payload of a packet of a train.
    payload: u16,
}

/// What a datagram of the listener says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// The answer to a SYN that was so many bytes long, TCP header counted in.
    SynAck(u16),
    /// The same, of a listener without SACK.
    NoSack,
    /// The connection is open.
    Open,
    /// A packet arrived that begins so far behind the first byte.
    Packet(u32),
    /// The connection is refused or over.
    Reset,
    /// It is of this connection, and says nothing.
    Nothing,
}

impl Acks {
    /// A connection to a listener, with two numbers that nobody can guess.
    pub(super) fn new(peer: SocketAddr, [one, other]: [u64; 2]) -> Self {
        let span = u64::from(u16::MAX) - FIRST_PORT;
        let ours = u16::try_from(FIRST_PORT + one % span).unwrap_or(u16::MAX);
        let own = u32::try_from(other >> 32).unwrap_or_default();
        Self { ports: (ours, peer.port()), own, theirs: 0, cookie: None, scale: 0, window: 0, payload: 0 }
    }

    /// A SYN of `length` bytes, TCP header counted in.
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

    /// The answer to the listener's answer: it opens the connection.
    pub(super) fn opening(&self, out: &mut Vec<u8>) {
        let cookie = self.cookie.unwrap_or_default();
        self.write(&self.acknowledging(self.own.wrapping_add(1), 0), &cookie, out);
    }

    /// A packet of a train.
    pub(super) fn packet(&self, train: &Train, packet: u16, out: &mut Vec<u8>) {
        let slot = self.first_slot(train).wrapping_add(u32::from(packet)) % self.slots();
        let seq = self.own.wrapping_add(2).wrapping_add(slot * self.step());
        self.write(&self.acknowledging(seq, self.payload), &[], out);
    }

    /// The end of the connection.
    pub(super) fn reset(&self, out: &mut Vec<u8>) {
        let reset = self.acknowledging(self.own.wrapping_add(1), 0);
        self.write(&Segment { flags: Flags::RST.with(Flags::ACK), ..reset }, &[], out);
    }

    /// Packets of so many bytes, TCP header counted in, from now on.
    pub(super) fn set_length(&mut self, length: u16) {
        self.payload = length.saturating_sub(HEADER).max(1);
    }

    /// How many packets the listener's window tells apart.
    pub(super) fn slots(&self) -> u32 {
        (self.window.saturating_sub(2) / self.step()).clamp(1, MOST_SLOTS)
    }

    /// What the listener takes beyond what it acknowledges, in bytes.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// The place in a train of a packet that begins so far behind the first byte.
    pub(super) fn place(&self, train: &Train, offset: u32) -> Option<u16> {
        let slots = self.slots();
        let slot =
            Some(offset / self.step()).filter(|slot| *slot < slots && offset.is_multiple_of(self.step()))?;
        let place = (slot + slots - self.first_slot(train)) % slots;
        u16::try_from(place).ok().filter(|place| *place < train.packets)
    }

    /// What a datagram says; `None` if it is none of this connection.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Option<Heard> {
        let read = decode(bytes)?;
        let segment = read.segment;
        if (read.source_port, read.destination_port) != (self.ports.1, self.ports.0) {
            return None;
        }
        // A reset is believed if it answers what was sent.
        if segment.flags.has(Flags::RST) {
            let answers = segment.seq == self.theirs.wrapping_add(1) && self.cookie.is_some()
                || segment.flags.has(Flags::ACK) && segment.ack == self.own.wrapping_add(1);
            return Some(if answers { Heard::Reset } else { Heard::Nothing });
        }
        if !segment.flags.has(Flags::ACK) || segment.ack != self.own.wrapping_add(1) {
            return Some(Heard::Nothing);
        }
        if segment.flags.has(Flags::SYN) {
            let Some(cookie) = cookie::find(read.options) else { return Some(Heard::Nothing) };
            (self.cookie, self.theirs) = (Some(cookie), segment.seq);
            self.scale = segment.window_scale.unwrap_or(0).min(14);
            return Some(if segment.sack_permitted {
                Heard::SynAck(u16::try_from(bytes.len()).unwrap_or(u16::MAX))
            } else {
                Heard::NoSack
            });
        }
        let Some(first) = segment.sack_blocks().first() else {
            self.window = u32::from(segment.window) << self.scale;
            return Some(Heard::Open);
        };
        Some(Heard::Packet(first.start.wrapping_sub(self.own.wrapping_add(2))))
    }

    fn first_slot(&self, train: &Train) -> u32 {
        u32::from(train.number) * u32::from(train.packets) % self.slots()
    }

    /// From the beginning of a packet to that of the next: a byte is left out between them.
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
        // A segment whose options fit, as these do, is encoded.
        let _ = encode(self.ports, segment, further, [payload, &[]], out);
    }
}
