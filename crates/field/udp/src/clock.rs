//! The clock. Only this module of the crate reads the time. A connection over a real network needs real time, so the lint that forbids
//! clocks in the libraries has its only exception here.

use std::hint::spin_loop;
use std::time::Instant;

use firstflight::{Span, Time};
use rustix::event::Timespec;

/// A monotonic clock. Its times count from one second before the clock was made, so that no time is [`Time::ZERO`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// Returns a clock that starts now.
    #[expect(clippy::disallowed_methods, reason = "the edge: real packets leave at real instants")]
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns the current time.
    pub(crate) fn now(self) -> Time {
        let nanos = self.start.elapsed().as_nanos();
        Time::ZERO + Span::from_secs(1) + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX >> 1))
    }

    /// Waits in a busy loop until this time.
    pub(crate) fn spin_until(self, at: Time) {
        while self.now() < at {
            spin_loop();
        }
    }
}

/// Returns the seconds since 1970 by the system's clock, in which the times of files are.
pub(crate) fn seconds_since_1970() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec
}

/// Converts a span to the type that system calls take.
pub(crate) fn timespec(span: Span) -> Timespec {
    let (seconds, nanos) = (span.nanos() / 1_000_000_000, span.nanos() % 1_000_000_000);
    Timespec {
        tv_sec: i64::try_from(seconds).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos).unwrap_or(0),
    }
}
