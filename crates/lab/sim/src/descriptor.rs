//! The descriptor of a packet: the data that links store about it, small enough that thousands can wait.

use firstflight::Time;

use crate::agenda::SEQUENCE;
use crate::packet::{PacketId, Position};

/// The data of a packet that a link needs: two numbers, which a function takes in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Descriptor {
    /// Two numbers of 32 bits: the packet's index in the pool (for a datagram that reaches its sink, its flow's
    /// number), and its position on its route, which is the link that it is on or enters next.
    name: u64,
    /// From the top bits down: the sequence number in the event order, the IP bytes, and the flags below.
    rest: u64,
}

/// Flag of a packet that needs no arrival event, because its arrival instant affects nothing: a datagram that reaches
/// its sink, or a packet that was handed on.
const QUIET: u64 = 1;
/// The wire loses the packet.
const LOST: u64 = 1 << 1;
/// The packet is a datagram, not a segment.
const DATAGRAM: u64 = 1 << 2;
/// The packet carries a Quick-Start request, which routers answer.
const ASKS: u64 = 1 << 3;
const FLAGS: u32 = 4;
const WIRE: u32 = 16;
const _: () = assert!(FLAGS + WIRE + SEQUENCE == u64::BITS);

/// The index that marks a packet that was handed on to the next link.
const GONE: PacketId = PacketId(u32::MAX);

#[inline]
fn name(packet: PacketId, position: Position) -> u64 {
    u64::from(packet.0) << u32::BITS | u64::from(position.place())
}

impl Descriptor {
    /// Returns a segment of `wire` IP bytes, at most 65,535. `asks` says whether it carries a Quick-Start request.
    #[inline]
    pub(crate) fn segment(packet: PacketId, position: Position, wire: u32, asks: bool) -> Self {
        debug_assert!(wire >> WIRE == 0, "beyond what IP can carry");
        Self { name: name(packet, position), rest: u64::from(wire) << FLAGS | if asks { ASKS } else { 0 } }
    }

    /// Returns a datagram of `wire` IP bytes, at most 65,535.
    #[inline]
    pub(crate) fn datagram(packet: PacketId, position: Position, wire: u32) -> Self {
        debug_assert!(wire >> WIRE == 0, "beyond what IP can carry");
        Self { name: name(packet, position), rest: u64::from(wire) << FLAGS | DATAGRAM }
    }

    /// Returns the packet's index in the pool; for a datagram that reaches its sink, its flow's number.
    #[inline]
    pub(crate) const fn packet(&self) -> PacketId {
        PacketId((self.name >> u32::BITS) as u32)
    }

    /// Returns the position on the route: the link that the packet is on, or enters next.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn position(&self) -> Position {
        Position::at(self.name as u32)
    }

    /// Returns the [`Descriptor::kind`] of a segment of `wire` IP bytes without flags.
    #[inline]
    pub(crate) const fn plain_kind(wire: u32) -> u32 {
        wire << FLAGS
    }

    /// Returns the IP bytes of packets of a kind.
    #[inline]
    pub(crate) const fn wire_of_kind(kind: u32) -> u32 {
        kind >> FLAGS & ((1 << WIRE) - 1)
    }

    /// Returns the packet's IP bytes and flags as one number.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn kind(&self) -> u32 {
        self.rest as u32 & ((1 << (FLAGS + WIRE)) - 1)
    }

    /// Returns this packet with another sequence number in the event order.
    #[inline]
    pub(crate) fn in_place(self, sequence: u64) -> Self {
        const REST: u64 = (1 << (FLAGS + WIRE)) - 1;
        Self { rest: self.rest & REST | sequence << (FLAGS + WIRE), ..self }
    }

    /// Returns this packet with another index in the pool.
    #[inline]
    pub(crate) fn named(self, packet: PacketId) -> Self {
        Self { name: name(packet, self.position()), ..self }
    }

    /// Returns this packet one link further on its route.
    #[inline]
    pub(crate) fn advanced(self) -> Self {
        // The positions of all routes together do not reach the bits of the packet's index.
        Self { name: self.name + 1, ..self }
    }

    /// Returns the sequence number in the event order.
    #[inline]
    pub(crate) const fn sequence(&self) -> u64 {
        self.rest >> (FLAGS + WIRE)
    }

    /// Returns the packet's IP bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "they are the low bits")]
    pub(crate) const fn wire(&self) -> u32 {
        (self.rest >> FLAGS) as u32 & ((1 << WIRE) - 1)
    }

    /// Returns whether any flag is set: the packet is a datagram, needs no arrival event, is lost, or carries a
    /// request.
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

/// Treatment of a packet at the far end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// The packet arrives, and something depends on the arrival instant.
    Arrives,
    /// The packet reaches its sink, which counts the bytes for the flow of this number.
    Sinks(u32),
    /// The next link has admitted it already, or expects it.
    HandedOn,
    /// The wire loses the packet.
    Lost,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transit {
    pub(crate) descriptor: Descriptor,
    /// Start of its transmission. Until then the packet waits in the queue.
    pub(crate) starts: Time,
    /// Arrival at the far end.
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

    /// Returns whether the wire loses the packet.
    #[inline]
    pub(crate) const fn is_lost(&self) -> bool {
        self.descriptor.rest & LOST != 0
    }

    /// Returns whether the packet needs no arrival event, because nothing depends on the instant of its arrival.
    #[inline]
    pub(crate) const fn is_quiet(&self) -> bool {
        self.descriptor.rest & QUIET != 0
    }

    /// Returns whether the packet was handed on to the next link.
    #[inline]
    pub(crate) fn is_handed_on(&self) -> bool {
        self.descriptor.packet() == GONE && self.is_quiet()
    }
}
