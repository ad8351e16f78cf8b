//! An exit and its cause.

use serde::{Deserialize, Serialize};

/// The cause of an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// A segment was lost and retransmitted.
    Loss,
    /// A segment was retransmitted after a silence.
    Timeout,
    /// The receiver echoed congestion marks.
    Mark,
    /// The flight stopped growing. No loss, mark or limit was visible.
    Flat,
    /// The flight stopped growing and then fell without a loss.
    Drain,
    /// The receiver's window was full.
    ReceiverWindow,
    /// The application had too little to send.
    Application,
    /// The sender's log reports the end, without a loss or a mark.
    Reported,
}

impl Cause {
    /// Returns the cause's name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Flat => "flat",
            Self::Drain => "drain",
            Self::ReceiverWindow => "receiver-window",
            Self::Application => "application",
            Self::Reported => "reported",
        }
    }
}

/// The end of a start-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Exit {
    pub(crate) cause: Cause,
    pub(crate) at: u64,
    /// Earliest time at which the sender may have known of the cause.
    pub(crate) known: u64,
    /// Bytes in flight at the exit.
    pub(crate) flight: u64,
    /// Index of the exit's round in its busy period, counted from zero.
    pub(crate) round: usize,
    /// The reason why packets do not show whether start-up ended there, or its cause. `None` if they show it.
    pub(crate) unsure: Option<Unsure>,
    /// Latest time of the exit if packets show only an interval, which begins at `at`.
    pub(crate) until: Option<u64>,
}

impl Exit {
    /// Creates an exit with these values; the others are defaults.
    pub(crate) fn new(cause: Cause, at: u64, flight: u64) -> Self {
        Self { cause, at, known: at, flight, round: 0, unsure: None, until: None }
    }
}

/// The reason why packets do not show an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Unsure {
    /// Nothing shows that the sender ended start-up for this loss, and a paced sender may ignore it.
    Heeded,
    /// The flight of a paced sender never exceeded its first packets. This does not show an exit, because a later train may be as large as
    /// the first.
    NeverGrew,
    /// After an idle time the flight grew to at most twice its maximum before the idle time, or did not grow. Start-up may have ended
    /// before the idle time.
    BeforePause,
    /// Only the last segment was retransmitted, after a silence. This can be a tail loss probe or a timeout.
    Tail,
    /// A paced sender ignored a loss. Its exit is only known to lie in an interval.
    Passed,
}
