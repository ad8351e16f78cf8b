//! Shows a figure's values and claims as text for a terminal.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::claim::Claim;
use crate::curves::Drawn;
use crate::figure::{Figure, Plot};
use crate::quantity::{show, show_end, show_half};
use crate::result::{ClaimResult, FigureResult, TriedResult};
use crate::set_up::SetUp;
use crate::words::{Kind, Status};

/// Returns the status as people read it.
pub fn status_words(status: Status) -> &'static str {
    match status {
        Status::Holds => "holds",
        Status::DoesNotHold => "does not hold",
        Status::NotTestable => "not testable here",
        Status::Unsettled => "unsettled",
    }
}

/// Returns the status of a result as people read it, with the value from which on the claim holds.
pub fn outcome(result: &ClaimResult) -> String {
    let words = status_words(result.status);
    result.from.as_ref().map_or(words.to_owned(), |from| format!("{words} from {}", spaced(from)))
}

/// Returns the status that a file records, as [`outcome`] shows one.
pub fn recorded(claim: &Claim) -> String {
    let words = status_words(claim.status);
    let from = claim.over.as_ref().and_then(|over| over.from.as_ref());
    from.map_or(words.to_owned(), |from| format!("{words} from {}", spaced(from)))
}

/// Returns a value on an axis with a blank before its unit.
fn spaced(value: &str) -> String {
    let digits = value.trim_end_matches(|one: char| one.is_ascii_alphabetic() || one == '%');
    let unit = &value[digits.len()..];
    let is_number = digits.parse::<f64>().is_ok() && !unit.is_empty();
    if is_number { format!("{digits} {unit}") } else { value.to_owned() }
}

/// Returns the line of a set-up.
pub fn set_up(set_up: &SetUp) -> String {
    format!("set-up {}: {}", set_up.name, set_up.says)
}

/// Returns the numbers of claims of papers with each status, and then those of own claims. Each claim has its status, and whether it is own.
pub fn counts(statuses: &[(Status, bool)]) -> String {
    let all = |own: bool| {
        let of = |status| statuses.iter().filter(|one| **one == (status, own)).count();
        let counts = Status::ALL.map(|status| (of(status), status_words(status)));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
    };
    match (all(false), all(true)) {
        (papers, own) if own.is_empty() && papers.is_empty() => "no claims".to_owned(),
        (papers, own) if own.is_empty() => papers,
        (papers, own) if papers.is_empty() => format!("own claims: {own}"),
        (papers, own) => format!("{papers}; own claims: {own}"),
    }
}

/// Returns the values of a figure's plots, one table for each.
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

/// Returns a claim's line, with what was expected and what was measured.
pub fn claim(result: &ClaimResult) -> String {
    let mut out = format!("{}: {}\n  {}\n", outcome(result), result.id, result.claim);
    if !result.expected.is_empty() {
        let _ = writeln!(out, "  expected {}, measured {}", result.expected, with_interval(result));
    }
    for line in tried(result) {
        let _ = writeln!(out, "  {line}");
    }
    if !result.why.is_empty() {
        let _ = writeln!(out, "  {}", result.why);
    }
    out
}

/// Returns the measured value of a claim, each number with its confidence interval if it has one, the set-up, and the number of undefined
/// runs.
pub fn with_interval(result: &ClaimResult) -> String {
    let mut out = numbers_between(&result.measured, &result.low, &result.high);
    if let Some(set_up) = &result.set_up {
        let _ = write!(out, " in the set-up {set_up}");
    }
    if result.undefined_runs > 0 {
        let _ = write!(out, ", without {} undefined runs", result.undefined_runs);
    }
    out
}

fn numbers_between(value: &Json, low: &Json, high: &Json) -> String {
    if let Json::Array(values) = value {
        let all = values.iter().enumerate();
        let all = all.map(|(place, value)| numbers_between(value, &low[place], &high[place]));
        return all.collect::<Vec<_>>().join(", ");
    }
    match (low.as_f64(), high.as_f64()) {
        (Some(low), Some(high)) => {
            let [from, to] = [low, high].map(|end| show_end(end, high - low));
            format!("{} ({from} to {to})", measured(value))
        }
        _ => measured(value),
    }
}

/// Returns a line for each recorded measurement that does not settle the claim.
pub fn tried(result: &ClaimResult) -> Vec<String> {
    let line = |one: &TriedResult| {
        let set_up = one
            .set_up
            .as_ref()
            .map_or("the figure's scenario".to_owned(), |name| format!("the set-up {name}"));
        let outcome = status_words(if one.holds { Status::Holds } else { Status::DoesNotHold });
        format!("in {set_up}: {}, {outcome}", one.gives)
    };
    result.tried.iter().map(line).collect()
}

/// Returns a measured value as people read it.
pub fn measured(value: &Json) -> String {
    match value {
        Json::Array(values) => values.iter().map(measured).collect::<Vec<_>>().join(", "),
        value => value.as_f64().map_or_else(|| "undefined".to_owned(), show),
    }
}

/// The numbers of a plot as a table.
pub(crate) struct Numbers {
    /// The headings of the columns.
    pub(crate) heads: Vec<String>,
    /// One row for each place on the axis, or for each curve of a sample.
    pub(crate) rows: Vec<Vec<String>>,
    /// A text that says which rows the table leaves out; may be empty.
    pub(crate) note: String,
}

