//! A token-bucket policer: traffic above its rate and burst is dropped, and no packet waits.

use firstflight::{Bytes, Rate, Time};

/// A token bucket, full at the start. Each packet takes tokens for its IP bytes. A packet that finds too few tokens
/// is dropped and takes none (RFC 2697 with one rate and one bucket, in its colour-blind form; Linux's `police`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicerSpec {
    /// Rate at which tokens arrive, in IP bits per second.
    pub rate: Rate,
    /// Capacity of the bucket, in IP bytes.
    pub burst: Bytes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Policer {
    spec: PolicerSpec,
    /// The tokens in the bucket, in bits times 10^9, so that no fraction is lost.
    tokens: u128,
    /// The instant up to which tokens have been added.
    filled_to: Time,
}

const NANO_BITS_PER_BYTE: u128 = 8_000_000_000;

impl Policer {
    pub(crate) fn new(spec: PolicerSpec) -> Self {
        Self { spec, tokens: full(spec), filled_to: Time::ZERO }
    }

    /// Returns whether a packet of `wire` IP bytes may pass. If so, removes its tokens.
    pub(crate) fn passes(&mut self, now: Time, wire: u32) -> bool {
        let nanos = u128::from(now.since(self.filled_to).nanos());
        self.filled_to = now;
        self.tokens = (self.tokens + nanos * u128::from(self.spec.rate.bps())).min(full(self.spec));
        let cost = u128::from(wire) * NANO_BITS_PER_BYTE;
        let passes = self.tokens >= cost;
        if passes {
            self.tokens -= cost;
        }
        passes
    }
}

fn full(spec: PolicerSpec) -> u128 {
    u128::from(spec.burst.get()) * NANO_BITS_PER_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policer(bps: u64, burst: u64) -> Policer {
        Policer::new(PolicerSpec { rate: Rate::from_bps(bps), burst: Bytes::new(burst) })
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // The bucket gets one byte per microsecond, and holds 3000 bytes.
        let mut policer = policer(8_000_000, 3_000);
        let at = |micros: u64| Time::from_nanos(micros * 1_000);
        let passed = [0, 0, 0, 0, 999, 1_000, 1_500, 2_000].map(|micros| policer.passes(at(micros), 1_000));
        assert_eq!(passed, [true, true, true, false, false, true, false, true]);
    }

    #[test]
    fn a_packet_beyond_the_bucket_never_passes_and_a_smaller_one_may() {
        let mut policer = policer(8_000_000, 1_000);
        assert!(!policer.passes(Time::from_nanos(1 << 40), 1_001));
        assert!(policer.passes(Time::from_nanos(1 << 40), 1_000));
    }

    proptest! {
        #[test]
        fn policed_traffic_never_exceeds_burst_plus_rate_and_attains_it_under_load(
            bps in 1_000_000u64..1_000_000_000,
            // The bucket holds the largest packet plus the tokens that arrive until the next packet. A smaller bucket
            // would overflow in between.
            burst in 1_650u64..100_000,
            gaps in proptest::collection::vec(0u64..2_000, 200..1_000),
        ) {
            let mut policer = policer(bps, burst);
            let (mut now, mut passed) = (0, 0u64);
            for gap in gaps {
                now += gap;
                passed += if policer.passes(Time::from_nanos(now), 1_500) { 1_500 } else { 0 };
            }
            let allowed = u128::from(burst) * 8_000_000_000 + u128::from(now) * u128::from(bps);
            prop_assert!(u128::from(passed) * 8_000_000_000 <= allowed);
            // At ten times the rate, the packets that pass use all tokens of the bucket, up to one packet.
            let mut policer = Policer::new(PolicerSpec { rate: Rate::from_bps(bps), burst: Bytes::new(burst) });
            let step = 1_500 * 800_000_000 / bps;
            let passed: u64 = (0..5_000).map(|n| if policer.passes(Time::from_nanos(n * step), 1_500) { 1_500 } else { 0 }).sum();
            let allowed = u128::from(burst) * 8_000_000_000 + u128::from(4_999 * step) * u128::from(bps);
            let left = allowed - u128::from(passed) * 8_000_000_000;
            prop_assert!(left < 1_500 * 8_000_000_000, "{left}");
        }
    }
}
