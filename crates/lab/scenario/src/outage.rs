//! Outages of the bottleneck: their text form, and the rates that result from them.

use std::fmt;

use firstflight::{Rate, Span, Time};
use firstflight_sim::RateTrace;

use crate::quantity::{self, QuantityError, Why, humane_span, refuse, show_span};
use crate::windows::{Window, windows};

/// Times in which the bottleneck sends nothing. They count from the beginning of the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outages {
    /// Single outages, in order. None touches another.
    Listed(Vec<Window>),
    /// An outage again and again.
    Every {
        /// The length of each.
        length: Span,
        /// The time from the beginning of one to that of the next.
        every: Span,
        /// The beginning of the first.
        start: Span,
    },
}

const ALLOWED: &str = "outages are written `2s..4s`, several in order with commas between, or a length and how often as in \
                       `200ms,every=2s` (the first after that time, or with `start=TIME`), or `none`";

/// Reads outages: `2s..4s,7s..8s`, `200ms,every=2s`, `200ms,every=2s,start=500ms`, `none`.
///
/// # Errors
/// Anything else, single outages that overlap or are not in order, and repeated ones that are no shorter than their period.
pub(crate) fn outages(text: &str) -> Result<Option<Outages>, QuantityError> {
    let text = text.trim();
    if matches!(text, "none" | "0") {
        return Ok(None);
    }
    if text.contains("..") {
        return listed(text).map(Some);
    }
    repeated(text).map(Some)
}

fn listed(text: &str) -> Result<Outages, QuantityError> {
    let list = windows(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    match list.windows(2).find(|pair| pair[1].from <= pair[0].until) {
        Some(pair) => Err(refuse(&pair[1].to_string(), Why::Conflict, ALLOWED)),
        None => Ok(Outages::Listed(list)),
    }
}

fn repeated(text: &str) -> Result<Outages, QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: ALLOWED.into(), ..error };
    let mut parts = text.split(',').map(str::trim);
    let length = quantity::span(parts.next().unwrap_or_default()).map_err(allowed)?;
    let (mut every, mut start) = (None, None);
    for part in parts {
        match part.split_once('=') {
            Some(("every", period)) if every.is_none() => {
                every = Some(quantity::span(period).map_err(allowed)?);
            }
            Some(("start", at)) if start.is_none() => {
                start =
                    Some(quantity::unless_zero(at, quantity::span).map_err(allowed)?.unwrap_or(Span::ZERO));
            }
            _ => return Err(refuse(part, Why::UnknownWord, ALLOWED)),
        }
    }
    let every = every.ok_or_else(|| refuse(text, Why::Part, ALLOWED))?;
    if length >= every {
        return Err(refuse(text, Why::OutOfRange, "an outage is shorter than the time from one to the next"));
    }
    Ok(Outages::Every { length, every, start: start.unwrap_or(every) })
}

impl Outages {
    /// Returns the number of outages that begin before `end`.
    pub(crate) fn count(&self, end: Span) -> u64 {
        match self {
            Self::Listed(list) => list.iter().filter(|one| one.from < end).count() as u64,
            Self::Every { every, start, .. } => {
                if *start < end {
                    (end - *start).nanos().div_ceil(every.nanos().max(1))
                } else {
                    0
                }
            }
        }
    }

    /// Returns the beginning and the end of each outage that begins before `end`.
    fn until(&self, end: Span) -> Vec<(Time, Time)> {
        let instants = |from: Span, until: Span| (Time::ZERO + from, Time::ZERO + until);
        match self {
            Self::Listed(list) => {
                list.iter().filter(|one| one.from < end).map(|one| instants(one.from, one.until)).collect()
            }
            Self::Every { length, every, start } => {
                let from = |index| *start + *every * index;
                (0..self.count(end)).map(|index| instants(from(index), from(index) + *length)).collect()
            }
        }
    }

    /// Returns the rate over time with these outages, those that begin before `end`: zero in an outage, otherwise that of the trace, or
    /// `rate` if there is no trace. The trace itself if it changes nothing.
    pub(crate) fn over(&self, rate: Rate, trace: Option<&RateTrace>, end: Span) -> Option<RateTrace> {
        let constant = [(Time::ZERO, rate)];
        let base = trace.map_or(&constant[..], RateTrace::steps);
        let base_at = |at: Time| {
            let place = base.partition_point(|(begins, _)| *begins <= at);
            place.checked_sub(1).and_then(|place| base.get(place)).map_or(rate, |(_, rate)| *rate)
        };
        let mut steps: Vec<(Time, Rate)> = Vec::new();
        let mut rest = base.iter().copied().peekable();
        for (from, until) in self.until(end) {
            steps.extend(std::iter::from_fn(|| rest.next_if(|(at, _)| *at < from)));
            while rest.next_if(|(at, _)| *at <= until).is_some() {}
            steps.push((from, Rate::ZERO));
            steps.push((until, base_at(until)));
        }
        steps.extend(rest);
        // A step to the rate that is in force would be no step.
        steps.dedup_by_key(|(_, rate)| *rate);
        RateTrace::new(&steps).ok().or_else(|| trace.cloned())
    }

