//! A rate that changes over time, in steps or as opportunities of single packets.

use std::sync::Arc;

use firstflight::{Rate, Span, Time};
use thiserror::Error;

use crate::quantity::RATE_LIMIT;
use crate::random::{Purpose, Stream};
use crate::steps::Steps;

/// A piecewise constant rate. Each step holds until the next one begins, and the last one for ever or until the steps repeat. A rate of
/// zero is an outage: a transmission in progress continues after it.
///
/// A trace of opportunities has an instant for each packet that the link may send. Its steps are the mean rates of bins of
/// [`RateTrace::BIN`], for callers that need a rate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateTrace {
    steps: Steps<Rate>,
    opportunities: Option<Arc<[u32]>>,
}

/// Why a list of steps is no trace.
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
    /// The steps repeat, and all rates are zero.
    #[error("all its rates are zero")]
    Silent,
    /// The steps repeat before the last one begins, or a trace of opportunities ends at time zero.
    #[error("its period ends before its last step begins")]
    ShortPeriod,
}

/// One step of a trace.
pub(crate) struct Step {
    /// Bits per second.
    pub(crate) rate: u64,
    /// The instant at which the next step begins; `None` for the last step.
    pub(crate) until: Option<Time>,
}

const MILLI: u64 = 1_000_000;

impl RateTrace {
    /// The length of the bins whose mean rates are the steps of a trace of opportunities.
    pub const BIN: Span = Span::from_millis(100);

    /// The bytes that a link may send at one opportunity, by mahimahi's rule: an IP packet of 1,500 bytes and [`RateTrace::OVERHEAD`].
    pub const OPPORTUNITY: u32 = 1_504;

    /// The bytes that each packet uses in addition to its IP bytes, by mahimahi's rule: the header of a TUN device.
    pub const OVERHEAD: u32 = 4;

    /// Returns a trace of these steps: the instant at which each begins, and its rate in IP bits per second.
    ///
    /// # Errors
    /// Returns an error if the steps do not begin at time zero, do not follow one another, or end in an outage.
    pub fn new(steps: &[(Time, Rate)]) -> Result<Self, TraceFault> {
        in_order(steps)?;
        if steps.last().is_some_and(|(_, last)| *last == Rate::ZERO) {
            return Err(TraceFault::EndsInOutage);
        }
        Self::checked(steps, None)
    }

    /// Returns a trace of these steps that repeats after `period`.
    ///
    /// # Errors
    /// Returns an error if the steps do not begin at time zero or do not follow one another, if all rates are zero, or if the period ends
    /// before the last step begins.
    pub fn repeating(steps: &[(Time, Rate)], period: Span) -> Result<Self, TraceFault> {
        in_order(steps)?;
        if steps.iter().all(|(_, rate)| *rate == Rate::ZERO) {
            return Err(TraceFault::Silent);
        }
        if steps.last().is_none_or(|(at, _)| at.nanos() >= period.nanos()) {
            return Err(TraceFault::ShortPeriod);
        }
        Self::checked(steps, Some(period))
    }

