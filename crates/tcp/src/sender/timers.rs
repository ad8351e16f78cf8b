//! The sender's timers: retransmission, tail loss probe, reordering, persist, pacing, and the scheme's own.

use firstflight::{Avoidance, Event, Startup, Time};

use super::Sender;
use super::rack::probe_timeout;
use super::recovery::{Mode, Undo};
use crate::config::Recovery;
use crate::endpoint::Happening;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// When the next of the timers is due.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        let (rto_at, probe_at) = self.timeouts();
        let retransmission = Time::earlier(rto_at, probe_at);
        let sending = Time::earlier(self.persist_at, self.timers.pace_at);
        let other = Time::earlier(self.reorder_at, self.plan.wake);
        let timer = Time::earlier(Time::earlier(retransmission, sending), other);
        Time::earlier(timer, self.patience.ends(self.repetitions()))
    }

    /// Serves whatever is due. Says whether the connection is to be given up.
    pub(crate) fn on_timer(&mut self, now: Time) -> bool {
        self.settle_timeouts();
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        // The sender's own clock, and the scheme's, are there to send by.
        let sends = due(self.timers.pace_at) || due(self.plan.wake);
        if let Some(queue) = self.queue.as_mut().filter(|_| !sends) {
            queue.wait();
        }
        if self.patience.ends(self.repetitions()).is_some_and(|at| at <= now) {
            return true;
        }
        if due(self.reorder_at) {
            self.reorder_at = None;
            self.reordering_is_over(now);
        }
        // A probe that is due comes before a timeout that is due.
        if due(self.timers.rto_at) && !due(self.timers.probe_at) {
            self.timers.rto_at = None;
            self.timers.probe_at = None;
            if !self.board.is_empty() {
                if self.patience.is_over(now, self.repetitions()) {
                    return true;
                }
                self.time_out(now);
                self.patience.used(now, self.repetitions());
            }
        } else if due(self.timers.probe_at) {
            self.probe_is_over(now);
        }
        if due(self.persist_at) {
            self.persist_at = None;
            if self.patience.is_over(now, self.repetitions()) {
                return true;
            }
            if let Some(queue) = self.queue.as_mut().filter(|_| self.window_edge > self.nxt) {
                queue.wake_up();
            } else if self.window_edge > self.nxt {
                self.override_due = true;
            } else {
                self.persist_due = true;
                self.unanswered_probes += 1;
                self.patience.used(now, self.repetitions());
            }
        }
        if due(self.plan.wake) {
            self.tell(now, &Event::Woken);
        }
        self.patience.counts_out(self.repetitions())
    }

    /// How often in a row something was sent again, or a closed window probed, without an answer.
    fn repetitions(&self) -> u32 {
        self.patience.inexcusable(self.consecutive_timeouts).max(self.unanswered_probes)
    }

    /// RFC 8985 section 6.2 step 5: the reordering timer.
    fn reordering_is_over(&mut self, now: Time) {
        if self.recovery != Recovery::Rack {
            return;
        }
        self.lists.lost.clear();
        self.mark_overdue(now);
        match self.mode {
            Mode::Open if self.board.has_lost() => self.begin_recovery_by_timer(now),
            Mode::Recovery(_) if !self.lists.lost.is_empty() => self.tell_lost(now),
            Mode::Loss { .. } if self.dialect.recovers_after_timeout() && !self.lists.lost.is_empty() => {
                self.begin_recovery_by_timer(now);
            }
            Mode::Open | Mode::Recovery(_) | Mode::Loss { .. } => {}
        }
        self.turn_to_timeout(now);
        self.put_lists_away();
    }

    /// RFC 6298 section 5.4 to 5.7 and RFC 5681 section 3.1.
    fn time_out(&mut self, now: Time) {
        self.counted.timeouts += 1;
        self.approved.congested(self.una);
        self.consecutive_timeouts += 1;
        let repeated = self.consecutive_timeouts > 1;
        if !repeated {
            self.patience.excuse(0);
        }
        let deadline = self.overdue_at_timeout(now);
        let first_sign = matches!(self.mode, Mode::Open);
        let answered = self.is_answered(repeated);
        if self.recovering() {
            self.journal.note(Happening::RecoveryEnded);
        }
        self.journal.note(Happening::TimedOut);
        self.tell_of_congestion(now, &Event::TimedOut { repeated: answered });
        let forget = self.recovery == Recovery::Ns2Sack1 || self.board.head_sacked();
        self.board.mark_lost_at_timeout(deadline, forget);
        self.mode = Mode::Loss { recover: self.nxt };
        self.reducing_for_marks = false;
        let marks = self.answer_marks_with_this();
        self.rtt.back_off();
        self.dupacks = 0;
        self.extra = 0;
        self.forced = true;
        self.probe = None;
        self.reorder_at = None;
        let frto = self.rules.frto && self.asks_whether_spurious(first_sign, repeated);
        self.new_first = false;
        if answered {
            self.look_again(frto);
        } else {
            self.undo = Undo { armed: true, frto, marks, ..Undo::default() };
        }
    }

    /// When the retransmission timer and the probe of the tail are due.
    pub(super) fn timeouts(&self) -> (Option<Time>, Option<Time>) {
        let Some(put_off) = self.timers.put_off else { return (self.timers.rto_at, self.timers.probe_at) };
        let timeout = put_off.timeout_from + self.rtt.rto();
        let single = self.board.segments() == 1;
        let probe = put_off.probe_from + probe_timeout(self.rtt.srtt(), single);
        (Some(timeout), self.rules.probes_tail.then(|| probe.min(timeout)))
    }

    /// From here on they are kept as instants.
    pub(super) fn settle_timeouts(&mut self) {
        if self.timers.put_off.is_some() {
            (self.timers.rto_at, self.timers.probe_at) = self.timeouts();
            self.timers.put_off = None;
        }
    }

    /// RFC 8985 section 7.2: a probe is scheduled when new data is sent or acknowledged, with SACK, outside of
    /// recovery, with nothing SACKed and no probe unanswered. It comes no later than the `timeout`, which it puts off.
    pub(super) fn schedule_probe(&mut self, now: Time, timeout: Option<Time>) {
        let wanted = self.rules.probes_tail
            && matches!(self.mode, Mode::Open)
            && self.board.sacked_segments() == 0
            && (self.probe.is_none() || self.dialect.schedules_a_second_probe())
            && !self.board.is_empty();
        self.timers.probe_at = None;
        if wanted {
            if self.dialect.has_one_timer() {
                self.reorder_at = None;
            }
            let single = self.board.segments() == 1;
            let at = now + probe_timeout(self.rtt.srtt(), single) + self.dialect.more_of_probe(single);
            self.timers.probe_at = Some(timeout.map_or(at, |timeout| at.min(timeout)));
        }
    }

    /// Nothing is in flight, and the peer's window is closed or too small: what fits leaves after a while (RFC 9293 section
    /// 3.8.6.2.1), or a probe of it (section 3.8.6.1).
    pub(super) fn arm_persist(&mut self, now: Time) {
        let rto = self.rtt.rto() * (1 << self.persist_backoff.min(6));
        self.persist_backoff += 1;
        self.persist_at = Some(now + rto.min(firstflight::Span::from_secs(60)));
    }

    /// Whether a zero-window probe is due; asking clears it.
    pub(crate) fn take_persist_probe(&mut self) -> bool {
        core::mem::take(&mut self.persist_due)
    }
}
