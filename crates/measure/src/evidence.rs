//! The evidence of one run, from which the metrics are computed.

use firstflight::Cause;

use crate::counted::Counted;
use crate::cpu::CpuFields;
use crate::recording::Recording;
use crate::rounds::Reply;

/// The evidence of one run: the recording, and the events inside the sender.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The time series. With [`Evidence::counted`] they may be empty, and are unless figures want them.
    pub recording: Recording,
    /// What metrics need of the flow's packets, if it was counted while the flow ran; `None` if the recording has it all.
    pub counted: Option<Counted>,
    /// Exits from start-up that were not undone, in order.
    pub exits: Vec<ExitSeen>,
    /// By how much ACKs widened the window in start-up.
    pub su_counts: SuCounts,
    /// The trains that left before start-up did: each a plan's, with a tag of its own.
    pub trains: u64,
    /// Window reductions that were not undone: when, and the window before in payload bytes.
    pub cuts: Vec<(u64, u64)>,
    /// When each retransmission timeout expired.
    pub timeouts: Vec<u64>,
    /// Loss episodes: the beginning, and the end if the episode ended.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// The first rate that Quick-Start's routers approved, in IP bits per second.
    pub granted: Option<u64>,
    /// How the path's routers answered requests for a rate, summed over routers; `None` if no scheme could ask.
    pub routers: Option<RouterAnswers>,
    /// What the hosts' processors did.
    pub cpu: CpuFields,
    /// The number of the flow's data packets that a queue marked as having met congestion, each counted once.
    pub packets_marked: u64,
    /// When the avoidance law first governed new data.
    pub su_end: Option<u64>,
    /// When the last byte of a sized transfer was delivered.
    pub finished_at: Option<u64>,
    /// When the connection was aborted before its last byte was delivered.
    pub aborted_at: Option<u64>,
    /// Every reply of every client; empty without rounds.
    pub replies: Vec<Reply>,
    /// The most packets that waited at the bottleneck during the flow's life; with several bottlenecks, at any of them.
    pub queue_peak: u32,
    /// The time integral of the packets waiting at the bottleneck during the flow's life, in packet-nanoseconds. With
    /// several bottlenecks it is that of the one with the greatest integral, whose queue is recorded.
    pub queue_packet_nanos: u128,
}

/// An exit from start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitSeen {
    /// When start-up ended.
    pub at: u64,
    /// Why start-up ended.
    pub cause: Cause,
    /// The window before any reduction, in payload bytes.
    pub cwnd: u64,
    /// The rate that the scheme found, in IP bits per second.
    pub rate: Option<u64>,
}

/// By how much ACKs widened the window in start-up, as far as the run tells: only an ACK that acknowledges more than a segment,
/// as a delayed one does, tells bytes from ACKs. The order is by how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuCounts {
    /// No ACK that acknowledged more than a segment widened the window.
    #[default]
    Either,
    /// Such ACKs widened it, each by a segment at most (RFC 5681 section 3.1).
    Acks,
    /// One widened it by more than a segment, and none by more than it acknowledged (RFC 9002 section 7.3.1), a segment begun
    /// being a whole one, as Linux counts.
    Bytes,
    /// One widened it by more than it acknowledged.
    Beyond,
}

impl SuCounts {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Either, Self::Acks, Self::Bytes, Self::Beyond];

    /// The word in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Either => "either",
            Self::Acks => "acks",
            Self::Bytes => "bytes",
            Self::Beyond => "beyond",
        }
    }

    /// What this word of a row says; [`SuCounts::Either`] for any other word.
    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|counts| counts.name() == name).unwrap_or_default()
    }

    /// What an ACK that acknowledges `acked` bytes and widens the window by `growth` says.
    pub fn said_by(acked: u64, growth: u64, mss: u64) -> Self {
        match growth {
            0 => Self::Either,
            _ if acked <= mss && growth <= mss => Self::Either,
            _ if growth > acked.div_ceil(mss.max(1)).saturating_mul(mss) => Self::Beyond,
            _ if growth > mss => Self::Bytes,
            _ => Self::Acks,
        }
    }
}

/// How Quick-Start's routers answered requests for a rate (RFC 4782): counts of requests, each request once for every
/// router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterAnswers {
    /// Requests that reached a router.
    pub asked: u64,
    /// Requests approved in full.
    pub granted: u64,
    /// Requests approved at a lower rate.
    pub reduced: u64,
    /// Requests denied.
    pub refused: u64,
}
