//! Round-trip times as RFC 6298 smooths them, and the timer that follows.

use serde::{Deserialize, Serialize};

/// Linux's least variation in a timeout; RFC 6298's own least timeout of a second is what hardly any stack waits.
const LEAST_MARGIN: u64 = 200_000_000;
/// RFC 6298 section 2.1, before the first sample.
const FIRST_TIMEOUT: u64 = 1_000_000_000;

/// An hour: no round trip is longer.
const LONGEST: u64 = 3_600_000_000_000;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rtt {
    smoothed: Option<(u64, u64)>,
    least: Option<u64>,
    pub(crate) last: Option<u64>,
    pub(crate) samples: u64,
}

impl Rtt {
    /// RFC 6298 section 2.
    pub(crate) fn sample(&mut self, rtt: u64) {
        let rtt = rtt.min(LONGEST);
        self.samples += 1;
        self.last = Some(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((smooth, variation)) => ((smooth * 7 + rtt) / 8, (variation * 3 + smooth.abs_diff(rtt)) / 4),
        });
    }

    pub(crate) fn smoothed(&self) -> Option<u64> {
        self.smoothed.map(|(smooth, _)| smooth)
    }

    pub(crate) fn least(&self) -> Option<u64> {
        self.least
    }

    /// The retransmission timeout of a sender that measured the same.
    pub(crate) fn timeout(&self) -> u64 {
        self.smoothed.map_or(FIRST_TIMEOUT, |(smooth, variation)| smooth + (4 * variation).max(LEAST_MARGIN))
    }
}
