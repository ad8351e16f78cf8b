//! Decides when a connection is given up because retransmissions or zero-window probes are not answered.

use firstflight::{Span, Time};

/// Number of retransmissions after which the connection is given up if the host sets no time. RFC 9293 section 3.8.3 (R2) requires a limit,
/// either a number or a time.
const GIVE_UP_AFTER: u32 = 15;

/// The user timeout (RFC 9293 section 3.9.1, RFC 5482), and the current numbers of unanswered retransmissions and probes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UserTimeout {
    /// Number of consecutive RTOs since new data was last acknowledged.
    timeouts: u32,
    /// Number of consecutive zero-window probes since the last ACK.
    probes: u32,
    /// Number of consecutive RTOs that do not count, because the peer answered with a zero window.
    excused: u32,
    /// The user timeout of the host. If `None`, the number of retransmissions is limited.
    span: Option<Span>,
    /// Whether the connection ends exactly after this time, not at the next retransmission after it.
    exact: bool,
    /// Time at which the first unanswered segment was retransmitted.
    since: Option<Time>,
}

impl UserTimeout {
    /// Sets the user timeout of the host, and whether the connection ends exactly after it.
    pub(crate) fn set(&mut self, span: Span, exact: bool) {
        (self.span, self.exact) = (Some(span), exact);
    }

    /// Returns the number of consecutive RTOs.
    #[inline]
    pub(super) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Checks whether nothing was retransmitted or probed since the last answer.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.timeouts | self.probes == 0
    }

    /// Records that an ACK arrived, which shows that the peer is alive.
    #[inline]
    pub(super) fn answered(&mut self) {
        self.probes = 0;
    }

    /// Records that new data was acknowledged.
    #[inline]
    pub(super) fn advanced(&mut self) {
        self.timeouts = 0;
    }

    /// Records an RTO. Returns whether it is a repeated one: no new data was acknowledged since the previous RTO.
    pub(super) fn timed_out(&mut self) -> bool {
        self.timeouts += 1;
        let repeated = self.timeouts > 1;
        if !repeated {
            self.excused = 0;
        }
        repeated
    }

    /// Records that a zero-window probe was sent.
    pub(super) fn probed(&mut self) {
        self.probes += 1;
    }

    /// Records that the peer answered with a zero window. While the peer answers in this way, the connection is not given up because of
    /// data beyond the window's edge: a peer may shrink its window so that sent data lies beyond it (RFC 9293 section 3.8.6; Linux
    /// `tcp_retransmit_timer` with `snd_wnd` 0).
    pub(super) fn excuse(&mut self) {
        self.excused = self.timeouts;
    }

    /// Records that the segment sent now is a retransmission or probe. The first consecutive one starts the user timeout.
    pub(super) fn repeated(&mut self, now: Time) {
        if self.repetitions() == 1 {
            self.since = Some(now);
        }
    }

    /// Returns the number of consecutive unanswered retransmissions or zero-window probes.
    fn repetitions(&self) -> u32 {
        self.timeouts.saturating_sub(self.excused).max(self.probes)
    }

    /// Returns the time at which the first of the unanswered retransmissions or probes was sent; `None` if there are none.
    fn since(&self) -> Option<Time> {
        self.since.filter(|_| self.repetitions() > 0)
    }

    /// Checks whether the user timeout has passed, so that nothing more is retransmitted.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.since().zip(self.span).is_some_and(|(since, span)| now.since(since) >= span)
    }

    /// Checks whether no user timeout was set and there were too many unanswered retransmissions or probes.
    pub(super) fn counts_out(&self) -> bool {
        self.span.is_none() && self.repetitions() > GIVE_UP_AFTER
    }

    /// Returns the time at which the connection is given up, if the user timeout is exact and runs.
    pub(super) fn ends(&self) -> Option<Time> {
        Some(self.since().filter(|_| self.exact)? + self.span?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_timeout_counts_fifteen_retransmissions_or_elapsed_time() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut timeout = UserTimeout::default();
        for second in 1..=15 {
            assert_eq!(timeout.timed_out(), second > 1);
            timeout.repeated(at(second));
        }
        assert!(!timeout.counts_out());
        timeout.timed_out();
        assert!(timeout.counts_out() && !timeout.is_over(at(1_000)));
        timeout.set(Span::from_secs(3), false);
        assert!(!timeout.is_over(at(3)) && timeout.is_over(at(4)) && !timeout.counts_out());
        assert_eq!(timeout.ends(), None);
        timeout.set(Span::from_secs(3), true);
        assert_eq!(timeout.ends(), Some(at(4)));
        timeout.advanced();
        assert!(!timeout.is_over(at(4)) && timeout.ends().is_none());
    }
}
