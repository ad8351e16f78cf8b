//! Lines of text about the actions of peers, at a rate that a person can read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use firstflight_udp::Source;

use crate::output;

/// The number of shares of a second's lines. Lines about one source may use one share.
const SHARES: u32 = 4;
const SECOND: Duration = Duration::from_secs(1);

/// The printer of lines on standard error. It prints up to a maximum number of lines per second, of which a quarter may be about one
/// source. It counts the other lines and reports their number.
#[derive(Debug)]
pub(crate) struct Lines {
    most: u32,
    second: Mutex<Second>,
}

#[derive(Debug)]
struct Second {
    began: Instant,
    said: u32,
    by: BTreeMap<Source, u32>,
    suppressed: u64,
}

impl Lines {
    /// Creates a printer of up to `most` lines per second. The first second starts at `now`.
    pub(crate) fn new(most: u32, now: Instant) -> Self {
        let second = Second { began: now, said: 0, by: BTreeMap::new(), suppressed: 0 };
        Self { most, second: Mutex::new(second) }
    }

    /// Prints a line about a peer, or counts it if there is no room.
    pub(crate) fn say(&self, source: Source, now: Instant, line: &str) {
        self.tidy(now);
        if self.lock().takes(source, self.most) {
            output::say(line);
        }
    }

    /// If the current second has ended, reports how many of its lines were suppressed.
    pub(crate) fn tidy(&self, now: Instant) {
        say_suppressed(self.lock().next(now));
    }

    /// Reports how many lines of the current second were suppressed, before the second has ended.
    pub(crate) fn end(&self) {
        say_suppressed(std::mem::take(&mut self.lock().suppressed));
    }

    fn lock(&self) -> MutexGuard<'_, Second> {
        self.second.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn say_suppressed(suppressed: u64) {
    if suppressed > 0 {
        output::say(&suppressed_lines(suppressed));
    }
}

fn suppressed_lines(suppressed: u64) -> String {
    let lines = if suppressed == 1 { "line" } else { "lines" };
    format!("{suppressed} more {lines} about peers suppressed")
}

impl Second {
    /// Counts a line. Returns whether it may be printed.
    fn takes(&mut self, source: Source, most: u32) -> bool {
        let of_source = self.by.get(&source).copied().unwrap_or(0);
        let is_said = self.said < most && of_source < (most / SHARES).max(1);
        if is_said {
            self.said += 1;
            self.by.insert(source, of_source + 1);
        } else {
            self.suppressed += 1;
        }
        is_said
    }

    /// Starts the next second if the current one has ended. Returns how many lines were suppressed in it.
    fn next(&mut self, now: Instant) -> u64 {
        if now.saturating_duration_since(self.began) < SECOND {
            return 0;
        }
        let suppressed = self.suppressed;
        *self = Self { began: now, said: 0, by: BTreeMap::new(), suppressed: 0 };
        suppressed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_limited_in_total_and_per_source_and_suppressed_ones_counted() {
        #[expect(clippy::disallowed_methods, reason = "no instant can be made up")]
        let began = Instant::now();
        let lines = Lines::new(8, began);
        let mut second = lines.lock();
        let source = |last: u8| Source::of([192, 0, 2, last].into());
        let said = |second: &mut Second, last: u8| (0..100).filter(|_| second.takes(source(last), 8)).count();
        assert_eq!((1..=6).map(|last| said(&mut second, last)).collect::<Vec<_>>(), [2, 2, 2, 2, 0, 0]);
        assert_eq!(second.by.len(), 4);
        assert_eq!(second.next(began + SECOND / 2), 0);
        assert_eq!(second.next(began + SECOND), 592);
        assert_eq!(said(&mut second, 6), 2);
        assert_eq!(suppressed_lines(1), "1 more line about peers suppressed");
    }
}
