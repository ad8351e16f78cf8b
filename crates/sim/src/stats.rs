//! Counters that every run keeps.

use firstflight::Time;

/// What became of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowStats {
    /// When it started: the SYN left, or the first datagram; `None` before.
    pub started: Option<Time>,
    /// When its first packet with payload left.
    pub first_data: Option<Time>,
    /// How it ended, if it did.
    pub end: Option<End>,
    /// Packets with payload that its client sent, retransmissions included.
    pub data_sent: u64,
    /// Of those, how many a queue dropped, full or not.
    pub data_dropped_by_queue: u64,
    /// Of those, how many a policer dropped.
    pub data_dropped_by_policer: u64,
    /// Of those, how many were lost at random.
    pub data_dropped_at_random: u64,
    /// Of those sent, how many a queue marked as having met congestion.
    pub data_marked: u64,
    /// All other packets of its hosts: SYNs, ACKs, FINs.
    pub control_sent: u64,
    /// Of those, how many the network dropped, for whatever cause.
    pub control_dropped: u64,
    /// TCP: payload bytes delivered in order. CBR: IP bytes that arrived.
    pub delivered_bytes: u64,
}

/// How a TCP flow ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The last byte of a sized transfer was delivered in order.
    Delivered(Time),
    /// Before that an endpoint aborted the connection: what it sent again and again was not answered (RFC 9293 section
    /// 3.8.3), or it was reset.
    Aborted(Time),
}

impl FlowStats {
    /// When the last byte of a sized transfer was delivered in order.
    pub fn finished(&self) -> Option<Time> {
        match self.end? {
            End::Delivered(at) => Some(at),
            End::Aborted(_) => None,
        }
    }

    /// When the connection was aborted before that.
    pub fn aborted(&self) -> Option<Time> {
        match self.end? {
            End::Aborted(at) => Some(at),
            End::Delivered(_) => None,
        }
    }

    /// When it ended, in whatever way.
    pub fn ended(&self) -> Option<Time> {
        self.finished().or(self.aborted())
    }
}

/// What a link's router did with Quick-Start requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuickStartStats {
    /// Requests for some rate that reached it.
    pub asked: u64,
    /// Of those, how many it approved as they were.
    pub granted: u64,
    /// How many it approved at a lower rate.
    pub reduced: u64,
    /// How many it denied.
    pub refused: u64,
}

/// What a link did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkStats {
    /// Packets accepted, those lost at random included.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets that the queue dropped: it was full, or its discipline said so. Those dropped after they had been
    /// accepted are in `packets` too.
    pub dropped_by_queue: u64,
    /// Packets that the policer dropped.
    pub dropped_by_policer: u64,
    /// Packets that the discipline marked.
    pub marked: u64,
    /// Packets lost at random, by the time of their would-be arrival.
    pub dropped_at_random: u64,
    /// The most packets that ever waited at once, the one in transmission not counted.
    pub peak_packets: u32,
    /// The most IP bytes that ever waited at once.
    pub peak_bytes: u64,
    /// The time integral of the packets waiting, in packet-nanoseconds, up to now: divide by a length of time
    /// for the mean queue over it.
    pub packet_nanos: u128,
    /// The time integral of the bytes waiting, in byte-nanoseconds.
    pub byte_nanos: u128,
    /// Quick-Start requests.
    pub quick_start: QuickStartStats,
}
