//! A population of flows as text: the number of measured flows, the arrivals and the sizes of the flows.

use std::fmt;

use firstflight::{Bytes, Span};
use firstflight_sim::Gap;

use crate::cross::{MAX_USERS, SizeLaw, size_law};
use crate::quantity::{self, Decimal, QuantityError, Why, nanos, refuse, show_span};

/// Many flows between the hosts of a topology, each measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    /// The number of measured flows: the first flows that arrive after the warm-up. A Poisson process continues until the last measured
    /// flow is finished, so that the load stays constant. Without a warm-up, arrivals that overload the path end with the last measured
    /// flow.
    pub flows: u32,
    /// The arrival process.
    pub arrivals: ArrivalProcess,
    /// The distribution of the flows' sizes around the size in the scenario's goal.
    pub sizes: SizeLaw,
    /// The warm-up. Flows that arrive during the warm-up are not measured.
    pub warm_up: Span,
    /// Whether Poisson arrivals offer more than the busiest link between routers carries. Arrivals then end with the last measured flow if
    /// there is no warm-up, because measured flows could not finish if arrivals continued without end.
    pub overloads: bool,
    /// Whether there is an additional population, in which each flow uses one of the schemes, chosen at random.
    pub mixed: bool,
    /// The share of the flows of that population that use the first scheme, in thousandths. The other schemes share the rest equally.
    /// `None` if all have equal shares.
    pub mixed_share: Option<u16>,
}

impl Population {
    /// Returns the number of arrivals after which no further flow arrives; `None` if arrivals continue until the run ends.
    pub fn last_arrival(&self) -> Option<u64> {
        match &self.arrivals {
            ArrivalProcess::Every(gap) => {
                let before = self.warm_up.nanos().div_ceil(gap.nanos().max(1));
                Some(before + u64::from(self.flows))
            }
            ArrivalProcess::Poisson(_) if self.overloads && self.warm_up.is_zero() => Some(self.flows.into()),
            ArrivalProcess::Poisson(_) | ArrivalProcess::At(_) | ArrivalProcess::Users(_) => None,
        }
    }

    /// Returns the population in words, for titles. `size` is the mean size of its flows; `None` if the flows have no size.
    pub(crate) fn describe(&self, size: Option<Bytes>) -> String {
        let mean = if self.sizes == SizeLaw::Fixed { "" } else { " in the mean" };
        let of = size.map_or_else(String::new, |size| format!(" of {}{mean}", quantity::humane_bytes(size)));
        let mixed = match self.mixed_share.filter(|_| self.mixed) {
            Some(share) => {
                let share = show_permille(share);
                format!(", schemes alone and mixed, {share} of the flows with the first scheme")
            }
            None if self.mixed => ", schemes alone and mixed".to_owned(),
            None => String::new(),
        };
        format!("{} flows{of}, {}{mixed}", self.flows, self.arrivals.describe())
    }
}

/// Formats thousandths as a percentage: `5%`, `0.5%`.
pub(crate) fn show_permille(permille: u16) -> String {
    match (permille / 10, permille % 10) {
        (percent, 0) => format!("{percent}%"),
        (percent, tenths) => format!("{percent}.{tenths}%"),
    }
}

/// The arrival process of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// A Poisson process with this mean number of arrivals per second.
    Poisson(Decimal),
    /// Arrivals at a fixed interval, the first at the beginning of the run.
    Every(Span),
    /// This many users, who request one web page after another and think between pages (Barford and Crovella 1998). Each file of a page is
    /// requested when the previous file has arrived.
    Users(u32),
    /// Arrivals at these times since the beginning of the run, in order. A time that is listed twice has two arrivals.
    At(Vec<Span>),
}

impl ArrivalProcess {
    /// Returns the distribution of the time between two arrivals. `None` if the arrival times are listed, or for users, whose arrivals
    /// depend on the path.
    pub fn gap(&self) -> Option<Gap> {
        match self {
            Self::Poisson(per_second) => Some(Gap::Exponential(nanos(1.0 / per_second.to_f64()))),
            Self::Every(span) => Some(Gap::Constant(*span)),
            Self::At(_) | Self::Users(_) => None,
        }
    }

    /// Returns the mean time between two arrivals of a process that continues without end. Zero if the arrival times are listed, or for
    /// users.
    pub(crate) fn mean_gap(&self) -> Span {
        match self.gap() {
            Some(Gap::Exponential(span) | Gap::Constant(span)) => span,
            Some(Gap::Thinking) | None => Span::ZERO,
        }
    }

    /// Returns the latest of the listed arrival times; zero if none is listed.
    pub(crate) fn latest(&self) -> Span {
        match self {
            Self::Poisson(_) | Self::Every(_) | Self::Users(_) => Span::ZERO,
            Self::At(instants) => instants.last().copied().unwrap_or(Span::ZERO),
        }
    }

