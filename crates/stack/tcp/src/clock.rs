//! The timestamp clock. It ticks once per millisecond (RFC 7323 section 5.4 allows 1 ms to 1 s).

use firstflight::{Span, Time};

/// The unit of a timestamp.
pub(crate) const TICK: Span = Span::from_millis(1);

/// Returns the timestamp value (TSval) at `now`.
#[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
pub(crate) fn stamp(now: Time) -> u32 {
    (now.nanos() / TICK.nanos()) as u32
}
