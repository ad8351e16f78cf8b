//! Losses: their detection by an ACK or a timer, the recovery episode, and the events for the controller.

use firstflight::fast_events::FastEvents;
use firstflight::{Avoidance, Bytes, Event, Loss, Span, Startup, Time};

use super::Sender;
use super::ack::Progress;
use super::prr::PrrAck;
use super::recovery::{Answered, Budget, Episode, Mode, Undo};
use super::scoreboard::DUP_THRESH;
use crate::config::Recovery;
use crate::endpoint_event::EndpointEvent;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(super) fn end_episode_if_repaired(&mut self, now: Time) {
        let una = self.repaired_up_to();
        let overdue = self.rules.method == Recovery::Vegas && self.head_is_overdue(now);
        match &mut self.recovery.mode {
            Mode::Recovery(episode) => {
                let satisfied = match self.rules.method {
                    // "If it is the first or second one after a retransmission, Vegas again checks."
                    Recovery::Vegas if self.recovery.dupacks == 0 && episode.worried > 0 && overdue => {
                        episode.worried -= 1;
                        false
                    }
                    Recovery::Reno | Recovery::Vegas => self.recovery.dupacks == 0,
                    _ => false,
                };
                let recover = episode.recover;
                if una >= recover || satisfied {
                    if self.rules.dialect.forgets_duplicates() {
                        self.recovery.dupacks = 0;
                    }
                    let remembers = matches!(self.rules.method, Recovery::NewReno | Recovery::NewRenoSteady);
                    self.end_episode(remembers.then_some(recover));
                    self.journal.note(EndpointEvent::RecoveryEnded);
                }
            }
            &mut Mode::Loss { recover } if una >= recover => self.end_episode(Some(recover)),
            Mode::Loss { .. } | Mode::Open => {}
        }
    }

    /// Ends an episode. Duplicate ACKs at the offset `recover` will not begin a new one.
    fn end_episode(&mut self, recover: Option<u64>) {
        self.recovery.end(recover);
        self.undo.until = self.stream.nxt();
        self.board.shrink();
    }

    /// Checks whether the newest transmission of the first outstanding segment is older than the fine-grained timeout of Vegas.
    fn head_is_overdue(&self, now: Time) -> bool {
        let sent_at = self.board.head_in_network_since();
        sent_at.zip(self.rtt.fine()).is_some_and(|(sent_at, fine)| now.since(sent_at) >= fine)
    }

    /// Finds the losses that an ACK shows, and responds to them.
    pub(super) fn note_losses(&mut self, now: Time, progress: &Progress) {
        self.scratch.lost.clear();
        let timed_out = self.rules.dialect.recovers_after_timeout() && self.recovery.is_after_timeout();
        let resent = if timed_out { self.board.resent_segments() } else { 0 };
        // RFC 6675 section 5 counts SACKed segments only if a SACK reports something new. Until then, segments that an undone repair marked
        // lost may still arrive.
        let news = self.scratch.arrivals.last().is_some_and(|arrival| arrival.delivered.selectively);
        match self.rules.method {
            Recovery::Rack => self.find_losses_by_rack(now, news),
            Recovery::Sack => {
                if self.recovery.dupacks >= DUP_THRESH && self.recovery.is_open() {
                    self.board.mark_head_lost(false, &mut self.scratch.lost);
                }
                if news {
                    self.board.mark_lost_by_sacks(&mut self.scratch.lost);
                }
            }
            Recovery::NewReno
            | Recovery::NewRenoSteady
            | Recovery::Reno
            | Recovery::Vegas
            | Recovery::Ns2Sack1 => {
                let early = self.rules.method == Recovery::Vegas && self.head_is_overdue(now);
                if early && progress.duplicate && self.recovery.is_fast() {
                    // The retransmission was lost as well, so a new episode begins.
                    self.recovery.mode = Mode::Open;
                    self.journal.note(EndpointEvent::RecoveryEnded);
                }
                let enough = progress.duplicate && self.duplicates_suffice(early);
                if enough && self.recovery.is_open() {
                    self.board.mark_head_lost(true, &mut self.scratch.lost);
                }
            }
        }
        if self.recovery.is_fast() {
            self.go_on_recovering(now, progress);
        } else if self.recovery.is_open() && self.board.has_lost()
            || timed_out && self.board.resent_segments() < resent
        {
            self.begin_recovery(now, progress);
        }
    }

    /// Finds losses with RACK. If the ACK `counts`, also uses RFC 6675's number of SACKed segments.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from two places")]
    pub(super) fn find_losses_by_rack(&mut self, now: Time, counts: bool) {
        // RFC 8985 section 6.2: once reordering was seen, the number of SACKed segments does not show a loss.
        if counts && !self.rack.reordering_seen && self.rules.dialect.counts_sacks() {
            self.board.mark_lost_by_sacks(&mut self.scratch.lost);
        }
        let advanced = core::mem::take(&mut self.rack.advanced);
        if advanced || self.rules.dialect.looks_at_every_ack() {
            self.mark_overdue(now);
        }
        self.rack.timed = advanced && self.recovery.reorder_at.is_some();
    }

    /// Detects losses with RACK, for an ACK or when RACK's timer fires.
    #[inline]
    pub(super) fn mark_overdue(&mut self, now: Time) {
        if !self.rules.dialect.waits_for_the_next() {
            self.wait_for_all_overdue(now);
        } else if self.board.has_none_before(self.rack.newest) {
            self.recovery.reorder_at = None;
        } else {
            self.mark_those_overdue(now);
        }
    }

    #[inline(never)]
    fn mark_those_overdue(&mut self, now: Time) {
        let overdue_after = self.overdue_after();
        let overdue = self.board.mark_overdue(self.rack.newest, now - overdue_after, &mut self.scratch.lost);
        self.recovery.reorder_at = overdue.next.map(|sent_at| sent_at + overdue_after);
    }

    /// Returns how long after its transmission RACK considers a segment overdue in the current state.
    pub(super) fn overdue_after(&self) -> Span {
        let eager = matches!(self.recovery.mode, Mode::Recovery(_) | Mode::Loss { .. })
            || self.board.sacked_segments() >= self.rules.reordering;
        self.rack.overdue_after(self.rtt.srtt(), self.rtt.min(), &self.recovery.widening, eager)
    }

    /// Begins an episode because the reordering timer found its first loss.
    pub(super) fn begin_recovery_by_timer(&mut self, now: Time) {
        self.begin_recovery(now, &Progress { bytes: self.delivered_by_timer(), ..Progress::default() });
    }

    fn begin_recovery(&mut self, now: Time, progress: &Progress) {
        let outstanding = self.stream.outstanding();
        self.journal.note(EndpointEvent::RecoveryBegan { flight: outstanding });
        self.recovery.extra = 0;
        self.recovery.forced = true;
        // RFC 8985 section 7.1: the reduction of this episode also covers the loss that the probe repaired.
        self.timers.probe_at = None;
        self.recovery.probe.forget();
        let prior = self.plan.window;
        self.report_lost(now);
        // If a reduction for a mark is in progress, this reduction continues it, and does not answer marks on data sent since.
        let keeps_window = self.ecn.is_reducing();
        let marks = if keeps_window { Answered::default() } else { self.ecn.answer(self.stream.nxt()) };
        self.undo = Undo { armed: true, keeps_window, marks, ..Undo::default() };
        let budget = match self.rules.method {
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
                // ns-2 restarts the timer when it retransmits before the third duplicate ACK.
                self.timers.rto_at = Some(now + self.rtt.rto());
                Budget::Inflated { by: self.signed(self.recovery.dupacks) }
            }
            Recovery::Ns2Sack1 => {
                self.timers.rto_at = Some(now + self.rtt.rto());
                Budget::Counted { pipe: outstanding.packets(self.stream.mss()).saturating_sub(DUP_THRESH) }
            }
        };
        self.recovery.mode = Mode::Recovery(Episode {
            recover: self.stream.nxt(),
            partial_seen: false,
            worried: 2,
            budget,
            hole: 0,
            rescued: false,
        });
    }

    /// Returns the number of bytes of `segments` full segments, for signed arithmetic.
    fn signed(&self, segments: u64) -> i64 {
        i64::try_from((self.stream.mss() * segments).get()).unwrap_or(i64::MAX)
    }

    pub(super) fn prr_ack(&self, progress: &Progress) -> PrrAck {
        let (duplicates, new) = if self.rules.counts_duplicates() {
            (self.stream.mss() * self.recovery.dupacks, self.stream.mss() * u64::from(progress.duplicate))
        } else {
            (Bytes::ZERO, Bytes::ZERO)
        };
        PrrAck {
            delivered: Bytes::new(progress.bytes) + new,
            pipe: self.board.pipe() - duplicates,
            ssthresh: self.plan.window,
            safe: progress.advanced > 0 && self.scratch.lost.is_empty(),
            mss: self.stream.mss(),
        }
    }

    /// Processes an ACK during a recovery.
    pub(super) fn go_on_recovering(&mut self, now: Time, progress: &Progress) {
        let held =
            matches!(self.recovery.mode, Mode::Recovery(episode) if self.stream.una() >= episode.recover);
        if self.rules.counts_duplicates() && progress.advanced > 0 && !held {
            // Linux does this in `tcp_newreno_mark_lost`.
            self.board.mark_head_lost(true, &mut self.scratch.lost);
        }
        if !self.scratch.lost.is_empty() {
            self.report_lost(now);
        }
        let ack = self.prr_ack(progress);
        let steers = self.rules.dialect.steers_by_every_ack() || !ack.delivered.is_zero();
        let Mode::Recovery(episode) = &mut self.recovery.mode else { return };
        if let Budget::Proportional(prr) = &mut episode.budget {
            if steers {
                prr.on_ack(&ack);
            }
        } else {
            self.go_on_without_prr(now, progress);
        }
    }

    /// Processes an ACK during a recovery without PRR.
    #[inline(never)]
    fn go_on_without_prr(&mut self, now: Time, progress: &Progress) {
        let (one, acked) = (self.signed(1), i64::try_from(progress.advanced).unwrap_or(i64::MAX));
        let partial = progress.advanced > 0;
        let full = progress.advanced >= self.stream.mss().get();
        let Mode::Recovery(episode) = &mut self.recovery.mode else { return };
        match &mut episode.budget {
            Budget::Proportional(_) | Budget::Pipe => {}
            // ns-2 ends the inflation of the window at once.
            Budget::Inflated { by } if partial && self.rules.method == Recovery::Vegas => {
                *by = 0;
                self.recovery.forced = true;
            }
            Budget::Inflated { by } => {
                if partial {
                    // RFC 6582 section 3.2 step 4: subtract the acknowledged bytes from the inflation, add a segment, and send the next
                    // hole.
                    *by = by.saturating_sub(acked) + if full { one } else { 0 };
                    self.recovery.forced = true;
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
            self.scratch.lost.clear();
            self.board.mark_head_lost(true, &mut self.scratch.lost);
            self.report_lost(now);
        }
    }

    pub(super) fn report_lost(&mut self, now: Time) {
        self.report_lost_in(now, self.flight_to_reduce());
    }

    /// Reports losses to the controller. `flight` is the number of bytes in flight at the loss, some of which may have been acknowledged
    /// since.
    pub(super) fn report_lost_in(&mut self, now: Time, flight: Bytes) {
        self.packets.approved.lost(&self.scratch.lost);
        if !self.rules.reports_all && !self.controller.needs_losses(self.is_reducing()) {
            return;
        }
        let packets = core::mem::take(&mut self.scratch.lost);
        let mut path = self.path(now);
        path.flight = flight;
        self.report_on(&path, &Event::Lost(Loss::new(&packets)));
        self.scratch.lost = packets;
    }

    /// Applies limited transmit (RFC 3042): allows a new segment on each of the first two duplicate ACKs. With
    /// [`crate::LimitedTransmit::Next`], allows the next segment after a timeout as well. With SACK no rule is needed, because the pipe
    /// excludes SACKed segments.
    pub(super) fn limited_transmit(&mut self) {
        // Vegas checks for an overdue segment, which is better than waiting for the third duplicate.
        let by_hand = !matches!(self.rules.method, Recovery::Rack | Recovery::Sack | Recovery::Vegas);
        if self.rules.counts_duplicates() {
            self.recovery.extra = self.recovery.dupacks;
        } else if by_hand
            && (self.recovery.is_open()
                || self.rules.repeats_on_duplicates && self.recovery.is_after_timeout())
        {
            self.recovery.limited_transmit();
        }
    }
}