    /// Returns a trace of opportunities at these milliseconds, in order. They repeat at the last of them, as in mahimahi: the last
    /// millisecond of a period is time zero of the next one.
    ///
    /// At an opportunity the link sends up to [`RateTrace::OPPORTUNITY`] bytes of packets that arrived before it. A packet that does not
    /// fit continues at the next opportunity. Bytes that no waiting packet uses are lost.
    ///
    /// # Errors
    /// Returns an error if there is no opportunity, if one comes before the one before, or if the last is at time zero.
    pub fn opportunities(millis: &[u32]) -> Result<Self, TraceFault> {
        let Some(&last) = millis.last() else { return Err(TraceFault::Empty) };
        if let Some(place) = millis.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(TraceFault::Order { step: place + 2 });
        }
        if last == 0 {
            return Err(TraceFault::ShortPeriod);
        }
        let bin = u32::try_from(Self::BIN.nanos() / MILLI).unwrap_or(u32::MAX);
        let bits = u64::from(Self::OPPORTUNITY - Self::OVERHEAD) * 8 * 1_000;
        let (mut steps, mut rest, mut from) = (Vec::new(), millis, 0);
        // Time zero is the end of the previous period.
        let zeros = rest.partition_point(|at| *at == 0);
        rest = rest.get(zeros..).unwrap_or_default();
        while from < last {
            let to = last.min(from.saturating_add(bin));
            let own = rest.partition_point(|at| *at <= to);
            rest = rest.get(own..).unwrap_or_default();
            let count = if to == last { own + zeros } else { own };
            let rate = Rate::from_bps(bits * count as u64 / u64::from(to - from));
            if steps.last().is_none_or(|(_, before)| *before != rate) {
                steps.push((Time::from_nanos(u64::from(from) * MILLI), rate));
            }
            from = to;
        }
        let trace = Self::checked(&steps, Some(Span::from_nanos(u64::from(last) * MILLI)))?;
        Ok(Self { opportunities: Some(millis.into()), ..trace })
    }

    fn checked(steps: &[(Time, Rate)], period: Option<Span>) -> Result<Self, TraceFault> {
        if steps.iter().any(|(_, rate)| *rate > RATE_LIMIT) {
            return Err(TraceFault::HugeRate);
        }
        Ok(Self { steps: Steps::new(steps, period), opportunities: None })
    }

    /// Returns the trace as it is played from `start` of it on.
    #[must_use]
    pub fn starting_at(mut self, start: Span) -> Self {
        self.steps.start = start;
        self
    }

    /// Returns the trace as it is played from an instant on that the seed selects, uniform over its length.
    #[must_use]
    pub fn starting_at_random(self, seed: u64) -> Self {
        let start = random_start(&self.steps, seed, 0);
        self.starting_at(start)
    }

    /// Returns the rates of one period, each with its beginning. The first begins at time zero.
    pub fn steps(&self) -> &[(Time, Rate)] {
        self.steps.all()
    }

    /// Returns the time after which the trace repeats; `None` if its last step holds for ever.
    pub fn period(&self) -> Option<Span> {
        self.steps.period
    }

    /// Returns the instant of the trace at which a run begins.
    pub fn start(&self) -> Span {
        self.steps.start
    }

    /// Returns the milliseconds of the opportunities of one period; `None` for a trace of rates.
    pub fn millis(&self) -> Option<&[u32]> {
        self.opportunities.as_deref()
    }

    /// Returns the steps from the run's time zero up to `until`, at most `most` of them: nanoseconds and bits per second. If there are
    /// more, the highest rate follows, so that what the steps carry is never less than what the trace does.
    pub fn unrolled(&self, until: Time, most: usize) -> Vec<(u64, u64)> {
        let first = self.steps.place(Time::ZERO);
        let mut unrolled: Vec<(u64, u64)> = Vec::new();
        let mut begins = Some(Time::ZERO);
        for place in first.. {
            let Some(at) = begins.filter(|at| *at < until || *at == Time::ZERO) else { break };
            if unrolled.len() >= most {
                unrolled.push((at.nanos(), self.highest()));
                break;
            }
            unrolled.push((at.nanos(), self.step(place).rate));
            begins = self.steps.until(place);
        }
        unrolled
    }

    /// Returns the highest rate in bits per second.
    fn highest(&self) -> u64 {
        self.steps().iter().map(|(_, rate)| rate.bps()).max().unwrap_or_default()
    }

    /// Returns the instants up to `until` at which opportunities come, in order, with their number. Empty for a trace of rates.
    pub fn opportunities_until(&self, until: Time) -> Vec<(Time, u64)> {
        let mut found: Vec<(Time, u64)> = Vec::new();
        if self.opportunities.is_none() {
            return found;
        }
        for place in self.first_after(0, Time::ZERO).. {
            let at = self.opportunity(place);
            if at > until {
                break;
            }
            match found.last_mut().filter(|(last, _)| *last == at) {
                Some((_, count)) => *count += 1,
                None => found.push((at, 1)),
            }
        }
        found
    }

    /// Returns the instant of an opportunity, counted over all periods; the run's time zero if it is before that.
    pub(crate) fn opportunity(&self, place: u64) -> Time {
        let Some(millis) = self.opportunities.as_deref() else { return Time::MAX };
        let count = millis.len().max(1) as u64;
        let (periods, index) = (place / count, usize::try_from(place % count).unwrap_or(usize::MAX));
        let inside = u64::from(millis.get(index).copied().unwrap_or(0)) * MILLI;
        let passed = self.steps.period.unwrap_or(Span::ZERO).nanos().saturating_mul(periods);
        Time::from_nanos(passed.saturating_add(inside).saturating_sub(self.steps.start.nanos()))
    }

    /// Returns the first opportunity from index `from` on that comes after `now`.
    pub(crate) fn first_after(&self, from: u64, now: Time) -> u64 {
        const NEAR: u64 = 4;
        if let Some(near) = (from..from + NEAR).find(|place| self.opportunity(*place) > now) {
            return near;
        }
        let Some(millis) = self.opportunities.as_deref() else { return from };
        let inside = now.nanos().saturating_add(self.steps.start.nanos());
        let period = self.steps.period.map_or(1, |period| period.nanos().max(1));
        let index = millis.partition_point(|at| u64::from(*at) * MILLI <= inside % period);
        (inside / period * millis.len() as u64 + index as u64).max(from)
    }

    /// Returns the index of the step in force at `at`, which is no earlier than the step of index `from`.
    pub(crate) fn current(&self, from: u64, at: Time) -> u64 {
        self.steps.current(from, at)
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
    pub(crate) fn place(&self, at: Time) -> u64 {
        self.steps.place(at)
    }

    pub(crate) fn step(&self, place: u64) -> Step {
        let rate = self.steps.value(place).map_or(0, Rate::bps);
        Step { rate, until: self.steps.until(place) }
    }
}

