//! Detection of retransmissions by a timer, as far as packets show.

use serde::{Deserialize, Serialize};

use crate::rtt::Rtt;

/// Time that a tail loss probe of a single segment waits for a delayed ACK in addition to two RTTs, in nanoseconds (RFC 8985 section 7.2).
const DELAYED_ACK: u64 = 200_000_000;

/// State of a sender's retransmission timer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timer {
    /// Last start of the timer. An in-order acknowledgement or a retransmission of the first outstanding segment starts it.
    since: u64,
}

/// Why a timer must have sent a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fired {
    /// The segment was sent after a silence.
    Silent,
    /// The segment was sent long after its previous retransmission.
    Late,
}

impl Timer {
    pub(crate) fn start(&mut self, at: u64) {
        self.since = at;
    }

    /// Checks whether a timer must have sent the first outstanding segment at `at`, and returns why; `None` if not. The segment had been
    /// retransmitted `retransmissions` times before, and is `alone` if nothing else is outstanding. `last` is the last time at which
    /// anything was sent or received. `handshake` is the RTT to use until there are samples.
    pub(crate) fn fired(
        self,
        at: u64,
        last: u64,
        (retransmissions, alone): (u32, bool),
        rtt: &Rtt,
        handshake: Option<u64>,
    ) -> Option<Fired> {
        let smooth = rtt.smoothed().or(handshake).unwrap_or(u64::MAX / 2);
        let timeout = rtt.timeout();
        let silence = at.saturating_sub(last);
        // The first retransmission of a lone segment may be a tail loss probe, which waits for this time.
        if alone
            && retransmissions == 0
            && silence <= smooth.saturating_mul(2).saturating_add(smooth / 4 + DELAYED_ACK)
        {
            return None;
        }
        // Nothing was sent or acknowledged for at least an RTT and half a timeout.
        if silence >= smooth.max(timeout / 2) {
            return Some(Fired::Silent);
        }
        // Acknowledgements of later segments still arrive, but they cannot trigger a third transmission so late. The next packet was sent
        // within an RTT. An RTT after it, plus a quarter for reordering (RFC 8985 section 6.2), the loss of the second transmission was
        // detected.
        let late = (timeout - timeout / 16).max((smooth / 4).saturating_mul(9));
        (retransmissions > 0 && at.saturating_sub(self.since) >= late).then_some(Fired::Late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Nothing else was sent for an RTT after the second transmission, so its loss was detected only after two RTTs.
    #[test]
    fn a_third_transmission_after_two_round_trips_is_not_a_timeout() {
        let mut rtt = Rtt::default();
        (0..40).for_each(|_| rtt.sample(206 * MS));
        let after = |later: u64| {
            let at = 10_000 * MS + later * MS;
            Timer { since: 10_000 * MS }.fired(at, at, (1, false), &rtt, None)
        };
        assert_eq!([after(407), after(450), after(470)], [None, None, Some(Fired::Late)]);
    }
}
