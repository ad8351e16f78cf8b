//! A population of flows, in words: how many are measured, when they come, how large they are.

use std::fmt;

use firstflight::{Bytes, Span};
use firstflight_sim::Gap;

use crate::cross::{SizeLaw, size_law};
use crate::quantity::{self, Decimal, QuantityError, Why, nanos, refuse, show_span};

/// Many flows between the hosts of a topology, each measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// How many flows are measured: the first that come after the warm-up. A Poisson process brings more until the
    /// last of these is over, so that the load stays what it is.
    pub flows: u32,
    /// When flows come.
    pub arrivals: Coming,
    /// How their sizes are distributed around the goal's.
    pub sizes: SizeLaw,
    /// Flows that come before are not measured.
    pub warm_up: Span,
    /// Whether there is, besides a population of each scheme alone, one in which each flow takes one of them at random.
    pub mixed: bool,
}

impl Population {
    /// Its flows in words, for titles; their mean size if they have one.
    pub(crate) fn describe(&self, size: Option<Bytes>) -> String {
        let mean = if self.sizes == SizeLaw::Fixed { "" } else { " in the mean" };
        let of = size.map_or_else(String::new, |size| format!(" of {}{mean}", quantity::humane_bytes(size)));
        let mixed = if self.mixed { ", schemes alone and mixed" } else { "" };
        format!("{} flows{of}, {}{mixed}", self.flows, self.arrivals.describe())
    }
}

/// When flows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// So many a second in the mean, as a Poisson process.
    Poisson(Decimal),
    /// One so often, the first at the beginning.
    Every(Span),
}

impl Coming {
    /// The time between two flows, in the mean.
    pub fn gap(self) -> Gap {
        match self {
            Self::Poisson(per_second) => Gap::Exponential(nanos(1.0 / per_second.to_f64())),
            Self::Every(span) => Gap::Constant(span),
        }
    }

    /// The same as a span.
    pub(crate) fn mean_gap(self) -> Span {
        match self.gap() {
            Gap::Exponential(span) | Gap::Constant(span) => span,
        }
    }

    /// In words, for titles.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Poisson(per_second) => format!("{per_second} a second in the mean"),
            Self::Every(span) => format!("one every {}", quantity::humane_span(span)),
        }
    }
}

impl fmt::Display for Coming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson(per_second) => write!(f, "poisson:{per_second}"),
            Self::Every(span) => write!(f, "every:{}", show_span(*span)),
        }
    }
}

const ARRIVALS: &str = "arrivals are so many a second in the mean as in `poisson:20` (below a million), or one so often as \
                        in `every:5s`";

/// When flows come: `poisson:20`, `every:5s`.
///
/// # Errors
/// Anything else; none a second, or too many.
pub fn arrivals(text: &str) -> Result<Coming, QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: ARRIVALS.into(), ..error };
    match text.trim().split_once(':') {
        Some(("every", span)) => Ok(Coming::Every(quantity::span(span).map_err(allowed)?)),
        Some(("poisson", rate)) => {
            let per_second = quantity::number(rate.strip_suffix("/s").unwrap_or(rate)).map_err(allowed)?;
            match per_second.floor() {
                _ if per_second.is_zero() => Err(refuse(text, Why::Zero, ARRIVALS)),
                Some(whole) if whole < 1_000_000 => Ok(Coming::Poisson(per_second)),
                _ => Err(refuse(text, Why::TooLarge, ARRIVALS)),
            }
        }
        _ => Err(refuse(text, Why::UnknownWord, ARRIVALS)),
    }
}

/// How sizes are distributed: `fixed`, `exponential`, `lognormal=1.3`, `pareto=1.5`.
///
/// # Errors
/// Anything else.
pub fn sizes(text: &str) -> Result<SizeLaw, QuantityError> {
    const SIZES: &str = "sizes around the mean are `fixed`, `exponential`, `lognormal=1.3` or `pareto=1.5`";
    size_law(text.trim()).map_err(|error| QuantityError { allowed: SIZES.into(), ..error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_as_what_they_show() {
        for text in ["poisson:20", "poisson:0.5", "every:5s", "every:10us"] {
            assert_eq!(arrivals(text).expect(text).to_string(), text);
        }
        assert_eq!(arrivals("poisson:20/s"), arrivals("poisson:20"));
        for text in ["fixed", "exponential", "lognormal=1.318", "pareto=1.5"] {
            assert_eq!(sizes(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn twenty_a_second_are_fifty_milliseconds_apart_in_the_mean() {
        assert_eq!(arrivals("poisson:20").map(Coming::mean_gap), Ok(Span::from_millis(50)));
    }

    #[test]
    fn words_that_make_no_sense_are_refused_with_what_is_allowed() {
        for (text, why) in [
            ("poisson", Why::UnknownWord),
            ("poisson:0", Why::Zero),
            ("poisson:1000000", Why::TooLarge),
            ("poisson:-1", Why::Negative),
            ("every:0s", Why::Zero),
            ("every:", Why::NoNumber),
            ("often:1s", Why::UnknownWord),
        ] {
            let error = arrivals(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("`poisson:20`"), "{error}");
        }
        assert!(sizes("normal").expect_err("no such law").to_string().contains("`lognormal=1.3`"));
    }
}
