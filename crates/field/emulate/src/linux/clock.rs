//! The monotonic clock of the system.

use firstflight::Time;
use rustix::time::{ClockId, clock_gettime};

use crate::relay::Clock;

/// Monotonic clock that starts at zero when it is created. The relay uses this clock. Results that are compared between runs do not depend
/// on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monotonic {
    zero: u64,
}

impl Monotonic {
    pub(super) fn new() -> Self {
        Self { zero: nanos(ClockId::Monotonic) }
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Time {
        Time::from_nanos(nanos(ClockId::Monotonic).saturating_sub(self.zero))
    }
}

/// Returns the current time in nanoseconds since 1970.
pub(super) fn since_1970() -> u64 {
    nanos(ClockId::Realtime)
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |part: i64| u64::try_from(part).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}