    /// Returns the outages in words, for titles.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Listed(list) => match list.as_slice() {
                [one] => format!("an outage at {one}"),
                list => format!("{} outages", list.len()),
            },
            Self::Every { length, every, .. } => {
                format!("an outage of {} every {}", humane_span(*length), humane_span(*every))
            }
        }
    }
}

impl fmt::Display for Outages {
    /// Writes outages in the form in which they are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(list) => {
                let texts: Vec<String> = list.iter().map(Window::to_string).collect();
                f.write_str(&texts.join(","))
            }
            Self::Every { length, every, start } => {
                write!(f, "{},every={}", show_span(*length), show_span(*every))?;
                match *start {
                    start if start == *every => Ok(()),
                    Span::ZERO => f.write_str(",start=0s"),
                    start => write!(f, ",start={}", show_span(start)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MILLI: u64 = 1_000_000;

    fn read(text: &str) -> Outages {
        outages(text).expect(text).expect("there are some")
    }

    fn steps(text: &str, trace: Option<&RateTrace>, end: u64) -> Vec<(u64, u64)> {
        let rates = read(text).over(Rate::from_bps(10), trace, Span::from_millis(end)).expect("a trace");
        rates.steps().iter().map(|(at, rate)| (at.nanos() / MILLI, rate.bps())).collect()
    }

    #[test]
    fn outages_are_listed_or_repeated() {
        for text in [
            "2s..4s",
            "0s..1s,7s..8s",
            "200ms,every=2s",
            "200ms,every=2s,start=500ms",
            "1s,every=2s,start=0s",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(outages("none"), Ok(None));
        for (text, why) in [
            ("2s", Why::Part),
            ("2s..1s", Why::OutOfRange),
            ("2s..4s,3s..5s", Why::Conflict),
            ("2s..4s,4s..5s", Why::Conflict),
            ("2s,every=2s", Why::OutOfRange),
            ("2s,often", Why::UnknownWord),
            ("2s,every=3s,every=4s", Why::UnknownWord),
            ("0s,every=3s", Why::Zero),
        ] {
            assert_eq!(outages(text).expect_err(text).why, why, "{text}");
        }
    }

    #[test]
    fn the_rate_is_zero_in_an_outage_and_that_of_the_trace_after_it() {
        assert_eq!(steps("2s..4s", None, 10_000), [(0, 10), (2_000, 0), (4_000, 10)]);
        assert_eq!(steps("0s..1s", None, 10_000), [(0, 0), (1_000, 10)]);
        assert_eq!(
            steps("200ms,every=2s", None, 5_000),
            [(0, 10), (2_000, 0), (2_200, 10), (4_000, 0), (4_200, 10)]
        );
        let at = |millis: u64, bps| (Time::from_nanos(millis * MILLI), Rate::from_bps(bps));
        let trace = RateTrace::new(&[at(0, 5), at(100, 7), at(200, 0), at(300, 9)]).expect("a trace");
        // Steps within the outage show only after it.
        assert_eq!(
            steps("50ms..150ms", Some(&trace), 1_000),
            [(0, 5), (50, 0), (150, 7), (200, 0), (300, 9)]
        );
        assert_eq!(steps("50ms..250ms", Some(&trace), 1_000), [(0, 5), (50, 0), (300, 9)]);
        assert_eq!(steps("100ms..300ms", Some(&trace), 1_000), [(0, 5), (100, 0), (300, 9)]);
        assert_eq!(steps("1s..2s", Some(&trace), 500), [(0, 5), (100, 7), (200, 0), (300, 9)]);
    }

    proptest! {
        #[test]
        fn at_every_instant_the_rate_is_zero_in_an_outage_and_otherwise_the_traces(
            length in 1u64..40,
            gap in 1u64..40,
            start in 0u64..50,
            trace in proptest::collection::vec((1u64..30, 0u64..4), 0..8),
        ) {
            let millis = Span::from_millis;
            let outages = Outages::Every { length: millis(length), every: millis(length + gap), start: millis(start) };
            let mut at = 0;
            let later = trace.into_iter().map(|(gap, rate)| { at += gap; (at, rate) });
            let base: Vec<(u64, u64)> = std::iter::once((0, 3)).chain(later).chain([(1_000, 9)]).collect();
            let instants: Vec<_> = base
                .iter()
                .map(|(at, bps)| (Time::from_nanos(at * MILLI), Rate::from_bps(*bps)))
                .collect();
            let trace = RateTrace::new(&instants).expect("a trace");
            let over = outages.over(Rate::from_bps(1), Some(&trace), millis(400)).expect("a trace");
            let rate_of = |steps: &[(Time, Rate)], at: u64| {
                let at = Time::from_nanos(at * MILLI);
                steps.iter().rfind(|(begins, _)| *begins <= at).expect("from zero on").1.bps()
            };
            for at in 0..1_200u64 {
                let begun = at.checked_sub(start).filter(|since| at - since % (length + gap) < 400);
                let is_out = begun.is_some_and(|since| since % (length + gap) < length);
                let expected = if is_out { 0 } else { rate_of(&instants, at) };
                prop_assert_eq!(rate_of(over.steps(), at), expected, "at {} ms", at);
            }
        }
    }
}
