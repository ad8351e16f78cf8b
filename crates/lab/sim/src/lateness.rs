//! The lateness of a sender's timers.

use firstflight::{Span, Time};

use crate::packet::FlowId;
use crate::random::{Purpose, mix};

/// The lateness of the timers of one sender. Each timer fires late by a uniform draw below a bound.
///
/// A draw is a function of the seed, the flow and the instant at which the timer is due. A timer that is set again for the same instant
/// therefore fires at the same instant, without any state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lateness {
    bound: u32,
    key: u64,
}

impl Lateness {
    /// Creates the lateness of the sender of `flow` in the run of `seed`, below `bound`, which is at most four seconds.
    pub(crate) fn new(bound: Span, flow: FlowId, seed: u64) -> Self {
        let bound = u32::try_from(bound.nanos()).unwrap_or(u32::MAX);
        Self { bound, key: mix(mix(mix(seed) ^ Purpose::Lateness as u64) ^ u64::from(flow.0)) }
    }

    /// Returns whether timers are ever late.
    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self.bound > 0
    }

    /// Returns when a timer fires that is due at `due`.
    #[inline]
    pub(crate) fn fires(self, due: Time) -> Time {
        if self.bound == 0 {
            return due;
        }
        let draw = mix(self.key ^ due.nanos()) >> 32;
        due + Span::from_nanos((draw * u64::from(self.bound)) >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(flow: u32, seed: u64) -> Vec<u64> {
        let lateness = Lateness::new(Span::from_micros(20), FlowId(flow), seed);
        (0..100_000).map(|at| lateness.fires(Time::from_nanos(at * 1_000)).nanos() - at * 1_000).collect()
    }

    #[test]
    fn lateness_is_uniform_below_its_bound_and_reproducible_per_instant() {
        let all = draws(0, 1);
        assert_eq!(all, draws(0, 1));
        assert!(all.iter().all(|late| *late < 20_000));
        let mean = all.iter().sum::<u64>() / 100_000;
        assert!(mean.abs_diff(10_000) < 100, "{mean}");
        let below = all.iter().filter(|late| **late < 5_000).count();
        assert!(below.abs_diff(25_000) < 700, "{below}");
    }

    #[test]
    fn seed_and_flow_move_every_draw() {
        let same =
            |other: Vec<u64>| draws(0, 1).iter().zip(&other).filter(|(one, other)| one == other).count();
        assert!(same(draws(1, 1)) < 20 && same(draws(0, 2)) < 20);
    }

    #[test]
    fn without_a_bound_a_timer_fires_when_it_is_due() {
        let exact = Lateness::new(Span::ZERO, FlowId(3), 7);
        assert!(!exact.is_some());
        assert_eq!(exact.fires(Time::from_nanos(12)), Time::from_nanos(12));
    }
}
