//! The first transfer of a sender: how long it took, and when its first bytes were acknowledged.

use serde::{Deserialize, Serialize};

/// Amounts of payload whose times are measured, in bytes.
const AMOUNTS: [u64; 2] = [100_000, 1_000_000];

/// The first transfer: the data up to the first restart after an idle time or, without one, all data of the connection. Its clock runs only
/// while data is outstanding. A pause in which everything sent is acknowledged is time of the application, not of the transfer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// Time at which data became outstanding; `None` if all of it is acknowledged.
    since: Option<u64>,
    /// Time for which data was outstanding before `since`.
    before: u64,
    /// Bytes acknowledged in order, and the time for which data was outstanding by then.
    acked: (u64, u64),
    /// Times of [`AMOUNTS`].
    reached: [Option<u64>; 2],
    /// Whether an idle time ended the transfer.
    is_over: bool,
}

impl Transfer {
    /// Records that data was sent.
    pub(crate) fn sent(&mut self, at: u64) {
        if !self.is_over {
            self.since.get_or_insert(at);
        }
    }

    /// Records that `bytes` of payload are acknowledged in order. `is_all` says whether this is all that was sent.
    pub(crate) fn acknowledged(&mut self, at: u64, bytes: u64, is_all: bool) {
        let Some(since) = self.since.filter(|_| !self.is_over) else { return };
        let time = self.before + at.saturating_sub(since);
        self.acked = (bytes, time);
        for (reached, amount) in self.reached.iter_mut().zip(AMOUNTS) {
            if bytes >= amount {
                reached.get_or_insert(time);
            }
        }
        if is_all {
            (self.before, self.since) = (time, None);
        }
    }

    /// Ends the transfer, because an idle time passed.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// Checks whether an idle time ended the transfer.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the bytes of the transfer and the time that they took; `None` if some of what was sent is not acknowledged.
    pub(crate) fn whole(&self) -> Option<(u64, u64)> {
        Some(self.acked).filter(|(bytes, _)| self.since.is_none() && *bytes > 0)
    }

    /// Returns the times until 100 kB and 1 MB were acknowledged in order.
    pub(crate) fn reached(&self) -> [Option<u64>; 2] {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_transfer_stops_while_nothing_is_outstanding() {
        let mut transfer = Transfer::default();
        transfer.sent(1_000);
        transfer.sent(1_200);
        transfer.acknowledged(1_400, 60_000, true);
        // A pause of 9,000 that is no idle time: the next request of the client.
        transfer.sent(10_400);
        transfer.acknowledged(10_500, 90_000, false);
        assert_eq!((transfer.whole(), transfer.reached()), (None, [None, None]));
        transfer.acknowledged(10_600, 120_000, true);
        assert_eq!(transfer.whole(), Some((120_000, 600)));
        assert_eq!(transfer.reached(), [Some(600), None]);
    }

    #[test]
    fn data_after_an_idle_time_is_another_transfer() {
        let mut transfer = Transfer::default();
        transfer.sent(0);
        transfer.acknowledged(50, 99_999, true);
        transfer.end();
        transfer.sent(9_000);
        transfer.acknowledged(9_050, 2_000_000, true);
        assert_eq!((transfer.whole(), transfer.reached()), (Some((99_999, 50)), [None, None]));
    }
}
