//! The limit of a sender.

/// The limit that kept a sender from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendLimit {
    /// The application had no more to send.
    #[default]
    App,
    /// The congestion window was full.
    Window,
    /// The pacer held the next packet back.
    Pacing,
    /// The peer's receive window was full.
    Receiver,
}
