//! The values of figures for programs and for print.

use firstflight_export::{Record, RecordError, records};
use firstflight_measure::VERSION;
use firstflight_report::svg::print::Print;
use serde::Serialize;

use crate::claim::Claim;
use crate::expectation::Expectation;
use crate::figure::Figure;
use crate::ledger::paper_title;
use crate::page::drawing;
use crate::result::{ClaimResult, FigureResult};
use crate::show;
use crate::words::{Kind, Source};

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
