//! The end of a start-up: its cause, and what was learned.

use crate::units::{Bytes, Rate};

/// A scheme's answer to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Start-up continues.
    Stay,
    /// Start-up is over.
    Exit(Exit),
}

/// The end of a start-up: its cause, and what was learned about the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The cause of the end.
    pub cause: Cause,
    /// The window, and the threshold and rate if they are known.
    pub learned: PathEstimate,
}

impl Exit {
    /// Returns whether congestion ended the start-up, so that the law that takes over must reduce.
    pub fn is_congestion(&self) -> bool {
        matches!(self.cause, Cause::Loss | Cause::Mark | Cause::Timeout)
    }
}

/// Why a start-up ended.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The window reached the slow-start threshold.
    Threshold,
    /// The round-trip time rose.
    Delay,
    /// The ACK train became as long as the forward path.
    AckTrain,
    /// Conservative slow start ran its rounds (RFC 9406).
    CssEnd,
    /// The dispersion of packet trains gave the rate.
    Dispersion,
    /// The delivery rate stopped growing.
    RateFlat,
    /// A packet was lost.
    Loss,
    /// The retransmission timer fired.
    Timeout,
    /// A packet was marked (ECN).
    Mark,
    /// The network gave a rate.
    Advice,
    /// The ACK clock is back after an idle time, and the window is what it was. A restart policy that exits with this
    /// cause returns control to the start-up or law that the idle time interrupted. A policy that changed the window
    /// exits with another cause.
    Resumed,
    /// The application had too little to send for the scheme to continue.
    AppLimited,
}

impl Cause {
    /// Returns the name used in results and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Delay => "delay",
            Self::AckTrain => "ack-train",
            Self::CssEnd => "css-end",
            Self::Dispersion => "dispersion",
            Self::RateFlat => "rate-flat",
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Advice => "advice",
            Self::Resumed => "resumed",
            Self::AppLimited => "app",
        }
    }
}

/// Knowledge of a scheme or law about the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathEstimate {
    /// The congestion window.
    pub window: Bytes,
    /// The threshold at which the next slow start should end; `None` if nothing is known.
    pub ssthresh: Option<Bytes>,
    /// The rate found, in IP bits per second, if the scheme finds one.
    pub rate: Option<Rate>,
}
