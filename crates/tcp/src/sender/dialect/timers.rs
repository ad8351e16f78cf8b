//! Timeout, probe and reordering timers. The RFCs have one each; Linux has one for the three (`icsk_timer`,
//! `tcp_set_xmit_timer`, `tcp_rearm_rto`): the newest takes the place of the others, and where the timeout takes the place of
//! another, it counts from when the first outstanding segment left.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Dialect;
use crate::config::{Recovery, Stack};
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::peer_window::Waits;
use crate::sender::rack::{LEAST_TIMEOUT, WORST_CASE_DELAYED_ACK};
use crate::sender::recovery::Mode;

/// Linux `TCP_RTO_MIN`, under the wait for a window whatever the least timeout is.
const LEAST_WAIT_FOR_WINDOW: Span = Span::from_millis(200);

impl Dialect {
    /// Whether a probe may be scheduled while another is unanswered; when the second is due, the timeout takes its turn.
    pub(in crate::sender) const fn schedules_a_second_probe(self) -> bool {
        self.is_linux()
    }

    /// Whether a probe that is scheduled takes the reordering timer's place.
    pub(in crate::sender) const fn has_one_timer(self) -> bool {
        self.is_linux()
    }

    /// What a probe allows for beside two round trips: where a `single` segment is out for a delayed ACK of 200 ms (RFC 8985
    /// section 7.2). Linux allows for the least timeout then, `least`, and else for two ticks (`tcp_schedule_loss_probe`).
    #[inline]
    pub(in crate::sender) const fn allowance_of_probe(self, single: bool, least: Span) -> Span {
        match (self.stack, single) {
            (Stack::Rfc, true) => WORST_CASE_DELAYED_ACK,
            (Stack::Rfc, false) => Span::ZERO,
            (Stack::Linux, true) => least,
            (Stack::Linux, false) => LEAST_TIMEOUT,
        }
    }

    /// The waits while the peer's window is closed. RFC 9293 section 3.8.6.1 has the first take the timeout `rto`; here, as in
    /// Linux (`tcp_probe0_base`), it takes 200 ms at least, for a peer that answers probes may do so twice a second
    /// (RFC 5961 section 7). They end at a minute, or as in Linux at two (`tcp_probe0_when`).
    pub(in crate::sender) fn waits_for_window(self, rto: Span) -> Waits {
        let first = rto.max(LEAST_WAIT_FOR_WINDOW);
        match self.stack {
            Stack::Rfc => Waits { first, doublings: 6, longest: Span::from_secs(60) },
            Stack::Linux => Waits { first, doublings: 10, longest: Span::from_secs(120) },
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// An ACK of `progress` puts the timers off, or ends them.
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

    /// RFC 6298 section 5.3: new data was acknowledged, and the timeout begins again; of NewReno in a repair on the first partial
    /// ACK only (RFC 6582 section 4, "impatient").
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

    /// [`Sender::restart_timers`] with Linux's one timer.
    fn restart_one_timer(&mut self, now: Time, progress: &Progress) {
        // A selective acknowledgement of what left before the first segment was last sent shows that the path lives.
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

    /// The probe's timer is due: a probe leaves if anything is outstanding, or with one out the timeout takes its turn
    /// (`tcp_send_loss_probe`).
    pub(in crate::sender) fn probe_is_over(&mut self, now: Time) {
        self.timers.probe_at = None;
        if self.rules.dialect.schedules_a_second_probe() && self.recovery.probe.is_unanswered() {
            self.timers.rto_at = self.timeout_of_head(now).or(Some(now));
        } else {
            self.recovery.probe.call_for(!self.board.is_empty());
        }
    }

    /// The reordering timer was due, and with one timer the timeout comes next (`tcp_rack_reo_timeout`).
    pub(in crate::sender) fn turn_to_timeout(&mut self, now: Time) {
        if self.rules.dialect.has_one_timer() {
            self.timers.rto_at = self.timeout_of_head(now).or(Some(now));
        }
    }

    /// Whether what leaves has the timeout begin: no timeout runs (RFC 6298 section 5.1), or Linux sends the first segment
    /// `again` (`tcp_xmit_retransmit_queue`).
    #[inline]
    pub(in crate::sender) fn begins_timeout(&self, start: u64, again: bool) -> bool {
        self.timers.rto_at.is_none()
            || again
                && self.rules.dialect.is_linux()
                && start == self.stream.una()
                && self.recovery.reorder_at.is_none()
    }

    /// The timeout that bounds the probe of what leaves now: the running one, or with one timer that of the first segment.
    #[inline]
    pub(in crate::sender) fn timeout_for_probe(&self, now: Time) -> Option<Time> {
        if self.rules.dialect.has_one_timer() { self.timeout_of_head(now) } else { self.timers.rto_at }
    }

    /// `tcp_rto_delta_us`: when the first outstanding segment times out, if that lies ahead.
    fn timeout_of_head(&self, now: Time) -> Option<Time> {
        self.board.head_sent().map(|sent_at| sent_at + self.rtt.rto()).filter(|at| *at > now)
    }
}
