//! The timestamp clock (RFC 7323 section 5.4: between 1 ms and 1 s a tick; ours ticks every millisecond).

use firstflight::Time;

/// TSval at `now`.
#[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
pub(crate) fn stamp(now: Time) -> u32 {
    (now.nanos() / 1_000_000) as u32
}
