//! The response to congestion marks (ECN): one reduction per window of data.

use firstflight::{Avoidance, Event, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::recovery::Undo;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Responds to a mark, with at most one reduction per window of data (RFC 3168 section 6.1.2). A repair also answers the marks on the
    /// data that was outstanding when it began. For any other mark no CWR is sent, so the receiver echoes it until the repair is over.
    #[inline]
    pub(super) fn note_marks(&mut self, now: Time, ece: bool) {
        if self.ecn.shows_mark(ece) && self.recovery.is_open() && self.ecn.is_unanswered(self.stream.una()) {
            self.answer_mark(now);
        }
    }

    #[inline(never)]
    fn answer_mark(&mut self, now: Time) {
        self.ecn.answer(self.stream.nxt());
        self.packets.approved.congested(self.stream.una());
        self.undo = Undo::default();
        let prior = self.plan.window;
        self.report_congestion(now, &Event::Marked { sent_at: None });
        self.ecn.begin(self.reduction_for_mark(prior));
    }

    /// Updates the PRR state of a reduction for a mark. Linux reduces the window with PRR after a mark, as after a loss.
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

    /// If the ACK also echoes a mark, makes the reduction for a loss final even if nothing was lost, because the mark requires to halve the
    /// window anyway (RFC 3168 section 6.1.2; Linux `tcp_fastretrans_alert` clears `prior_ssthresh`).
    #[inline]
    pub(super) fn keep_reduction_for_mark(&mut self, ece: bool) {
        self.undo.keeps_window |= self.ecn.shows_mark(ece);
    }
}