/// An extra delay that changes over time, in steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayTrace(Steps<Span>);

impl DelayTrace {
    /// Returns a trace of these steps: the instant at which each begins, and its delay. With a `period` it repeats.
    ///
    /// # Errors
    /// Returns an error if the steps do not begin at time zero or do not follow one another, or if the period ends before the last step
    /// begins.
    pub fn new(steps: &[(Time, Span)], period: Option<Span>) -> Result<Self, TraceFault> {
        in_order(steps)?;
        if let Some(period) = period
            && steps.last().is_none_or(|(at, _)| at.nanos() >= period.nanos())
        {
            return Err(TraceFault::ShortPeriod);
        }
        Ok(Self(Steps::new(steps, period)))
    }

    /// Returns the trace as it is played from `start` of it on.
    #[must_use]
    pub fn starting_at(mut self, start: Span) -> Self {
        self.0.start = start;
        self
    }

    /// Returns the trace as it is played from an instant on that the seed selects, uniform over its length.
    #[must_use]
    pub fn starting_at_random(self, seed: u64) -> Self {
        let start = random_start(&self.0, seed, 1);
        self.starting_at(start)
    }

    /// Returns the delays of one period, each with its beginning. The first begins at time zero.
    pub fn steps(&self) -> &[(Time, Span)] {
        self.0.all()
    }

    /// Returns the index of the step in force at `at`.
    pub(crate) fn place(&self, at: Time) -> u64 {
        self.0.place(at)
    }

    /// Returns the delay at `at`, and makes `place` the index of the step in force. The index only grows.
    pub(crate) fn delay_at(&self, place: &mut u64, at: Time) -> Span {
        *place = self.0.current(*place, at);
        self.0.value(*place).unwrap_or(Span::ZERO)
    }
}

/// Checks that steps begin at time zero and follow one another.
fn in_order<T>(steps: &[(Time, T)]) -> Result<(), TraceFault> {
    let Some((first, _)) = steps.first() else { return Err(TraceFault::Empty) };
    if *first != Time::ZERO {
        return Err(TraceFault::LateStart);
    }
    match steps.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
        Some(place) => Err(TraceFault::Order { step: place + 2 }),
        None => Ok(()),
    }
}

/// Returns an instant of the steps that the seed selects.
fn random_start<T: Copy>(steps: &Steps<T>, seed: u64, which: u32) -> Span {
    let mut stream = Stream::new(seed, Purpose::TraceStart, which, 0);
    Span::from_nanos(stream.below(steps.length().nanos()))
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
