//! The parameters of a model, and their values read from text.

use std::fmt;

use firstflight::{Bytes, Rate, Span};

use super::error::ModelError;
use firstflight_scenario::kind::Kind;
use firstflight_scenario::quantity::{self, QuantityError, Why};
use firstflight_scenario::suggest::meant;

/// A parameter of a model.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The option's name, without dashes.
    pub name: &'static str,
    /// The kind of the parameter's values.
    pub kind: Kind,
    /// The default. If it is `None`, [`Parameter::unset`] describes the default.
    pub default: Option<&'static str>,
    /// The default in words, if `default` is `None`.
    pub unset: &'static str,
    /// The parameter's meaning, with its symbol in the source.
    pub help: &'static str,
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A rate.
    Rate(Rate),
    /// A time.
    Span(Span),
    /// Bytes.
    Size(Bytes),
    /// Whole segments.
    Packets(u32),
    /// A share of a whole.
    Share(f64),
    /// A whole number.
    Count(u64),
    /// A number per second.
    PerSecond(f64),
    /// A word.
    Word(&'static str),
}

const PER_SECOND: &str = "a number a second from 0 up to 1e12 is wanted, as in `10/s`";

impl Parameter {
    /// Returns the last part of a column's name: the unit of [`Quantity::number`].
    pub fn suffix(&self) -> &'static str {
        match self.kind {
            Kind::Rate => "_bps",
            Kind::Span => "_s",
            Kind::Size => "_bytes",
            Kind::Packets => "_packets",
            Kind::PerSecond => "_per_s",
            Kind::Share
            | Kind::Count(_)
            | Kind::Word(_)
            | Kind::Queue
            | Kind::SpanOrCount
            | Kind::Text(_) => "",
        }
    }
}

impl Quantity {
    /// Reads a value of the kind `kind`.
    ///
    /// # Errors
    /// A text that [`quantity`] rejects, and any text of a kind that no model takes.
    pub fn parse(kind: Kind, text: &str) -> Result<Self, QuantityError> {
        Ok(match kind {
            Kind::Rate => Self::Rate(quantity::rate(text)?),
            Kind::Span => Self::Span(quantity::span(text)?),
            Kind::Size => Self::Size(quantity::bytes(text)?),
            Kind::Packets => Self::Packets(quantity::packets(text)?),
            Kind::Share => Self::Share(quantity::fraction(text)?.to_f64()),
            Kind::Count(most) => Self::Count(count(text, most)?),
            Kind::PerSecond => Self::PerSecond(per_second(text)?),
            Kind::Word(words) => {
                let found = words.iter().find(|word| **word == text.trim());
                let all = || format!("there are {}", words.join(", "));
                let hint = || meant(text, &[], words.iter().copied()).unwrap_or_else(all);
                Self::Word(found.ok_or_else(|| quantity::refuse(text, Why::UnknownWord, hint()))?)
            }
            Kind::Queue | Kind::SpanOrCount | Kind::Text(_) => {
                return Err(quantity::refuse(text, Why::UnknownWord, "models take quantities and words"));
            }
        })
    }
}

/// Reads a whole number from 0 to `most`.
fn count(text: &str, most: u64) -> Result<u64, QuantityError> {
    let allowed = || format!("a whole number from 0 to {most} is wanted");
    if text.trim() == "0" {
        return Ok(0);
    }
    match quantity::count(text) {
        Ok(value) if value <= most => Ok(value),
        Ok(_) => Err(quantity::refuse(text, Why::TooLarge, allowed())),
        Err(error) => Err(QuantityError { allowed: allowed().into(), ..error }),
    }
}

/// Reads a number per second, with or without `/s`.
fn per_second(text: &str) -> Result<f64, QuantityError> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
    let Ok(value) = number.parse::<f64>() else {
        return Err(quantity::refuse(text, Why::NoNumber, PER_SECOND));
    };
    let why = match value {
        _ if !value.is_finite() => Why::NotFinite,
        _ if value < 0.0 => Why::Negative,
        _ if value > 1e12 => Why::TooLarge,
        // `abs` turns a negative zero into zero.
        _ => return Ok(value.abs()),
    };
    Err(quantity::refuse(text, why, PER_SECOND))
}

