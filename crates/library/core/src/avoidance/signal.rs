//! The meaning of an event for a law that grows by ACKs and reduces at congestion.

use crate::interface::{Ack, Cause, Event};

/// An event as seen by a law that grows by ACKs and reduces at congestion.
pub(super) enum Signal<'a> {
    /// An ACK, by which the window may grow.
    Ack(&'a Ack<'a>),
    /// Congestion that calls for a reduction: [`Cause::Loss`] at the first loss of an episode, [`Cause::Mark`] or
    /// [`Cause::Timeout`].
    Congestion(Cause),
    /// Nothing that changes the window.
    Inert,
}

impl<'a> Signal<'a> {
    /// Returns the signal of `event`. The match names every event, so that a new event is a compile error until its
    /// meaning for these laws is decided.
    #[inline]
    pub(super) fn of(event: &'a Event<'a>) -> Self {
        match event {
            Event::Acked(ack) => Self::Ack(ack),
            Event::Lost(loss) if loss.opens_episode => Self::Congestion(Cause::Loss),
            Event::Marked { .. } => Self::Congestion(Cause::Mark),
            Event::TimedOut { .. } => Self::Congestion(Cause::Timeout),
            Event::Begin(_)
            | Event::Established { .. }
            | Event::Sent(_)
            | Event::Lost(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => Self::Inert,
        }
    }
}
