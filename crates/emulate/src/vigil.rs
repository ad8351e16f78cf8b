//! How long a relay watches the clock instead of sleeping.

use firstflight::{Rate, Span, Time};

/// Decides when a relay sleeps and when it watches the clock.
///
/// A sleeper wakes up some tens of microseconds late, so the relay wakes up early and watches the clock. It does so on paths up to
/// [`WATCHED`], and not after a time in which it hardly slept: the kernel stops a real-time thread that never sleeps, and small
/// packets have instants so close to each other that it never would.
#[derive(Clone, Debug)]
pub(crate) struct Vigil {
    early: Span,
    may_watch: bool,
    /// When the present window began, and how long the relay has slept in it.
    window: Time,
    slept: Span,
    /// Since when it sleeps.
    since: Option<Time>,
}

/// How early the relay wakes up.
const EARLY: Span = Span::from_micros(60);
/// The rate of the fastest bottleneck at which it watches the clock at all.
const WATCHED: Rate = Rate::from_bps(100_000_000);
/// Whether it watches is decided for this long, by how long it slept in the same time before: at least [`LEAST`].
const WINDOW: Span = Span::from_millis(10);
const LEAST: Span = Span::from_millis(2);
/// A relay wakes up this often though nothing happens, so that links catch up with their cross traffic.
const LONGEST: Span = Span::from_millis(200);

impl Vigil {
    /// For a path whose bottleneck has this rate at its fastest.
    pub(crate) fn new(fastest: Rate) -> Self {
        let early = if fastest <= WATCHED { EARLY } else { Span::ZERO };
        Self { early, may_watch: true, window: Time::ZERO, slept: Span::ZERO, since: None }
    }

    /// The relay wakes up.
    pub(crate) fn woke(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.slept += now.since(since);
        }
    }

    /// The time that the relay sleeps if the next instant is `next`; `None` if it is to watch the clock. It asks when nothing
    /// else is to be done.
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
        let mut vigil = Vigil::new(FAST);
        assert_eq!(vigil.sleep(at(1_000), Some(at(1_100))), Some(Span::from_micros(40)));
        assert_eq!(vigil.sleep(at(1_040), Some(at(1_100))), None);
        assert_eq!(vigil.sleep(at(1_101), Some(at(1_100))), None);
        assert_eq!(vigil.sleep(at(1_200), None), Some(Span::from_micros(200_000 - 60)));
        assert_eq!(vigil.sleep(at(1_200), Some(at(9_000_000))), Some(LONGEST));
    }

    #[test]
    fn a_relay_of_a_faster_path_sleeps_to_the_end() {
        let mut vigil = Vigil::new(Rate::from_bps(100_000_001));
        assert_eq!(vigil.sleep(at(1_000), Some(at(1_001))), Some(Span::from_micros(1)));
        assert_eq!(vigil.sleep(at(1_001), Some(at(1_001))), None);
    }

    /// Runs a relay with an instant every so often, each of which takes so long to handle. Returns the share of time asleep.
    fn asleep(every: u64, takes: u64) -> u64 {
        let mut vigil = Vigil::new(FAST);
        let (mut now, mut next, mut slept) = (at(0), at(every), Span::ZERO);
        while now < at(1_000_000) {
            if next <= now {
                (now, next) = (now + Span::from_micros(takes), next + Span::from_micros(every));
            } else if let Some(pause) = vigil.sleep(now, Some(next)) {
                now = now + pause;
                slept += pause;
                vigil.woke(now);
            } else {
                now = now + Span::from_micros(1);
            }
        }
        slept.nanos() / 10_000_000
    }

    #[test]
    fn a_relay_sleeps_however_close_together_its_instants_are() {
        // Full packets at 100 Mbit/s: it watches before each.
        assert_eq!(asleep(120, 10), 41);
        // Small packets at 20 Mbit/s: it would watch all the time.
        assert!((20..50).contains(&asleep(46, 20)), "{}", asleep(46, 20));
        assert!((20..50).contains(&asleep(10, 1)), "{}", asleep(10, 1));
    }
}
