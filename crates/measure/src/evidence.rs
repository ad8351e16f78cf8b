//! What one run leaves behind for the metrics.

use firstflight::Cause;

use crate::recording::Recording;
use crate::rounds::Reply;

/// What one run left behind: the recording, and what happened inside the sender.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The time series. Those that only figures need are empty unless they were asked for.
    pub recording: Recording,
    /// Exits from start-up that stand, in order.
    pub exits: Vec<ExitSeen>,
    /// Reductions that stand: when, and the window before in payload bytes.
    pub cuts: Vec<(u64, u64)>,
    /// Retransmission timeouts.
    pub timeouts: Vec<u64>,
    /// Loss episodes: from, and until when if they ended.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// The first rate that Quick-Start's routers approved, in IP bits per second.
    pub granted: Option<u64>,
    /// What the path's routers did with requests for a rate, all of them together; none if no scheme could ask.
    pub routers: Option<RouterAnswers>,
    /// Own data packets that a queue marked as having met congestion, each once.
    pub packets_marked: u64,
    /// When avoidance first governed new data.
    pub su_end: Option<u64>,
    /// When the last byte of a sized transfer was delivered.
    pub finished_at: Option<u64>,
    /// When its connection was aborted before that.
    pub aborted_at: Option<u64>,
    /// With rounds: every reply of every client.
    pub replies: Vec<Reply>,
    /// The most packets waiting at the bottleneck during the flow's life; of several, at any of them.
    pub queue_peak: u32,
    /// The time integral of the packets waiting there during the flow's life, in packet-nanoseconds; of several
    /// bottlenecks, at the one where it is the greatest, which is also the one that is recorded.
    pub queue_packet_nanos: u128,
}

/// A start-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitSeen {
    /// When.
    pub at: u64,
    /// Why.
    pub cause: Cause,
    /// The window before any reduction, in payload bytes.
    pub cwnd: u64,
    /// The rate found, in IP bits per second.
    pub rate: Option<u64>,
}

/// What Quick-Start's routers did with requests for a rate (RFC 4782): counts of requests, each once for every router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterAnswers {
    /// Requests that reached a router.
    pub asked: u64,
    /// Of those, approved as they were.
    pub granted: u64,
    /// Approved at a lower rate.
    pub reduced: u64,
    /// Denied.
    pub refused: u64,
}
