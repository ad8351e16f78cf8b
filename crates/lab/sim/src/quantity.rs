//! Small values of descriptions, and their limits.

use firstflight::{Bytes, Rate};

/// Maximum rate: 10^15 bit/s. Beyond it even small packets take less time than the clock can resolve.
pub(crate) const RATE_LIMIT: Rate = Rate::from_bps(1_000_000_000_000_000);

/// The largest IP packet (RFC 791 section 3.1).
pub(crate) const PACKET_LIMIT: u32 = 65_535;

/// Capacity of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Packets, including the one in transmission. ns-2 counts like this: a `limit_` of N lets N − 1 packets wait. The
    /// papers' queues are those of ns-2. (A queue discipline of Linux with limit N lets N wait.)
    Packets(u32),
    /// IP bytes that wait, without the packet in transmission. A packet that would not fit as a whole is dropped.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

/// A probability as a fraction of 2^64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Probability(u64);

impl Probability {
    /// Zero probability.
    pub const NEVER: Self = Self(0);

    /// Returns `num / den`, rounded to the nearest fraction of 2^64. A ratio of one or more gives the maximum value,
    /// which is 2^-64 below certainty. A `den` of zero counts as one.
    pub fn ratio(num: u64, den: u64) -> Self {
        let den = u128::from(den.max(1));
        let scaled = ((u128::from(num) << 64) + den / 2) / den;
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// Returns the nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub(crate) fn to_f64(self) -> f64 {
        self.0 as f64 / 18_446_744_073_709_551_616.0
    }

    /// Returns the probability of `ppm` parts per million.
    pub fn from_ppm(ppm: u32) -> Self {
        Self::ratio(u64::from(ppm), 1_000_000)
    }

    /// Returns whether the probability is zero.
    pub const fn is_never(self) -> bool {
        self.0 == 0
    }

    /// Returns whether a uniform draw of 64 bits is below the probability.
    pub(crate) const fn covers(self, draw: u64) -> bool {
        draw < self.0
    }
}
