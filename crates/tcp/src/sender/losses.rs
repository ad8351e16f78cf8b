//! Losses: what an ACK or a timer shows of them, the episode of a repair, and what the controller is told.

use firstflight::brief::InBrief;
use firstflight::{Avoidance, Bytes, Event, Loss, Path, Span, Startup, Time};

use super::ack::Progress;
use super::prr::PrrAck;
use super::recovery::{Answered, Budget, Episode, Mode, Undo};
use super::{DUP_THRESH, Sender};
use crate::config::Recovery;
use crate::endpoint::Happening;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// ns-2 lowers its pipe for every ACK of a recovery, stale ones included.
    pub(super) fn count_in_recovery(&mut self, packets: u64) {
        if let Mode::Recovery(Episode { budget: Budget::Counted { pipe }, .. }) = &mut self.mode {
            *pipe = pipe.saturating_sub(packets);
        }
    }

    pub(super) fn end_episode_if_repaired(&mut self, now: Time) {
        let una = self.repaired_up_to();
        let overdue = self.recovery == Recovery::Vegas && self.head_is_overdue(now);
        match &mut self.mode {
            Mode::Recovery(episode) => {
                let satisfied = match self.recovery {
                    // "If it is the first or second one after a retransmission, Vegas again checks."
                    Recovery::Vegas if self.dupacks == 0 && episode.worried > 0 && overdue => {
                        episode.worried -= 1;
                        false
                    }
                    Recovery::Reno | Recovery::Vegas => self.dupacks == 0,
                    _ => false,
                };
                let recover = episode.recover;
                if una >= recover || satisfied {
                    self.mode = Mode::Open;
                    if self.dialect.forgets_duplicates() {
                        self.dupacks = 0;
                    }
                    self.undo.until = self.nxt;
                    self.board.shrink();
                    if matches!(self.recovery, Recovery::NewReno | Recovery::NewRenoSteady) {
                        self.recovered_to = Some(recover);
                    }
                    self.journal.note(Happening::RecoveryEnded);
                }
            }
            Mode::Loss { recover } if una >= *recover => {
                self.recovered_to = Some(*recover);
                self.mode = Mode::Open;
                self.undo.until = self.nxt;
                self.board.shrink();
            }
            Mode::Loss { .. } | Mode::Open => {}
        }
    }

    /// Whether the first outstanding segment was last sent longer ago than the fine-grained timeout of Vegas.
    fn head_is_overdue(&self, now: Time) -> bool {
        let sent_at = self.board.head_in_network_since();
        sent_at.zip(self.rtt.fine()).is_some_and(|(sent_at, fine)| now.since(sent_at) >= fine)
    }

    /// Finds losses and answers them.
    pub(super) fn note_losses(&mut self, now: Time, progress: &Progress) {
        self.lists.lost.clear();
        let timed_out = self.dialect.recovers_after_timeout() && matches!(self.mode, Mode::Loss { .. });
        let resent = if timed_out { self.board.resent_segments() } else { 0 };
        // RFC 6675 section 5 counts when a SACK brings news: what an undone repair took for lost has until then to arrive.
        let news = self.lists.arrivals.last().is_some_and(|arrival| arrival.delivered.selectively);
        match self.recovery {
            Recovery::Rack => self.find_losses_by_rack(now, news),
            Recovery::Sack => {
                if self.dupacks >= DUP_THRESH && matches!(self.mode, Mode::Open) {
                    self.board.mark_head_lost(false, &mut self.lists.lost);
                }
                if news {
                    self.board.mark_lost_by_sacks(&mut self.lists.lost);
                }
            }
            Recovery::NewReno
            | Recovery::NewRenoSteady
            | Recovery::Reno
            | Recovery::Vegas
            | Recovery::Ns2Sack1 => {
                let early = self.recovery == Recovery::Vegas && self.head_is_overdue(now);
                if early && progress.duplicate && matches!(self.mode, Mode::Recovery(_)) {
                    // What was sent again is lost, too: another episode.
                    self.mode = Mode::Open;
                    self.journal.note(Happening::RecoveryEnded);
                }
                let enough = progress.duplicate && self.duplicates_suffice(early);
                if enough && matches!(self.mode, Mode::Open) {
                    self.board.mark_head_lost(true, &mut self.lists.lost);
                }
            }
        }
        if matches!(self.mode, Mode::Recovery(_)) {
            self.go_on_recovering(now, progress);
        } else if matches!(self.mode, Mode::Open) && self.board.has_lost()
            || timed_out && self.board.resent_segments() < resent
        {
            self.begin_recovery(now, progress);
        }
    }

    /// What an ACK shows to RACK, and to RFC 6675's count beside it, if that `counts`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from two places")]
    pub(super) fn find_losses_by_rack(&mut self, now: Time, counts: bool) {
        // RFC 8985 section 6.2: once reordering was seen, counting SACKs is no evidence.
        if counts && !self.rack.reordering_seen && self.dialect.counts_sacks() {
            self.board.mark_lost_by_sacks(&mut self.lists.lost);
        }
        let advanced = core::mem::take(&mut self.rack.advanced);
        if advanced || self.dialect.looks_at_every_ack() {
            self.mark_overdue(now);
        }
        self.rack.timed = advanced && self.reorder_at.is_some();
    }

    /// RACK's loss detection, on an ACK or when its timer fires.
    #[inline]
    pub(super) fn mark_overdue(&mut self, now: Time) {
        if !self.dialect.waits_for_the_next() {
            self.wait_for_all_overdue(now);
        } else if self.board.has_none_before(self.rack.newest) {
            self.reorder_at = None;
        } else {
            self.mark_those_overdue(now);
        }
    }

    #[inline(never)]
    fn mark_those_overdue(&mut self, now: Time) {
        let patience = self.patience_of_rack();
        let overdue = self.board.mark_overdue(self.rack.newest, now - patience, &mut self.lists.lost);
        self.reorder_at = overdue.next.map(|sent_at| sent_at + patience);
    }

    /// How long after its transmission a segment is overdue to RACK, as things stand.
    pub(super) fn patience_of_rack(&self) -> Span {
        let eager = matches!(self.mode, Mode::Recovery(_) | Mode::Loss { .. })
            || self.board.sacked_segments() >= self.rules.reordering;
        self.rack.patience(self.rtt.srtt(), self.rtt.min(), &self.widening, eager)
    }

    /// The first loss of an episode: the controller answers with a target, and recovery steers to it.
    pub(super) fn begin_recovery_by_timer(&mut self, now: Time) {
        self.begin_recovery(now, &Progress { bytes: self.delivered_by_timer(), ..Progress::default() });
    }

    fn begin_recovery(&mut self, now: Time, progress: &Progress) {
        let outstanding = self.outstanding();
        self.journal.note(Happening::RecoveryBegan { flight: outstanding });
        self.extra = 0;
        self.forced = true;
        // RFC 8985 section 7.1: this reduction is for what the probe repaired, too.
        self.timers.probe_at = None;
        self.probe = None;
        let prior = self.plan.window;
        self.tell_lost(now);
        // A mark's reduction is this one, too, and answers no marks of what was sent since.
        let keeps_window = self.reducing_for_marks;
        let marks = if keeps_window { Answered::default() } else { self.answer_marks_with_this() };
        self.undo = Undo { armed: true, keeps_window, marks, ..Undo::default() };
        let budget = match self.recovery {
            _ if self.repairs_in_proportion() => {
                let mut prr = self.begin_reduction(prior, progress);
                prr.on_ack(&self.prr_ack(progress));
                Budget::Proportional(prr)
            }
            Recovery::Rack | Recovery::Sack => Budget::Pipe,
            Recovery::NewReno | Recovery::NewRenoSteady | Recovery::Reno => {
                Budget::Inflated { by: self.signed(DUP_THRESH) }
            }
            Recovery::Vegas => {
                // ns-2 restarts the timer with what it sends early.
                self.timers.rto_at = Some(now + self.rtt.rto());
                Budget::Inflated { by: self.signed(self.dupacks) }
            }
            Recovery::Ns2Sack1 => {
                self.timers.rto_at = Some(now + self.rtt.rto());
                Budget::Counted { pipe: outstanding.packets(self.mss).saturating_sub(DUP_THRESH) }
            }
        };
        self.mode = Mode::Recovery(Episode {
            recover: self.nxt,
            partial_seen: false,
            worried: 2,
            budget,
            hole: 0,
            rescued: false,
        });
    }

    /// `segments` full segments, for signed arithmetic.
    fn signed(&self, segments: u64) -> i64 {
        i64::try_from((self.mss * segments).get()).unwrap_or(i64::MAX)
    }

    pub(super) fn prr_ack(&self, progress: &Progress) -> PrrAck {
        let (told, new) = if self.counts_duplicates() {
            (self.mss * self.dupacks, self.mss * u64::from(progress.duplicate))
        } else {
            (Bytes::ZERO, Bytes::ZERO)
        };
        PrrAck {
            delivered: Bytes::new(progress.bytes) + new,
            pipe: self.board.pipe() - told,
            ssthresh: self.plan.window,
            safe: progress.advanced > 0 && self.lists.lost.is_empty(),
            mss: self.mss,
        }
    }

    /// An ACK in the middle of a recovery.
    pub(super) fn go_on_recovering(&mut self, now: Time, progress: &Progress) {
        let held = matches!(self.mode, Mode::Recovery(episode) if self.una >= episode.recover);
        if self.counts_duplicates() && progress.advanced > 0 && !held {
            // `tcp_newreno_mark_lost`.
            self.board.mark_head_lost(true, &mut self.lists.lost);
        }
        if !self.lists.lost.is_empty() {
            self.tell_lost(now);
        }
        let ack = self.prr_ack(progress);
        let steers = self.dialect.steers_by_every_ack() || !ack.delivered.is_zero();
        let Mode::Recovery(episode) = &mut self.mode else { return };
        if let Budget::Proportional(prr) = &mut episode.budget {
            if steers {
                prr.on_ack(&ack);
            }
        } else {
            self.go_on_without_prr(now, progress);
        }
    }

    /// The rest of it where what may leave is not reckoned in proportion.
    #[inline(never)]
    fn go_on_without_prr(&mut self, now: Time, progress: &Progress) {
        let (one, acked) = (self.signed(1), i64::try_from(progress.advanced).unwrap_or(i64::MAX));
        let partial = progress.advanced > 0;
        let full = progress.advanced >= self.mss.get();
        let Mode::Recovery(episode) = &mut self.mode else { return };
        match &mut episode.budget {
            Budget::Proportional(_) | Budget::Pipe => {}
            // ns-2 deflates the window at once.
            Budget::Inflated { by } if partial && self.recovery == Recovery::Vegas => {
                *by = 0;
                self.forced = true;
            }
            Budget::Inflated { by } => {
                if partial {
                    // RFC 6582 section 3.2 step 4: deflate by what was acknowledged, add back a segment, and
                    // send the next hole.
                    *by = by.saturating_sub(acked) + if full { one } else { 0 };
                    self.forced = true;
                } else if progress.duplicate {
                    *by = by.saturating_add(one);
                }
            }
            Budget::Counted { pipe } => {
                if partial {
                    *pipe = pipe.saturating_sub(1);
                }
            }
        }
        if partial && matches!(episode.budget, Budget::Inflated { .. }) {
            self.lists.lost.clear();
            self.board.mark_head_lost(true, &mut self.lists.lost);
            self.tell_lost(now);
        }
    }

    pub(super) fn tell_lost(&mut self, now: Time) {
        self.tell_lost_in(now, self.flight_to_reduce());
    }

    /// The same of losses in a `flight` that may be acknowledged since.
    pub(super) fn tell_lost_in(&mut self, now: Time, flight: Bytes) {
        self.approved.lost(&self.lists.lost);
        if !self.rules.tells_all && !self.controller.minds_losses(self.answers_congestion()) {
            return;
        }
        let packets = core::mem::take(&mut self.lists.lost);
        self.tell_of(&Path { flight, ..self.path(now) }, &Event::Lost(Loss::new(&packets)));
        self.lists.lost = packets;
    }

    /// RFC 3042: a new segment on each of the first two duplicate ACKs. With a pipe that leaves out SACKed
    /// segments this comes of itself.
    pub(super) fn limited_transmit(&mut self) {
        // Vegas has something better than to wait for the third.
        let by_hand = !matches!(self.recovery, Recovery::Rack | Recovery::Sack | Recovery::Vegas);
        if self.counts_duplicates() {
            self.extra = self.dupacks;
        } else if by_hand && matches!(self.mode, Mode::Open) {
            self.extra = self.dupacks.min(DUP_THRESH - 1);
        }
    }
}
