//! The values of figures for programs and for print.

use firstflight_export::{Record, RecordError, records};
use firstflight_measure::VERSION;
use firstflight_report::svg::print::Print;
use serde::Serialize;

use crate::claim::Claim;
use crate::expectation::Expectation;
use crate::figure::{Figure, Plot};
use crate::ledger::paper_title;
use crate::page::{drawing, labels};
use crate::result::{ClaimResult, FigureResult};
use crate::show;
use crate::words::{Kind, Source, Status};

/// A value of a figure: a point of a curve, or the measured value of a claim. All numbers are in SI units, as expressions have them.
#[derive(Serialize, Default)]
struct ValueRow {
    figure: String,
    /// The number of the plot within the figure, from 1.
    plot: Option<usize>,
    curve: Option<String>,
    /// The name of the place on the axis, if it is no number.
    place: Option<String>,
    x: Option<f64>,
    y: Option<f64>,
    ci95: Option<f64>,
    claim: Option<String>,
    /// The number that the paper prints.
    printed: Option<f64>,
}

/// A value over time.
#[derive(Serialize)]
struct SeriesRow {
    figure: String,
    plot: usize,
    curve: String,
    time_s: f64,
    value: f64,
}

/// Returns the values of a figure: the points of its curves, except those over time, and the values of its claims, with the number that the
/// paper prints next to each.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub fn value_records(figure: &Figure, result: &FigureResult) -> Result<Vec<Record>, RecordError> {
    let mut rows = Vec::new();
    for (at, (plot, curves)) in (1..).zip(figure.plots.iter().zip(&result.plots)) {
        if plot.kind == Kind::Series {
            continue;
        }
        let places = figure.points.axes.first().map(|axis| axis.values.as_slice()).unwrap_or_default();
        let of_axis = matches!(plot.kind, Kind::Lines | Kind::Bars | Kind::Table);
        for curve in curves {
            for &(x, y, ci95) in &curve.points {
                let named = places.iter().find(|place| !place.is_plain && place.number.total_cmp(&x).is_eq());
                rows.push(ValueRow {
                    figure: figure.name(),
                    plot: Some(at),
                    curve: Some(curve.label.clone()),
                    place: named.filter(|_| of_axis).map(|place| place.name.clone()),
                    x: Some(x),
                    y: Some(y),
                    ci95,
                    ..ValueRow::default()
                });
            }
        }
    }
    for (claim, result) in figure.claims.iter().zip(&result.claims) {
        let values = result.measured.as_array().cloned().unwrap_or_else(|| vec![result.measured.clone()]);
        rows.extend(values.iter().map(|value| ValueRow {
            figure: figure.name(),
            y: value.as_f64(),
            ci95: result.ci95,
            claim: Some(claim.id.clone()),
            printed: printed(claim),
            ..ValueRow::default()
        }));
    }
    records(&rows)
}

/// Returns the curves over time of a figure, a row for each point.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub fn series_records(figure: &Figure, result: &FigureResult) -> Result<Vec<Record>, RecordError> {
    let plots = (1..).zip(figure.plots.iter().zip(&result.plots));
    let over_time = plots.filter(|(_, (plot, _))| plot.kind == Kind::Series);
    let rows: Vec<SeriesRow> = over_time
        .flat_map(|(at, (_, curves))| curves.iter().map(move |curve| (at, curve)))
        .flat_map(|(at, curve)| {
            curve.points.iter().map(move |&(time_s, value, _)| SeriesRow {
                figure: figure.name(),
                plot: at,
                curve: curve.label.clone(),
                time_s,
                value,
            })
        })
        .collect();
    records(&rows)
}

/// A plot of a figure. Programs divide values by the units, to have them as the labels say.
#[derive(Serialize)]
struct PlotRow {
    figure: String,
    plot: usize,
    title: String,
    kind: Kind,
    x_label: String,
    y_label: String,
    x_unit: f64,
    y_unit: f64,
    log_x: bool,
    log_y: bool,
}

/// The result of a claim in one row.
#[derive(Serialize)]
struct ClaimRow {
    claim: String,
    says: String,
    /// Whether the claim is this project's, and no sentence of the paper.
    own: bool,
    expected: String,
    /// The number that the paper prints.
    printed: Option<f64>,
    /// The measured value; null for several values, and if it is undefined or not measured.
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// The measured value or values, with their intervals, in words.
    result: String,
    status: String,
    recorded: String,
    /// Whether the outcome is the recorded one.
    as_recorded: bool,
    why: String,
    set_up: Option<String>,
}

