//! What one run left behind, as plain time series: the input of the report and of the metrics.
//!
//! Times are nanoseconds since the start of the simulation; stream positions are payload bytes; sizes are IP
//! bytes where they belong to the network and payload bytes where they belong to the sender.

use serde::Serialize;

/// Everything recorded of one flow in one run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recording {
    /// The row's label, for titles: the scheme, or its `as=` label.
    pub label: String,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// When the SYN left.
    pub syn_at: u64,
    /// When the first data packet left.
    pub first_data_at: Option<u64>,
    /// When the run ended.
    pub ended_at: u64,
    /// Every data packet that left the sender, in order.
    pub sends: Vec<Send>,
    /// Own packets that the network dropped, in order of the drop.
    pub drops: Vec<Drop>,
    /// The sender's state, whenever it changed.
    pub states: Vec<State>,
    /// Round-trip samples: (when, nanoseconds).
    pub rtts: Vec<(u64, u64)>,
    /// Cumulative acknowledgements that arrived: (when, offset).
    pub acks: Vec<(u64, u64)>,
    /// In-order delivery at the receiver: (when, offset).
    pub delivered: Vec<(u64, u64)>,
    /// Packets in the bottleneck's queue whenever it changed: (when, how many). Of several bottlenecks, the one whose
    /// mean queue is the longest.
    pub queue: Vec<(u64, u32)>,
    /// The ribbon: spans of phases, in order.
    pub phases: Vec<PhaseSpan>,
    /// Marks on the time axis: exits, timeouts, reductions, undos, data again after an idle time.
    pub marks: Vec<Mark>,
    /// Rate available to this flow over time, as steps: (from when, IP bits per second).
    pub available: Vec<(u64, u64)>,
    /// The ideal sender's stream as it comes to the receiver, as steps: (from when, IP bits per second), nothing before the
    /// first. Empty with rounds, which have no ideal.
    pub ideal: Vec<(u64, u64)>,
}

impl Recording {
    /// An empty recording in the room of this one.
    pub fn emptied(self) -> Self {
        fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
            list.clear();
            list
        }
        let Self { sends, drops, states, rtts, acks, delivered, queue, phases, marks, .. } = self;
        Self {
            sends: emptied(sends),
            drops: emptied(drops),
            states: emptied(states),
            rtts: emptied(rtts),
            acks: emptied(acks),
            delivered: emptied(delivered),
            queue: emptied(queue),
            phases: emptied(phases),
            marks: emptied(marks),
            ..Self::default()
        }
    }
}

/// A data packet left.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Send {
    /// When.
    pub at: u64,
    /// First payload byte.
    pub offset: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether the data was sent before.
    pub retransmission: bool,
}

/// A packet of the flow was dropped by the network.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Drop {
    /// When it was dropped.
    pub at: u64,
    /// When it had left the sender.
    pub sent_at: u64,
    /// First payload byte.
    pub offset: u64,
    /// Payload bytes; 0 for a pure ACK, SYN or FIN.
    pub len: u32,
    /// Whether a queue or a policer dropped it, rather than random loss.
    pub by_queue: bool,
}

/// The sender's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// Since when.
    pub at: u64,
    /// Congestion window in payload bytes.
    pub cwnd: u64,
    /// Slow-start threshold, if any.
    pub ssthresh: Option<u64>,
    /// Bytes estimated in the network.
    pub in_flight: u64,
}

/// What the sender was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Before the handshake was over.
    Handshake,
    /// The start-up scheme governs.
    Startup,
    /// The restart policy governs.
    Restart,
    /// A loss episode is being repaired.
    Recovery,
    /// Slow start after a timeout.
    AfterTimeout,
    /// The avoidance law governs.
    Avoidance,
}

/// A stretch of one phase.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PhaseSpan {
    /// Since when.
    pub from: u64,
    /// Until when.
    pub to: u64,
    /// Which.
    pub kind: PhaseKind,
}

/// An instant worth a mark.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// When.
    pub at: u64,
    /// What: `exit`, `timeout`, `reduction`, `undo`, `su-end`, `quick-start`.
    pub kind: String,
    /// One line for the reader: the exit's cause and numbers, the window before a cut, and so on.
    pub text: String,
}
