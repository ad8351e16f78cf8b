//! What reaches a sender's analysis, and what it notes down.

use serde::{Deserialize, Serialize};

use crate::packet::Point;

/// What tells a packet from its copies and from another one with the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// IPv4's, if it is one.
    pub(crate) identification: Option<u16>,
    /// TSval (RFC 7323 section 3.2).
    pub(crate) stamp: Option<u32>,
    /// Where it passed.
    pub(crate) point: Point,
}

/// Data that left this sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) origin: Origin,
    /// Bytes of TCP options.
    pub(crate) options_len: u8,
    /// Whether it answers an ECN echo (CWR).
    pub(crate) answers_echo: bool,
}

/// An acknowledgement for this sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ack {
    pub(crate) to: u64,
    /// The receiver's window in bytes, or as it stands if its scale is not known.
    pub(crate) window: u64,
    pub(crate) is_scaled: bool,
    pub(crate) blocks: [(u64, u64); 4],
    pub(crate) block_count: usize,
    /// ECN echo.
    pub(crate) echo: bool,
}

/// A packet that was sent again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Resent {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// In flight before it.
    pub(crate) flight: u64,
    /// In flight when data next left a round trip later.
    pub(crate) flight_later: Option<u64>,
    /// Payload that had left before it; once there is a flight of later, what left from it on until then.
    pub(crate) sent_later: u64,
    /// What had been delivered before it; once there is a flight of later, what was in the meantime.
    pub(crate) delivered_later: u64,
    /// Whether a timer sent it, as far as one can see.
    pub(crate) by_timer: bool,
    /// Whether it is the last of all that was sent, sent again for the first time with nothing acknowledged selectively: a probe of
    /// the tail may be that (RFC 8985 section 7).
    pub(crate) is_tail: bool,
    /// Whether the receiver said that it had it already.
    pub(crate) is_spurious: bool,
}

/// A congestion mark that was echoed: one a round trip at most.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// In flight before it.
    pub(crate) flight: u64,
    /// In flight when data next left half a round trip later, and when the sender answered. A sender that heeds a mark sends
    /// less from the acknowledgement on that tells of it.
    pub(crate) flight_later: Option<u64>,
    pub(crate) flight_at_answer: Option<u64>,
}

/// The flight rose above all before.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Climb {
    pub(crate) at: u64,
    pub(crate) flight: u64,
    /// New payload that had left by then.
    pub(crate) sent: u64,
}

/// An idle time and what came after it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) at: u64,
    pub(crate) idle: u64,
    pub(crate) flight_before: u64,
    /// Its first round's place among the rounds kept.
    pub(crate) round: usize,
}

/// Sums over the connection.
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
    /// Segments sent again sooner after they were seen than anything can be answered.
    pub(crate) too_soon: u64,
    pub(crate) restarts: u64,
    pub(crate) out_of_window: u64,
    /// Bytes in the SYN that its answer acknowledged.
    pub(crate) syn_data: u64,
}

/// What is known of the path before data flows.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The smaller of the MSS options; payload may be less by the timestamps.
    pub(crate) mss_option: Option<u16>,
    pub(crate) timestamps: bool,
    /// Whether both SYNs are there, and one of them does not permit selective acknowledgements.
    pub(crate) no_sack: bool,
    /// Whether the capture cut some of the SYNs' options off.
    pub(crate) options_cut: bool,
    /// From the capture's place to the sender and back: what an acknowledgement that passes here causes can pass
    /// here that much later.
    pub(crate) shift: u64,
    /// The handshake's round trip, for judging gaps until there are samples.
    pub(crate) handshake: Option<u64>,
}

impl Setting {
    /// How much earlier than the shift an acknowledgement counts as heard, for jitter: what it causes must not come first.
    pub(crate) fn slack(&self) -> u64 {
        self.shift / 16
    }
}
