//! What a host may leave unsaid: the economies of a host that counts instructions per ACK.
//!
//! Most packets leave, and most ACKs arrive, when nobody minds anything of them but the growth of the window. A scheme or
//! law says so by its constant [`Hears`]; a host that wants to profit imports [`InBrief`]. A host that does not tells the
//! controller everything by [`Controller::on`], to the same effect.

use crate::controller::{Controller, Phase};
use crate::seam::{Avoidance, Event, Path, Startup};
use crate::units::Bytes;

/// What a part of the controller minds, for hosts that would rather not say the rest. Each answer is the same at all times
/// of a connection; a type that is one of several, chosen at run time, asks the one that it is.
///
/// [`Hears::ALL`] is always right. A part that declares less promises that it does the same without what it leaves out.
#[derive(Debug)]
pub struct Hears<T> {
    sends: fn(&T) -> bool,
    later_losses: fn(&T) -> bool,
    others: fn(&T) -> bool,
    widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>,
}

impl<T> Clone for Hears<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Hears<T> {}

impl<T> Hears<T> {
    /// Everything.
    pub const ALL: Self =
        Self { sends: |_| true, later_losses: |_| true, others: |_| true, widen: |_, _, _| None };

    /// [`Event::Sent`] changes nothing.
    #[must_use]
    pub const fn without_sends(self) -> Self {
        self.sends_if(|_| false)
    }

    /// An [`Event::Lost`] that opens no episode changes nothing: an overshoot makes thousands of them.
    #[must_use]
    pub const fn without_later_losses(self) -> Self {
        self.later_losses_if(|_| false)
    }

    /// `overhear` does nothing.
    #[must_use]
    pub const fn without_others(self) -> Self {
        self.others_if(|_| false)
    }

    /// [`Event::Sent`] may change something where `minds` says so.
    #[must_use]
    pub const fn sends_if(self, minds: fn(&T) -> bool) -> Self {
        Self { sends: minds, ..self }
    }

    /// An [`Event::Lost`] that opens no episode may change something where `minds` says so.
    #[must_use]
    pub const fn later_losses_if(self, minds: fn(&T) -> bool) -> Self {
        Self { later_losses: minds, ..self }
    }

    /// `overhear` may do something where `minds` says so.
    #[must_use]
    pub const fn others_if(self, minds: fn(&T) -> bool) -> Self {
        Self { others: minds, ..self }
    }

    /// `widen` does what [`Event::Acked`] would, where the part minds nothing of the ACK but [`crate::Ack::growth`], nothing of
    /// the path but the segment size, and goes on with a plan that differs in the window only. `widen` is given the growth
    /// and the segment size, and answers with the window. Where the part minds more, `widen` does nothing and answers
    /// `None`; the part is then told in full.
    #[must_use]
    pub const fn widened_by(self, widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>) -> Self {
        Self { widen, ..self }
    }

    /// Whether [`Event::Sent`] may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn sends(&self, part: &T) -> bool {
        (self.sends)(part)
    }

    /// Whether an [`Event::Lost`] that opens no episode may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn later_losses(&self, part: &T) -> bool {
        (self.later_losses)(part)
    }

    /// Whether `part` does anything when it overhears.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn others(&self, part: &T) -> bool {
        (self.others)(part)
    }

    /// The window of `part` after an ACK that allows `growth`, with segments of `mss`; `None` if `part` wants the ACK in full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one step of the shortest way of an ACK")]
    pub fn widen(&self, part: &mut T, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        (self.widen)(part, growth, mss)
    }
}

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
    /// not say it, and keeps its plan.
    fn minds_losses(&self, recovering: bool) -> bool;
}

impl<S: Startup, R: Startup, A: Avoidance> InBrief for Controller<S, R, A> {
    #[inline]
    fn on_own(&mut self, event: &mut Event<'_>, path: &Path) {
        if let Event::Acked(ack) = event {
            self.judge(ack, path);
            self.forward(event, path);
        } else {
            self.on(event, path);
        }
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
