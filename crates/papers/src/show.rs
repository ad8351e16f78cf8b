//! A figure's values and claims as text for a terminal.

use std::fmt::Write as _;

use crate::figure::{Figure, Kind, Plot, Status};
use crate::quantity::show;
use crate::result::{ClaimResult, Drawn, FigureResult};

/// The status as people read it.
pub fn status_words(status: Status) -> &'static str {
    match status {
        Status::Holds => "holds",
        Status::DoesNotHold => "does not hold",
        Status::NotTestable => "not testable here",
    }
}

/// The values of a figure's plots, a table each.
pub fn values(figure: &Figure, result: &FigureResult) -> String {
    let mut out = String::new();
    for (plot, curves) in figure.plots.iter().zip(&result.plots) {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &plot_values(figure, plot, curves);
    }
    out
}

/// A claim's line, with what was expected and what was measured.
pub fn claim(result: &ClaimResult) -> String {
    let mut out = format!("{}: {}\n  {}\n", status_words(result.status), result.id, result.claim);
    if !result.expected.is_empty() {
        let half = result
            .ci95
            .filter(|half| *half > 0.0)
            .map(|half| format!(" ± {}", show(half)))
            .unwrap_or_default();
        let _ =
            writeln!(out, "  expected {}, measured {}{half}", result.expected, measured(&result.measured));
    }
    if !result.why.is_empty() {
        let _ = writeln!(out, "  {}", result.why);
    }
    out
}

/// A measured value as people read it.
pub fn measured(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(values) => values.iter().map(measured).collect::<Vec<_>>().join(", "),
        value => value.as_f64().map_or_else(|| "undefined".to_owned(), show),
    }
}

/// The most rows of a table of values; of more, some are left out.
const MOST: usize = 40;

fn plot_values(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> String {
    let mut xs: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|(x, ..)| *x).collect();
    let is_shared = matches!(plot.kind, Kind::Lines | Kind::Bars | Kind::Table | Kind::Series);
    if !is_shared {
        return curves.iter().map(|curve| sample(plot, curve)).collect();
    }
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let every = xs.len().div_ceil(MOST).max(1);
    let heading = if plot.x_label.is_empty() { "x".to_owned() } else { plot.x_label.clone() };
    let mut rows =
        vec![[heading].into_iter().chain(curves.iter().map(|curve| curve.label.clone())).collect::<Vec<_>>()];
    for x in xs.iter().step_by(every) {
        let mut row = vec![place_name(figure, plot, *x)];
        for curve in curves {
            let found = curve.points.iter().find(|(at, ..)| at == x);
            row.push(found.map_or(String::new(), |(_, y, half)| {
                let half =
                    half.filter(|half| *half > 0.0).map(|half| format!(" ± {}", show(half / plot.y_unit)));
                format!("{}{}", show(y / plot.y_unit), half.unwrap_or_default())
            }));
        }
        rows.push(row);
    }
    let title = [plot.title.as_str(), plot.y_label.as_str()].into_iter().filter(|text| !text.is_empty());
    let title = title.collect::<Vec<_>>().join(": ");
    let title = if title.is_empty() { title } else { title + "\n" };
    title + &table(&rows)
}

/// A place on the first axis: its name, if it is no number.
fn place_name(figure: &Figure, plot: &Plot, x: f64) -> String {
    let first = figure.points.axes.first().filter(|_| plot.kind != Kind::Series);
    let named = first.and_then(|axis| axis.values.iter().find(|place| !place.is_number && place.number == x));
    named.map_or_else(|| show(x / plot.x_unit), |place| place.name.clone())
}

/// Quantiles of a sample, or the points of a plane.
fn sample(plot: &Plot, curve: &Drawn) -> String {
    let points = &curve.points;
    if plot.kind == Kind::Plane {
        let all: Vec<String> = points
            .iter()
            .map(|(x, y, _)| format!("({}, {})", show(x / plot.x_unit), show(y / plot.y_unit)))
            .collect();
        return format!("{}: {}\n", curve.label, all.join(" "));
    }
    let at = |share: usize| points.get((points.len() * share / 100).min(points.len().saturating_sub(1)));
    let value = |(x, y, _): &(f64, f64, Option<f64>)| {
        if plot.kind == Kind::Cdf { show(x / plot.x_unit) } else { show(y / plot.y_unit) }
    };
    let quantiles: Vec<String> = [5, 25, 50, 75, 95]
        .iter()
        .filter_map(|share| Some(format!("{share} % {}", value(at(*share)?))))
        .collect();
    format!("{}: {} values; {}\n", curve.label, points.len(), quantiles.join(", "))
}

/// Rows with their columns aligned, the first to the left.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[at].saturating_sub(cell.chars().count()));
            line += &if at == 0 { format!("  {cell}{pad}") } else { format!("  {pad}{cell}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
