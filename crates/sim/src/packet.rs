//! What crosses the network, and the names of its parts.

use firstflight::Time;
use firstflight_tcp::{Ecn, Segment};

/// A link, by its place in [`crate::Network::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// A flow, by its place in [`crate::Network::flows`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// A packet in the network, by its place in [`crate::pool::Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PacketId(pub(crate) u32);

/// A place on a way: a link, or its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Position(u32);

impl Position {
    /// The place of this number among those of all ways.
    #[inline]
    pub(crate) const fn at(place: u32) -> Self {
        Self(place)
    }

    /// Its number among the places of all ways.
    #[inline]
    pub(crate) const fn place(self) -> u32 {
        self.0
    }
}

/// The flow of a packet as a queue sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowKey {
    /// Packets of one hash are of one flow to a queue that keeps flows apart.
    pub(crate) hash: u64,
    /// Which stream of random numbers its loss and jitter are drawn from, of each link.
    pub(crate) stream: u32,
}

impl FlowKey {
    /// The key of what one of the two hosts of a simulated flow sends. Each flow has random numbers of its own for loss and
    /// jitter, by its number, up to which a link keeps a stream for each.
    #[inline]
    pub fn of(flow: FlowId, from: Side) -> Self {
        let hash = u64::from(flow.0) << 1 | u64::from(from == Side::Server);
        Self { hash, stream: flow.0 }
    }

    /// The key of a flow known by a hash of its addresses. All such flows share the random numbers of loss and jitter.
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

/// One of the two hosts of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// The host that opens the flow and sends the data.
    Client,
    /// The host that receives it.
    Server,
}

impl Side {
    /// The other host.
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What a packet carries.
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
    /// The flow that it belongs to.
    pub flow: FlowId,
    /// The host that sent it.
    pub from: Side,
    /// Whether its data was sent before.
    pub retransmission: bool,
    /// IP bytes.
    pub wire: u32,
    /// Which of the packets of its host it is, of whatever kind, counted from zero.
    pub number: u64,
    /// When it left its host.
    pub sent_at: Time,
    /// What it carries.
    pub payload: Payload,
}

// Links do not touch it: what they keep of a packet takes 32 bytes, and 24 while it is expected. One of 64 was slower
// (docs/decisions.md).
const _: () = assert!(size_of::<Packet>() <= 104);

impl Default for Packet {
    fn default() -> Self {
        Self {
            flow: FlowId(0),
            from: Side::Client,
            retransmission: false,
            wire: 0,
            number: 0,
            sent_at: Time::ZERO,
            payload: Payload::Segment(Segment::default()),
        }
    }
}

impl Packet {
    /// The TCP segment, if it carries one.
    pub const fn segment(&self) -> Option<&Segment> {
        match &self.payload {
            Payload::Segment(segment) => Some(segment),
            Payload::Datagram => None,
        }
    }

    /// Its ECN field.
    pub(crate) const fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Segment(segment) => segment.ecn,
            Payload::Datagram => Ecn::NotCapable,
        }
    }

    /// A queue marked it as having met congestion.
    pub(crate) const fn mark(&mut self) {
        if let Payload::Segment(segment) = &mut self.payload {
            segment.ecn = Ecn::Ce;
        }
    }

    /// Whether it carries payload: TCP data or a datagram, not a pure ACK nor a bare SYN or FIN.
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
    /// A queue dropped it: it was full, or its discipline said so.
    Queue,
    /// A policer had no tokens for it.
    Policer,
    /// It was lost at random on the wire, after its time in the queue and its transmission.
    Random,
}
