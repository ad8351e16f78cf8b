//! Counters that every run keeps.

use firstflight::Time;

/// Counters of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowStats {
    /// Start of the flow: the transmission of the SYN, or of the first datagram; `None` before.
    pub started: Option<Time>,
    /// The instant at which the client sent its first packet with payload.
    pub first_data: Option<Time>,
    /// How and when the flow ended; `None` before.
    pub end: Option<End>,
    /// Packets with payload that the client sent, including retransmissions.
    pub data_sent: u64,
    /// Packets of `data_sent` that a queue dropped, because it was full or by its discipline.
    pub data_dropped_by_queue: u64,
    /// Packets of `data_sent` that a policer dropped.
    pub data_dropped_by_policer: u64,
    /// Packets of `data_sent` that were lost at random.
    pub data_dropped_at_random: u64,
    /// Packets of `data_sent` that a queue marked as having met congestion.
    pub data_marked: u64,
    /// All other packets of the flow's hosts: SYNs, ACKs, FINs.
    pub control_sent: u64,
    /// Packets of `control_sent` that the network dropped, for whatever cause.
    pub control_dropped: u64,
    /// Bytes delivered. For TCP these are payload bytes in order; for CBR, IP bytes that arrived.
    pub delivered_bytes: u64,
}

/// The end of a TCP flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The last byte of a sized transfer was delivered in order.
    Delivered(Time),
    /// An endpoint aborted the connection before the last byte was delivered: repeated retransmissions were not
    /// answered (RFC 9293 section 3.8.3), or the connection was reset.
    Aborted(Time),
}

impl FlowStats {
    /// Returns when the last byte of a sized transfer was delivered in order.
    pub fn finished(&self) -> Option<Time> {
        match self.end? {
            End::Delivered(at) => Some(at),
            End::Aborted(_) => None,
        }
    }

    /// Returns when the connection was aborted, if that was before the last byte was delivered.
    pub fn aborted(&self) -> Option<Time> {
        match self.end? {
            End::Aborted(at) => Some(at),
            End::Delivered(_) => None,
        }
    }

    /// Returns when the flow ended, in either way.
    pub fn ended(&self) -> Option<Time> {
        self.finished().or(self.aborted())
    }
}

/// Answers of a link's router to Quick-Start requests.
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
    /// Packets accepted, including those lost at random.
    pub packets: u64,
    /// IP bytes of the packets accepted.
    pub bytes: u64,
    /// IP bits that the transmitter has sent up to now, including the sent part of the packet in transmission. A
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
    /// Maximum number of packets that ever waited at once, without the one in transmission.
    pub peak_packets: u32,
    /// Maximum number of IP bytes that ever waited at once.
    pub peak_bytes: u64,
    /// The time integral of the packets waiting, in packet-nanoseconds, up to now. Divide it by a length of time for
    /// the mean queue over that time.
    pub packet_nanos: u128,
    /// The time integral of the bytes waiting, in byte-nanoseconds.
    pub byte_nanos: u128,
    /// Counters of the link's Quick-Start router.
    pub quick_start: QuickStartStats,
}
