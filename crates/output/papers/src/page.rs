//! Shows the ledger's results as a page.

use firstflight_measure::VERSION;
use firstflight_report::html::HtmlError;
use firstflight_report::html::ledger::{self, Panel};
use firstflight_report::svg::plot::{self, Form};

use crate::claim::Claim;
use crate::curves::Drawn;
use crate::figure::{Figure, Plot};
use crate::ledger::paper_title;
use crate::result::{ClaimResult, FigureResult};
use crate::rows::Row;
use crate::show;
use crate::words::{Kind, Setup, Source, Status};

/// Returns the results as one self-contained HTML page. A paper's `rows` are listed if the page has all of the paper's figures. `command`
/// is the command that makes the page.
///
/// # Errors
/// Fails only if the template has a defect, which is a bug.
pub fn page(
    figures: &[&Figure],
    results: &[FigureResult],
    rows: &[Row],
    command: &str,
) -> Result<String, HtmlError> {
    let mut papers: Vec<ledger::Paper> = Vec::new();
    for (figure, result) in figures.iter().zip(results) {
        if papers.last().is_none_or(|paper| paper.name != figure.paper) {
            let (name, title) = (figure.paper.clone(), paper_title(&figure.paper).to_owned());
            papers.push(ledger::Paper {
                rows: rows_of(&name, rows, figures),
                name,
                title,
                figures: Vec::new(),
            });
        }
        if let Some(paper) = papers.last_mut() {
            paper.figures.push(part(figure, result));
        }
    }
    ledger::render(&ledger::Ledger { version: VERSION.to_owned(), command: command.to_owned(), papers })
}

/// Returns the rows of a paper. Empty unless the page has every figure that they name.
fn rows_of(paper: &str, rows: &[Row], figures: &[&Figure]) -> Vec<ledger::Row> {
    let rows = || rows.iter().filter(|row| row.paper() == paper);
    let is_there = |file: &String| figures.iter().any(|figure| figure.name() == *file);
    if !rows().flat_map(|row| &row.files).all(is_there) {
        return Vec::new();
    }
    let row = |row: &Row| ledger::Row {
        id: row.id.clone(),
        what: row.what.clone(),
        figures: row.files.clone(),
        missing: row.missing().unwrap_or_default(),
    };
    rows().map(row).collect()
}

fn part(figure: &Figure, result: &FigureResult) -> ledger::Figure {
    let plots = figure.plots.iter().zip(&result.plots);
    let claims = result.claims.iter().filter_map(|result| {
        let claim = figure.claims.iter().find(|claim| result.id.ends_with(&format!("/{}", claim.id)))?;
        Some(self::claim(claim, result))
    });
    ledger::Figure {
        id: figure.name(),
        title: figure.title.clone(),
        printed: format!("{}, section {}", figure.figure, figure.section),
        setup: setup_words(figure.setup).to_owned(),
        choices: figure.choices.iter().cloned().chain(figure.set_ups.iter().map(show::set_up)).collect(),
        plots: plots.map(|(plot, curves)| panel(figure, plot, curves)).collect(),
        claims: claims.collect(),
    }
}

fn setup_words(setup: Setup) -> &'static str {
    match setup {
        Setup::Ns2 => "in ns-2; here in our simulator",
        Setup::Model => "by closed forms; here by ours, and in our simulator",
        Setup::Testbed => "in a laboratory; here a simulation of the described path",
        Setup::Internet => "on the Internet; here a simulation of the described path",
    }
}

fn claim(claim: &Claim, result: &ClaimResult) -> ledger::Claim {
    let source = match claim.source {
        Source::Printed => "a printed number",
        Source::Text => "a sentence",
        Source::Image => "in the image only: the ordering is held",
        Source::Own => "no sentence of the paper: an own claim",
    };
    let reason = if claim.tolerance.is_empty() { String::new() } else { format!(" ({})", claim.tolerance) };
    let status = match result.status {
        Status::Holds => "holds",
        Status::DoesNotHold => "does_not_hold",
        Status::NotTestable => "not_testable",
        Status::Unsettled => "unsettled",
    };
    let is_measured = !result.measured.is_null() || result.status != Status::NotTestable;
    ledger::Claim {
        id: result.id.clone(),
        says: claim.says.clone(),
        source: source.to_owned(),
        own: result.own,
        status: status.to_owned(),
        words: show::outcome(result),
        expected: if result.expected.is_empty() {
            String::new()
        } else {
            format!("{}{reason}", result.expected)
        },
        measured: if is_measured { show::with_interval(result) } else { String::new() },
        expression: claim.measurement.as_ref().map(|one| one.measured.clone()).unwrap_or_default(),
        tried: show::tried(result),
        why: result.why.clone(),
    }
}

fn panel(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> Panel {
    let show::Numbers { heads, rows, note } = show::numbers(figure, plot, curves);
    let drawn = drawing(figure, plot, curves);
    // A drawing needs no title, because its axis has a label.
    let title = if drawn.is_none() && plot.title.is_empty() { &plot.y_label } else { &plot.title };
    Panel { title: title.clone(), plot: drawn, heads, rows, note }
}

/// Returns the drawing of a plot; `None` for a table.
pub(crate) fn drawing(figure: &Figure, plot: &Plot, curves: &[Drawn]) -> Option<plot::Plot> {
    let form = match plot.kind {
        Kind::Lines => Form::Lines,
        Kind::Cdf => Form::Steps,
        Kind::Ordered | Kind::Plane => Form::Points,
        Kind::Series => Form::Trace,
        Kind::Bars => Form::Bars,
        Kind::Table => return None,
    };
    let [x_unit, y_unit] = [plot.x_unit, plot.y_unit];
    let curve = |curve: &Drawn| plot::Curve {
        name: curve.label.clone(),
        points: curve
            .points
            .iter()
            .map(|(x, y, half)| (x / x_unit, y / y_unit, half.map(|half| half / y_unit)))
            .collect(),
    };
    let over_axis = matches!(plot.kind, Kind::Lines | Kind::Bars);
    let places = figure.points.axes.first().filter(|_| over_axis).into_iter().flat_map(|axis| &axis.values);
    let is_named =
        figure.points.axes.first().is_some_and(|axis| axis.values.iter().any(|place| !place.is_plain));
    let places = places.filter(|_| is_named).map(|place| (place.number / x_unit, place.name.clone()));
    // If the figure has no axis, there is one group of bars without a name.
    let only = (over_axis && figure.points.axes.is_empty()).then(|| (0.0, String::new()));
    Some(plot::Plot {
        form,
        curves: curves.iter().map(curve).collect(),
        labels: labels(plot),
        logarithmic: [plot.log_x, plot.log_y],
        ranges: [plot.x_range, plot.y_range],
        places: places.chain(only).collect(),
    })
}

/// Returns the labels of a plot's axes: those of its file, or else those of its kind.
pub(crate) fn labels(plot: &Plot) -> [String; 2] {
    let [x, y] = match plot.kind {
        Kind::Cdf => ["", "share"],
        Kind::Series => ["time since the SYN (s)", ""],
        _ => ["", ""],
    };
    [(&plot.x_label, x), (&plot.y_label, y)]
        .map(|(label, other)| if label.is_empty() { other.to_owned() } else { label.clone() })
}
