//! Whether a packet may be sent, and what kept a stack from sending more.

use firstflight::{SendLimit, Time};

/// The answer to a stack with a packet to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// The packet may be sent now.
    Now,
    /// The pacer releases the packet at this instant.
    At(Time),
    /// The packet does not fit the window. An acknowledgement or a loss is next.
    WindowFull,
    /// The plan holds new data until another plan.
    Held,
}

/// What kept a stack from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The application had no more to send.
    App,
    /// The congestion window was full.
    Window,
    /// The pacer held the next packet back.
    Pacing,
    /// Flow control: the peer takes no more.
    Receiver,
}

impl From<Limit> for SendLimit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::App => Self::App,
            Limit::Window => Self::Window,
            Limit::Pacing => Self::Pacing,
            Limit::Receiver => Self::Receiver,
        }
    }
}
