//! The clock: the one place of the crate that reads time. A connection over a real network lives in real time, so the lint that
//! keeps clocks out of the libraries has its exception here, and nowhere else.

use std::hint::spin_loop;
use std::time::Instant;

use firstflight::{Span, Time};
use rustix::event::Timespec;

/// A monotonic clock whose instants count from a second before it was made: no instant is [`Time::ZERO`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that begins now.
    #[expect(clippy::disallowed_methods, reason = "the edge: real packets leave at real instants")]
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// The present instant.
    pub(crate) fn now(self) -> Time {
        let nanos = self.start.elapsed().as_nanos();
        Time::ZERO + Span::from_secs(1) + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX >> 1))
    }

    /// Occupies the processor until the instant has come.
    pub(crate) fn spin_until(self, at: Time) {
        while self.now() < at {
            spin_loop();
        }
    }
}

/// A span as the system takes it.
pub(crate) fn timespec(span: Span) -> Timespec {
    let (seconds, nanos) = (span.nanos() / 1_000_000_000, span.nanos() % 1_000_000_000);
    Timespec {
        tv_sec: i64::try_from(seconds).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos).unwrap_or(0),
    }
}
