//! The types that an endpoint and its host exchange.

use core::ops::Range;

use firstflight::{Bytes, Phase, Sent, Span, Tag};

use crate::segment::Segment;

/// One of the two hosts of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// The host that opens the connection by sending the SYN.
    Client,
    /// The host that waits for the SYN.
    Server,
}

impl Role {
    /// Returns the other host.
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A segment to send now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// For a data packet: its packet number, its tag, and whether it is a retransmission.
    pub sent: Option<Sent>,
    /// The stream offset of the payload's first byte. The first byte that this side writes has offset 0. Meaningless without a payload.
    pub offset: u64,
}

impl Transmit {
    /// Returns the range of stream offsets of the payload, without a FIN.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.segment.len)
    }
}

/// The sender's state for figures and metrics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// The part of the controller that currently sets the window.
    pub phase: Phase,
    /// The congestion window that is used: the plan's window, or the recovery's window while a loss is repaired.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The estimated number of payload bytes in the network: those sent minus those delivered, minus those lost, plus those retransmitted.
    pub in_flight: Bytes,
    /// The smoothed RTT.
    pub srtt: Option<Span>,
    /// The newest RTT sample.
    pub latest_rtt: Option<Span>,
    /// The minimum RTT sample.
    pub min_rtt: Option<Span>,
    /// Number of RTT samples, modulo 2^32. It changes even if a new sample equals the previous one.
    pub rtt_samples: u32,
    /// Whether a loss is being repaired.
    pub recovering: bool,
    /// Stream offset of the first byte that is not cumulatively acknowledged.
    pub una: u64,
    /// Stream offset of the next new byte to send.
    pub nxt: u64,
    /// The tag of the packet train that the plan sends; `None` if it sends none.
    pub train: Option<Tag>,
}

/// Counters of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Number of data packets sent, including retransmissions.
    pub packets_sent: u64,
    /// Number of data packets whose whole payload was sent before.
    pub retransmissions: u64,
    /// Number of retransmission timeouts with data outstanding.
    pub timeouts: u64,
    /// Number of tail loss probes sent.
    pub probes: u64,
    /// Number of window reductions that were found spurious and undone.
    pub undone: u64,
    /// Number of stream bytes received in order.
    pub received: u64,
    /// Number of ACKs without data sent.
    pub acks_sent: u64,
}
