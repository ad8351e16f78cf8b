//! A rate that changes over time, in steps.

use std::sync::Arc;

use firstflight::{Rate, Time};
use thiserror::Error;

use crate::quantity::RATE_LIMIT;

/// A piecewise constant rate. Each step holds until the next one begins, and the last one for ever. A rate of zero is
/// an outage: a transmission in progress continues after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateTrace(Arc<[(Time, Rate)]>);

/// Why a list of steps is no rate trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TraceFault {
    /// There is no step.
    #[error("it has no step")]
    Empty,
    /// The first step is not at time zero.
    #[error("its first step is not at time zero")]
    LateStart,
    /// A step does not come after the one before.
    #[error("its step {step} is not after the one before it")]
    Order {
        /// The step's number, from one.
        step: usize,
    },
    /// Nothing would ever leave after the last step.
    #[error("its last rate is zero")]
    EndsInOutage,
    /// A rate is too high for the simulator's arithmetic.
    #[error("a rate of it is above 10^15 bit/s")]
    HugeRate,
}

/// One step of a trace.
pub(crate) struct Step {
    /// Bits per second.
    pub(crate) rate: u64,
    /// The instant at which the next step begins; `None` for the last step.
    pub(crate) until: Option<Time>,
}

impl RateTrace {
    /// Returns a trace of these steps: the instant at which each begins, and its rate in IP bits per second.
    ///
    /// # Errors
    /// Returns an error if the steps do not begin at time zero, do not follow one another, or end in an outage.
    pub fn new(steps: &[(Time, Rate)]) -> Result<Self, TraceFault> {
        let (Some((first, _)), Some((_, last))) = (steps.first(), steps.last()) else {
            return Err(TraceFault::Empty);
        };
        if *first != Time::ZERO {
            return Err(TraceFault::LateStart);
        }
        if let Some(place) = steps.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            return Err(TraceFault::Order { step: place + 2 });
        }
        if *last == Rate::ZERO {
            return Err(TraceFault::EndsInOutage);
        }
        if steps.iter().any(|(_, rate)| *rate > RATE_LIMIT) {
            return Err(TraceFault::HugeRate);
        }
        Ok(Self(steps.into()))
    }

    /// Returns the steps of the trace.
    pub fn steps(&self) -> &[(Time, Rate)] {
        &self.0
    }

    /// Returns the index of the step in force at `at`, which is no earlier than the step of index `from`.
    pub(crate) fn current(&self, from: usize, at: Time) -> usize {
        let later = self.0.iter().skip(from + 1).take_while(|(begins, _)| *begins <= at);
        from + later.count()
    }

    /// Returns the rate at `at`.
    pub(crate) fn rate_at(&self, at: Time) -> Rate {
        Rate::from_bps(self.step(self.place(at)).rate)
    }

    /// Returns the number of whole bits that the rate carries between two instants.
    pub fn bits(&self, from: Time, to: Time) -> u64 {
        let (mut place, mut at, mut bit_nanos) = (self.place(from), from, 0);
        while at < to {
            let Step { rate, until } = self.step(place);
            let until = until.map_or(to, |until| until.min(to));
            bit_nanos += u128::from(rate) * u128::from(until.nanos_since(at));
            (place, at) = (place + 1, until);
        }
        u64::try_from(bit_nanos / 1_000_000_000).unwrap_or(u64::MAX)
    }

    /// Returns the index of the step in force at `at`.
    fn place(&self, at: Time) -> usize {
        self.0.partition_point(|(begins, _)| *begins <= at).saturating_sub(1)
    }

    pub(crate) fn step(&self, place: usize) -> Step {
        let rate = self.0.get(place).map_or(0, |(_, rate)| rate.bps());
        Step { rate, until: self.0.get(place + 1).map(|(begins, _)| *begins) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(steps: &[(u64, u64)]) -> Result<RateTrace, TraceFault> {
        let steps: Vec<(Time, Rate)> =
            steps.iter().map(|&(at, bps)| (Time::from_nanos(at), Rate::from_bps(bps))).collect();
        RateTrace::new(&steps)
    }

    #[test]
    fn a_step_holds_until_the_next_and_the_last_for_ever() {
        let trace = trace(&[(0, 5), (10, 0), (20, 7)]).unwrap();
        let at = |from, at| trace.step(trace.current(from, Time::from_nanos(at))).rate;
        assert_eq!([at(0, 0), at(0, 9), at(0, 10), at(1, 19), at(0, 20), at(2, 1 << 60)], [5, 5, 0, 0, 7, 7]);
    }

    #[test]
    fn between_two_instants_each_step_carries_its_share() {
        let trace = trace(&[(0, 2_000_000_000), (10, 0), (20, 7_000_000_000)]).unwrap();
        let bits = |from, to| trace.bits(Time::from_nanos(from), Time::from_nanos(to));
        assert_eq!([bits(0, 10), bits(4, 10), bits(4, 20), bits(10, 20), bits(9, 22)], [20, 12, 12, 0, 16]);
        assert_eq!([bits(20, 21), bits(30, 30), bits(30, 5)], [7, 0, 0]);
        let rate = |at| trace.rate_at(Time::from_nanos(at)).bps();
        assert_eq!(
            [rate(0), rate(9), rate(10), rate(19), rate(20)].map(|bps| bps / 1_000_000_000),
            [2, 2, 0, 0, 7]
        );
    }

    #[test]
    fn steps_that_make_no_trace_are_refused() {
        assert_eq!(trace(&[]), Err(TraceFault::Empty));
        assert_eq!(trace(&[(1, 5)]), Err(TraceFault::LateStart));
        assert_eq!(trace(&[(0, 5), (3, 5), (3, 6)]), Err(TraceFault::Order { step: 3 }));
        assert_eq!(trace(&[(0, 5), (3, 0)]), Err(TraceFault::EndsInOutage));
        assert_eq!(trace(&[(0, 1 << 60)]), Err(TraceFault::HugeRate));
    }
}
