//! The parts of a sender's state, by concern.

use serde::{Deserialize, Serialize};

use super::first_packets::FirstPackets;
use super::full_size::FullSize;
use crate::curve::Period;
use crate::events::{Climb, Mark, Resent, Restart};
use crate::exit::Exit;
use crate::few::Few;
use crate::path::PathWatch;
use crate::trace::Tracing;

/// Times of the sender's packets and of acknowledgements.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instants {
    pub(crate) first_data: Option<u64>,
    pub(super) last_data: Option<u64>,
    /// Time of the last acknowledgement that reported something new.
    pub(super) last_progress: Option<u64>,
    /// Time of the last acknowledgement of any kind.
    pub(super) last_ack: Option<u64>,
    /// Time at which the capture's clock was last set back. RTTs of packets sent before are not measured.
    pub(crate) timed_since: u64,
}

/// Busy periods, and the idle times between them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Periods {
    pub(crate) current: Period,
    /// The completed busy period in which most bytes were delivered.
    pub(super) largest: Option<Box<Period>>,
    /// The end of start-up, if it was in a completed busy period.
    pub(super) exit: Option<Box<Exit>>,
    /// Whether the sender's host reports the end of start-up. Packets are not judged then, even if no end was reported.
    pub(super) is_reported: bool,
    pub(crate) restarts: Few<Restart>,
    /// Number of new payload bytes sent before this busy period.
    pub(super) sent_before: u64,
    /// Maximum number of bytes in flight in the last round with data.
    pub(super) last_peak: u64,
}

/// Retransmissions and recoveries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recovery {
    pub(crate) resent: Few<Resent>,
    /// Index of the first retransmission whose `flight_later` is not yet known.
    pub(super) awaited: usize,
    /// End of the current recovery, as a stream offset: the recovery lasts until this offset is acknowledged.
    pub(super) until: Option<u64>,
    /// Time at which a selective acknowledgement first reported data above the current hole.
    pub(super) hole_since: Option<u64>,
    /// Time at which the first recovery ended.
    pub(crate) first_end: Option<u64>,
}

/// Congestion marks that acknowledgements echoed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Marks {
    pub(super) kept: Few<Mark>,
    /// Index of the first mark whose `flight_later` is not yet known.
    pub(super) awaited: usize,
}

/// Growth of the bytes in flight during a busy period.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Flight {
    /// New maxima of the bytes in flight. Each exceeds the previous one by a thirty-second, so there are some hundreds at most.
    pub(super) climbs: Vec<Climb>,
    pub(super) greatest: u64,
    /// Time at which the bytes in flight were last within a sixteenth of their maximum.
    pub(super) held_at: u64,
}

/// Sizes of the segments.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Segments {
    pub(super) full: FullSize,
    pub(super) first: FirstPackets,
    /// Payload bytes of the first round that a timer sent.
    pub(crate) probed: u64,
}

/// Limits of the sender other than the congestion window: the application and the receiver.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Number of bytes acknowledged since the last data was sent.
    pub(super) acked_since: u64,
    /// Whether the last packet was not full.
    pub(super) last_was_short: bool,
    /// Whether any packet had PSH, and whether the last packet had it. Some senders never set it.
    pub(super) pushes: bool,
    pub(super) last_was_pushed: bool,
    /// Time between the last two packets.
    pub(super) last_gap: u64,
    pub(super) window: PeerWindow,
}

/// State of the receiver's window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct PeerWindow {
    /// The right edge of the window, as a stream offset.
    pub(super) edge: Option<u64>,
    /// Whether the edge was computed without a known window scale. `is_exceeded` says whether data was sent above the edge; together they
    /// prove that windows are scaled.
    pub(super) is_raw: bool,
    pub(super) is_exceeded: bool,
    /// Time since which the window has had no room for a full segment. The time before it is already counted in rounds.
    pub(super) full_since: Option<u64>,
    /// Whether the window was full at a time after the last packet, and then opened.
    pub(super) was_full: bool,
}

/// Data for plots. Only if requested.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Drawn {
    pub(crate) trace: Option<Box<Tracing>>,
    /// Measurements of the path.
    pub(crate) path: Option<Box<PathWatch>>,
}
