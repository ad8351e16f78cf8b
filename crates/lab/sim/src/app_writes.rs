//! An application that writes at equal intervals.

use firstflight::{Span, Time};

/// Writes at equal intervals, whether or not the previous writes are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Writes {
    /// Payload bytes of all writes.
    pub total: u64,
    /// Payload bytes of one write. The last write has the remaining bytes.
    pub bytes: u64,
    /// Time from one write to the next. The first write is at the start of the flow.
    pub period: Span,
}

/// The state of an application that writes at equal intervals, or that stops at an instant.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    writes: Writes,
    left: u64,
    next: Option<Time>,
    /// Whether the application wrote all data at once, more than can be sent, and stops at its next event.
    stops: bool,
}

impl Writing {
    /// Returns the state of an application whose flow starts at `now`.
    pub(crate) fn new(writes: Writes, now: Time) -> Self {
        Self { writes, left: writes.total, next: Some(now), stops: false }
    }

    /// Returns the state of an application that stops writing at `at`.
    pub(crate) fn until(at: Time) -> Self {
        let writes = Writes { total: 0, bytes: 0, period: Span::ZERO };
        Self { writes, left: 0, next: Some(at), stops: true }
    }

    /// Returns whether the application stops at `now` or has stopped before.
    pub(crate) fn has_stopped(&self, now: Time) -> bool {
        self.stops && self.next.is_some_and(|at| at <= now)
    }

    /// Returns whether the application writes without a limit until it stops at an instant.
    pub(crate) fn stops(&self) -> bool {
        self.stops
    }

    /// Returns when the next write is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Returns the bytes of the writes that are due by `now`; zero if none is due.
    pub(crate) fn take(&mut self, now: Time) -> u64 {
        let mut taken = 0;
        while let Some(at) = self.next.filter(|at| *at <= now) {
            let bytes = self.writes.bytes.min(self.left);
            taken += bytes;
            self.left -= bytes;
            self.next = (self.left > 0).then(|| at + self.writes.period);
        }
        taken
    }

    /// Returns whether everything is written.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_keep_their_clock_and_the_last_has_what_is_left() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let writes = Writes { total: 2_500, bytes: 1_000, period: Span::from_millis(10) };
        let mut writing = Writing::new(writes, ms(5));
        assert_eq!((writing.take(ms(4)), writing.take(ms(5)), writing.next()), (0, 1_000, Some(ms(15))));
        assert_eq!((writing.take(ms(14)), writing.is_over()), (0, false));
        assert_eq!((writing.take(ms(40)), writing.next(), writing.is_over()), (1_500, None, true));
        assert_eq!(writing.take(ms(50)), 0);
    }
}
