//! What shows that a segment is lost, or was not, and when a repair is over.

use firstflight::{Avoidance, Startup, Time};

use super::Dialect;
use crate::config::Recovery;
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::rack::LEAST_TIMEOUT;
use crate::sender::recovery::Mode;
use crate::sender::scoreboard::DUP_THRESH;

impl Dialect {
    /// Whether three segments SACKed above a hole tell of its loss, beside RACK's time (RFC 8985 section 3: until reordering was
    /// seen). Linux goes by RACK's time alone since 6.17 (`tcp_identify_packet_loss`).
    pub(in crate::sender) const fn counts_sacks(self) -> bool {
        !self.is_linux()
    }

    /// Whether every ACK has RACK look for overdue segments. To Linux only what is delivered can show that something else is
    /// overdue (`tcp_rack_mark_lost`).
    pub(in crate::sender) const fn looks_at_every_ack(self) -> bool {
        !self.is_linux()
    }

    /// Whether the reordering timer waits for the next segment to be overdue (RFC 8985 section 6.2 step 5). Linux's waits for all
    /// of them (`tcp_rack_detect_loss`).
    pub(in crate::sender) const fn waits_for_the_next(self) -> bool {
        !self.is_linux()
    }

    /// Whether the repair after a timeout gives way to fast recovery once something more is found lost: what was sent again
    /// (`FLAG_LOST_RETRANS`), or what the reordering timer finds (`tcp_rack_reo_timeout`). RFC 6675 section 5.1 forbids a fast
    /// recovery before all that was out at the timeout is acknowledged.
    pub(in crate::sender) const fn recovers_after_timeout(self) -> bool {
        self.is_linux()
    }

    /// Whether the duplicates that a repair counted are forgotten at its end (`tcp_reset_reno_sack`).
    pub(in crate::sender) const fn forgets_duplicates(self) -> bool {
        self.is_linux()
    }

    /// Whether the answer to a probe that says nothing else may carry SACK blocks (`tcp_process_tlp_ack`), which RFC 8985
    /// section 7.4.2 rules out.
    pub(in crate::sender) const fn probes_answer_with_sack(self) -> bool {
        self.is_linux()
    }

    /// Whether a SYN or SYN-ACK that was sent again so often leaves an initial window of one segment: RFC 5681 section 3.1 says
    /// after one loss, Linux after more (`tcp_init_transfer`; `tcp_try_undo_spurious_syn`, which looks at the timestamps of
    /// such a SYN, is not here).
    pub(in crate::sender) const fn heeds_lost_syns(self, repetitions: u32) -> bool {
        repetitions > if self.is_linux() { 1 } else { 0 }
    }

    /// Whether a probe of the tail stands on the scoreboard as a segment sent again, which a later loss may find lost once more.
    /// Linux keeps the original's place in order (`tcp_send_loss_probe`).
    pub(in crate::sender) const fn probes_are_resent(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// What is taken to be repaired. Without SACK Linux holds on until something above is acknowledged
    /// (`tcp_try_undo_recovery`), so that late duplicates begin no new repair.
    pub(in crate::sender) fn repaired_up_to(&self) -> u64 {
        if self.rules.dialect.is_linux() && !self.rules.method.uses_sack() {
            self.stream.una().saturating_sub(1)
        } else {
            self.stream.una()
        }
    }

    /// Whether duplicate ACKs tell of a loss, `early` being Vegas's evidence. RFC 5681 section 3.2 says three; by RFC 6582 section
    /// 3.2 step 1 the duplicates of an episode's own retransmissions begin no new one. Linux says `tcp_reordering`, or the
    /// distance by which segments came late before.
    pub(in crate::sender) fn duplicates_suffice(&self, early: bool) -> bool {
        if self.rules.dialect.is_linux() {
            self.recovery.dupacks >= self.rack.reordering
        } else {
            (self.recovery.dupacks == DUP_THRESH || early)
                && self.recovery.recovered_to != Some(self.stream.una())
        }
    }

    /// Whether a timeout may have been for nothing, and F-RTO is to look: `first_sign` of a loss, or `repeated`. RFC 5682 needs SACK
    /// to tell originals apart on one ACK, and a timeout that was the first sign of loss. Linux does it without SACK, too, and
    /// again on each timeout in a row (`tcp_enter_loss`).
    pub(in crate::sender) fn asks_whether_spurious(&self, first_sign: bool, repeated: bool) -> bool {
        if self.rules.dialect.is_linux() {
            first_sign || repeated
        } else {
            self.rules.method == Recovery::Rack && first_sign
        }
    }

    /// When what is lost at a timeout had left, beside the first segment: with RACK only what is overdue to it (RFC 8985
    /// section 6.3; in `tcp_timeout_mark_lost` without a window for reordering), else all.
    pub(in crate::sender) fn overdue_at_timeout(&self, now: Time) -> Time {
        match self.rules.method {
            Recovery::Rack if self.rules.dialect.is_linux() => now - self.rack.rtt,
            Recovery::Rack => now - self.overdue_after(),
            _ => now,
        }
    }

    /// RACK's marking with Linux's timer: armed for when the last of what may be overdue is, and two ticks more.
    pub(in crate::sender) fn wait_for_all_overdue(&mut self, now: Time) {
        let overdue_after = self.overdue_after();
        self.board.mark_overdue(self.rack.newest, now - overdue_after, &mut self.lists.lost);
        let last = self.board.last_before(self.rack.newest);
        self.recovery.reorder_at = last.map(|sent_at| sent_at + overdue_after + LEAST_TIMEOUT);
    }

    /// A cumulative ACK ends the count of duplicates, but for those of Linux's repair without SACK: one of the segments
    /// acknowledged was the hole, the rest had been told of (`tcp_remove_reno_sacks`).
    pub(in crate::sender) fn uncount_duplicates(&mut self, segments: u32) {
        self.recovery.dupacks = if self.rules.counts_duplicates() && self.recovery.is_fast() {
            self.recovery.dupacks.saturating_sub(u64::from(segments).saturating_sub(1))
        } else {
            0
        };
    }

    /// A duplicate counts, unless Linux knows that it tells of what was sent again for nothing.
    pub(in crate::sender) fn count_duplicate(&mut self, progress: &Progress) {
        if progress.duplicate && !self.retransmits_after_timeout() {
            self.recovery.dupacks += 1;
            self.limit_duplicates(0);
        }
    }

    /// Whether all that is out was out at a timeout.
    fn retransmits_after_timeout(&self) -> bool {
        self.rules.counts_duplicates()
            && matches!(self.recovery.mode, Mode::Loss { recover } if self.stream.nxt() <= recover)
    }

    /// `tcp_check_reno_reordering`: more duplicates than segments that may have been delivered mean reordering.
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
