//! Decides whether a segment is lost, whether a reduction was spurious, and when a repair ends.

use firstflight::{Avoidance, Startup, Time};

use super::Dialect;
use crate::config::Recovery;
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::rack::MIN_TIMEOUT;
use crate::sender::recovery::Mode;
use crate::sender::scoreboard::DUP_THRESH;

impl Dialect {
    /// Checks whether three SACKed segments above a hole show its loss, in addition to RACK's time (RFC 8985 section 3: only until
    /// reordering was seen). Since 6.17, Linux uses only RACK's time (`tcp_identify_packet_loss`).
    pub(in crate::sender) const fn counts_sacks(self) -> bool {
        !self.is_linux()
    }

    /// Checks whether RACK looks for overdue segments on every ACK. In Linux it does so only if the ACK delivers a segment
    /// (`tcp_rack_mark_lost`).
    pub(in crate::sender) const fn looks_at_every_ack(self) -> bool {
        !self.is_linux()
    }

    /// Checks whether the reordering timer waits until the next segment is overdue (RFC 8985 section 6.2 step 5). In Linux it waits until
    /// all of them are overdue (`tcp_rack_detect_loss`).
    pub(in crate::sender) const fn waits_for_the_next(self) -> bool {
        !self.is_linux()
    }

    /// Checks whether the repair after a timeout changes to fast recovery when another loss is found: the loss of a retransmission
    /// (`FLAG_LOST_RETRANS`), or one that the reordering timer finds (`tcp_rack_reo_timeout`). RFC 6675 section 5.1 forbids a fast recovery
    /// before all data outstanding at the timeout is acknowledged.
    pub(in crate::sender) const fn recovers_after_timeout(self) -> bool {
        self.is_linux()
    }

    /// Checks whether the number of duplicate ACKs is cleared at the end of a repair (`tcp_reset_reno_sack`).
    pub(in crate::sender) const fn forgets_duplicates(self) -> bool {
        self.is_linux()
    }

    /// Checks whether the answer to a tail loss probe may carry SACK blocks if it has no other content (`tcp_process_tlp_ack`). RFC 8985
    /// section 7.4.2 does not allow this.
    pub(in crate::sender) const fn probes_answer_with_sack(self) -> bool {
        self.is_linux()
    }

    /// Checks whether `repetitions` retransmissions of the SYN or SYN-ACK reduce the initial window to one segment. RFC 5681 section 3.1
    /// requires it after one loss, Linux after more (`tcp_init_transfer`). Linux's `tcp_try_undo_spurious_syn`, which checks the timestamps
    /// of a retransmitted SYN, is not implemented.
    pub(in crate::sender) const fn heeds_lost_syns(self, repetitions: u32) -> bool {
        repetitions > if self.is_linux() { 1 } else { 0 }
    }

    /// Checks whether the scoreboard records a tail loss probe as a retransmission, which can be marked lost again later. In Linux the
    /// probe keeps the original's position in the order of transmissions (`tcp_send_loss_probe`).
    pub(in crate::sender) const fn probes_are_resent(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the stream offset below which all data is repaired. Without SACK, Linux stays in recovery until data above the recovery
    /// point is acknowledged (`tcp_try_undo_recovery`). Late duplicates then begin no new repair.
    pub(in crate::sender) fn repaired_up_to(&self) -> u64 {
        if self.rules.dialect.is_linux() && !self.rules.method.uses_sack() {
            self.stream.una().saturating_sub(1)
        } else {
            self.stream.una()
        }
    }

    /// Checks whether the duplicate ACKs show a loss. `early` is the evidence of Vegas. RFC 5681 section 3.2 requires three of them.
    /// Duplicates that the retransmissions of an episode cause begin no new one (RFC 6582 section 3.2 step 1). Linux requires
    /// `tcp_reordering` duplicates, or as many as segments arrived late before.
    pub(in crate::sender) fn duplicates_suffice(&self, early: bool) -> bool {
        if self.rules.dialect.is_linux() {
            self.recovery.dupacks >= self.rack.reordering
        } else {
            (self.recovery.dupacks == DUP_THRESH || early)
                && self.recovery.recovered_to != Some(self.stream.una())
        }
    }

    /// Checks whether F-RTO should examine a timeout that may be spurious. `first_sign` says that the timeout is the first sign of a loss,
    /// and `repeated` that it follows another timeout. RFC 5682 requires a first sign, and SACK to identify originals with a single ACK.
    /// Linux examines a timeout also without SACK, and again after each consecutive timeout (`tcp_enter_loss`).
    pub(in crate::sender) fn asks_whether_spurious(&self, first_sign: bool, repeated: bool) -> bool {
        if self.rules.dialect.is_linux() {
            first_sign || repeated
        } else {
            self.rules.method == Recovery::Rack && first_sign
        }
    }

    /// Returns the time up to which the segments that a timeout marks lost were sent; the first segment is always lost. With RACK, only
    /// segments that RACK considers overdue are lost (RFC 8985 section 6.3; Linux's `tcp_timeout_mark_lost` uses no reordering window).
    /// Otherwise all are lost.
    pub(in crate::sender) fn overdue_at_timeout(&self, now: Time) -> Time {
        match self.rules.method {
            Recovery::Rack if self.rules.dialect.is_linux() => now - self.rack.rtt,
            Recovery::Rack => now - self.overdue_after(),
            _ => now,
        }
    }

    /// Marks losses with RACK and starts Linux's timer, which fires two ticks after the last candidate becomes overdue.
    pub(in crate::sender) fn wait_for_all_overdue(&mut self, now: Time) {
        let overdue_after = self.overdue_after();
        self.board.mark_overdue(self.rack.newest, now - overdue_after, &mut self.scratch.lost);
        let last = self.board.last_before(self.rack.newest);
        self.recovery.reorder_at = last.map(|sent_at| sent_at + overdue_after + MIN_TIMEOUT);
    }

    /// Clears the number of duplicate ACKs when an ACK advances. In Linux's repair without SACK, subtracts all but one of the acknowledged
    /// segments instead: one was the hole, and duplicates had reported the others (`tcp_remove_reno_sacks`).
    pub(in crate::sender) fn uncount_duplicates(&mut self, segments: u32) {
        self.recovery.dupacks = if self.rules.counts_duplicates() && self.recovery.is_fast() {
            self.recovery.dupacks.saturating_sub(u64::from(segments).saturating_sub(1))
        } else {
            0
        };
    }

    /// Counts a duplicate ACK, unless Linux knows that a spurious retransmission caused it.
    pub(in crate::sender) fn count_duplicate(&mut self, progress: &Progress) {
        if progress.duplicate && !self.retransmits_after_timeout() {
            self.recovery.dupacks += 1;
            self.limit_duplicates(0);
        }
    }

    /// Checks whether all outstanding data was already outstanding at a timeout.
    fn retransmits_after_timeout(&self) -> bool {
        self.rules.counts_duplicates()
            && matches!(self.recovery.mode, Mode::Loss { recover } if self.stream.nxt() <= recover)
    }

    /// Applies Linux's `tcp_check_reno_reordering`: if there are more duplicate ACKs than segments that may have been delivered, segments
    /// were reordered.
    pub(in crate::sender) fn limit_duplicates(&mut self, acknowledged: u64) {
        if !self.rules.counts_duplicates() {
            return;
        }
        let out = self.board.segments();
        let holes = (self.board.lost_segments() + self.board.resent_segments()).max(1).min(out);
        if self.recovery.dupacks + holes > out {
            self.recovery.dupacks = out - holes;
            self.rack.note_degree(out + acknowledged);
        }
    }
}
