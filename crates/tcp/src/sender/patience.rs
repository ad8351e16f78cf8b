//! For how long data is sent again, or a closed window probed, before the connection is given up.

use firstflight::{Span, Time};

/// RFC 9293 section 3.8.3 (R2) asks for a limit, by number or by time: 15 times unless the host says for how long.
const GIVE_UP_AFTER: u32 = 15;

/// The limit, and what was used of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    span: Option<Span>,
    /// Whether it ends to the instant, not when something is sent again next.
    exact: bool,
    /// When the first of what is unanswered was sent again.
    since: Option<Time>,
    /// The timeouts in a row that do not count, for the peer answered, with a closed window.
    excused: u32,
}

impl Patience {
    pub(super) fn set(&mut self, span: Span, exact: bool) {
        (self.span, self.exact) = (Some(span), exact);
    }

    /// RFC 9293 section 3.8.6: a connection is not given up over data beyond the window's edge, where a peer may take it
    /// back to, while the peer answers (Linux `tcp_retransmit_timer` with `snd_wnd` 0). So many `timeouts` in a row have been.
    pub(super) fn excuse(&mut self, timeouts: u32) {
        self.excused = timeouts;
    }

    /// Those of the `timeouts` in a row that count.
    pub(super) fn inexcusable(&self, timeouts: u32) -> u32 {
        timeouts.saturating_sub(self.excused)
    }

    /// Something was sent again for the `count`th time in a row.
    pub(super) fn used(&mut self, now: Time, count: u32) {
        if count == 1 {
            self.since = Some(now);
        }
    }

    /// Whether nothing is to be sent again any more, `count` retransmissions or probes being unanswered.
    pub(super) fn is_over(&self, now: Time, count: u32) -> bool {
        let since = self.since.filter(|_| count > 0);
        since.zip(self.span).is_some_and(|(since, span)| now.since(since) >= span)
    }

    /// The same where no time was set.
    pub(super) fn counts_out(&self, count: u32) -> bool {
        self.span.is_none() && count > GIVE_UP_AFTER
    }

    /// When it ends, if it does so to the instant.
    pub(super) fn ends(&self, count: u32) -> Option<Time> {
        Some(self.since.filter(|_| self.exact && count > 0)? + self.span?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_fifteen_or_the_time_since_the_first_repetition() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut patience = Patience::default();
        patience.used(at(1), 1);
        assert!(!patience.counts_out(15) && patience.counts_out(16) && !patience.is_over(at(1_000), 16));
        patience.set(Span::from_secs(3), false);
        patience.used(at(2), 2);
        assert!(!patience.is_over(at(3), 2) && patience.is_over(at(4), 2) && !patience.is_over(at(4), 0));
        assert_eq!(patience.ends(2), None);
        patience.set(Span::from_secs(3), true);
        assert_eq!((patience.ends(2), patience.ends(0)), (Some(at(4)), None));
    }
}
