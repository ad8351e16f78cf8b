//! The expected value of a claim.

use std::fmt;

use crate::quantity::{number, show};

/// An expectation: a bound, a value with a tolerance, a range, or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expectation {
    /// The value is at most this number.
    AtMost(f64),
    /// The value is at least this number.
    AtLeast(f64),
    /// The value is less than this number.
    Below(f64),
    /// The value is more than this number.
    Above(f64),
    /// The value differs from the first number by at most the second.
    Near(f64, f64),
    /// The value is between the two numbers, inclusive.
    Between(f64, f64),
    /// No value is below the previous value by more than this share of the previous value.
    Rising(f64),
    /// No value is above the previous value by more than this share of the previous value.
    Falling(f64),
}

/// The text that describes the syntax of expectations.
pub(crate) const WANTED: &str = "allowed are `<= X`, `>= X`, `< X`, `> X`, `= X within Y`, `= X within Y%` of an X other than 0, `between X and Y`, \
     `rising`, `falling`, and `rising within Y%`";

impl Expectation {
    /// Reads an expectation; `None` if the text is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        for (word, direction) in [("rising", Self::Rising as fn(f64) -> Self), ("falling", Self::Falling)] {
            if let Some(rest) = text.strip_prefix(word) {
                let slack = match rest.trim().strip_prefix("within") {
                    Some(slack) => number(slack).filter(|slack| *slack >= 0.0)?,
                    None if rest.trim().is_empty() => 0.0,
                    None => return None,
                };
                return Some(direction(slack));
            }
        }
        if let Some(rest) = text.strip_prefix("between") {
            let (from, to) = rest.split_once(" and ")?;
            let (from, to) = (number(from)?, number(to)?);
            return (from <= to).then_some(Self::Between(from, to));
        }
        for mark in ["<=", ">=", "<", ">"] {
            if let Some(rest) = text.strip_prefix(mark) {
                let bound = number(rest)?;
                return Some(match mark {
                    "<=" => Self::AtMost(bound),
                    ">=" => Self::AtLeast(bound),
                    "<" => Self::Below(bound),
                    _ => Self::Above(bound),
                });
            }
        }
        let rest = text.strip_prefix('=')?;
        let Some((value, slack)) = rest.split_once("within") else {
            return Some(Self::Near(number(rest)?, 0.0));
        };
        let value = number(value)?;
        let slack = match slack.trim().strip_suffix('%') {
            // A share of zero would allow no difference.
            Some(_) if value == 0.0 => return None,
            Some(percent) => value.abs() * percent.trim().parse::<f64>().ok()? / 100.0,
            None => number(slack)?,
        };
        (slack.is_finite() && slack >= 0.0).then_some(Self::Near(value, slack))
    }

    /// Checks whether the values over an axis are as expected. The expectation applies to each value, or to their order. False if a value
    /// is undefined: not a number, or the infinity of a division by zero. False if there is no value.
    pub(crate) fn holds(self, values: &[f64]) -> bool {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return false;
        }
        let all = |is_so: &dyn Fn(f64) -> bool| values.iter().all(|value| is_so(*value));
        // The tolerance for values that are equal except for rounding.
        let hair = |x: f64| x.abs() * 1e-9;
        match self {
            Self::AtMost(most) => all(&|value| value <= most + hair(most)),
            Self::AtLeast(least) => all(&|value| value >= least - hair(least)),
            Self::Below(bound) => all(&|value| value < bound),
            Self::Above(bound) => all(&|value| value > bound),
            Self::Near(wanted, slack) => all(&|value| (value - wanted).abs() <= slack + hair(wanted)),
            Self::Between(from, to) => all(&|value| value >= from - hair(from) && value <= to + hair(to)),
            Self::Rising(slack) => {
                values.len() > 1 && values.windows(2).all(|pair| pair[1] >= pair[0] - slack * pair[0].abs())
            }
            Self::Falling(slack) => {
                values.len() > 1 && values.windows(2).all(|pair| pair[1] <= pair[0] + slack * pair[0].abs())
            }
        }
    }
}

/// Writes the expectation as the report shows it.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |f: &mut fmt::Formatter<'_>, word: &str, slack: f64| {
            if slack == 0.0 {
                write!(f, "{word}")
            } else {
                write!(f, "{word} within {} %", show(slack * 100.0))
            }
        };
        match *self {
            Self::AtMost(x) => write!(f, "<= {}", show(x)),
            Self::AtLeast(x) => write!(f, ">= {}", show(x)),
            Self::Below(x) => write!(f, "< {}", show(x)),
            Self::Above(x) => write!(f, "> {}", show(x)),
            Self::Near(x, 0.0) => write!(f, "= {}", show(x)),
            Self::Near(x, slack) => write!(f, "= {} within {}", show(x), show(slack)),
            Self::Between(from, to) => write!(f, "between {} and {}", show(from), show(to)),
            Self::Rising(slack) => within(f, "rising", slack),
            Self::Falling(slack) => within(f, "falling", slack),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_read_as_they_are_written() {
        let holds = |text: &str, values: &[f64]| Expectation::parse(text).expect(text).holds(values);
        assert!(holds("<= 0.005", &[0.0, 0.005]));
        assert!(!holds("<= 0.005", &[0.0, 0.006]));
        assert!(holds("= 10 within 10%", &[9.0, 11.0]));
        assert!(!holds("= 10 within 10%", &[8.9]));
        assert!(holds("= 10 within 0.3", &[10.3]));
        assert!(!holds("= 10 within 0.3", &[10.4]));
        assert!(holds("between 1mbit and 2mbit", &[1.5e6]));
        assert!(holds("rising", &[1.0, 1.0, 2.0]));
        assert!(!holds("rising", &[1.0, 0.99]));
        assert!(holds("rising within 5%", &[1.0, 0.96]));
        assert!(holds("falling", &[2.0, 1.0]));
        assert!(!holds("falling", &[2.0]), "one value has no direction");
        assert!(!holds("<= 1", &[f64::NAN]), "undefined is not small");
        assert!(!holds(">= 1", &[f64::INFINITY]), "a division by zero is not large");
        assert!(!holds(">= 0", &[]), "nothing was measured");
        for text in [
            "",
            "0.5",
            "about 3",
            "= three",
            "between 2 and 1",
            "rising fast",
            "= 1 within -1",
            "= 0 within 10%",
            "= 1 within inf%",
            "<= nanbdp",
            "falling within infbdp",
        ] {
            assert_eq!(Expectation::parse(text), None, "{text}");
        }
    }
}
