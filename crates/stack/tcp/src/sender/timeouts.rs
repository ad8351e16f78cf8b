//! Processes the sender's timers: retransmission, tail loss probe, reordering, persist, pacing, and the timer of the scheme.

use firstflight::{Avoidance, Event, Span, Startup, Time};

use super::Sender;
use super::rack::probe_timeout;
use super::recovery::{Mode, Undo};
use crate::config::Recovery;
use crate::endpoint_event::EndpointEvent;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the time at which the next timer is due; `None` if no timer runs.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        let (rto_at, probe_at) = self.timeouts();
        let retransmission = Time::earlier(rto_at, probe_at);
        let sending = Time::earlier(self.persist.timer(), self.timers.pace_at);
        let other = Time::earlier(self.recovery.reorder_at, self.plan.wake);
        let timer = Time::earlier(Time::earlier(retransmission, sending), other);
        Time::earlier(timer, self.user_timeout.ends())
    }

    /// Processes every timer that is due. Returns whether the connection must be given up.
    pub(crate) fn on_timer(&mut self, now: Time) -> bool {
        self.settle_timeouts();
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        // The purpose of the pacer and the scheme's timer is to trigger transmissions.
        let sends = due(self.timers.pace_at) || due(self.plan.wake);
        if let Some(queue) = self.shaper.queue.as_mut().filter(|_| !sends) {
            queue.wait();
        }
        if self.user_timeout.ends().is_some_and(|at| at <= now) {
            return true;
        }
        if due(self.recovery.reorder_at) {
            self.recovery.reorder_at = None;
            self.reordering_is_over(now);
        }
        // If both a probe and a timeout are due, the probe comes first.
        if due(self.timers.rto_at) && !due(self.timers.probe_at) {
            self.timers.stop_timeouts();
            if !self.board.is_empty() {
                if self.user_timeout.is_over(now) {
                    return true;
                }
                self.time_out(now);
                self.user_timeout.repeated(now);
            }
        } else if due(self.timers.probe_at) {
            self.probe_is_over(now);
        }
        if self.persist.take_due(now) {
            if self.user_timeout.is_over(now) {
                return true;
            }
            if let Some(queue) =
                self.shaper.queue.as_mut().filter(|_| self.peer_window.admits(self.stream.nxt()))
            {
                queue.wake_up();
            } else if self.peer_window.admits(self.stream.nxt()) {
                self.persist.override_silly_window();
            } else {
                self.persist.probe();
                self.user_timeout.probed();
                self.user_timeout.repeated(now);
            }
        }
        if due(self.plan.wake) {
            self.report(now, &Event::Woken);
        }
        self.user_timeout.counts_out()
    }

    /// Processes the reordering timer (RFC 8985 section 6.2 step 5).
    fn reordering_is_over(&mut self, now: Time) {
        if self.rules.method != Recovery::Rack {
            return;
        }
        self.scratch.lost.clear();
        self.mark_overdue(now);
        match self.recovery.mode {
            Mode::Open if self.board.has_lost() => self.begin_recovery_by_timer(now),
            Mode::Recovery(_) if !self.scratch.lost.is_empty() => self.report_lost(now),
            Mode::Loss { .. }
                if self.rules.dialect.recovers_after_timeout() && !self.scratch.lost.is_empty() =>
            {
                self.begin_recovery_by_timer(now);
            }
            Mode::Open | Mode::Recovery(_) | Mode::Loss { .. } => {}
        }
        self.turn_to_timeout(now);
        self.scratch.put_away();
    }

    /// Processes the retransmission timer (RFC 6298 sections 5.4 to 5.7, RFC 5681 section 3.1).
    fn time_out(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.packets.approved.congested(self.stream.una());
        let repeated = self.user_timeout.timed_out();
        let deadline = self.overdue_at_timeout(now);
        let first_sign = self.recovery.is_open();
        let answered = self.is_answered(repeated);
        if self.recovery.is_fast() {
            self.journal.note(EndpointEvent::RecoveryEnded);
        }
        self.journal.note(EndpointEvent::TimedOut);
        self.report_congestion(now, &Event::TimedOut { repeated: answered });
        let forget = self.rules.method == Recovery::Ns2Sack1 || self.board.head_sacked();
        self.board.mark_lost_at_timeout(deadline, forget);
        self.recovery.time_out(self.stream.nxt());
        self.ecn.end();
        let marks = self.ecn.answer(self.stream.nxt());
        self.rtt.back_off();
        let frto = self.rules.frto && self.asks_whether_spurious(first_sign, repeated);
        if answered {
            self.look_again(frto);
        } else {
            self.undo = Undo { armed: true, frto, marks, ..Undo::default() };
        }
    }

    /// Returns the times at which the retransmission timer and the tail loss probe are due.
    pub(super) fn timeouts(&self) -> (Option<Time>, Option<Time>) {
        let Some(put_off) = self.timers.put_off else { return (self.timers.rto_at, self.timers.probe_at) };
        let timeout = put_off.timeout_from + self.rtt.rto();
        let probe = put_off.probe_from + self.time_to_probe();
        (Some(timeout), self.rules.probes_tail.then(|| probe.min(timeout)))
    }

    /// Computes `rto_at` and `probe_at` from the restart by expected ACKs.
    pub(super) fn settle_timeouts(&mut self) {
        if self.timers.put_off.is_some() {
            (self.timers.rto_at, self.timers.probe_at) = self.timeouts();
            self.timers.put_off = None;
        }
    }

    /// Schedules a tail loss probe (RFC 8985 section 7.2). To be called when new data is sent or acknowledged. No probe is scheduled
    /// without SACK, during a recovery, if a segment is SACKed, or if a probe is unanswered. The probe is due at the latest at the time
    /// `timeout`.
    pub(super) fn schedule_probe(&mut self, now: Time, timeout: Option<Time>) {
        let wanted = self.rules.probes_tail
            && self.recovery.is_open()
            && self.board.sacked_segments() == 0
            && (!self.recovery.probe.is_unanswered() || self.rules.dialect.schedules_a_second_probe())
            && !self.board.is_empty();
        self.timers.probe_at = None;
        if wanted {
            if self.rules.dialect.has_one_timer() {
                self.recovery.reorder_at = None;
            }
            let at = now + self.time_to_probe();
            self.timers.probe_at = Some(timeout.map_or(at, |timeout| at.min(timeout)));
        }
    }

    /// Returns the time without an answer after which a tail loss probe is sent.
    fn time_to_probe(&self) -> Span {
        let single = self.board.segments() == 1;
        probe_timeout(self.rtt.srtt(), self.rules.dialect.allowance_of_probe(single, self.rtt.least()))
    }

    /// Returns whether a zero-window probe is due, and clears this request.
    pub(crate) fn take_persist_probe(&mut self) -> bool {
        self.persist.take_probe()
    }
}
