//! Units of measures, and verdicts on their changes.

use serde::Serialize;

/// Unit of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Segments.
    Segments,
    /// Bits a second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// A share of 1.
    Share,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
}

/// Returns the verdict on a difference with this interval.
pub(crate) fn verdict(interval: Option<[f64; 2]>, lower_is_better: Option<bool>) -> &'static str {
    match interval {
        None => "unknown",
        Some([low, high]) if low <= 0.0 && high >= 0.0 => "same",
        Some([low, _]) => match (lower_is_better, low > 0.0) {
            (None, true) => "higher",
            (None, false) => "lower",
            (Some(lower), higher) if lower == higher => "worse",
            (Some(_), _) => "better",
        },
    }
}
