//! The timestamp clock (RFC 7323 section 5.4: between 1 ms and 1 s a tick; ours ticks every millisecond).

use firstflight::{Span, Time};

/// What a timestamp counts.
pub(crate) const TICK: Span = Span::from_millis(1);

/// TSval at `now`.
#[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
pub(crate) fn stamp(now: Time) -> u32 {
    (now.nanos() / TICK.nanos()) as u32
}
