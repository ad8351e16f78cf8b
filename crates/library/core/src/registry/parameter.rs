//! Parameters of schemes: which values may be set, within which range, and the errors of a setting.

use core::fmt;

use crate::units::{Bytes, Rate, Span};

/// The value of a parameter, written as on the command line: `100`, `5us`, `5.12mbit`, `64kB`, `5%`, `paper`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A length of time.
    Span(Span),
    /// A rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(Bytes),
    /// A fraction in millionths.
    Fraction {
        /// The fraction in millionths.
        ppm: u32,
    },
    /// One of a few words; [`Kind::word`] makes it from text.
    Word(&'static str),
}

/// The values that a parameter takes; bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A whole number.
    Count {
        /// The minimum value.
        min: u64,
        /// The maximum value.
        max: u64,
    },
    /// A whole number, or a word for a number that comes from another source.
    CountOr {
        /// The word that represents a number.
        word: &'static str,
        /// The minimum number.
        min: u64,
        /// The maximum number.
        max: u64,
    },
    /// A length of time.
    Span {
        /// The minimum value.
        min: Span,
        /// The maximum value.
        max: Span,
    },
    /// A rate.
    Rate {
        /// The minimum value.
        min: Rate,
        /// The maximum value.
        max: Rate,
    },
    /// A number of bytes.
    Bytes {
        /// The minimum value.
        min: Bytes,
        /// The maximum value.
        max: Bytes,
    },
    /// A fraction, in millionths.
    Fraction {
        /// The minimum, in millionths.
        min_ppm: u32,
        /// The maximum, in millionths.
        max_ppm: u32,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A parameter of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The values that the parameter takes.
    pub kind: Kind,
    /// The value of the parameter when it is not set.
    pub default: Value,
    /// Effect of the parameter, in one line.
    pub help: &'static str,
}

/// A setting that a scheme, law or policy does not accept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterError<'a> {
    /// The name of the scheme or policy that was given the setting.
    pub owner: &'static str,
    /// The parameter's name as it was given.
    pub name: &'a str,
    /// The problem of the setting.
    pub problem: Problem,
}

/// The problem of a setting.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// There is no parameter of this name. The field lists the parameters that exist.
    Unknown(&'static [Parameter]),
    /// The parameter was set before.
    Twice,
    /// The value is of another kind or out of range.
    NotAllowed {
        /// The value found.
        found: Value,
        /// The values allowed.
        allowed: Kind,
    },
}

impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown(a), Self::Unknown(b)) => a.iter().map(|p| p.name).eq(b.iter().map(|p| p.name)),
            (Self::Twice, Self::Twice) => true,
            (Self::NotAllowed { found: a, allowed: x }, Self::NotAllowed { found: b, allowed: y }) => {
                (a, x) == (b, y)
            }
            _ => false,
        }
    }
}

impl Eq for Problem {}

impl Kind {
    /// Returns whether `value` is of this kind and within its bounds.
    pub fn allows(&self, value: Value) -> bool {
        match (*self, value) {
            (Self::Count { min, max } | Self::CountOr { min, max, .. }, Value::Count(v)) => {
                (min..=max).contains(&v)
            }
            (Self::CountOr { word, .. }, Value::Word(v)) => word == v,
            (Self::Span { min, max }, Value::Span(v)) => (min..=max).contains(&v),
            (Self::Rate { min, max }, Value::Rate(v)) => (min..=max).contains(&v),
            (Self::Bytes { min, max }, Value::Bytes(v)) => (min..=max).contains(&v),
            (Self::Fraction { min_ppm, max_ppm }, Value::Fraction { ppm }) => {
                (min_ppm..=max_ppm).contains(&ppm)
            }
            (Self::Word(words), Value::Word(word)) => words.contains(&word),
            _ => false,
        }
    }

    /// Returns the word that `text` spells; `None` if this kind does not have that word.
    pub fn word(&self, text: &str) -> Option<Value> {
        match self {
            Self::Word(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
            Self::CountOr { word, .. } => Some(Value::Word(word)).filter(|_| *word == text),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Span(span) => {
                scaled(f, span.nanos(), &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
            }
            Self::Rate(rate) => scaled(
                f,
                rate.bps(),
                &[(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1_000, "kbit"), (1, "bit")],
            ),
            Self::Bytes(bytes) => scaled(f, bytes.get(), &[(1_000_000, "MB"), (1_000, "kB"), (1, "B")]),
            Self::Fraction { ppm } => scaled(f, u64::from(ppm), &[(10_000, "%")]),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Writes `number` in the largest unit that it reaches, exactly. Units are in descending powers of ten.
fn scaled(f: &mut fmt::Formatter<'_>, number: u64, units: &[(u64, &str)]) -> fmt::Result {
    let smallest = units.last().copied().unwrap_or((1, ""));
    let (unit, name) = units.iter().copied().find(|(unit, _)| number >= *unit).unwrap_or(smallest);
    write!(f, "{}", number / unit)?;
    let mut rest = number % unit;
    let mut digit = unit;
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        digit /= 10;
        write!(f, "{}", rest / digit)?;
        rest %= digit;
    }
    f.write_str(name)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, min, max) = match *self {
            Self::Count { min, max } => ("a whole number", Value::Count(min), Value::Count(max)),
            Self::CountOr { word, min, max } => {
                write!(f, "{word}, or ")?;
                ("a whole number", Value::Count(min), Value::Count(max))
            }
            Self::Span { min, max } => ("a time", Value::Span(min), Value::Span(max)),
            Self::Rate { min, max } => ("a rate", Value::Rate(min), Value::Rate(max)),
            Self::Bytes { min, max } => ("a size", Value::Bytes(min), Value::Bytes(max)),
            Self::Fraction { min_ppm, max_ppm } => {
                ("a fraction", Value::Fraction { ppm: min_ppm }, Value::Fraction { ppm: max_ppm })
            }
            Self::Word(words) => return list(f, words.iter().copied()),
        };
        write!(f, "{what} from {min} to {max}")
    }
}

fn list<'a>(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (index, word) in words.enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{word}")?;
    }
    Ok(())
}

impl fmt::Display for ParameterError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, name, problem } = self;
        match problem {
            Problem::Unknown([]) => write!(f, "{owner} has no parameter {name}: it has none"),
            Problem::Unknown(parameters) => {
                write!(f, "{owner} has no parameter {name}: it has ")?;
                list(f, parameters.iter().map(|parameter| parameter.name))
            }
            Problem::Twice => write!(f, "{owner}: {name} is set twice"),
            Problem::NotAllowed { found, allowed } => {
                write!(f, "{owner}: {name} is {found}, allowed is {allowed}")
            }
        }
    }
}

impl core::error::Error for ParameterError<'_> {}
