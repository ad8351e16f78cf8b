//! Shorter ways to report events, for a host that counts instructions per ACK.
//!
//! Most packets and ACKs change nothing but the growth of the window. A scheme or law declares by its constant
//! [`crate::Hears`] what else it depends on. A host that wants to save instructions imports [`InBrief`]. A host that
//! does not reports every event by [`Controller::on`], to the same effect.

use crate::controller::{Controller, Phase};
use crate::seam::{Avoidance, Event, Path, Startup};
use crate::units::Bytes;

/// The part of an ACK that [`InBrief::acked_in_brief`] takes.
#[derive(Clone, Copy, Debug)]
pub struct Brief {
    /// [`crate::Ack::advanced`].
    pub advanced: Bytes,
    /// [`Path::una`].
    pub una: u64,
    /// [`Path::nxt`].
    pub nxt: u64,
    /// [`Path::cwnd`].
    pub cwnd: Bytes,
    /// [`Path::mss`].
    pub mss: Bytes,
    /// [`Path::recovering`].
    pub recovering: bool,
    /// [`crate::Ack::counts_bytes`].
    pub counts_bytes: bool,
}

/// Shorter ways to report events to a controller. Each has the effect of the event that it replaces.
pub trait InBrief {
    /// Reports `event` as [`Controller::on`] does, for a host that does not need `event` afterwards: the controller
    /// fills its values into `event` itself.
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path);

    /// Reports an ACK to parts that depend only on [`crate::Ack::growth`]. Returns the window of the new plan, which
    /// differs from the old plan in the window only. Returns `None`, having changed nothing, if a part needs the
    /// whole ACK: the host then says [`Event::Acked`]. Only a host whose [`Path::flight`] is the difference of `nxt`
    /// and `una` may call this.
    fn acked_in_brief(&mut self, ack: &Brief) -> Option<Bytes>;

    /// Whether [`Event::Sent`] may change the plan or the effect of later events. While it may not, a host may call
    /// [`InBrief::count_sent`] instead, and keep its plan.
    fn needs_sends(&self) -> bool;

    /// Replaces an [`Event::Sent`] on which no part depends: a packet left, and `flight` bytes are now in flight, the
    /// packet included.
    fn count_sent(&mut self, flight: Bytes);

    /// Whether [`Event::Lost`] may change anything while [`Path::recovering`] is `recovering`. While it may not, a
    /// host may leave the event out and keep its plan. This holds only for a host whose losses have neither
    /// [`crate::Loss::sent_at`] nor [`crate::Loss::persistent`].
    fn needs_losses(&self, recovering: bool) -> bool;
}

impl<S: Startup, R: Startup, A: Avoidance> InBrief for Controller<S, R, A> {
    #[inline]
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path) {
        self.hear_own(event, path);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "its arguments stay in registers")]
    fn acked_in_brief(&mut self, ack: &Brief) -> Option<Bytes> {
        if self.overheard {
            return None;
        }
        let grows = !ack.recovering
            && (self.state.judge.window_was_the_limit(self.state.lead(), ack.cwnd, ack.mss)
                || self.host_judges);
        let growth = if grows { ack.advanced } else { Bytes::ZERO };
        let window = match self.state.phase {
            // The short way of a start-up counts the ACK as one, and not its bytes.
            Phase::Startup if ack.counts_bytes => None,
            Phase::Startup => S::HEARS.widen(&mut self.state.startup, growth, ack.mss),
            Phase::Restart => None,
            Phase::Avoidance => A::HEARS.widen(&mut self.state.avoidance, growth, ack.mss),
        };
        let window = window?;
        self.state.episode &= ack.recovering;
        if self.state.judge.round_ended(ack.una) {
            self.state.judge.start_round(ack.nxt, Bytes::new(ack.nxt - ack.una));
        }
        Some(window.max(ack.mss))
    }

    #[inline]
    fn needs_sends(&self) -> bool {
        let governs = match self.state.phase {
            Phase::Startup => S::HEARS.sends(&self.state.startup),
            Phase::Restart => true,
            Phase::Avoidance => false,
        };
        governs || self.sends_matter
    }

    #[inline]
    fn count_sent(&mut self, flight: Bytes) {
        self.state.judge.sent(flight);
    }

    #[inline]
    fn needs_losses(&self, recovering: bool) -> bool {
        let answered = self.state.episode && recovering && self.state.phase == Phase::Avoidance;
        !answered || self.overheard || A::HEARS.later_losses(&self.state.avoidance)
    }
}
