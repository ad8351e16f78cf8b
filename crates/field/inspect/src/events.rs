//! Inputs of the analysis of a sender, and the events that the analysis records.

use serde::{Deserialize, Serialize};

use crate::packet::Point;

/// Header fields that distinguish a packet from its captured copies, and from another packet with the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The identification field of IPv4; `None` for IPv6.
    pub(crate) identification: Option<u16>,
    /// The timestamp value, TSval (RFC 7323 section 3.2).
    pub(crate) stamp: Option<u32>,
    /// Capture point of the packet.
    pub(crate) point: Point,
}

/// A data packet of this sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) at: u64,
    /// Whether `at` is the time at which the packet passed. If not, the packet gives no RTT sample.
    pub(crate) is_timed: bool,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) origin: Origin,
    /// Bytes of TCP options.
    pub(crate) options_len: u8,
    /// Whether the packet responds to an ECN echo (CWR).
    pub(crate) answers_echo: bool,
    /// Whether the packet has PSH. TCP sets it on the last segment of the data that the application wrote (RFC 9293 section 3.9.1.2).
    pub(crate) is_pushed: bool,
}

/// An acknowledgement for this sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ack {
    pub(crate) to: u64,
    /// Whether the packet passed at its recorded time. If not, the packet gives no RTT sample.
    pub(crate) is_timed: bool,
    /// Receive window in bytes. If the window scale is unknown, the header's value without scaling.
    pub(crate) window: u64,
    pub(crate) is_scaled: bool,
    pub(crate) blocks: [(u64, u64); 4],
    pub(crate) block_count: usize,
    /// Whether the acknowledgement echoes a congestion mark.
    pub(crate) echo: bool,
}

/// A retransmitted packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Resent {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Time at which a selective acknowledgement first reported data above the hole. From this time on, the sender may have known of the
    /// loss.
    pub(crate) known: u64,
    /// Bytes in flight before the retransmission.
    pub(crate) flight: u64,
    /// Maximum number of bytes in flight in the round of the retransmission, before the retransmission. It exceeds `flight` if the sender
    /// waited until less than its reduced window was in flight (RFC 6675 section 4).
    pub(crate) flight_before: u64,
    /// Bytes in flight at the first transmission an RTT or more after the retransmission.
    pub(crate) flight_later: Option<u64>,
    /// Number of payload bytes sent before the retransmission. Once `flight_later` is set: the number sent from the retransmission until
    /// then.
    pub(crate) sent_later: u64,
    /// Number of bytes delivered before the retransmission. Once `flight_later` is set: the number delivered from the retransmission until
    /// then.
    pub(crate) delivered_later: u64,
    /// Whether a timer caused the retransmission, as far as packets show.
    pub(crate) by_timer: bool,
    /// Whether the packet was the last one sent, is retransmitted for the first time and was not selectively acknowledged. It may then be a
    /// tail loss probe (RFC 8985 section 7).
    pub(crate) is_tail: bool,
    /// Whether the receiver reported that it already had the packet.
    pub(crate) is_spurious: bool,
}

/// An echoed congestion mark: at most one per RTT.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// Bytes in flight before the mark.
    pub(crate) flight: u64,
    /// Bytes in flight at the first transmission half an RTT or more after the mark. A sender that heeds a mark sends less as soon as the
    /// acknowledgement reports it. `flight_at_answer` is the value when the sender responded with CWR.
    pub(crate) flight_later: Option<u64>,
    pub(crate) flight_at_answer: Option<u64>,
}

/// A time at which the bytes in flight reached a new maximum.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Climb {
    pub(crate) at: u64,
    pub(crate) flight: u64,
    /// New payload bytes sent by this time.
    pub(crate) sent: u64,
}

/// An idle time and the restart after it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) at: u64,
    pub(crate) idle: u64,
    pub(crate) flight_before: u64,
    /// Index of the restart's first round among the rounds that are kept.
    pub(crate) round: usize,
}

/// Counts over the whole connection.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) segments: u64,
    pub(crate) bytes: u64,
    pub(crate) data_segments: u64,
    pub(crate) resent_segments: u64,
    pub(crate) resent_bytes: u64,
    pub(crate) spurious_segments: u64,
    pub(crate) timeouts: u64,
    pub(crate) episodes: u64,
    pub(crate) first_episode_segments: u64,
    pub(crate) unseen_bytes: u64,
    pub(crate) duplicates: u64,
    pub(crate) reordered: u64,
    /// Number of segments that passed a second time so soon that no acknowledgement can have caused it.
    pub(crate) too_soon: u64,
    pub(crate) restarts: u64,
    pub(crate) out_of_window: u64,
    /// Number of bytes in the SYN that the SYN-ACK acknowledged.
    pub(crate) syn_data: u64,
}

/// Properties of the path and the connection that are known before data flows.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The smaller of the two MSS options. Timestamps may reduce the payload of a segment below it.
    pub(crate) mss_option: Option<u16>,
    pub(crate) timestamps: bool,
    /// Whether the capture has both SYNs and at least one does not permit selective acknowledgements.
    pub(crate) no_sack: bool,
    /// Whether the capture truncated the options of a SYN.
    pub(crate) options_cut: bool,
    /// Time from the capture point to the sender and back. If an acknowledgement passes the capture point and triggers a packet, the packet
    /// passes this much later.
    pub(crate) shift: u64,
    /// RTT of the handshake. It is used to judge gaps until the data gives RTT samples.
    pub(crate) handshake: Option<u64>,
}

impl Setting {
    /// Returns an allowance for jitter: an acknowledgement is taken to arrive this much earlier than `shift` says, because a packet that it
    /// triggers must not precede it.
    pub(crate) fn slack(&self) -> u64 {
        self.shift / 16
    }
}
