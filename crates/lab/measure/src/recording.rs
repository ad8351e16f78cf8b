//! The recording of one run as time series, from which the report and the metrics are made.
//!
//! Times are nanoseconds since the start of the simulation. Stream positions are payload bytes. Network sizes are IP bytes, and sizes of
//! the sender's state are payload bytes.

use serde::Serialize;

/// The recording of one flow in one run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recording {
    /// The row's label, for titles: the scheme, or its `as=` label.
    pub label: String,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// When the SYN was sent.
    pub syn_at: u64,
    /// When the first data packet was sent.
    pub first_data_at: Option<u64>,
    /// When the run ended.
    pub ended_at: u64,
    /// Every data packet sent, in order.
    pub sends: Vec<Send>,
    /// Packets of the flow that the network dropped, in order of the drop.
    pub drops: Vec<Drop>,
    /// The sender's state, whenever it changed.
    pub states: Vec<State>,
    /// Round-trip samples, each as (when, nanoseconds).
    pub rtts: Vec<(u64, u64)>,
    /// Cumulative acknowledgements that arrived, each as (when, stream position).
    pub acks: Vec<(u64, u64)>,
    /// In-order delivery at the receiver, as (when, stream position).
    pub delivered: Vec<(u64, u64)>,
    /// The number of packets in the bottleneck's queue whenever it changed, as (when, packets). With several bottlenecks it is the queue
    /// with the longest mean.
    pub queue: Vec<(u64, u32)>,
    /// The phases of the sender, in order.
    pub phases: Vec<PhaseSpan>,
    /// Marks on the time axis: exits, timeouts, reductions, undone reductions, and data after an idle time.
    pub marks: Vec<Mark>,
    /// The rate available to this flow over time, as steps: (from when, IP bits per second).
    pub available: Vec<(u64, u64)>,
    /// The ideal sender's stream as it arrives at the receiver, as steps: (from when, IP bits per second). The rate is zero before the
    /// first step. There are no steps with rounds, which have no ideal.
    pub ideal: Vec<(u64, u64)>,
}

impl Recording {
    /// Returns an empty recording that reuses the buffers of `self`.
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
    /// When the packet was sent.
    pub at: u64,
    /// The stream position of the packet's first payload byte.
    pub offset: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether the data had been sent before.
    pub retransmission: bool,
}

/// A packet of the flow that the network dropped.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Drop {
    /// When the packet was dropped.
    pub at: u64,
    /// When the sender sent the packet.
    pub sent_at: u64,
    /// The stream position of the packet's first payload byte.
    pub offset: u64,
    /// Payload bytes; 0 for a pure ACK, SYN or FIN.
    pub len: u32,
    /// Whether a queue or a policer dropped the packet, rather than random loss.
    pub by_queue: bool,
}

/// The sender's state from one instant until the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// When the state starts.
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
    /// The connection is in its handshake.
    Handshake,
    /// The start-up scheme controls the window.
    Startup,
    /// The restart policy controls the window.
    Restart,
    /// The sender repairs a loss episode.
    Recovery,
    /// The sender is in slow start after a timeout.
    AfterTimeout,
    /// The avoidance law controls the window.
    Avoidance,
}

/// A span of time in one phase.
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
    /// The kind of event: `exit`, `timeout`, `reduction`, `undo`, `restart`, `continued`, `su-end` or `quick-start`.
    pub kind: String,
    /// One line of text for the reader, such as the exit's cause and numbers, or the window before a reduction.
    pub text: String,
}
