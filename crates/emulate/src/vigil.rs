//! How long a relay watches the clock instead of sleeping.

use firstflight::{Rate, Span, Time};

/// Decides when a relay sleeps and when it watches the clock.
///
/// A sleeper wakes up some tens of microseconds late, so the relay wakes up early and watches the clock. It does so on paths up to
/// [`SPUN`], and for [`SHARE`] of the time at most: a real-time thread that never sleeps is stopped by the kernel, and small
/// packets have instants so close to each other that it would never sleep.
#[derive(Clone, Debug)]
pub(crate) struct Vigil {
    early: Span,
    /// When the present window began, and how long the relay has watched in it.
    window: Time,
    watched: Span,
    /// Since when it watches.
    since: Option<Time>,
}

/// How early the relay wakes up.
const EARLY: Span = Span::from_micros(60);
/// The rate of the fastest bottleneck at which it watches the clock at all.
const SPUN: Rate = Rate::from_bps(100_000_000);
/// Of each window, it watches for [`SHARE`] at most.
const WINDOW: Span = Span::from_millis(10);
const SHARE: Span = Span::from_millis(6);
/// A relay wakes up this often though nothing happens, so that links catch up with their cross traffic.
const LONGEST: Span = Span::from_millis(200);

impl Vigil {
    /// For a path whose bottleneck has this rate at its fastest.
    pub(crate) fn new(fastest: Rate) -> Self {
        let early = if fastest <= SPUN { EARLY } else { Span::ZERO };
        Self { early, window: Time::ZERO, watched: Span::ZERO, since: None }
    }

    /// The time that the relay may sleep if the next instant is `next`; `None` if it is to watch the clock. It asks when
    /// nothing else is to be done.
    pub(crate) fn sleep(&mut self, now: Time, next: Option<Time>) -> Option<Span> {
        if let Some(since) = self.since.take() {
            self.watched = self.watched + now.since(since);
        }
        if now.since(self.window) >= WINDOW {
            (self.window, self.watched) = (now, Span::ZERO);
        }
        let early = if self.watched < SHARE { self.early } else { Span::ZERO };
        let left = next.map_or(LONGEST, |next| next.since(now));
        if left <= early || left.is_zero() {
            self.since = Some(now);
            return None;
        }
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

    #[test]
    fn a_relay_whose_instants_are_close_together_sleeps_between_some_of_them() {
        let mut vigil = Vigil::new(FAST);
        let (mut now, mut slept) = (at(0), Span::ZERO);
        while now < at(1_000_000) {
            // An instant every ten microseconds.
            let next = Time::from_nanos((now.nanos() / 10_000 + 1) * 10_000);
            let pause = vigil.sleep(now, Some(next));
            slept = slept + pause.unwrap_or(Span::ZERO);
            now = now + pause.unwrap_or(Span::from_micros(1));
        }
        assert!((Span::from_millis(350)..Span::from_millis(450)).contains(&slept), "{slept:?}");
    }
}
