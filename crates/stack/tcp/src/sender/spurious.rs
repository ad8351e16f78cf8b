//! Detects and undoes spurious reductions, and processes the answer to a tail loss probe.

use firstflight::{Avoidance, Bytes, Event, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::echo::{echo_of, is_before};
use super::interface::AckInput;
use super::recovery::{Mode, Undo};
use crate::endpoint_event::EndpointEvent;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Discards the undo state if it is too old. Returns whether this state could still have undone a reduction.
    pub(super) fn forget_old_undo(&mut self) -> bool {
        let old = self.recovery.is_open() && self.stream.una() > self.undo.until;
        let settled = old && core::mem::take(&mut self.undo).armed;
        if settled {
            self.controller.forget_undo();
        }
        settled
    }

    /// Undoes a reduction if the ACK shows that nothing was lost. The repair ends, and the window is restored unless an ECN mark also
    /// required the reduction.
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
        // RFC 5682: data arrives that was sent only before the timeout. Without SACK, this data may have arrived long before. If the ACK
        // also covers retransmitted data, it therefore shows nothing.
        let covers_resent = || self.scratch.arrivals.iter().any(|arrival| arrival.delivered.retransmitted);
        let originals_arrive = self.undo.frto
            && !(self.rules.counts_duplicates() && covers_resent())
            && matches!(self.recovery.mode, Mode::Loss { recover } if self.scratch.arrivals.iter()
                .any(|arrival| !arrival.delivered.retransmitted && arrival.end <= recover));
        if !(all_were_duplicates || answers_the_original || originals_arrive) {
            return;
        }
        let undone = core::mem::take(&mut self.undo);
        if self.recovery.is_fast() {
            self.journal.note(EndpointEvent::RecoveryEnded);
        }
        self.recovery.mode = Mode::Open;
        self.board.unmark_lost();
        if undone.keeps_window {
            // Nothing more can be shown. The undo state is discarded when this window of data is acknowledged.
            self.undo = Undo { armed: true, keeps_window: true, until: self.stream.nxt(), ..Undo::default() };
            return;
        }
        self.ecn.withdraw(undone.marks);
        self.counters.undone += 1;
        self.report(now, &Event::SpuriousLoss);
    }

    /// Checks whether an ACK is the answer to the original of the first retransmission (RFC 3522). It is if it is the first to acknowledge
    /// this segment (`before` is the previous cumulative ACK) and echoes an older timestamp than the retransmission's.
    #[inline]
    pub(super) fn answers_the_original(&self, before: u64, input: &AckInput<'_>) -> bool {
        matches!((echo_of(input), self.undo.stamp), (Some(echo), Some(stamp)) if is_before(echo, stamp))
            && self.undo.armed
            && self.undo.resent.is_some_and(|(first, _)| before <= first && first < input.ack)
    }

    /// Applies F-RTO as Linux does (RFC 5682 section 3.1, `tcp_process_loss`). After a timeout, the first ACK that advances allows new data
    /// before any retransmission. If SACKs or duplicates follow, the loss was real.
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

    /// Processes the answer to a tail loss probe (RFC 8985 section 7.4.2). If the probe retransmitted the last segment, it waits for one of
    /// two events. If a duplicate is reported, nothing was lost. If later data is acknowledged without this report, the probe repaired a
    /// loss, and congestion control must be notified.
    pub(super) fn answer_probe(&mut self, now: Time, input: &AckInput<'_>, progress: &Progress) {
        let Some(probe) = self.recovery.probe.unanswered() else { return };
        if input.ack < probe.end {
            return;
        }
        let arrived_twice = input.dsack.is_some_and(|(_, end)| end == probe.end);
        // If the ACK has a new window or SACK blocks, it may have been sent for another reason.
        let without_sack =
            self.rules.dialect.probes_answer_with_sack() || input.blocks.is_empty() && input.dsack.is_none();
        let pure_duplicate = input.ack == probe.end
            && self.scratch.arrivals.is_empty()
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
            self.scratch.lost.clear();
            self.scratch.lost.push(lost);
            self.undo = Undo::default();
            self.answer_marks_with_probes_loss();
            // The flight is that of the time when this ACK arrived, including the lost segment, as fast recovery would have found it.
            self.report_lost_in(now, self.flight_to_reduce() + Bytes::new(progress.advanced));
        }
    }
}
