//! A packet as links know it: small, so that thousands of them wait side by side.

use firstflight::Time;

use crate::agenda::SEQUENCE;
use crate::packet::{PacketId, Position};

/// A packet on its way, as far as links care: two numbers, which a function is given in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Descriptor {
    /// From the top bits down: the packet, or of one on whose arrival nothing depends the number of the flow; and the place
    /// on its way of the link that it is on, or enters next.
    name: u64,
    /// From the top bits down: its place in the order of all events, its IP bytes, and the flags below.
    rest: u64,
}

/// Nothing depends on the instant of its arrival: a datagram that reaches its sink, or what the next link expects already.
const QUIET: u64 = 1;
/// It is lost on the wire.
const LOST: u64 = 1 << 1;
/// It is a datagram, not a segment.
const DATAGRAM: u64 = 1 << 2;
/// It carries a Quick-Start request, which routers answer.
const ASKS: u64 = 1 << 3;
const FLAGS: u32 = 4;
const WIRE: u32 = 16;
const _: () = assert!(FLAGS + WIRE + SEQUENCE == u64::BITS);

/// The name of no packet: of what left for the next link.
const GONE: PacketId = PacketId(u32::MAX);

#[inline]
fn name(packet: PacketId, position: Position) -> u64 {
    u64::from(packet.0) << u32::BITS | u64::from(position.place())
}

impl Descriptor {
    /// A segment of `wire` IP bytes, at most 65,535; `asks` says whether routers have to look into it.
    #[inline]
    pub(crate) fn segment(packet: PacketId, position: Position, wire: u32, asks: bool) -> Self {
        debug_assert!(wire >> WIRE == 0, "beyond what IP can carry");
        Self { name: name(packet, position), rest: u64::from(wire) << FLAGS | if asks { ASKS } else { 0 } }
    }

    /// A datagram of `wire` IP bytes, at most 65,535.
    #[inline]
    pub(crate) fn datagram(packet: PacketId, position: Position, wire: u32) -> Self {
        debug_assert!(wire >> WIRE == 0, "beyond what IP can carry");
        Self { name: name(packet, position), rest: u64::from(wire) << FLAGS | DATAGRAM }
    }

    /// The packet, or the number of a flow.
    #[inline]
    pub(crate) const fn packet(&self) -> PacketId {
        PacketId((self.name >> u32::BITS) as u32)
    }

    /// The link that it is on, or enters next, by its place on the way.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn position(&self) -> Position {
        Position::at(self.name as u32)
    }

    /// What a segment is on whose way nothing else is to be done, of so many IP bytes: [`Descriptor::kind`] of it.
    #[inline]
    pub(crate) const fn plain_kind(wire: u32) -> u32 {
        wire << FLAGS
    }

    /// The IP bytes of packets of a kind.
    #[inline]
    pub(crate) const fn wire_of_kind(kind: u32) -> u32 {
        kind >> FLAGS & ((1 << WIRE) - 1)
    }

    /// Its IP bytes and its flags.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn kind(&self) -> u32 {
        self.rest as u32 & ((1 << (FLAGS + WIRE)) - 1)
    }

    /// The same with another place in the order of all events.
    #[inline]
    pub(crate) fn in_place(self, sequence: u64) -> Self {
        const REST: u64 = (1 << (FLAGS + WIRE)) - 1;
        Self { rest: self.rest & REST | sequence << (FLAGS + WIRE), ..self }
    }

    /// The same under another name.
    #[inline]
    pub(crate) fn named(self, packet: PacketId) -> Self {
        Self { name: name(packet, self.position()), ..self }
    }

    /// The same ahead of the next link.
    #[inline]
    pub(crate) fn advanced(self) -> Self {
        // Ways are never as long as to reach into the bits of the packet.
        Self { name: self.name + 1, ..self }
    }

    /// Its place in the order of all events.
    #[inline]
    pub(crate) const fn sequence(&self) -> u64 {
        self.rest >> (FLAGS + WIRE)
    }

    /// IP bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn wire(&self) -> u32 {
        (self.rest >> FLAGS) as u32 & ((1 << WIRE) - 1)
    }

    /// Whether it is no segment, is lost, or anything else is to be done on its way.
    #[inline]
    pub(crate) const fn has_flags(&self) -> bool {
        self.rest & ((1 << FLAGS) - 1) != 0
    }

    #[inline]
    pub(crate) const fn is_datagram(&self) -> bool {
        self.rest & DATAGRAM != 0
    }

    #[inline]
    pub(crate) const fn asks(&self) -> bool {
        self.rest & ASKS != 0
    }
}

/// What becomes of a packet at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It arrives, and something depends on when.
    Arrives,
    /// It reaches its sink, which counts its bytes for the flow of this number.
    Sinks(u32),
    /// The next link expects it already.
    HandedOn,
    /// It is lost on the wire.
    Lost,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transit {
    pub(crate) descriptor: Descriptor,
    /// When its transmission starts: until then it waits in the queue.
    pub(crate) starts: Time,
    /// When it arrives at the far end.
    pub(crate) arrives: Time,
}

const _: () = assert!(size_of::<Transit>() == 32);

impl Transit {
    #[inline]
    pub(crate) fn new(mut descriptor: Descriptor, starts: Time, arrives: Time, fate: Fate) -> Self {
        match fate {
            Fate::Arrives => {}
            Fate::Lost => descriptor.rest |= LOST,
            Fate::Sinks(flow) => {
                descriptor.rest |= QUIET;
                descriptor = descriptor.named(PacketId(flow));
            }
            Fate::HandedOn => {
                descriptor.rest |= QUIET;
                descriptor = descriptor.named(GONE);
            }
        }
        Self { descriptor, starts, arrives }
    }

    /// Whether it is lost on the wire.
    #[inline]
    pub(crate) const fn is_lost(&self) -> bool {
        self.descriptor.rest & LOST != 0
    }

    /// Whether nothing depends on the instant of its arrival.
    #[inline]
    pub(crate) const fn is_quiet(&self) -> bool {
        self.descriptor.rest & QUIET != 0
    }

    /// Whether the next link expects it already.
    #[inline]
    pub(crate) fn is_handed_on(&self) -> bool {
        self.descriptor.packet() == GONE && self.is_quiet()
    }
}
