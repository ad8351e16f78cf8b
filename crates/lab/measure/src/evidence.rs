//! The evidence of one run, from which the metrics are computed.

use firstflight::Cause;

use crate::counted::Counted;
use crate::cpu::CpuFields;
use crate::recording::Recording;
use crate::rounds::Reply;
use crate::waits::Wait;

/// The evidence of one run: the recording, and the events inside the sender.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The time series of the run. If the packets were counted ([`Evidence::counted`]), they are empty unless figures need them.
    pub recording: Recording,
    /// The counts of the flow's packets that metrics need, if they were kept while the flow ran. `None` if the recording has all packets.
    pub counted: Option<Counted>,
    /// Exits from start-up that were not undone, in order.
    pub exits: Vec<ExitSeen>,
    /// The growth class of start-up: the highest of its ACKs.
    pub su_counts: SuCounts,
    /// Packet trains sent before the first exit from start-up. All plans of one train have the same tag.
    pub trains: u64,
    /// Window reductions that were not undone, each as (when, payload bytes of the window before).
    pub cuts: Vec<(u64, u64)>,
    /// When each retransmission timeout expired.
    pub timeouts: Vec<u64>,
    /// Loss episodes, each with its start and, if it ended, its end.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// The first rate that the path's routers approved for Quick-Start, in IP bits per second.
    pub granted: Option<u64>,
    /// The answers of the path's routers to requests for a rate, summed over routers; `None` if no scheme could ask.
    pub routers: Option<RouterAnswers>,
    /// CPU time of the hosts.
    pub cpu: CpuFields,
    /// The number of the flow's data packets that a queue marked as having met congestion, each counted once.
    pub packets_marked: u64,
    /// The end of su-time: when new data was first sent under the avoidance law.
    pub su_end: Option<u64>,
    /// When the last byte of a transfer with a size was delivered.
    pub finished_at: Option<u64>,
    /// When the connection was aborted before its last byte was delivered.
    pub aborted_at: Option<u64>,
    /// Every reply of every client; empty if the scenario has no rounds.
    pub replies: Vec<Reply>,
    /// The longest time in which no packet of the flow was in flight; `None` if packets were not observed in both directions.
    pub longest_wait: Option<Wait>,
    /// The total length of all times in which no packet was in flight, in nanoseconds. `None` if packets in flight were not observed.
    pub waited: Option<u64>,
    /// The maximum number of packets that waited at the bottleneck during the flow's life; with several bottlenecks, at any of them.
    pub queue_peak: u32,
    /// The time integral of the packets waiting at the bottleneck during the flow's life, in packet-nanoseconds. With several bottlenecks
    /// it is the greatest integral of any, and the recording has the queue of that bottleneck.
    pub queue_packet_nanos: u128,
}

/// An exit from start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitSeen {
    /// When start-up ended.
    pub at: u64,
    /// Why start-up ended.
    pub cause: Cause,
    /// The congestion window before any reduction, in payload bytes.
    pub cwnd: u64,
    /// The rate that the scheme found, in IP bits per second.
    pub rate: Option<u64>,
}

/// The growth class of a start-up: by how much each ACK widened the window. Only an ACK of more than one segment, such as a delayed ACK,
/// shows whether a sender counts bytes or ACKs. The classes are ordered by growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuCounts {
    /// No ACK that acknowledged more than a segment widened the window.
    #[default]
    Either,
    /// ACKs of more than one segment widened the window, each by at most a segment (RFC 5681 section 3.1).
    Acks,
    /// An ACK widened the window by more than a segment, and none by more than it acknowledged (RFC 9002 section 7.3.1), rounded up to
    /// whole segments as Linux does.
    Bytes,
    /// An ACK widened the window by more than it acknowledged.
    Beyond,
}

impl SuCounts {
    /// All growth classes, in order of growth.
    pub const ALL: [Self; 4] = [Self::Either, Self::Acks, Self::Bytes, Self::Beyond];

    /// Returns the word that rows have for this class.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Either => "either",
            Self::Acks => "acks",
            Self::Bytes => "bytes",
            Self::Beyond => "beyond",
        }
    }

    /// Returns the class that rows write as `name`; [`SuCounts::Either`] for an unknown word.
    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|counts| counts.name() == name).unwrap_or_default()
    }

    /// Classifies an ACK that acknowledges `acked` bytes and widens the window by `growth` bytes.
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

/// The answers of the path's routers to Quick-Start's requests for a rate (RFC 4782). Each request counts once for every router.
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