/// Maximum number of rows of a table of values. Further rows are left out.
const MOST: usize = 40;

/// Returns the numbers of a plot.
pub(crate) fn numbers(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> Numbers {
    match plot.kind {
        Kind::Cdf | Kind::Ordered => quantiles(plot, curves),
        Kind::Plane => plane(figure, plot, curves),
        Kind::Lines | Kind::Bars | Kind::Table | Kind::Series => over_axis(figure, plot, curves),
    }
}

fn over_axis(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> Numbers {
    let mut xs: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|(x, ..)| *x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let every = xs.len().div_ceil(MOST).max(1);
    let axis = figure.points.axes.first().map_or("", |axis| axis.key.as_str());
    let axis = if plot.kind == Kind::Series { "time since the SYN (s)" } else { axis };
    let heading = if plot.x_label.is_empty() { axis.to_owned() } else { plot.x_label.clone() };
    let heads = [heading].into_iter().chain(curves.iter().map(|curve| curve.label.clone())).collect();
    let row = |x: &f64| {
        let cell = |curve: &Drawn| {
            // If a series has no value at this time, its previous value still applies.
            let is_held = plot.kind == Kind::Series;
            let before = curve.points.iter().take_while(|(at, ..)| at <= x).last();
            let found = before.filter(|(at, ..)| is_held || at.total_cmp(x).is_eq());
            found.map_or(String::new(), |(_, y, half)| {
                let half = half
                    .filter(|half| *half > 0.0)
                    .map(|half| format!(" ± {}", show_half(half / plot.y_unit)));
                format!("{}{}", show(y / plot.y_unit), half.unwrap_or_default())
            })
        };
        [place_name(figure, plot, *x)].into_iter().chain(curves.iter().map(cell)).collect()
    };
    let rows = xs.iter().step_by(every).map(row).collect();
    let note = if every > 1 {
        format!("One of {every} places is shown; there are {}.", xs.len())
    } else {
        String::new()
    };
    Numbers { heads, rows, note }
}

fn plane(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> Numbers {
    let words = |label: &str, other: &str| if label.is_empty() { other.to_owned() } else { label.to_owned() };
    let first = figure.points.axes.first();
    let heads = vec!["curve".to_owned(), words(&plot.x_label, "x"), words(&plot.y_label, "y")];
    let name = |curve: &Drawn, at: usize| {
        let place = first.and_then(|axis| axis.values.get(at)).filter(|_| curve.points.len() > 1);
        place.map_or_else(|| curve.label.clone(), |place| format!("{}, {}", curve.label, place.name))
    };
    let of = |curve: &Drawn| -> Vec<Vec<String>> {
        let points = curve.points.iter().enumerate();
        points
            .map(|(at, (x, y, _))| vec![name(curve, at), show(x / plot.x_unit), show(y / plot.y_unit)])
            .collect()
    };
    Numbers { heads, rows: curves.iter().flat_map(of).collect(), note: String::new() }
}

fn quantiles(plot: &Plot, curves: &[Drawn]) -> Numbers {
    const SHARES: [usize; 5] = [5, 25, 50, 75, 95];
    let value = |(x, y, _): &(f64, f64, Option<f64>)| {
        if plot.kind == Kind::Cdf { show(x / plot.x_unit) } else { show(y / plot.y_unit) }
    };
    let row = |curve: &Drawn| {
        // The quantile: the smallest value such that this share of the sample is not above it.
        let at =
            |share: &usize| curve.points.get((curve.points.len() * share).div_ceil(100).saturating_sub(1));
        let quantiles = SHARES.iter().map(|share| at(share).map(value).unwrap_or_default());
        [curve.label.clone(), curve.points.len().to_string()].into_iter().chain(quantiles).collect()
    };
    let heads = ["curve", "values"].map(str::to_owned).into_iter();
    let heads = heads.chain(SHARES.iter().map(|share| format!("{share} %"))).collect();
    Numbers { heads, rows: curves.iter().map(row).collect(), note: String::new() }
}

/// Returns the name of a place on the first axis; `None` if the place is a number.
fn place_name(figure: &Figure, plot: &Plot, x: f64) -> String {
    if figure.points.axes.is_empty() && plot.kind != Kind::Series {
        return String::new();
    }
    let first = figure.points.axes.first().filter(|_| plot.kind != Kind::Series);
    let mut places = first.into_iter().flat_map(|axis| &axis.values);
    let named = places.find(|place| !place.is_plain && place.number.total_cmp(&x).is_eq());
    named.map_or_else(|| show(x / plot.x_unit), |place| place.name.clone())
}

fn plot_values(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> String {
    let Numbers { heads, mut rows, note } = numbers(figure, plot, curves);
    rows.insert(0, heads);
    let title = [plot.title.as_str(), plot.y_label.as_str()].into_iter().filter(|text| !text.is_empty());
    let title = title.collect::<Vec<_>>().join(": ");
    [title, table(&rows), note]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.trim_end().to_owned() + "\n")
        .collect()
}

/// Returns rows as text with aligned columns. The first column is aligned to the left.
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
            let (left, right) = if at == 0 { (cell, &pad) } else { (&pad, cell) };
            line.extend(["  ", left, right]);
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
