//! Conversions and ratios as floating-point numbers: seconds, rates, and counts of items.

const NANOS: f64 = 1e9;

/// Returns a span of nanoseconds in seconds.
#[expect(clippy::cast_precision_loss, reason = "spans are far below 2^53 ns; 104 days")]
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / NANOS
}

/// Returns `num / den`; `None` if `den` is zero.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn ratio(num: u64, den: u64) -> Option<f64> {
    (den > 0).then(|| num as f64 / den as f64)
}

/// Returns the rate in bits per second of `bytes` in `nanos` nanoseconds; `None` if `nanos` is zero.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn bps(bytes: u64, nanos: u64) -> Option<f64> {
    (nanos > 0).then(|| bytes as f64 * 8.0 / seconds(nanos))
}

/// Returns the number of items.
pub(crate) fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}