impl Quantity {
    /// Returns the value in bit/s, seconds, bytes or segments, or as a number without a unit. NaN for a word.
    #[expect(clippy::cast_precision_loss, reason = "up to 2^53, 104 days or 9 PB, the double is exact")]
    pub fn number(self) -> f64 {
        match self {
            Self::Rate(rate) => rate.bps() as f64,
            Self::Span(span) => span.nanos() as f64 / 1e9,
            Self::Size(bytes) => bytes.get() as f64,
            Self::Packets(packets) => f64::from(packets),
            Self::Count(count) => count as f64,
            Self::Share(number) | Self::PerSecond(number) => number,
            Self::Word(_) => f64::NAN,
        }
    }
}

/// Writes the value as on the command line.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => f.write_str(&quantity::show_rate(*rate)),
            Self::Span(span) => f.write_str(&quantity::show_span(*span)),
            Self::Size(bytes) => f.write_str(&quantity::show_bytes(*bytes)),
            Self::Packets(packets) => write!(f, "{packets}p"),
            Self::Share(number) => write!(f, "{number}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::PerSecond(number) => write!(f, "{number}/s"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// The values of a model's parameters.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(&'static Parameter, Option<Quantity>)>,
}

impl Settings {
    /// Returns settings with the defaults of a model's parameters.
    ///
    /// # Errors
    /// A default that is not a value of its parameter's kind. No model has a default like this.
    pub fn of(parameters: &'static [Parameter]) -> Result<Self, ModelError> {
        let mut values = Vec::new();
        for parameter in parameters {
            values.push((parameter, parameter.default.map(|text| parse(parameter, text)).transpose()?));
        }
        Ok(Self { values })
    }

    /// Sets a parameter from `text`. A name that the model does not have is ignored.
    ///
    /// # Errors
    /// A text that is not a value of the parameter's kind.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ModelError> {
        if let Some((parameter, value)) = self.entry(name) {
            *value = Some(parse(parameter, text)?);
        }
        Ok(())
    }

    /// Sets a parameter.
    pub fn put(&mut self, name: &str, quantity: Quantity) {
        if let Some((_, value)) = self.entry(name) {
            *value = Some(quantity);
        }
    }

    /// Returns the values, in the model's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Parameter, Option<Quantity>)> {
        self.values.iter().copied()
    }

    /// Returns the value of a parameter, if it has one.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.iter().find(|(parameter, _)| parameter.name == name).and_then(|(_, value)| value)
    }

    /// Returns the parameter's value as a number, in the units of [`Quantity::number`]. Returns NaN if there is no value; every model
    /// rejects NaN.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.get(name).map_or(f64::NAN, Quantity::number)
    }

    /// Returns the parameter's value as a time; zero if it has no value.
    pub(super) fn span(&self, name: &str) -> Span {
        match self.get(name) {
            Some(Quantity::Span(span)) => span,
            _ => Span::ZERO,
        }
    }

    /// Returns whether the parameter has this word as its value.
    pub(super) fn is(&self, name: &str, word: &str) -> bool {
        self.get(name) == self.word_of(name, word)
    }

    fn word_of(&self, name: &str, word: &str) -> Option<Quantity> {
        let (parameter, _) = self.iter().find(|(parameter, _)| parameter.name == name)?;
        Quantity::parse(parameter.kind, word).ok()
    }

    fn entry(&mut self, name: &str) -> Option<&mut (&'static Parameter, Option<Quantity>)> {
        self.values.iter_mut().find(|(parameter, _)| parameter.name == name)
    }
}

fn parse(parameter: &'static Parameter, text: &str) -> Result<Quantity, ModelError> {
    Quantity::parse(parameter.kind, text)
        .map_err(|error| ModelError::Text { parameter: parameter.name, error })
}
