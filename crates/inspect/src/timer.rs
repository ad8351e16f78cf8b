//! Whether the retransmission timer sent something, as far as packets tell.

use crate::rtt::Rtt;

/// What is known of a sender's timer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    /// When it was last started: something was acknowledged in order, or the first segment outstanding sent again.
    since: u64,
}

/// Why a timer must have sent it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fired {
    /// In silence.
    Silent,
    /// Long after it had been sent again before.
    Late,
}

impl Timer {
    pub(crate) fn start(&mut self, at: u64) {
        self.since = at;
    }

    /// Whether it sent the first segment outstanding at `at`; `last` is when anything was last sent or heard, and
    /// `handshake` the round trip until there are samples.
    pub(crate) fn fired(
        self,
        at: u64,
        last: u64,
        sent_again: u32,
        rtt: &Rtt,
        handshake: Option<u64>,
    ) -> Option<Fired> {
        let smooth = rtt.smoothed().or(handshake).unwrap_or(u64::MAX / 2);
        let timeout = rtt.timeout();
        // Nothing was acknowledged and nothing sent for its time.
        if at.saturating_sub(last) >= smooth.max(timeout / 2) {
            return Some(Fired::Silent);
        }
        // Acknowledgements of what lies behind still come, but they do not make a sender send a segment for a third time so
        // late: that it is missed again shows a round trip after it was sent, and a quarter for disorder (RFC 8985
        // section 6.2).
        let late = (timeout - timeout / 16).max(smooth / 2 * 3);
        (sent_again > 0 && at.saturating_sub(self.since) >= late).then_some(Fired::Late)
    }
}
