//! The order of an ACK's last steps: what the ACK shows is answered, and the controller hears of it.

use firstflight::{Avoidance, Startup, Time};

use super::Dialect;
use crate::sender::Sender;
use crate::sender::ack::Progress;

impl Dialect {
    /// Whether a recovery that turned out to be for nothing counts among those after which a widened reordering window is
    /// narrow again (RFC 8985 section 6.2 step 4). Linux counts those alone that were needed (`tcp_try_undo_recovery`).
    pub(in crate::sender) const fn counts_needless_recoveries(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Answers what an ACK with or without an ECN echo shows, once its samples are made and what it undoes is undone.
    #[inline]
    pub(in crate::sender) fn answer(&mut self, now: Time, progress: &Progress, ece: bool) {
        if self.rules.dialect.is_linux() {
            self.answer_as_linux(now, progress, ece);
        } else {
            self.answer_as_rfc(now, progress, ece);
        }
    }

    /// The RFCs' order: each acknowledged byte may widen the window (RFC 5681 section 3.1), whatever else the ACK says; then
    /// comes what the ACK shows of losses and marks, and their reduction is of the window that the ACK left.
    #[inline]
    fn answer_as_rfc(&mut self, now: Time, progress: &Progress, ece: bool) {
        // While the episode is open that the ACK may end: what a recovery's last ACK acknowledges widens nothing.
        self.tell_acked(now, progress);
        // Before losses are looked for, so that what the ACK shows of later data begins an episode of its own.
        self.end_episode_if_repaired(now);
        self.note_losses(now, progress);
        self.limited_transmit();
        // After losses: a reduction for a loss that begins now answers the mark, too.
        self.keep_reduction_for_mark(ece);
        self.note_marks(now, ece);
    }

    /// Linux's order: `tcp_fastretrans_alert` comes before `tcp_cong_control`. An ACK that tells of a loss or of a mark widens
    /// nothing, and an ACK that ends a recovery may.
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
        self.tell_acked(now, progress);
        self.limited_transmit();
        self.keep_reduction_for_mark(ece);
    }
}
