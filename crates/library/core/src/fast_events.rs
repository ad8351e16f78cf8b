//! Shorter ways to report events, for a host that counts instructions per ACK.
//!
//! Most packets and ACKs change nothing but the growth of the window. A scheme or law declares by its constant
//! [`crate::Interest`] on which other events it depends. To save instructions, a host imports [`FastEvents`]. Any other host
//! reports every event by [`Controller::on`], with the same effect.

use crate::controller::{Controller, Phase};
use crate::interface::{Avoidance, Event, Path, Startup};
use crate::units::Bytes;

/// The part of an ACK that [`FastEvents::acked_fast`] takes.
#[derive(Clone, Copy, Debug)]
pub struct FastAck {
    /// Bytes by which the cumulative acknowledgement advanced ([`crate::Ack::advanced`]).
    pub advanced: Bytes,
    /// First byte not cumulatively acknowledged ([`Path::una`]).
    pub una: u64,
    /// Next new byte to send ([`Path::nxt`]).
    pub nxt: u64,
    /// The window in force before the ACK ([`Path::cwnd`]).
    pub cwnd: Bytes,
    /// Payload of a full segment ([`Path::mss`]).
    pub mss: Bytes,
    /// Whether a loss episode is being repaired ([`Path::recovering`]).
    pub recovering: bool,
    /// Whether slow start grows by the bytes of the ACK, not by at most a segment ([`crate::Ack::counts_bytes`]).
    pub counts_bytes: bool,
}

/// Shorter ways to report events to a controller. Each has the effect of the event that it replaces.
pub trait FastEvents {
    /// Reports `event` as [`Controller::on`] does, for a host that does not need `event` afterwards: the controller
    /// fills its values into `event` itself.
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path);

    /// Reports an ACK to parts that depend only on [`crate::Ack::growth`]. Returns the window of the new plan, which
    /// differs from the old plan in the window only. If a part needs the whole ACK, returns `None` and changes
    /// nothing; the host then reports [`Event::Acked`]. Only a host with `Path::flight = nxt - una` may call this.
    fn acked_fast(&mut self, ack: &FastAck) -> Option<Bytes>;

    /// Returns whether [`Event::Sent`] may change the plan or the effect of later events. If not, a host may call
    /// [`FastEvents::count_sent`] instead, and keep its plan.
    fn needs_sends(&self) -> bool;

    /// Counts a packet whose [`Event::Sent`] no part depends on. `flight` is the number of bytes in flight, including
    /// the packet.
    fn count_sent(&mut self, flight: Bytes);

    /// Returns whether [`Event::Lost`] may change anything while [`Path::recovering`] is `recovering`. If not, a host
    /// may leave the event out and keep its plan. This holds only for a host whose losses have neither
    /// [`crate::Loss::sent_at`] nor [`crate::Loss::persistent`].
    fn needs_losses(&self, recovering: bool) -> bool;
}

impl<S: Startup, R: Startup, A: Avoidance> FastEvents for Controller<S, R, A> {
    #[inline]
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path) {
        self.on_owned(event, path);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "its arguments stay in registers")]
    fn acked_fast(&mut self, ack: &FastAck) -> Option<Bytes> {
        if self.observes {
            return None;
        }
        let grows = !ack.recovering
            && (self.state.judge.window_was_the_limit(self.state.lead(), ack.cwnd, ack.mss)
                || self.host_limits_growth);
        let growth = if grows { ack.advanced } else { Bytes::ZERO };
        let window = match self.state.phase {
            // The short way would count the ACK as one ACK. This start-up counts the bytes of the ACK.
            Phase::Startup if ack.counts_bytes => None,
            Phase::Startup => S::INTEREST.widen(&mut self.state.startup, growth, ack.mss),
            Phase::Restart => None,
            Phase::Avoidance => A::INTEREST.widen(&mut self.state.avoidance, growth, ack.mss),
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
            Phase::Startup => S::INTEREST.sends(&self.state.startup),
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
        !answered || self.observes || A::INTEREST.later_losses(&self.state.avoidance)
    }
}
