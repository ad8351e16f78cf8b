//! ECN marks: one reduction a window of data, and what the next new data says of it.

use firstflight::{Avoidance, Event, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::recovery::{Answered, Mode, Undo};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// RFC 3168 section 6.1.2: one reduction a window of data. A repair answers the marks of what was out when it began; the
    /// echo of another goes on, with no CWR sent for it, until the repair is over.
    #[inline]
    pub(super) fn note_marks(&mut self, now: Time, ece: bool) {
        if ece && self.ecn && matches!(self.mode, Mode::Open) && self.una > self.cwr_until {
            self.answer_mark(now);
        }
    }

    #[inline(never)]
    fn answer_mark(&mut self, now: Time) {
        self.answer_marks_with_this();
        self.approved.congested(self.una);
        self.undo = Undo::default();
        let prior = self.plan.window;
        self.tell_of_congestion(now, &Event::Marked { sent_at: None });
        self.reducing_for_marks = true;
        self.reduction = self.reduction_for_mark(prior);
    }

    /// Linux steers to what a mark left of the window by PRR, as it does after a loss.
    pub(super) fn steer_to_reduction(&mut self, progress: &Progress) {
        if !self.reducing_for_marks {
            self.reduction = None;
        }
        if self.reduction.is_none() {
            return;
        }
        let ack = self.prr_ack(progress);
        if let Some(reduction) = &mut self.reduction
            && !ack.delivered.is_zero()
        {
            reduction.on_ack(&ack);
        }
    }

    /// A reduction answers all marks of the window of data that is out, and the next new data says so with CWR
    /// (RFC 3168 section 6.1.2). Gives what had been answered before.
    pub(super) fn answer_marks_with_this(&mut self) -> Answered {
        let before = Answered { until: self.cwr_until, due: self.cwr_due };
        if self.ecn {
            self.cwr_until = self.nxt;
            self.cwr_due = true;
        }
        before
    }

    /// The reduction that took its place was for nothing: marks from now on are answered anew, and CWR need not leave (Linux
    /// `tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw_answer(&mut self, before: Answered) {
        self.cwr_until = before.until;
        self.cwr_due &= before.due;
    }

    /// A mark that a reduction for a loss answers, too, makes that reduction final, whether or not anything was lost: the window
    /// has to be halved for it (RFC 3168 section 6.1.2; Linux `tcp_fastretrans_alert` forgets `prior_ssthresh`).
    #[inline]
    pub(super) fn keep_reduction_for_mark(&mut self, ece: bool) {
        self.undo.keeps_window |= ece && self.ecn;
    }
}
