//! What a host may leave unsaid: the economies of a host that counts instructions per ACK.
//!
//! Most packets leave, and most ACKs arrive, when nobody minds anything of them but the growth of the window. A scheme or
//! law says so by its constant [`crate::Hears`]; a host that wants to profit imports [`InBrief`]. A host that does not tells the
//! controller everything by [`Controller::on`], to the same effect.

use crate::controller::{Controller, Phase};
use crate::seam::{Avoidance, Event, Path, Startup};
use crate::units::Bytes;

/// What [`InBrief::acked_in_brief`] is told of an ACK.
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

/// The shorter ways of telling a controller. Each has the effect of the event that it stands for.
pub trait InBrief {
    /// Tells of `event` as [`Controller::on`] does, for a host that needs the event no more: what the controller fills in
    /// is written to `event` itself.
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path);

    /// Tells of an ACK to parts that mind nothing of it but what they may grow by, and answers with the window of the plan, in
    /// which nothing else has changed. Answers `None`, with nothing done, if a part minds more: [`Event::Acked`] is then
    /// to be said. Only a host whose [`Path::flight`] is what lies between `una` and `nxt` may call this.
    fn acked_in_brief(&mut self, ack: &Brief) -> Option<Bytes>;

    /// Whether [`Event::Sent`] may change the plan or what comes of later events. While it may not, a host may say
    /// [`InBrief::sent_unminded`] in its place, and keep its plan.
    fn minds_sends(&self) -> bool;

    /// A packet left, and `flight` bytes are in flight with it.
    fn sent_unminded(&mut self, flight: Bytes);

    /// Whether [`Event::Lost`] may change anything while [`Path::recovering`] is `recovering`. While it may not, a host need
    /// not say it, and keeps its plan. Only a host whose losses have neither [`crate::Loss::sent_at`] nor
    /// [`crate::Loss::persistent`] may go by this.
    fn minds_losses(&self, recovering: bool) -> bool;
}

impl<S: Startup, R: Startup, A: Avoidance> InBrief for Controller<S, R, A> {
    #[inline]
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path) {
        self.hear_own(event, path);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is told is dear to pass through memory")]
    fn acked_in_brief(&mut self, ack: &Brief) -> Option<Bytes> {
        if self.overheard {
            return None;
        }
        let grows = !ack.recovering
            && (self.state.judge.window_was_the_limit(self.state.lead(), ack.cwnd, ack.mss)
                || self.host_judges);
        let growth = if grows { ack.advanced } else { Bytes::ZERO };
        let window = match self.state.phase {
            // What widens a start-up in brief counts the ACK as one.
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
    fn minds_sends(&self) -> bool {
        let governs = match self.state.phase {
            Phase::Startup => S::HEARS.sends(&self.state.startup),
            Phase::Restart => true,
            Phase::Avoidance => false,
        };
        governs || self.minded
    }

    #[inline]
    fn sent_unminded(&mut self, flight: Bytes) {
        self.state.judge.sent(flight);
    }

    #[inline]
    fn minds_losses(&self, recovering: bool) -> bool {
        let answered = self.state.episode && recovering && self.state.phase == Phase::Avoidance;
        !answered || self.overheard || A::HEARS.later_losses(&self.state.avoidance)
    }
}
