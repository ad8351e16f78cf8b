//! Counters that every run keeps.

use firstflight::Time;

/// Counters of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowStats {
    /// When it started: the SYN left, or the first datagram; `None` before.
    pub started: Option<Time>,
    /// When its client's first packet with payload left.
    pub first_data: Option<Time>,
    /// How it ended, if it did.
    pub end: Option<End>,
    /// Packets with payload that its client sent, retransmissions included.
    pub data_sent: u64,
    /// Packets of `data_sent` that a queue dropped, full or not.
    pub data_dropped_by_queue: u64,
    /// Packets of `data_sent` that a policer dropped.
    pub data_dropped_by_policer: u64,
    /// Packets of `data_sent` that were lost at random.
    pub data_dropped_at_random: u64,
    /// Packets of `data_sent` that a queue marked as having met congestion.
    pub data_marked: u64,
    /// All other packets of its hosts: SYNs, ACKs, FINs.
    pub control_sent: u64,
    /// Packets of `control_sent` that the network dropped, for whatever cause.
    pub control_dropped: u64,
    /// TCP: payload bytes delivered in order. CBR: IP bytes that arrived.
    pub delivered_bytes: u64,
}

/// How a TCP flow ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The last byte of a sized transfer was delivered in order.
    Delivered(Time),
    /// An endpoint aborted the connection before that: repeated retransmissions were not answered (RFC 9293 section
    /// 3.8.3), or the connection was reset.
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

    /// When the connection was aborted, if that was before the last byte was delivered.
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
    /// Requests for some rate that reached the router.
    pub asked: u64,
    /// Requests that the router approved as they were.
    pub granted: u64,
    /// Requests that the router approved at a lower rate.
    pub reduced: u64,
    /// Requests that the router denied.
    pub refused: u64,
}

/// Counters of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkStats {
    /// Packets accepted, those lost at random included.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// IP bits that the transmitter has sent up to now, the sent part of the packet in transmission included. A
    /// transmitter that takes no time has sent every packet that left the queue.
    pub sent_bits: u64,
    /// Packets that the queue dropped: it was full, or its discipline dropped them. Packets dropped after they had been
    /// accepted are in `packets` too.
    pub dropped_by_queue: u64,
    /// Packets that the policer dropped.
    pub dropped_by_policer: u64,
    /// Packets that the discipline marked.
    pub marked: u64,
    /// Packets lost at random, counted when they would have arrived.
    pub dropped_at_random: u64,
    /// The most packets that ever waited at once, the one in transmission not counted.
    pub peak_packets: u32,
    /// The most IP bytes that ever waited at once.
    pub peak_bytes: u64,
    /// The time integral of the packets waiting, in packet-nanoseconds, up to now. Divide it by a length of time for
    /// the mean queue over that time.
    pub packet_nanos: u128,
    /// The time integral of the bytes waiting, in byte-nanoseconds.
    pub byte_nanos: u128,
    /// Counters of the link's Quick-Start router.
    pub quick_start: QuickStartStats,
}
