//! The results of claims: measured values, their statuses, and the curves of plots.

use serde::Serialize;

use crate::claim::{Claim, Measurement, Tried};
use crate::curves::{Drawn, curves};
use crate::figure::Figure;
use crate::measure::{Lab, Values};
use crate::runs::{RunsError, Settings};
use crate::words::{Source, Status};

/// Why figures could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Runs that could not be made.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// An expression that has no value.
    #[error("{name}: {message}")]
    Expression {
        /// The claim or figure.
        name: String,
        /// The fault.
        message: String,
    },
}

/// The results of a figure.
#[derive(Clone, Debug)]
pub struct FigureResult {
    /// The results of the claims, in the order of the file.
    pub claims: Vec<ClaimResult>,
    /// The curves of each plot.
    pub(crate) plots: Vec<Vec<Drawn>>,
}

/// The result of a claim, which is one object of the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct ClaimResult {
    /// The identifier `PAPER/FIGURE/CLAIM`.
    pub id: String,
    /// The paper's folder.
    pub paper: String,
    /// The figure as printed.
    pub figure: String,
    /// The claim in words.
    pub claim: String,
    /// The expectation; empty if nothing can be measured.
    pub expected: String,
    /// The measured value, or several values over an axis. Null if the value is undefined or not measured.
    pub measured: serde_json::Value,
    /// Half the width of the mean's 95 % confidence interval. Null if there is only one run, or for several values.
    pub ci95: Option<f64>,
    /// The outcome of the claim.
    pub status: Status,
    /// Why the claim does not hold, is not testable or is unsettled; empty if it holds.
    pub why: String,
    /// The environment of the measurement.
    pub habitat: String,
    /// The set-up of the measurement; absent for the figure's scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_up: Option<String>,
    /// Whether the claim is this project's, and no sentence of the paper. Absent if it is not.
    #[serde(default, skip_serializing_if = "is_no")]
    pub own: bool,
    /// The value of the claim's axis from which on the claim holds. Absent without an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The lower end of the 95 % confidence interval of the measured value, or of each of several values. Absent if no value varies over
    /// runs, or if there are too few runs.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub low: serde_json::Value,
    /// The upper end of the interval.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub high: serde_json::Value,
    /// The number of runs that were left out because their value is undefined. Absent if none was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undefined_runs: usize,
    /// The recorded measurements that do not settle the claim. Absent if the claim is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<TriedResult>,
}

