//! The timers for timeouts, probes and reordering. The RFCs have a separate timer for each; Linux has one for all three (`icsk_timer`,
//! `tcp_set_xmit_timer`, `tcp_rearm_rto`). In Linux the timer set last replaces the others. If a timeout replaces another timer, it counts
//! from the transmission of the first outstanding segment.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Dialect;
use crate::config::{Recovery, Stack};
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::peer_window::Waits;
use crate::sender::rack::{MIN_TIMEOUT, WORST_CASE_DELAYED_ACK};
use crate::sender::recovery::Mode;

/// Minimum first interval of zero-window probes, regardless of the minimum RTO (Linux `TCP_RTO_MIN`).
const MIN_WAIT_FOR_WINDOW: Span = Span::from_millis(200);

impl Dialect {
    /// Checks whether a probe may be scheduled while another is unanswered. If the second one becomes due, the timeout is used instead.
    pub(in crate::sender) const fn schedules_a_second_probe(self) -> bool {
        self.is_linux()
    }

    /// Checks whether a scheduled probe replaces the reordering timer, because the stack has only one timer.
    pub(in crate::sender) const fn has_one_timer(self) -> bool {
        self.is_linux()
    }

    /// Returns the time that a probe waits in addition to two RTTs. If a `single` segment is outstanding, it is 200 ms for a delayed ACK
    /// (RFC 8985 section 7.2). In Linux it is the minimum RTO, `least`, for a single segment, and two ticks otherwise
    /// (`tcp_schedule_loss_probe`).
    #[inline]
    pub(in crate::sender) const fn allowance_of_probe(self, single: bool, least: Span) -> Span {
        match (self.stack, single) {
            (Stack::Rfc, true) => WORST_CASE_DELAYED_ACK,
            (Stack::Rfc, false) => Span::ZERO,
            (Stack::Linux, true) => least,
            (Stack::Linux, false) => MIN_TIMEOUT,
        }
    }

    /// Returns the intervals of probes while the peer's window is closed. In RFC 9293 section 3.8.6.1 the first interval is the timeout
    /// `rto`. Here, as in Linux (`tcp_probe0_base`), it is at least 200 ms, because a peer may answer probes only twice a second (RFC 5961
    /// section 7). The intervals grow to at most one minute, or in Linux two (`tcp_probe0_when`).
    pub(in crate::sender) fn waits_for_window(self, rto: Span) -> Waits {
        let first = rto.max(MIN_WAIT_FOR_WINDOW);
        match self.stack {
            Stack::Rfc => Waits { first, doublings: 6, longest: Span::from_secs(60) },
            Stack::Linux => Waits { first, doublings: 10, longest: Span::from_secs(120) },
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Restarts or stops the timers after an ACK with the results `progress`.
    pub(in crate::sender) fn restart_timers(&mut self, now: Time, progress: &Progress) {
        if self.stream.nxt() == self.stream.una() {
            self.timers.stop_timeouts();
            self.recovery.reorder_at = None;
        } else if self.rules.dialect.is_linux() {
            self.restart_one_timer(now, progress);
        } else if progress.advanced > 0 {
            self.restart_timeout_and_probe(now);
        }
        if self.rules.dialect.is_linux() {
            self.persist.begin_again(now, &self.rules.dialect.waits_for_window(self.rtt.rto()));
        }
    }

    /// Restarts the timeout because new data was acknowledged (RFC 6298 section 5.3). In a repair with NewReno, only the first partial ACK
    /// does so (RFC 6582 section 4, "impatient").
    #[inline]
    fn restart_timeout_and_probe(&mut self, now: Time) {
        let impatient = self.rules.method == Recovery::NewReno;
        let keep = match &mut self.recovery.mode {
            Mode::Recovery(episode) => core::mem::replace(&mut episode.partial_seen, true) && impatient,
            Mode::Open | Mode::Loss { .. } => false,
        };
        if !keep {
            self.timers.rto_at = Some(now + self.rtt.rto());
        }
        self.schedule_probe(now, self.timers.rto_at);
    }

    /// Restarts the timers after an ACK, as [`Sender::restart_timers`], with Linux's single timer.
    fn restart_one_timer(&mut self, now: Time, progress: &Progress) {
        // A selective ACK shows that the path is alive if it is for data sent before the newest transmission of the first segment.
        let alive = self.board.head_sent().is_some_and(|sent_at| progress.rtt > Some(now.since(sent_at)));
        if progress.advanced == 0 && !alive || self.rack.timed {
            return;
        }
        self.recovery.reorder_at = None;
        let another = self.timers.probe_at.is_some() || progress.reordering;
        let timeout = now + self.rtt.rto();
        self.schedule_probe(now, Some(timeout));
        let takes_over = another && self.timers.probe_at.is_none();
        self.timers.rto_at =
            Some(if takes_over { self.timeout_of_head(now).unwrap_or(now) } else { timeout });
    }

    /// Handles the probe timer: makes a probe due if anything is outstanding. If a probe is already unanswered, the timeout is used instead
    /// (`tcp_send_loss_probe`).
    pub(in crate::sender) fn probe_is_over(&mut self, now: Time) {
        self.timers.probe_at = None;
        if self.rules.dialect.schedules_a_second_probe() && self.recovery.probe.is_unanswered() {
            self.timers.rto_at = self.timeout_of_head(now).or(Some(now));
        } else {
            self.recovery.probe.call_for(!self.board.is_empty());
        }
    }

    /// After the reordering timer fired, starts the timeout if the stack has one timer (`tcp_rack_reo_timeout`).
    pub(in crate::sender) fn turn_to_timeout(&mut self, now: Time) {
        if self.rules.dialect.has_one_timer() {
            self.timers.rto_at = self.timeout_of_head(now).or(Some(now));
        }
    }

    /// Checks whether the segment that is sent now starts the timeout. It does if no timeout runs (RFC 6298 section 5.1), or if it is the
    /// first segment and Linux retransmits it (`again`, `tcp_xmit_retransmit_queue`).
    #[inline]
    pub(in crate::sender) fn begins_timeout(&self, start: u64, again: bool) -> bool {
        self.timers.rto_at.is_none()
            || again
                && self.rules.dialect.is_linux()
                && start == self.stream.una()
                && self.recovery.reorder_at.is_none()
    }

    /// Returns the timeout that limits the wait of the probe for the segment sent now. It is the running timeout or, with one timer, the
    /// timeout of the first outstanding segment.
    #[inline]
    pub(in crate::sender) fn timeout_for_probe(&self, now: Time) -> Option<Time> {
        if self.rules.dialect.has_one_timer() { self.timeout_of_head(now) } else { self.timers.rto_at }
    }

    /// Returns the time at which the first outstanding segment times out (Linux `tcp_rto_delta_us`), if it is in the future.
    fn timeout_of_head(&self, now: Time) -> Option<Time> {
        self.board.head_sent().map(|sent_at| sent_at + self.rtt.rto()).filter(|at| *at > now)
    }
}
