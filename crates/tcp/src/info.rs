//! What a connection tells of itself, as Linux's `TCP_INFO` does.

use firstflight::{Bytes, Span};

/// Where a connection stands, for whoever holds its socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nothing happened yet.
    Idle,
    /// The handshake is under way.
    Opening,
    /// Data may flow.
    Open,
    /// Both sides closed.
    Closed,
    /// Reset, or given up.
    Aborted,
}

/// The sender's trouble: Linux's `tcpi_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trouble {
    /// None.
    #[default]
    None,
    /// Something arrived out of order, and nothing is known to be lost.
    Disorder,
    /// The window is being reduced for a mark.
    Reduction,
    /// A fast recovery.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The state of a connection; segments are counted, where Linux counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Linux's number of the connection's state: 1 established, 2 SYN sent, 3 SYN received, 7 closed, 10 listening,
    /// and the closing states by RFC 9293's names.
    pub state: u8,
    /// What is being repaired.
    pub trouble: Trouble,
    /// Payload of a full segment.
    pub mss: u16,
    /// The window that governs sending.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The peer's window in bytes.
    pub send_window: u64,
    /// Segments sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Of those, selectively acknowledged.
    pub sacked: u64,
    /// Of those, found lost, sent again or not.
    pub lost: u64,
    /// Of those, sent again and in the network.
    pub resent: u64,
    /// Retransmissions in all.
    pub retransmissions: u64,
    /// Data segments sent in all.
    pub data_segments: u64,
    /// The degree of reordering, in segments.
    pub reordering: u64,
    /// How often reordering was seen.
    pub reorderings_seen: u64,
    /// Timeouts since the last new acknowledgement.
    pub timeouts_in_a_row: u64,
    /// How often the timeout was doubled.
    pub backoff: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// The smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Its variation.
    pub rtt_variation: Span,
    /// The least round-trip time.
    pub min_rtt: Option<Span>,
    /// Stream bytes acknowledged.
    pub acknowledged: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Stream bytes written and not sent.
    pub unsent: u64,
    /// Segments that the peer reported to have come twice.
    pub duplicates_reported: u64,
}
