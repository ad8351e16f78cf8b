//! Decides how long a relay waits in a busy loop instead of sleeping.

use firstflight::{Rate, Span, Time};

/// Decides when a relay sleeps and when it waits in a busy loop.
///
/// A sleeping thread wakes up some tens of microseconds late, so the relay wakes up early and then waits in a busy loop. It does so only on
/// paths up to [`WATCHED`], and only if it slept enough in the previous [`WINDOW`]. The reason is that the kernel stops a real-time thread
/// that never sleeps, and with small packets at short intervals the relay would never sleep.
#[derive(Clone, Debug)]
pub(crate) struct BusyWait {
    early: Span,
    may_watch: bool,
    /// The start of the current period. The time for which the relay has slept in it follows.
    window: Time,
    slept: Span,
    /// The start of the current sleep.
    since: Option<Time>,
}

/// The time before an event at which the relay wakes up early.
const EARLY: Span = Span::from_micros(60);
/// The maximum rate of the fastest bottleneck at which the relay uses busy loops.
const WATCHED: Rate = Rate::from_bps(100_000_000);
/// The period for which a decision holds. The relay may use busy loops only if it slept for at least [`LEAST`] in the previous period.
const WINDOW: Span = Span::from_millis(10);
const LEAST: Span = Span::from_millis(2);
/// The maximum sleep of an idle relay. It is bounded so that links process their cross traffic.
const LONGEST: Span = Span::from_millis(200);

impl BusyWait {
    /// Makes the schedule for a path whose fastest bottleneck has this rate.
    pub(crate) fn new(fastest: Rate) -> Self {
        let early = if fastest <= WATCHED { EARLY } else { Span::ZERO };
        Self { early, may_watch: true, window: Time::ZERO, slept: Span::ZERO, since: None }
    }

    /// Records that the relay woke up.
    pub(crate) fn woke(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.slept += now.since(since);
        }
    }

    /// Returns how long the relay sleeps if the next event is at `next`; `None` if it must wait in a busy loop. Call this when no other
    /// work is left.
    pub(crate) fn sleep(&mut self, now: Time, next: Option<Time>) -> Option<Span> {
        if now.since(self.window) >= WINDOW {
            self.may_watch = self.slept >= LEAST;
            (self.window, self.slept) = (now, Span::ZERO);
        }
        let early = if self.may_watch { self.early } else { Span::ZERO };
        let left = next.map_or(LONGEST, |next| next.since(now));
        if left <= early {
            return None;
        }
        self.since = Some(now);
        Some(Span::from_nanos(left.nanos() - early.nanos()).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Rate = Rate::from_bps(100_000_000);

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_relay_sleeps_until_just_before_the_next_instant_and_never_long() {
        let mut busy_wait = BusyWait::new(FAST);
        assert_eq!(busy_wait.sleep(at(1_000), Some(at(1_100))), Some(Span::from_micros(40)));
        assert_eq!(busy_wait.sleep(at(1_040), Some(at(1_100))), None);
        assert_eq!(busy_wait.sleep(at(1_101), Some(at(1_100))), None);
        assert_eq!(busy_wait.sleep(at(1_200), None), Some(Span::from_micros(200_000 - 60)));
        assert_eq!(busy_wait.sleep(at(1_200), Some(at(9_000_000))), Some(LONGEST));
    }

    #[test]
    fn a_relay_of_a_faster_path_sleeps_to_the_end() {
        let mut busy_wait = BusyWait::new(Rate::from_bps(100_000_001));
        assert_eq!(busy_wait.sleep(at(1_000), Some(at(1_001))), Some(Span::from_micros(1)));
        assert_eq!(busy_wait.sleep(at(1_001), Some(at(1_001))), None);
    }

    /// Runs a relay with an event every `every` microseconds, each of which takes `takes` microseconds to handle. Returns the share of time
    /// asleep.
    fn asleep(every: u64, takes: u64) -> u64 {
        let mut busy_wait = BusyWait::new(FAST);
        let (mut now, mut next, mut slept) = (at(0), at(every), Span::ZERO);
        while now < at(1_000_000) {
            if next <= now {
                (now, next) = (now + Span::from_micros(takes), next + Span::from_micros(every));
            } else if let Some(pause) = busy_wait.sleep(now, Some(next)) {
                now = now + pause;
                slept += pause;
                busy_wait.woke(now);
            } else {
                now = now + Span::from_micros(1);
            }
        }
        slept.nanos() / 10_000_000
    }

    #[test]
    fn a_relay_sleeps_however_close_together_its_instants_are() {
        // With full packets at 100 Mbit/s, the relay waits in a busy loop before each packet.
        assert_eq!(asleep(120, 10), 41);
        // With small packets at 20 Mbit/s, the relay would always wait in a busy loop.
        assert!((20..50).contains(&asleep(46, 20)), "{}", asleep(46, 20));
        assert!((20..50).contains(&asleep(10, 1)), "{}", asleep(10, 1));
    }
}
