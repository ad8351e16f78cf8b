//! The order of the last steps of an ACK: the response to losses and marks, and the controller's event.

use firstflight::{Avoidance, Startup, Time};

use super::Dialect;
use crate::sender::Sender;
use crate::sender::ack::Progress;

impl Dialect {
    /// Checks whether spurious recoveries are counted among the recoveries after which an enlarged reordering window is reset (RFC 8985
    /// section 6.2 step 4). Linux counts only real recoveries (`tcp_try_undo_recovery`).
    pub(in crate::sender) const fn counts_needless_recoveries(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Responds to the losses and marks that an ACK shows, after its samples and any undo. `ece` says whether the ACK has an ECN echo.
    #[inline]
    pub(in crate::sender) fn answer(&mut self, now: Time, progress: &Progress, ece: bool) {
        if self.rules.dialect.is_linux() {
            self.answer_as_linux(now, progress, ece);
        } else {
            self.answer_as_rfc(now, progress, ece);
        }
    }

    /// Uses the order of the RFCs. First, each acknowledged byte may increase the window, whatever else the ACK shows (RFC 5681 section
    /// 3.1). Then come the losses and marks that the ACK shows. The reduction for them applies to the window after this growth.
    #[inline]
    fn answer_as_rfc(&mut self, now: Time, progress: &Progress, ece: bool) {
        // Comes before the end of an episode, so that data acknowledged by the last ACK of a recovery does not increase the window.
        self.report_acked(now, progress);
        // Comes before loss detection, so that losses of later data begin a new episode.
        self.end_episode_if_repaired(now);
        self.note_losses(now, progress);
        self.limited_transmit();
        // Comes after losses, because a reduction for a loss that begins now is also the response to the mark.
        self.keep_reduction_for_mark(ece);
        self.note_marks(now, ece);
    }

    /// Uses Linux's order, in which `tcp_fastretrans_alert` comes before `tcp_cong_control`. An ACK that shows a loss or a mark does not
    /// increase the window. An ACK that ends a recovery may.
    #[inline(never)]
    fn answer_as_linux(&mut self, now: Time, progress: &Progress, ece: bool) {
        // `tcp_process_loss`, F-RTO's part.
        self.look_at_timeout(progress);
        // `tcp_try_undo_recovery`, `tcp_end_cwnd_reduction`.
        self.end_episode_if_repaired(now);
        // `tcp_identify_packet_loss`, `tcp_enter_recovery`.
        self.note_losses(now, progress);
        // `tcp_try_to_open`, `tcp_enter_cwr`.
        self.note_marks(now, ece);
        // `tcp_cong_avoid`, if `tcp_may_raise_cwnd` says so.
        self.report_acked(now, progress);
        self.limited_transmit();
        self.keep_reduction_for_mark(ece);
    }
}