/// A figure of the ledger in one row.
#[derive(Serialize)]
struct FigureRow {
    name: String,
    title: String,
    paper: String,
    figure: String,
    section: String,
    /// Whether every build checks the figure.
    fast: bool,
    /// The number of claims, and those that are recorded with each status.
    claims: usize,
    holds: usize,
    does_not_hold: usize,
    unsettled: usize,
    not_testable: usize,
}

/// Returns the plots of a figure, a row for each. Values of rows are in SI units; the row of a plot has the unit of each axis.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub fn plot_records(figure: &Figure) -> Result<Vec<Record>, RecordError> {
    let row = |(at, plot): (usize, &Plot)| {
        let [x_label, y_label] = labels(plot);
        PlotRow {
            figure: figure.name(),
            plot: at,
            title: plot.title.clone(),
            kind: plot.kind,
            x_label,
            y_label,
            x_unit: plot.x_unit,
            y_unit: plot.y_unit,
            log_x: plot.log_x,
            log_y: plot.log_y,
        }
    };
    records(&(1..).zip(&figure.plots).map(row).collect::<Vec<_>>())
}

/// Returns the results of a figure's claims, a row for each.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub fn claim_records(figure: &Figure, result: &FigureResult) -> Result<Vec<Record>, RecordError> {
    let row = |(claim, result): (&Claim, &ClaimResult)| ClaimRow {
        claim: result.id.clone(),
        says: result.claim.clone(),
        own: result.own,
        expected: result.expected.clone(),
        printed: printed(claim),
        measured: result.measured.as_f64(),
        low: result.low.as_f64(),
        high: result.high.as_f64(),
        result: show::with_interval(result),
        status: show::outcome(result),
        recorded: show::recorded(claim),
        as_recorded: result.is_as_recorded(claim),
        why: result.why.clone(),
        set_up: result.set_up.clone(),
    };
    records(&figure.claims.iter().zip(&result.claims).map(row).collect::<Vec<_>>())
}

/// Returns figures of the ledger, a row for each, with the recorded statuses of their claims.
///
/// # Errors
/// Fails only if the rows have a defect, which is a bug.
pub fn figure_records(figures: &[&Figure]) -> Result<Vec<Record>, RecordError> {
    let row = |figure: &&Figure| {
        let count = |status| figure.claims.iter().filter(|claim| claim.status == status).count();
        FigureRow {
            name: figure.name(),
            title: figure.title.clone(),
            paper: paper_title(&figure.paper).to_owned(),
            figure: figure.figure.clone(),
            section: figure.section.clone(),
            fast: figure.fast,
            claims: figure.claims.len(),
            holds: count(Status::Holds),
            does_not_hold: count(Status::DoesNotHold),
            unsettled: count(Status::Unsettled),
            not_testable: count(Status::NotTestable),
        }
    };
    records(&figures.iter().map(row).collect::<Vec<_>>())
}

/// Returns the drawing of a figure: its plots, and below them the numbers that the paper prints next to the measured ones. A table has no
/// drawing.
pub fn print(figure: &Figure, result: &FigureResult, command: &str) -> Print {
    let plots = figure
        .plots
        .iter()
        .zip(&result.plots)
        .filter_map(|(plot, curves)| Some((plot.title.clone(), drawing(figure, plot, curves)?)));
    let note = |(claim, result): (&Claim, &ClaimResult)| {
        let printed = show::measured(&serde_json::Value::from(printed(claim)?));
        Some(format!("{}: printed {printed}, here {}", claim.says, show::with_interval(result)))
    };
    Print {
        title: format!("{}. {}, {}", figure.title, paper_title(&figure.paper), figure.figure),
        plots: plots.collect(),
        notes: figure.claims.iter().zip(&result.claims).filter_map(note).collect(),
        description: format!("{command}\nfirstflight {VERSION}, {}", figure.name()),
    }
}

/// Returns the number that the paper prints for a claim; `None` if the claim is about no printed number.
fn printed(claim: &Claim) -> Option<f64> {
    match claim.expected {
        Some(Expectation::Near(number, _)) if claim.source == Source::Printed => Some(number),
        _ => None,
    }
}
