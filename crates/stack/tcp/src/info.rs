//! The state that a connection reports, as Linux's `TCP_INFO` does.

use firstflight::{Bytes, Span};

/// State of a connection, as the owner of its socket sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Nothing has happened yet.
    Idle,
    /// The handshake is in progress.
    Opening,
    /// Data may flow.
    Open,
    /// Both sides closed the connection.
    Closed,
    /// The connection was reset or given up.
    Aborted,
}

/// The congestion state of the sender: Linux's `tcpi_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trouble {
    /// Nothing.
    #[default]
    None,
    /// Data arrived out of order, and none is known to be lost.
    Disorder,
    /// The window is being reduced because of a congestion mark.
    Reduction,
    /// A fast recovery is in progress.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The state of a connection. Values that Linux counts in segments are in segments here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Linux's number of the connection's state: 1 established, 2 SYN sent, 3 SYN received, 7 closed, 10 listening, and other numbers for
    /// the closing states of RFC 9293.
    pub state: u8,
    /// The congestion state.
    pub trouble: Trouble,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// The congestion window that is used.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The peer's window in bytes.
    pub send_window: u64,
    /// Number of segments sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Number of outstanding segments that are selectively acknowledged.
    pub sacked: u64,
    /// Number of outstanding segments that were found lost, whether or not they were retransmitted.
    pub lost: u64,
    /// Number of outstanding segments that were retransmitted and are still in the network.
    pub resent: u64,
    /// Total number of retransmissions.
    pub retransmissions: u64,
    /// Total number of data segments sent.
    pub data_segments: u64,
    /// The degree of reordering: the greatest distance, in segments, by which a segment arrived late.
    pub reordering: u64,
    /// Number of times that reordering was detected.
    pub reorderings_seen: u64,
    /// Number of timeouts since the last new acknowledgement.
    pub timeouts_in_a_row: u64,
    /// Number of times that the RTO was doubled.
    pub backoff: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// The smoothed RTT.
    pub srtt: Option<Span>,
    /// The variation of the RTT.
    pub rtt_variation: Span,
    /// The minimum RTT.
    pub min_rtt: Option<Span>,
    /// Number of stream bytes acknowledged.
    pub acknowledged: u64,
    /// Number of stream bytes received in order.
    pub received: u64,
    /// Number of stream bytes written and not sent.
    pub unsent: u64,
    /// Number of segments that the peer reported as duplicates.
    pub duplicates_reported: u64,
}
