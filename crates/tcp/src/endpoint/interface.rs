//! What an endpoint and its host say to each other.

use core::ops::Range;

use firstflight::{Bytes, Phase, Sent, Span, Tag};

use crate::segment::Segment;

/// One of the two hosts of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// The host that opens the connection: it sends the SYN.
    Client,
    /// The host that waits for the SYN.
    Server,
}

impl Role {
    /// The other host.
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A segment that leaves now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// For data packets: the packet's number, its tag, and whether its data was sent before.
    pub sent: Option<Sent>,
    /// Where its payload begins in the stream that this side writes, whose first byte is number 0; says nothing if there is
    /// no payload.
    pub offset: u64,
}

impl Transmit {
    /// The payload as a range of the stream; a FIN is not counted in.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.segment.len)
    }
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
    /// The estimate of payload bytes in the network: sent, less delivered, less lost, plus retransmitted.
    pub in_flight: Bytes,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The newest round-trip sample.
    pub latest_rtt: Option<Span>,
    /// The least round-trip sample.
    pub min_rtt: Option<Span>,
    /// How many round-trip samples there were, modulo 2^32: whether there is a new one, if it equals the one before.
    pub rtt_samples: u32,
    /// Whether a loss episode is being repaired.
    pub recovering: bool,
    /// First stream byte not cumulatively acknowledged.
    pub una: u64,
    /// Next new stream byte to send.
    pub nxt: u64,
    /// The tag of the train that the plan sends, if it sends one.
    pub train: Option<Tag>,
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
