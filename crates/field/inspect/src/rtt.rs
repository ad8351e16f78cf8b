//! Smoothed RTT and retransmission timeout (RFC 6298).

use serde::{Deserialize, Serialize};

/// Linux's minimum of the timeout's variation term, in nanoseconds. RFC 6298's minimum timeout of a second is not used, because hardly any
/// stack waits so long.
const MIN_MARGIN: u64 = 200_000_000;
/// Timeout before the first sample (RFC 6298 section 2.1), in nanoseconds.
const FIRST_TIMEOUT: u64 = 1_000_000_000;

/// Maximum RTT sample in nanoseconds: an hour. Larger samples are limited to it.
const LONGEST: u64 = 3_600_000_000_000;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rtt {
    smoothed: Option<(u64, u64)>,
    least: Option<u64>,
    pub(crate) last: Option<u64>,
    pub(crate) samples: u64,
}

impl Rtt {
    /// Adds an RTT sample (RFC 6298 section 2).
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

    /// Returns the retransmission timeout of a sender with these samples.
    pub(crate) fn timeout(&self) -> u64 {
        self.smoothed.map_or(FIRST_TIMEOUT, |(smooth, variation)| smooth + (4 * variation).max(MIN_MARGIN))
    }
}
