//! Seconds, ratios and rates as doubles.

const NANOS: f64 = 1e9;

/// Seconds of a span in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "spans are far below 2^53 ns; 104 days")]
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / NANOS
}

/// `num / den`, `None` for an empty denominator.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn ratio(num: u64, den: u64) -> Option<f64> {
    (den > 0).then(|| num as f64 / den as f64)
}

/// Bits per second of `bytes` in `nanos`.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn bps(bytes: u64, nanos: u64) -> Option<f64> {
    (nanos > 0).then(|| bytes as f64 * 8.0 / seconds(nanos))
}

/// How many items there are.
pub(crate) fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}
