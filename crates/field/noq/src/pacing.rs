//! Pacing rates for noq's token bucket.

use firstflight::{Bytes, Span};

/// The rate at which noq's pacer holds nothing back, in bytes per second. A higher rate gives delays that round to zero nanoseconds, with
/// which a driver in virtual time would never advance.
pub(crate) const UNPACED: u64 = 2_000_000_000;

/// The number of rates that are tried to find a wait without remainder.
const TRIED: u64 = 64;

/// Returns a rate in bytes per second at which the bucket holds one packet of `mtu` bytes: noq limits the bucket to 10 ms of the rate.
pub(crate) fn one_packet_bucket(mtu: Bytes) -> u64 {
    (mtu.get() * 100).max(1)
}

/// Returns a rate in bytes per second at which noq releases a packet of `mtu` bytes each `gap`, and not earlier.
///
/// noq waits for the shortfall of `mtu` bytes, rounded to whole nanoseconds, and counts whole bytes afterwards. If the wait was rounded
/// down, a byte is missing, and another wait follows. So the rate is the highest one whose wait is no shorter than the gap and carries the packet.
/// Whole bytes per second keep gaps of up to 10 ms within a microsecond.
pub(crate) fn rate_of_gap(mtu: Bytes, gap: Span) -> u64 {
    const SECOND: u128 = 1_000_000_000;
    // A margin of 1e-8 bytes covers the rounding of noq's floating-point numbers.
    let need = u128::from(mtu.get()) * SECOND + 10;
    let gap = u128::from(gap.nanos());
    if gap == 0 {
        return UNPACED;
    }
    let ideal = u64::try_from(need.div_ceil(gap)).unwrap_or(UNPACED).clamp(1, UNPACED);
    let is_exact = |rate: &u64| {
        let rate = u128::from(*rate);
        let wait = (u128::from(mtu.get()) * SECOND + rate / 2) / rate;
        wait >= gap && wait * rate >= need
    };
    let slowest = ideal.saturating_sub(TRIED).max(1);
    (slowest..=ideal).rev().find(is_exact).unwrap_or(ideal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_kept_within_a_microsecond() {
        for micros in [10, 96, 480, 1_700, 5_000, 10_000] {
            let gap = Span::from_micros(micros);
            let rate = rate_of_gap(Bytes::new(1_200), gap);
            let wait = 1_200.0e9 / f64::from(u32::try_from(rate).expect("moderate"));
            let error = wait - f64::from(u32::try_from(gap.nanos()).expect("short"));
            assert!(error.abs() < 1_000.0, "{micros} us: {error} ns");
        }
    }

    #[test]
    fn a_bucket_of_one_packet_refills_in_ten_milliseconds() {
        assert_eq!(one_packet_bucket(Bytes::new(1_200)) / 100, 1_200);
    }
}