    /// Returns the arrival process in words, for titles.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Poisson(per_second) => format!("{per_second} a second in the mean"),
            Self::Every(span) => format!("one every {}", quantity::humane_span(*span)),
            Self::Users(1) => "of a web user who waits".to_owned(),
            Self::Users(users) => format!("of {users} web users who wait"),
            Self::At(instants) => format!("at {}", listed(instants, quantity::humane_span)),
        }
    }
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson(per_second) => write!(f, "poisson:{per_second}"),
            Self::Every(span) => write!(f, "every:{}", show_span(*span)),
            Self::Users(users) => write!(f, "users:{users}"),
            Self::At(instants) => {
                let shown: Vec<String> = instants.iter().map(|at| show_instant(*at)).collect();
                write!(f, "at:{}", shown.join(","))
            }
        }
    }
}

/// Returns the first few times in words, and the number of further times.
fn listed(instants: &[Span], words: fn(Span) -> String) -> String {
    const FEW: usize = 4;
    let mut shown: Vec<String> = instants.iter().take(FEW).map(|at| words(*at)).collect();
    let more = instants.len().saturating_sub(FEW);
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

/// Returns a time since the beginning of a run as text; zero is `0s`.
pub(crate) fn show_instant(at: Span) -> String {
    if at.is_zero() { "0s".to_owned() } else { show_span(at) }
}

/// Reads a time since the beginning of a run. Zero may have a unit or none.
///
/// # Errors
/// Every other text that [`quantity::span`] refuses.
pub(crate) fn instant(text: &str) -> Result<Span, QuantityError> {
    Ok(quantity::unless_zero(text, quantity::span)?.unwrap_or(Span::ZERO))
}

const ARRIVALS: &str = "arrivals are so many a second in the mean as in `poisson:20` (below a million), one so often as \
                        in `every:5s`, at instants in order as in `at:0s,10s` (at most 10000), or those of web users who wait as \
                        in `users:8` (at most 10000)";

/// Maximum number of arrival times in a list.
const MAX_INSTANTS: usize = 10_000;

/// Reads an arrival process: `poisson:20`, `every:5s`, `at:0s,10s`, `users:8`.
///
/// # Errors
/// Anything else; a rate of zero, or one that is too high; times that are out of order, or too many.
pub fn arrivals(text: &str) -> Result<ArrivalProcess, QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: ARRIVALS.into(), ..error };
    match text.trim().split_once(':') {
        Some(("every", span)) => Ok(ArrivalProcess::Every(quantity::span(span).map_err(allowed)?)),
        Some(("at", list)) => {
            let instants = list.split(',').map(instant).collect::<Result<Vec<_>, _>>().map_err(allowed)?;
            if instants.len() > MAX_INSTANTS {
                return Err(refuse(&format!("{} instants", instants.len()), Why::TooLarge, ARRIVALS));
            }
            match instants.iter().zip(instants.iter().skip(1)).find(|(one, next)| one > next) {
                Some((_, early)) => Err(refuse(&show_instant(*early), Why::OutOfRange, ARRIVALS)),
                None => Ok(ArrivalProcess::At(instants)),
            }
        }
        Some(("users", users)) => match users.trim().parse::<u32>() {
            Ok(0) => Err(refuse(text, Why::Zero, ARRIVALS)),
            Ok(users) if users <= MAX_USERS => Ok(ArrivalProcess::Users(users)),
            Ok(_) => Err(refuse(text, Why::TooLarge, ARRIVALS)),
            Err(_) => Err(refuse(text, Why::UnknownWord, ARRIVALS)),
        },
        Some(("poisson", rate)) => {
            let per_second = quantity::number(rate.strip_suffix("/s").unwrap_or(rate)).map_err(allowed)?;
            match per_second.floor() {
                _ if per_second.is_zero() => Err(refuse(text, Why::Zero, ARRIVALS)),
                Some(whole) if whole < 1_000_000 => Ok(ArrivalProcess::Poisson(per_second)),
                _ => Err(refuse(text, Why::TooLarge, ARRIVALS)),
            }
        }
        _ => Err(refuse(text, Why::UnknownWord, ARRIVALS)),
    }
}

/// Reads the distribution of sizes: `fixed`, `exponential`, `lognormal=1.3`, `pareto=1.5`.
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
        for text in [
            "poisson:20",
            "poisson:0.5",
            "every:5s",
            "every:10us",
            "at:10s,40s",
            "at:0s,0s,1500ms",
            "users:8",
        ] {
            assert_eq!(arrivals(text).expect(text).to_string(), text);
        }
        assert_eq!(arrivals("poisson:20/s"), arrivals("poisson:20"));
        for text in ["fixed", "exponential", "lognormal=1.318", "pareto=1.5"] {
            assert_eq!(sizes(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn twenty_a_second_are_fifty_milliseconds_apart_in_the_mean() {
        assert_eq!(arrivals("poisson:20").map(|process| process.mean_gap()), Ok(Span::from_millis(50)));
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
            ("at:", Why::NoNumber),
            ("at:10s,5s", Why::OutOfRange),
            ("at:10s,,20s", Why::NoNumber),
            ("at:-1s", Why::Negative),
            ("users:0", Why::Zero),
            ("users:many", Why::UnknownWord),
            ("often:1s", Why::UnknownWord),
        ] {
            let error = arrivals(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("`poisson:20`"), "{error}");
        }
        assert!(sizes("normal").expect_err("no such law").to_string().contains("`lognormal=1.3`"));
    }
}
