//! The results of claims: measured values, their statuses, and the curves of plots.

use firstflight_measure::student::mean_and_ci95;
use serde::Serialize;

use crate::curves::{Drawn, curves};
use crate::evaluate::View;
use crate::figure::{Claim, Figure};
use crate::runs::{Outcomes, RunsError, Settings, run};
use crate::words::{OverRuns, Status};

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
    /// Why the claim does not hold or is not testable; empty if it holds.
    pub why: String,
    /// The environment of the measurement.
    pub habitat: String,
}

/// Runs the figures, and evaluates their claims and plots.
///
/// # Errors
/// Runs that could not be made, an interrupt, or an expression that has no value.
pub fn check(figures: &[&Figure], settings: &Settings<'_>) -> Result<Vec<FigureResult>, CheckError> {
    let outcomes = run(figures, settings)?;
    figures.iter().zip(&outcomes).map(|(figure, outcomes)| result(figure, outcomes)).collect()
}

fn result(figure: &Figure, outcomes: &Outcomes) -> Result<FigureResult, CheckError> {
    let claims =
        figure.claims.iter().map(|claim| claim_result(figure, claim, outcomes)).collect::<Result<_, _>>()?;
    let plots = curves(figure, outcomes)
        .map_err(|message| CheckError::Expression { name: figure.name(), message })?;
    Ok(FigureResult { claims, plots })
}

fn claim_result(figure: &Figure, claim: &Claim, outcomes: &Outcomes) -> Result<ClaimResult, CheckError> {
    let id = format!("{}/{}", figure.name(), claim.id);
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
    };
    let (Some(expression), Some(expected)) = (&claim.expression, claim.expected) else { return Ok(result) };
    let seeds =
        if figure.points.all.iter().all(|point| point.run.is_none()) { 1 } else { figure.points.runs() };
    let mut of_seeds: Vec<Vec<f64>> = Vec::new();
    let seeds: Vec<Option<usize>> = match claim.over_runs {
        OverRuns::Before => vec![None],
        _ => (0..seeds as usize).map(Some).collect(),
    };
    for seed in seeds {
        let value = View::new(figure, outcomes, seed).value(expression);
        let points = value.and_then(|value| value.points());
        let points = points.map_err(|message| CheckError::Expression { name: id.clone(), message })?;
        of_seeds.push(points.into_iter().map(|(_, y)| y).collect());
    }
    let (values, ci95) = over_runs(claim.over_runs, &of_seeds);
    result.measured = match values.as_slice() {
        [one] => json(*one),
        several => several.iter().map(|one| json(*one)).collect(),
    };
    result.ci95 = ci95;
    if claim.status == Status::NotTestable {
        return Ok(result);
    }
    let holds = expected.holds(&values);
    result.status = if holds { Status::Holds } else { Status::DoesNotHold };
    if holds {
        result.why.clear();
    }
    Ok(result)
}

/// Combines the values of several runs at each place. If there is only one place, also returns half the confidence interval of the mean.
fn over_runs(way: OverRuns, of_seeds: &[Vec<f64>]) -> (Vec<f64>, Option<f64>) {
    let count = of_seeds.iter().map(Vec::len).max().unwrap_or(0);
    // A place that is missing in a run is undefined.
    let at = |place: usize| -> Vec<f64> {
        of_seeds.iter().map(|values| values.get(place).copied().unwrap_or(f64::NAN)).collect()
    };
    let one = |place: usize| {
        let mut values = at(place);
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        values.sort_by(f64::total_cmp);
        match way {
            OverRuns::Mean | OverRuns::Before => mean_and_ci95(&values).map_or(f64::NAN, |(mean, _)| mean),
            OverRuns::Median => {
                let (low, high) = ((values.len() - 1) / 2, values.len() / 2);
                f64::midpoint(values[low], values[high])
            }
            OverRuns::Min => values.first().copied().unwrap_or(f64::NAN),
            OverRuns::Max => values.last().copied().unwrap_or(f64::NAN),
        }
    };
    let values: Vec<f64> = (0..count).map(one).collect();
    let is_mean = count == 1 && way == OverRuns::Mean && !values.iter().any(|value| value.is_nan());
    let ci95 = if is_mean { mean_and_ci95(&at(0)).and_then(|(_, half)| half) } else { None };
    (values, ci95.map(rounded))
}

/// Returns a number for the JSON output. It has ten digits, so that the order of rounding makes no difference. Null if it is not finite.
fn json(number: f64) -> serde_json::Value {
    if number.is_finite() { rounded(number).into() } else { serde_json::Value::Null }
}

fn rounded(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}
