//! Spurious reductions: the evidence that nothing was lost, and what the answer to a tail loss probe says.

use firstflight::{Avoidance, Bytes, Event, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::echo::{echo_of, is_before};
use super::interface::AckInput;
use super::recovery::{Mode, Undo};
use crate::happening::Happening;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Forgets evidence that is too old to undo a reduction. Says whether there was a reduction that could have been undone.
    pub(super) fn forget_old_undo(&mut self) -> bool {
        let old = self.recovery.is_open() && self.stream.una() > self.undo.until;
        let settled = old && core::mem::take(&mut self.undo).armed;
        if settled {
            self.controller.forget_undo();
        }
        settled
    }

    /// Undoes a reduction that answered no real loss: the repair is over, and the window is what it was, unless an ECN mark had
    /// called for the reduction, too.
    pub(super) fn undo_if_spurious(&mut self, now: Time, input: &AckInput<'_>, progress: &Progress) {
        if let Some((start, end)) = input.dsack
            && self.undo.covers(start, end)
        {
            let segments = Bytes::new(end - start).packets(self.stream.mss()).max(1);
            self.undo.outstanding = self.undo.outstanding.saturating_sub(segments);
        }
        if !self.undo.armed || self.undo.resent.is_none() || self.recovery.is_open() && input.dsack.is_none()
        {
            return;
        }
        let all_were_duplicates = input.dsack.is_some() && self.undo.outstanding == 0;
        let answers_the_original = self.answers_the_original(input.ack - progress.advanced, input);
        // RFC 5682: data sent before the timeout, and not again, arrives. Without SACK it may have arrived long before, and
        // an ACK that also covers what was sent again says nothing.
        let covers_resent = || self.lists.arrivals.iter().any(|arrival| arrival.delivered.retransmitted);
        let originals_arrive = self.undo.frto
            && !(self.rules.counts_duplicates() && covers_resent())
            && matches!(self.recovery.mode, Mode::Loss { recover } if self.lists.arrivals.iter()
                .any(|arrival| !arrival.delivered.retransmitted && arrival.end <= recover));
        if !(all_were_duplicates || answers_the_original || originals_arrive) {
            return;
        }
        let undone = core::mem::take(&mut self.undo);
        if self.recovery.is_fast() {
            self.journal.note(Happening::RecoveryEnded);
        }
        self.recovery.mode = Mode::Open;
        self.board.unmark_lost();
        if undone.keeps_window {
            // Nothing is watched for any more; the copies go when this window is acknowledged.
            self.undo = Undo { armed: true, keeps_window: true, until: self.stream.nxt(), ..Undo::default() };
            return;
        }
        self.ecn.withdraw(undone.marks);
        self.counters.undone += 1;
        self.tell(now, &Event::SpuriousLoss);
    }

    /// Whether an ACK answers the original of the first retransmission (RFC 3522): it is the first to acknowledge that segment,
    /// all up to `before` having been acknowledged, and echoes an older timestamp than the retransmission's.
    #[inline]
    pub(super) fn answers_the_original(&self, before: u64, input: &AckInput<'_>) -> bool {
        matches!((echo_of(input), self.undo.stamp), (Some(echo), Some(stamp)) if is_before(echo, stamp))
            && self.undo.armed
            && self.undo.resent.is_some_and(|(first, _)| before <= first && first < input.ack)
    }

    /// F-RTO as Linux has it (RFC 5682 section 3.1, `tcp_process_loss`): the first ACK after a timeout that advances lets new
    /// data leave before anything is sent again. Then SACKs or duplicates say that the loss was real.
    pub(super) fn look_at_timeout(&mut self, progress: &Progress) {
        self.recovery.new_first = false;
        let more = self.stream.nxt() < self.stream.written() && self.peer_window.admits(self.stream.nxt());
        let Mode::Loss { recover } = &mut self.recovery.mode else { return };
        if !self.undo.frto {
            return;
        }
        if self.stream.nxt() > *recover {
            self.undo.frto = progress.sacked == 0 && !progress.duplicate;
        } else if progress.advanced > 0 && self.stream.una() < *recover {
            *recover = self.stream.nxt();
            self.recovery.new_first = more;
            self.undo.frto = more;
        }
    }

    /// What the answer to a tail loss probe says (RFC 8985 section 7.4.2). A probe that repeated the last segment stays open
    /// until one of two things: a duplicate is reported, so that nothing was lost; or data sent later is acknowledged without
    /// such a report. Then the probe repaired a loss, and congestion control must hear of it.
    pub(super) fn answer_probe(&mut self, now: Time, input: &AckInput<'_>, progress: &Progress) {
        let Some(probe) = self.recovery.probe.unanswered() else { return };
        if input.ack < probe.end {
            return;
        }
        let arrived_twice = input.dsack.is_some_and(|(_, end)| end == probe.end);
        // A new window, or data beyond a hole, makes an ACK for reasons of its own.
        let without_sack =
            self.rules.dialect.probes_answer_with_sack() || input.blocks.is_empty() && input.dsack.is_none();
        let pure_duplicate = input.ack == probe.end
            && self.lists.arrivals.is_empty()
            && !input.carries_data
            && !progress.window_changed
            && without_sack;
        let repaired = input.ack > probe.end;
        if probe.again.is_none() || arrived_twice || pure_duplicate || repaired {
            self.recovery.probe.forget();
        }
        if let Some(lost) = probe.again
            && repaired
            && !arrived_twice
            && self.recovery.is_open()
        {
            self.lists.lost.clear();
            self.lists.lost.push(lost);
            self.undo = Undo::default();
            self.answer_marks_with_probes_loss();
            // What was out when this ACK came: as fast recovery would have found it, with the segment that was lost.
            self.tell_lost_in(now, self.flight_to_reduce() + Bytes::new(progress.advanced));
        }
    }
}
