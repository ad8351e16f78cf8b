//! Sweeps one parameter of a model over a range, as in `size=1kB..10MB`, or over a list of values, as in `rtt=10ms,100ms`.

use firstflight::{Bytes, Rate, Span};

use super::catalog::{Model, Row};
use super::error::ModelError;
use super::settings::{Parameter, Quantity, Settings};
use firstflight_scenario::kind::Kind;
use firstflight_scenario::quantity::QuantityError;

/// A sweep over one parameter.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// The parameter's values, in order.
    pub points: Vec<Quantity>,
}

/// Why a sweep cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// A text without `=`.
    #[error("`{0}` names no values; NAME=FROM..TO or NAME=A,B,C is wanted, as in `size=1kB..10MB`")]
    NoValues(String),
    /// A parameter that the model does not have.
    #[error("`{found}` is not a parameter of {model}; there are {}", names(.model))]
    Unknown {
        /// The name.
        found: String,
        /// The model.
        model: &'static str,
    },
    /// A range of a parameter whose values are words.
    #[error("`{0}` is a range, and {1} takes words; list them, as in `{1}=a,b`")]
    Words(String, &'static str),
    /// A text that is not a value of the parameter's kind.
    #[error("{parameter}: {error}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// The error.
        error: QuantityError,
    },
    /// A range whose end is not above its beginning.
    #[error("`{0}` does not rise; the larger value comes last")]
    Falls(String),
    /// Too many or too few points. The value is their number.
    #[error("{0} points are not allowed; 2 to {MAX_POINTS} are")]
    Points(u64),
    /// A number of points given together with a list of values.
    #[error("`{0}` is a list; a number of points goes with a range")]
    PointsOfList(String),
}

/// Maximum number of points of a sweep.
const MAX_POINTS: u64 = 10_000;

/// The default number of steps of a range that is divided into equal steps.
const EQUAL_STEPS: u64 = 20;
/// The step between shares, if it divides the range into at least half and at most all of [`EQUAL_STEPS`].
const SHARE_STEP: f64 = 0.05;

fn names(model: &&'static str) -> String {
    let of = super::MODELS.iter().find(|one| one.name == *model);
    let names: Vec<_> = of.iter().flat_map(|model| model.parameters).map(|one| one.name).collect();
    names.join(", ")
}

impl Sweep {
    /// Reads `NAME=FROM..TO` or `NAME=A,B,C`. `points` is the number of points of a range. By default there are ten per decade if the axis
    /// is logarithmic.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(model: &Model, text: &str, points: Option<u64>) -> Result<Self, SweepError> {
        let (name, values) = text.split_once('=').ok_or_else(|| SweepError::NoValues(text.to_owned()))?;
        let unknown = || SweepError::Unknown { found: name.to_owned(), model: model.name };
        let parameter = model.parameter(name.trim()).ok_or_else(unknown)?;
        let value = |text: &str| {
            let failed = |error| SweepError::Value { parameter: parameter.name, error };
            Quantity::parse(parameter.kind, text).map_err(failed)
        };
        let Some((from, to)) = values.split_once("..") else {
            if points.is_some() {
                return Err(SweepError::PointsOfList(text.to_owned()));
            }
            let points = values.split(',').map(value).collect::<Result<_, _>>()?;
            return Ok(Self { parameter, points });
        };
        if matches!(parameter.kind, Kind::Word(_)) {
            return Err(SweepError::Words(text.to_owned(), parameter.name));
        }
        let (from, to) = (value(from)?, value(to)?);
        if from.number() >= to.number() {
            return Err(SweepError::Falls(text.to_owned()));
        }
        let count = points.unwrap_or_else(|| usual_points(from, to));
        if !(2..=MAX_POINTS).contains(&count) {
            return Err(SweepError::Points(count));
        }
        Ok(Self { parameter, points: between(from, to, count) })
    }

    /// Returns the model's rows at each point, each with its settings.
    ///
    /// # Errors
    /// A value outside the model's domain, at any point.
    pub fn run(&self, model: &Model, settings: &Settings) -> Result<Vec<(Settings, Vec<Row>)>, ModelError> {
        let at = |point: &Quantity| {
            let mut settings = settings.clone();
            settings.put(self.parameter.name, *point);
            model.evaluate(&settings)
        };
        self.points.iter().map(at).collect()
    }
}

/// Returns the default number of points. It is ten per decade, or the number of whole numbers if that is smaller. For shares, it gives
/// equal steps.
fn usual_points(from: Quantity, to: Quantity) -> u64 {
    let difference = to.number() - from.number();
    if matches!(from, Quantity::Share(_)) {
        let steps = libm::round(difference / SHARE_STEP);
        let divides = (difference - steps * SHARE_STEP).abs() < 1e-9;
        let usual = divides && (EQUAL_STEPS / 2..=EQUAL_STEPS).contains(&whole(steps));
        return 1 + if usual { whole(steps) } else { EQUAL_STEPS };
    }
    if matches!(from, Quantity::Count(_) | Quantity::Packets(_)) && difference < 30.0 {
        return whole(difference) + 1;
    }
    if from.number() <= 0.0 {
        return EQUAL_STEPS + 1;
    }
    whole(libm::ceil(10.0 * libm::log10(to.number() / from.number()) - 1e-9)).max(1) + 1
}

/// Returns `count` values from `from` to `to`. Their ratios are equal if the quantity allows this, otherwise their steps are equal. Whole
/// quantities are rounded, and duplicates are dropped.
fn between(from: Quantity, to: Quantity, count: u64) -> Vec<Quantity> {
    let (low, high) = (from.number(), to.number());
    let steps = count - 1;
    let every = matches!(from, Quantity::Count(_) | Quantity::Packets(_)) && high - low <= to_f64(steps);
    let linear = every || low <= 0.0 || matches!(from, Quantity::Share(_));
    let mut points = vec![from];
    for step in 1..steps {
        let part = to_f64(step) / to_f64(steps);
        let value = if linear { low + (high - low) * part } else { low * libm::pow(high / low, part) };
        let point = like(from, value);
        if points.last() != Some(&point) && point != to {
            points.push(point);
        }
    }
    points.push(to);
    points
}

/// Returns a quantity with the value `number`. Its kind is that of `other`.
fn like(other: Quantity, number: f64) -> Quantity {
    match other {
        Quantity::Rate(_) => Quantity::Rate(Rate::from_bps(whole(number))),
        Quantity::Span(_) => Quantity::Span(Span::from_nanos(whole(number * 1e9))),
        Quantity::Size(_) => Quantity::Size(Bytes::new(whole(number))),
        Quantity::Packets(_) => Quantity::Packets(u32::try_from(whole(number)).unwrap_or(u32::MAX)),
        Quantity::Count(_) => Quantity::Count(whole(number)),
        // Rounding removes the error of adding steps.
        Quantity::Share(_) => Quantity::Share(libm::round(number * 1e12) / 1e12),
        Quantity::PerSecond(_) => Quantity::PerSecond(number),
        Quantity::Word(_) => other,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two values that fit")]
fn whole(number: f64) -> u64 {
    libm::round(number) as u64
}

#[expect(clippy::cast_precision_loss, reason = "at most the number of points")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
