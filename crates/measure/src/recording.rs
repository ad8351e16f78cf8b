//! The recording of one run as time series, from which the report and the metrics are made.
//!
//! Times are nanoseconds since the start of the simulation. Stream positions are payload bytes. Sizes are IP bytes for the
//! network and payload bytes for the sender.

use serde::Serialize;

/// The recording of one flow in one run.
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
    /// Packets of the flow that the network dropped, in order of the drop.
    pub drops: Vec<Drop>,
    /// The sender's state, whenever it changed.
    pub states: Vec<State>,
    /// Round-trip samples: (when, nanoseconds).
    pub rtts: Vec<(u64, u64)>,
    /// Cumulative acknowledgements that arrived: (when, offset).
    pub acks: Vec<(u64, u64)>,
    /// In-order delivery at the receiver: (when, offset).
    pub delivered: Vec<(u64, u64)>,
    /// The number of packets in the bottleneck's queue whenever it changed: (when, how many). With several bottlenecks it
    /// is the one with the longest mean queue.
    pub queue: Vec<(u64, u32)>,
    /// The phases of the sender, in order.
    pub phases: Vec<PhaseSpan>,
    /// Marks on the time axis: exits, timeouts, reductions, undos, data after an idle time.
    pub marks: Vec<Mark>,
    /// Rate available to this flow over time, as steps: (from when, IP bits per second).
    pub available: Vec<(u64, u64)>,
    /// The ideal sender's stream as it arrives at the receiver, as steps: (from when, IP bits per second), zero before the
    /// first. Empty with rounds, which have no ideal.
    pub ideal: Vec<(u64, u64)>,
}

impl Recording {
    /// An empty recording that reuses the buffers of this one.
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

/// A data packet that left the sender.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Send {
    /// When the packet left.
    pub at: u64,
    /// First payload byte.
    pub offset: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether the data had been sent before.
    pub retransmission: bool,
}

/// A packet of the flow that the network dropped.
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
    /// Whether a queue or a policer dropped the packet, rather than random loss.
    pub by_queue: bool,
}

/// The sender's state from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// The beginning of the state.
    pub at: u64,
    /// Congestion window in payload bytes.
    pub cwnd: u64,
    /// Slow-start threshold, if any.
    pub ssthresh: Option<u64>,
    /// The sender's estimate of the bytes in flight.
    pub in_flight: u64,
}

/// The phase of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// The handshake is not over.
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

/// A span of one phase.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PhaseSpan {
    /// The beginning of the span.
    pub from: u64,
    /// The end of the span.
    pub to: u64,
    /// The phase.
    pub kind: PhaseKind,
}

/// An event that figures mark.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// When the event happened.
    pub at: u64,
    /// The kind of event: `exit`, `timeout`, `reduction`, `undo`, `su-end`, `quick-start`.
    pub kind: String,
    /// One line for the reader, such as the exit's cause and numbers, or the window before a reduction.
    pub text: String,
}
