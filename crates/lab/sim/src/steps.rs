//! A quantity that changes over time in steps, once or in a loop.

use std::sync::Arc;

use firstflight::{Span, Time};

/// A piecewise constant quantity. The steps are played from an instant of theirs on, once or in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Steps<T> {
    all: Arc<[(Time, T)]>,
    /// The time after which the steps repeat; `None` if the last step holds for ever.
    pub(crate) period: Option<Span>,
    /// The instant of the steps that is the run's time zero.
    pub(crate) start: Span,
}

impl<T: Copy> Steps<T> {
    /// Returns these steps from the first one on. The first begins at time zero, and none before the previous one.
    pub(crate) fn new(steps: &[(Time, T)], period: Option<Span>) -> Self {
        Self { all: steps.into(), period, start: Span::ZERO }
    }

    /// Returns the steps of one period.
    pub(crate) fn all(&self) -> &[(Time, T)] {
        &self.all
    }

    /// Returns the length of one period, or the beginning of the last step if the steps do not repeat.
    pub(crate) fn length(&self) -> Span {
        self.period.unwrap_or_else(|| self.all.last().map_or(Span::ZERO, |(at, _)| at.since(Time::ZERO)))
    }

    /// Returns the index of the step in force at `at`, counted over all periods.
    pub(crate) fn place(&self, at: Time) -> u64 {
        let inside = at.nanos().saturating_add(self.start.nanos());
        let (periods, inside) = match self.period {
            Some(period) => (inside / period.nanos().max(1), inside % period.nanos().max(1)),
            None => (0, inside),
        };
        let index = self.all.partition_point(|(begins, _)| begins.nanos() <= inside).saturating_sub(1);
        periods * self.all.len() as u64 + index as u64
    }

    /// Returns the index of the step in force at `at`, which is no earlier than the step of index `from`.
    pub(crate) fn current(&self, from: u64, at: Time) -> u64 {
        // The step is mostly one of the next.
        const NEAR: u64 = 4;
        let near = (from..from + NEAR).find(|place| self.until(*place).is_none_or(|until| until > at));
        near.unwrap_or_else(|| self.place(at).max(from))
    }

    /// Returns the value of a step.
    pub(crate) fn value(&self, place: u64) -> Option<T> {
        self.all.get(self.split(place).1).map(|(_, value)| *value)
    }

    /// Returns the instant at which the step after this one begins; `None` for a last step that holds for ever.
    pub(crate) fn until(&self, place: u64) -> Option<Time> {
        let (periods, index) = self.split(place + 1);
        if self.period.is_none() && periods > 0 {
            return None;
        }
        let begins = self.all.get(index)?.0.nanos();
        let passed = self.period.map_or(0, |period| period.nanos().saturating_mul(periods));
        Some(Time::from_nanos(begins.saturating_add(passed).saturating_sub(self.start.nanos())))
    }

    /// Returns the number of whole periods before a step, and its index in its period.
    fn split(&self, place: u64) -> (u64, usize) {
        let count = (self.all.len() as u64).max(1);
        // Most steps are in the first period.
        if place < count {
            return (0, usize::try_from(place).unwrap_or(usize::MAX));
        }
        (place / count, usize::try_from(place % count).unwrap_or(usize::MAX))
    }
}
