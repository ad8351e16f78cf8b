//! Packets of the network, and the types that identify its parts.

use firstflight::Time;
use firstflight_tcp::{Ecn, Role, Segment};

/// A link, by its index in [`crate::Network::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// A flow, by its index in [`crate::Network::flows`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// A packet in the network, by its index in [`crate::pool::Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PacketId(pub(crate) u32);

/// A position on a route: one of its links, or its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Position(u32);

impl Position {
    /// Returns the position of this index in the route table.
    #[inline]
    pub(crate) const fn at(place: u32) -> Self {
        Self(place)
    }

    /// Returns the index in the route table.
    #[inline]
    pub(crate) const fn place(self) -> u32 {
        self.0
    }
}

/// The flow of a packet as a queue sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowKey {
    /// Hash of the flow. Queues that separate flows treat packets of equal hashes as one flow.
    pub(crate) hash: u64,
    /// The number of the flow's random streams: each link draws loss and jitter from them.
    pub(crate) stream: u32,
}

impl FlowKey {
    /// Returns the key of the packets that one host of a simulated flow sends. The number of the flow selects its
    /// random streams. Memory grows with the number of flows, if their numbers are close together.
    #[inline]
    pub fn of(flow: FlowId, from: Role) -> Self {
        let hash = u64::from(flow.0) << 1 | u64::from(from == Role::Server);
        Self { hash, stream: flow.0 }
    }

    /// Returns the key of a flow known by a hash of its addresses. All flows known by a hash share the random streams
    /// of loss and jitter.
    #[inline]
    pub const fn hashed(hash: u64) -> Self {
        Self { hash, stream: 0 }
    }
}

impl PacketId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlowId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// A TCP segment.
    Segment(Segment),
    /// A datagram of unresponsive traffic.
    Datagram,
}

/// A packet on its way: a small plain value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The packet's flow.
    pub flow: FlowId,
    /// The host that sent the packet.
    pub from: Role,
    /// Whether the packet's data is a retransmission.
    pub retransmission: bool,
    /// IP bytes.
    pub wire: u32,
    /// The packet's number among all packets of its host, counted from zero.
    pub number: u64,
    /// The instant at which the host sent the packet.
    pub sent_at: Time,
    /// Content of the packet.
    pub payload: Payload,
}

// Links do not touch packets: a link stores 32 bytes of each, or 24 while the packet is expected. With 64 bytes the
// simulator was slower (docs/decisions/sim.md).
const _: () = assert!(size_of::<Packet>() <= 104);

impl Default for Packet {
    fn default() -> Self {
        Self {
            flow: FlowId(0),
            from: Role::Client,
            retransmission: false,
            wire: 0,
            number: 0,
            sent_at: Time::ZERO,
            payload: Payload::Segment(Segment::default()),
        }
    }
}

impl Packet {
    /// Returns the TCP segment; `None` if the packet is a datagram.
    pub const fn segment(&self) -> Option<&Segment> {
        match &self.payload {
            Payload::Segment(segment) => Some(segment),
            Payload::Datagram => None,
        }
    }

    /// Returns the packet's ECN field.
    pub(crate) const fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Segment(segment) => segment.ecn,
            Payload::Datagram => Ecn::NotCapable,
        }
    }

    /// Returns whether a queue marked the packet as having met congestion.
    pub const fn is_marked(&self) -> bool {
        matches!(self.ecn(), Ecn::Ce)
    }

    /// Marks the packet as having met congestion.
    pub(crate) const fn mark(&mut self) {
        if let Payload::Segment(segment) = &mut self.payload {
            segment.ecn = Ecn::Ce;
        }
    }

    /// Returns whether the packet carries payload: TCP data or a datagram, neither a pure ACK nor a bare SYN or FIN.
    pub const fn is_data(&self) -> bool {
        match &self.payload {
            Payload::Segment(segment) => segment.len > 0,
            Payload::Datagram => true,
        }
    }
}

/// Why the network dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// A queue dropped the packet, because it was full or by its discipline.
    Queue,
    /// A policer had no tokens for the packet.
    Policer,
    /// The packet was lost at random on the wire, after its time in the queue and its transmission.
    Random,
}

/// A host's description of a packet that it sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: FlowId,
    pub(crate) from: Role,
    pub(crate) retransmission: bool,
    pub(crate) number: u64,
    /// IP bytes.
    pub(crate) wire: u32,
    pub(crate) is_data: bool,
    /// Whether the packet carries Quick-Start options.
    pub(crate) asks: bool,
}