/// A recorded measurement that does not settle its claim.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct TriedResult {
    /// The set-up; absent for the figure's scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_up: Option<String>,
    /// The measured expression.
    pub measured: String,
    /// The recorded value.
    pub gives: String,
    /// Whether the recorded value meets the expectation.
    pub holds: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_no(own: &bool) -> bool {
    !own
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ClaimResult {
    /// Checks whether the result is the one that the file records.
    pub fn is_as_recorded(&self, claim: &Claim) -> bool {
        self.status == claim.status
            && self.from.as_deref() == claim.over.as_ref().and_then(|over| over.from.as_deref())
    }

    /// Checks whether the measured value, or one of several, is undefined.
    pub(crate) fn is_undefined(&self) -> bool {
        let values = self.measured.as_array().map_or(std::slice::from_ref(&self.measured), Vec::as_slice);
        values.iter().any(serde_json::Value::is_null)
    }
}

/// Runs the figures, and evaluates their claims and plots.
///
/// # Errors
/// Runs that could not be made, an interrupt, or an expression that has no value.
pub fn check(figures: &[&Figure], settings: &Settings<'_>) -> Result<Vec<FigureResult>, CheckError> {
    let wanted = figures.iter().map(|figure| {
        let measurements = figure.claims.iter().filter_map(|claim| claim.measurement.as_ref());
        let drawn = figure.drawn().map(|expression| (None, expression));
        (*figure, drawn.chain(measurements.map(Measurement::in_set_up)).collect())
    });
    let lab = Lab::run(&wanted.collect::<Vec<_>>(), settings)?;
    figures.iter().map(|figure| result(figure, &lab)).collect()
}

fn result(figure: &Figure, lab: &Lab<'_>) -> Result<FigureResult, CheckError> {
    let claims =
        figure.claims.iter().map(|claim| claim_result(figure, claim, lab)).collect::<Result<_, _>>()?;
    let plots = curves(figure, lab.outcomes(figure, None))
        .map_err(|message| CheckError::Expression { name: figure.name(), message })?;
    Ok(FigureResult { claims, plots })
}

fn claim_result(figure: &Figure, claim: &Claim, lab: &Lab<'_>) -> Result<ClaimResult, CheckError> {
    let id = format!("{}/{}", figure.name(), claim.id);
    let tried = |tried: &Tried| TriedResult {
        set_up: tried.measurement.set_up.clone(),
        measured: tried.measurement.measured.clone(),
        gives: tried.gives.text(),
        holds: tried.holds,
    };
    let mut result = ClaimResult {
        id: id.clone(),
        paper: figure.paper.clone(),
        figure: figure.figure.clone(),
        claim: claim.says.clone(),
        expected: claim.expected.map(|expected| expected.to_string()).unwrap_or_default(),
        measured: serde_json::Value::Null,
        ci95: None,
        status: Status::NotTestable,
        why: claim.why.clone(),
        habitat: figure.habitat.to_owned(),
        set_up: claim.measurement.as_ref().and_then(|one| one.set_up.clone()),
        own: claim.source == Source::Own,
        from: None,
        low: serde_json::Value::Null,
        high: serde_json::Value::Null,
        undefined_runs: 0,
        tried: claim.tried.iter().map(tried).collect(),
    };
    let (Some(measurement), Some(expected)) = (&claim.measurement, claim.expected) else { return Ok(result) };
    let axis = claim.over.as_ref().map(|over| over.axis);
    let axis = axis.map(|axis| (axis, &figure.points(measurement.set_up.as_deref()).axes[axis].values));
    let places = match axis {
        None => vec![None],
        Some((axis, values)) => (0..values.len()).map(|place| Some((axis, place))).collect(),
    };
    let values = places.into_iter().map(|place| lab.values(figure, measurement, place));
    let values: Vec<Values> = values
        .collect::<Result<_, _>>()
        .map_err(|message| CheckError::Expression { name: id.clone(), message })?;
    let shaped = |of: &dyn Fn(&Values) -> Vec<f64>| match (values.as_slice(), axis) {
        ([only], None) => several(&of(only)),
        (all, _) => all.iter().map(|one| several(&of(one))).collect(),
    };
    result.measured = shaped(&|one| one.numbers.clone());
    result.ci95 = if axis.is_none() { values[0].half.map(rounded) } else { None };
    result.undefined_runs = values.iter().map(|one| one.undefined).max().unwrap_or(0);
    if values.iter().flat_map(|one| &one.ends).any(Option::is_some) {
        let end = |of: fn((f64, f64)) -> f64| {
            shaped(&|one: &Values| one.ends.iter().map(|ends| ends.map_or(f64::NAN, of)).collect())
        };
        (result.low, result.high) = (end(|(low, _)| low), end(|(_, high)| high));
    }
    if matches!(claim.status, Status::NotTestable | Status::Unsettled) {
        result.status = claim.status;
        return Ok(result);
    }
    // Without an axis there is one place.
    let fails = values.iter().rposition(|one| !expected.holds(&one.numbers));
    let from = fails.map_or(0, |last| last + 1);
    let holds = from < values.len();
    result.from = axis.and_then(|(_, values)| Some(values.get(from)?.name.clone()));
    result.status = if holds { Status::Holds } else { Status::DoesNotHold };
    if holds {
        result.why.clear();
    }
    Ok(result)
}

/// Returns one number, or a list of several.
fn several(values: &[f64]) -> serde_json::Value {
    match values {
        [one] => json(*one),
        several => several.iter().map(|one| json(*one)).collect(),
    }
}

/// Returns a number for the JSON output. It has ten digits, so that the order of rounding makes no difference. Null if it is not finite.
fn json(number: f64) -> serde_json::Value {
    if number.is_finite() { rounded(number).into() } else { serde_json::Value::Null }
}

fn rounded(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}
