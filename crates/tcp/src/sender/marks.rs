//! ECN marks: one reduction per window of data, and the CWR that answers the echo.

use firstflight::{Avoidance, Event, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::prr::Prr;
use super::recovery::{Answered, Undo};

/// ECN of the connection (RFC 3168).
#[derive(Clone, Debug, Default)]
pub(super) struct Ecn {
    /// Whether both sides agreed on it.
    agreed: bool,
    /// Whether the next new data carries CWR.
    cwr_due: bool,
    /// Whether a mark was answered and its window of data is not over.
    reducing: bool,
    /// Marks are answered again once this is acknowledged (section 6.1.2).
    cwr_until: u64,
    /// PRR of the reduction that a mark called for, where it steers to that.
    reduction: Option<Box<Prr>>,
}

impl Ecn {
    pub(super) fn agree(&mut self, agreed: bool) {
        self.agreed = agreed;
    }

    /// Whether an ACK tells of a mark: it carries an echo (`ece`) and ECN was agreed on.
    #[inline]
    pub(super) fn tells(&self, ece: bool) -> bool {
        ece && self.agreed
    }

    /// Whether an echo on an ACK up to `una` is of a mark that no reduction answered yet.
    #[inline]
    fn is_unanswered(&self, una: u64) -> bool {
        una > self.cwr_until
    }

    /// Whether a mark was answered and its window of data is not over.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.reducing
    }

    /// PRR of the reduction that a mark called for, where it steers to that.
    #[inline]
    pub(super) fn reduction(&self) -> Option<&Prr> {
        self.reduction.as_deref()
    }

    #[inline]
    pub(super) fn reduction_mut(&mut self) -> Option<&mut Prr> {
        self.reduction.as_deref_mut()
    }

    /// Whether no mark is to be answered and none is being answered.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.reduction.is_none() && !self.reducing && !self.cwr_due
    }

    /// The reduction begins for a mark: by PRR, or at once.
    fn begin(&mut self, reduction: Option<Box<Prr>>) {
        (self.reducing, self.reduction) = (true, reduction);
    }

    /// Something else reduces the window, or the reduction is over.
    #[inline]
    pub(super) fn end(&mut self) {
        self.reducing = false;
    }

    /// The reduction is over if its window of data is acknowledged, up to `una`.
    #[inline]
    pub(super) fn end_if_acknowledged(&mut self, una: u64) {
        if una > self.cwr_until {
            self.reducing = false;
        }
    }

    /// Whether a mark was answered and something of its window of data, beyond `una`, is outstanding.
    pub(super) fn answers_up_to(&self, una: u64) -> bool {
        self.reducing && una < self.cwr_until
    }

    /// A reduction answers all marks of the data outstanding, which ends at `nxt`. The next new data says so with CWR (RFC 3168
    /// section 6.1.2). Gives what had been answered before.
    pub(super) fn answer(&mut self, nxt: u64) -> Answered {
        let before = Answered { until: self.cwr_until, due: self.cwr_due };
        if self.agreed {
            self.cwr_until = nxt;
            self.cwr_due = true;
        }
        before
    }

    /// The reduction for a loss was spurious, and took the place of what was answered `before`. Marks from now on are answered
    /// anew, and CWR need not leave (Linux `tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw(&mut self, before: Answered) {
        self.cwr_until = before.until;
        self.cwr_due &= before.due;
    }

    /// The next new data carries CWR.
    pub(super) fn call_for_cwr(&mut self) {
        self.cwr_due |= self.agreed;
    }

    /// Whether new data that leaves now carries CWR; asking clears it.
    #[inline]
    pub(super) fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.cwr_due)
    }

    /// Whether the next new data carries CWR.
    #[cfg(test)]
    pub(super) fn is_cwr_due(&self) -> bool {
        self.cwr_due
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Answers a mark, with one reduction per window of data (RFC 3168 section 6.1.2). A repair answers the marks of what was
    /// outstanding when it began. The echo of any other mark goes on, with no CWR sent for it, until the repair is over.
    #[inline]
    pub(super) fn note_marks(&mut self, now: Time, ece: bool) {
        if self.ecn.tells(ece) && self.recovery.is_open() && self.ecn.is_unanswered(self.stream.una()) {
            self.answer_mark(now);
        }
    }

    #[inline(never)]
    fn answer_mark(&mut self, now: Time) {
        self.ecn.answer(self.stream.nxt());
        self.packets.approved.congested(self.stream.una());
        self.undo = Undo::default();
        let prior = self.plan.window;
        self.tell_of_congestion(now, &Event::Marked { sent_at: None });
        self.ecn.begin(self.reduction_for_mark(prior));
    }

    /// Moves the PRR of a mark's reduction. Linux comes down to the reduced window by PRR after a mark, as after a loss.
    pub(super) fn steer_to_reduction(&mut self, progress: &Progress) {
        if !self.ecn.reducing {
            self.ecn.reduction = None;
        }
        if self.ecn.reduction.is_none() {
            return;
        }
        let ack = self.prr_ack(progress);
        if let Some(reduction) = self.ecn.reduction_mut()
            && !ack.delivered.is_zero()
        {
            reduction.on_ack(&ack);
        }
    }

    /// A reduction for a loss that also answers a mark is final, whether or not anything was lost: the mark halves the window
    /// anyway (RFC 3168 section 6.1.2; Linux `tcp_fastretrans_alert` forgets `prior_ssthresh`).
    #[inline]
    pub(super) fn keep_reduction_for_mark(&mut self, ece: bool) {
        self.undo.keeps_window |= self.ecn.tells(ece);
    }
}
