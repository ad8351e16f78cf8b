//! Whether the retransmission timer sent something, as far as packets tell.

use serde::{Deserialize, Serialize};

use crate::rtt::Rtt;

/// RFC 8985 section 7.2: the time that the probe of a single segment waits for a delayed ACK, in addition to two round trips.
const DELAYED_ACK: u64 = 200_000_000;

/// What is known of a sender's timer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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

    /// Whether it sent the first segment outstanding at `at`, which was sent `sent_again` times since the first, and is `alone` if
    /// nothing else is outstanding; `last` is when anything was last sent or heard, and `handshake` the round trip until there are
    /// samples.
    pub(crate) fn fired(
        self,
        at: u64,
        last: u64,
        (sent_again, alone): (u32, bool),
        rtt: &Rtt,
        handshake: Option<u64>,
    ) -> Option<Fired> {
        let smooth = rtt.smoothed().or(handshake).unwrap_or(u64::MAX / 2);
        let timeout = rtt.timeout();
        let silence = at.saturating_sub(last);
        // The first sending again of one that is alone may as well be the probe of a tail, which waits that long.
        if alone
            && sent_again == 0
            && silence <= smooth.saturating_mul(2).saturating_add(smooth / 4 + DELAYED_ACK)
        {
            return None;
        }
        // Nothing was acknowledged and nothing sent for its time.
        if silence >= smooth.max(timeout / 2) {
            return Some(Fired::Silent);
        }
        // Acknowledgements of what lies behind still come, but they do not make a sender send a segment for a third time so
        // late: the next packet left within a round trip, and that this one is missed again shows a round trip after that, and a
        // quarter for disorder (RFC 8985 section 6.2).
        let late = (timeout - timeout / 16).max((smooth / 4).saturating_mul(9));
        (sent_again > 0 && at.saturating_sub(self.since) >= late).then_some(Fired::Late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Nothing else left for a round trip after the second sending, so that its loss showed after two.
    #[test]
    fn a_third_sending_two_round_trips_after_the_second_may_be_by_acknowledgements() {
        let mut rtt = Rtt::default();
        (0..40).for_each(|_| rtt.sample(206 * MS));
        let after = |later: u64| {
            let at = 10_000 * MS + later * MS;
            Timer { since: 10_000 * MS }.fired(at, at, (1, false), &rtt, None)
        };
        assert_eq!([after(407), after(450), after(470)], [None, None, Some(Fired::Late)]);
    }
}
