//! The ledger of papers as a page: each figure in its own layout beside its claims. The page is static.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

use super::{HtmlError, STYLE};
use crate::svg::plot::{self, Plot};

const TEMPLATE: &str = include_str!("ledger.html");
const OWN_STYLE: &str = include_str!("ledger.css");

/// The contents of the page.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The program's version.
    pub version: String,
    /// The command line that makes the page again.
    pub command: String,
    /// The papers, in their order.
    pub papers: Vec<Paper>,
}

/// A paper.
#[derive(Clone, Debug, Serialize)]
pub struct Paper {
    /// Its name in identifiers.
    pub name: String,
    /// Its authors and title.
    pub title: String,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Everything that it has, and where it is; may be empty.
    pub rows: Vec<Row>,
}

/// A figure, a table or a sentence as the paper has it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `PAPER/NAME`.
    pub id: String,
    /// What it shows.
    pub what: String,
    /// The figures of the page that have it.
    pub figures: Vec<String>,
    /// Why none has it; else empty.
    pub missing: String,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// `PAPER/FIGURE`.
    pub id: String,
    /// Our title.
    pub title: String,
    /// As printed, with the section.
    pub printed: String,
    /// What the paper measured on, and what this is.
    pub setup: String,
    /// What fills the gaps that the paper leaves.
    pub choices: Vec<String>,
    /// The plots.
    pub plots: Vec<Panel>,
    /// The claims.
    pub claims: Vec<Claim>,
}

/// A plot with its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// Its title; may be empty.
    pub title: String,
    /// The drawing; `None` if there are only numbers.
    #[serde(skip)]
    pub plot: Option<Plot>,
    /// The heads of the numbers' columns.
    pub heads: Vec<String>,
    /// The numbers, a row a place.
    pub rows: Vec<Vec<String>>,
    /// What the numbers leave out; may be empty.
    pub note: String,
}

/// A claim.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// `PAPER/FIGURE/CLAIM`.
    pub id: String,
    /// In words.
    pub says: String,
    /// Where its value stands.
    pub source: String,
    /// `holds`, `does_not_hold` or `not_testable`.
    pub status: String,
    /// The same in words.
    pub words: String,
    /// What is expected, with the reason of the tolerance; may be empty.
    pub expected: String,
    /// What was measured; may be empty.
    pub measured: String,
    /// How it is measured: an expression; may be empty.
    pub expression: String,
    /// Why it does not hold, or is not testable; may be empty.
    pub why: String,
}

/// A drawing with its legend.
#[derive(Serialize)]
struct Drawn {
    svg: String,
    legend: Vec<(String, String)>,
}

/// The ledger as one self-contained HTML page.
///
/// # Errors
/// A defect of the template.
pub fn render(ledger: &Ledger) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("ledger", TEMPLATE)?;
    let claims = || ledger.papers.iter().flat_map(|paper| &paper.figures).flat_map(|figure| &figure.claims);
    let count = |status: &str| claims().filter(|claim| claim.status == status).count();
    let refuted: Vec<&Claim> = claims().filter(|claim| claim.status == "does_not_hold").collect();
    let html = environment.get_template("ledger")?.render(context! {
        version => ledger.version.as_str(),
        command => ledger.command.as_str(),
        papers => Value::from(Serde(&ledger.papers)),
        drawn => Value::from(Serde(drawn(ledger))),
        claims => claims().count(),
        holds => count("holds"),
        does_not_hold => count("does_not_hold"),
        not_testable => count("not_testable"),
        refuted => Value::from(Serde(&refuted)),
        style => Value::from_safe_string(format!("{STYLE}{OWN_STYLE}")),
    })?;
    Ok(html)
}

/// Of each paper, figure and panel, the drawing.
fn drawn(ledger: &Ledger) -> Vec<Vec<Vec<Option<Drawn>>>> {
    let panel = |panel: &Panel| {
        let plot = panel.plot.as_ref()?;
        let legend = plot.curves.iter().enumerate();
        let legend = legend.map(|(place, curve)| (plot::sample(plot, place), curve.name.clone()));
        Some(Drawn { svg: plot::render(plot), legend: legend.collect() })
    };
    let figure = |figure: &Figure| figure.plots.iter().map(panel).collect();
    ledger.papers.iter().map(|paper| paper.figures.iter().map(figure).collect()).collect()
}
