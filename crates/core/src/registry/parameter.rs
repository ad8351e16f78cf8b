//! Parameters of schemes: what may be set, within which range, and what is wrong with a setting.

use core::fmt;

use crate::registry::numbers::Numbers;
use crate::units::{Bytes, Rate, Span};

/// The value of a parameter. Its text is the command line's: `100`, `5us`, `5.12mbit`, `64kB`, `5%`, `paper`.
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
        /// Millionths.
        ppm: u32,
    },
    /// One of a few words; [`Kind::word`] makes it from text.
    Word(&'static str),
}

/// What values a parameter takes; bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A whole number.
    Count {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A whole number, or a word for the number that something else gives.
    CountOr {
        /// The word.
        word: &'static str,
        /// The least number.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A length of time.
    Span {
        /// The least.
        least: Span,
        /// The most.
        most: Span,
    },
    /// A rate.
    Rate {
        /// The least.
        least: Rate,
        /// The most.
        most: Rate,
    },
    /// A number of bytes.
    Bytes {
        /// The least.
        least: Bytes,
        /// The most.
        most: Bytes,
    },
    /// A fraction, in millionths.
    Fraction {
        /// The least.
        least_ppm: u32,
        /// The most.
        most_ppm: u32,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A parameter of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Its value when it is not set.
    pub default: Value,
    /// What it does, in a line.
    pub help: &'static str,
}

/// A setting that a scheme, law or policy does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterError<'a> {
    /// Whose setting it is.
    pub owner: &'static str,
    /// The parameter's name as it was given.
    pub name: &'a str,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a setting.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// There is no such parameter; the ones that there are.
    Unknown(&'static [Parameter]),
    /// It was set before.
    Twice,
    /// The value is of another kind or out of range.
    NotAllowed {
        /// What was found.
        found: Value,
        /// What is allowed.
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

/// Settings that were checked against an entry's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    parameters: &'static [Parameter],
    given: &'a [(&'a str, Value)],
}

impl<'a> Settings<'a> {
    /// Checks every setting: its name, that it is set once, its kind and its range.
    ///
    /// # Errors
    /// The first setting that is not allowed.
    pub fn check(
        owner: &'static str,
        parameters: &'static [Parameter],
        given: &'a [(&'a str, Value)],
    ) -> Result<Self, ParameterError<'a>> {
        for (index, &(name, found)) in given.iter().enumerate() {
            let problem = match parameters.iter().find(|parameter| parameter.name == name) {
                None => Problem::Unknown(parameters),
                Some(_) if given.iter().take(index).any(|(before, _)| *before == name) => Problem::Twice,
                Some(parameter) if !parameter.kind.allows(found) => {
                    Problem::NotAllowed { found, allowed: parameter.kind }
                }
                Some(_) => continue,
            };
            return Err(ParameterError { owner, name, problem });
        }
        Ok(Self { parameters, given })
    }

    /// The value that was set, if any.
    pub fn given(&self, name: &str) -> Option<Value> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    /// The value set, or the default; `None` only for a name that is not a parameter.
    pub fn value(&self, name: &str) -> Option<Value> {
        let default = || self.parameters.iter().find(|parameter| parameter.name == name).map(|p| p.default);
        let value = self.given(name).or_else(default);
        debug_assert!(value.is_some(), "{name} is not a parameter");
        value
    }

    /// All of them as numbers, by place.
    pub fn numbers(&self) -> Numbers {
        Numbers::of(self.parameters, |name| self.given(name))
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Count(count)) => count,
            _ => 0,
        }
    }

    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        match self.value(name) {
            Some(Value::Span(span)) => span,
            _ => Span::ZERO,
        }
    }

    /// A fraction in millionths.
    pub fn ppm(&self, name: &str) -> u32 {
        match self.value(name) {
            Some(Value::Fraction { ppm }) => ppm,
            _ => 0,
        }
    }

    /// A word.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

impl Kind {
    /// Whether `value` is of this kind and within its bounds.
    pub fn allows(&self, value: Value) -> bool {
        match (*self, value) {
            (Self::Count { least, most } | Self::CountOr { least, most, .. }, Value::Count(v)) => {
                (least..=most).contains(&v)
            }
            (Self::CountOr { word, .. }, Value::Word(v)) => word == v,
            (Self::Span { least, most }, Value::Span(v)) => (least..=most).contains(&v),
            (Self::Rate { least, most }, Value::Rate(v)) => (least..=most).contains(&v),
            (Self::Bytes { least, most }, Value::Bytes(v)) => (least..=most).contains(&v),
            (Self::Fraction { least_ppm, most_ppm }, Value::Fraction { ppm }) => {
                (least_ppm..=most_ppm).contains(&ppm)
            }
            (Self::Word(words), Value::Word(word)) => words.contains(&word),
            _ => false,
        }
    }

    /// The word that `text` spells, if this kind has it.
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

/// Writes `number` in the largest unit that it reaches, exactly. Units go down in powers of ten.
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
        let (what, least, most) = match *self {
            Self::Count { least, most } => ("a whole number", Value::Count(least), Value::Count(most)),
            Self::CountOr { word, least, most } => {
                write!(f, "{word}, or ")?;
                ("a whole number", Value::Count(least), Value::Count(most))
            }
            Self::Span { least, most } => ("a time", Value::Span(least), Value::Span(most)),
            Self::Rate { least, most } => ("a rate", Value::Rate(least), Value::Rate(most)),
            Self::Bytes { least, most } => ("a size", Value::Bytes(least), Value::Bytes(most)),
            Self::Fraction { least_ppm, most_ppm } => {
                ("a fraction", Value::Fraction { ppm: least_ppm }, Value::Fraction { ppm: most_ppm })
            }
            Self::Word(words) => return list(f, words.iter().copied()),
        };
        write!(f, "{what} from {least} to {most}")
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
