//! For how long data is sent again, or a closed window probed, before the connection is given up.

use firstflight::{Span, Time};

/// RFC 9293 section 3.8.3 (R2) asks for a limit, by number or by time: 15 times unless the host says for how long.
const GIVE_UP_AFTER: u32 = 15;

/// The user timeout (RFC 9293 section 3.9.1, RFC 5482), and what was sent without an answer so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UserTimeout {
    /// Timeouts in a row, with nothing acknowledged since.
    timeouts: u32,
    /// Probes of a closed window in a row, without an ACK since.
    probes: u32,
    /// The timeouts in a row that do not count, as the peer answered, with a closed window.
    excused: u32,
    /// How long the host wants to wait; without it repetitions are counted.
    span: Option<Span>,
    /// Whether the wait ends to the instant, and not when something would be sent again next.
    exact: bool,
    /// When the first of what is unanswered was sent again.
    since: Option<Time>,
}

impl UserTimeout {
    /// Sets for how long the host wants to wait, and whether to the instant.
    pub(crate) fn set(&mut self, span: Span, exact: bool) {
        (self.span, self.exact) = (Some(span), exact);
    }

    /// Timeouts in a row.
    #[inline]
    pub(super) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Whether nothing was sent again or probed since the last answer.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.timeouts | self.probes == 0
    }

    /// An ACK came: the peer lives.
    #[inline]
    pub(super) fn answered(&mut self) {
        self.probes = 0;
    }

    /// Something new was acknowledged.
    #[inline]
    pub(super) fn advanced(&mut self) {
        self.timeouts = 0;
    }

    /// The retransmission timer fired. Says whether it had fired before, with nothing acknowledged since.
    pub(super) fn timed_out(&mut self) -> bool {
        self.timeouts += 1;
        let repeated = self.timeouts > 1;
        if !repeated {
            self.excused = 0;
        }
        repeated
    }

    /// A closed window is probed.
    pub(super) fn probed(&mut self) {
        self.probes += 1;
    }

    /// The peer answered, with a closed window. A connection is not given up over data beyond the window's edge, where a peer may
    /// take it back to, while the peer answers (RFC 9293 section 3.8.6; Linux `tcp_retransmit_timer` with `snd_wnd` 0).
    pub(super) fn excuse(&mut self) {
        self.excused = self.timeouts;
    }

    /// What left now was a repetition: the first in a row begins the wait.
    pub(super) fn repeated(&mut self, now: Time) {
        if self.repetitions() == 1 {
            self.since = Some(now);
        }
    }

    /// How often in a row something was sent again, or a closed window probed, without an answer.
    fn repetitions(&self) -> u32 {
        self.timeouts.saturating_sub(self.excused).max(self.probes)
    }

    /// When the first of the repetitions left, if there were any.
    fn since(&self) -> Option<Time> {
        self.since.filter(|_| self.repetitions() > 0)
    }

    /// Whether the time is over that was set, so that nothing is to be sent again any more.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.since().zip(self.span).is_some_and(|(since, span)| now.since(since) >= span)
    }

    /// Whether no time was set and there were too many repetitions.
    pub(super) fn counts_out(&self) -> bool {
        self.span.is_none() && self.repetitions() > GIVE_UP_AFTER
    }

    /// When the connection is given up, if it is to the instant.
    pub(super) fn ends(&self) -> Option<Time> {
        Some(self.since().filter(|_| self.exact)? + self.span?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_fifteen_or_the_time_since_the_first_repetition() {
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
