//! The ledger of reproduced papers as a static page: each figure in its own layout, with its claims.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::{HtmlError, STYLE, environment};
use crate::svg::plot::{self, Plot};

const TEMPLATE: &str = include_str!("ledger.html");
const OWN_STYLE: &str = include_str!("ledger.css");

/// The contents of the page.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The program's version.
    pub version: String,
    /// The command line that reproduces the page.
    pub command: String,
    /// The papers, in the order of the page.
    pub papers: Vec<Paper>,
}

/// A paper.
#[derive(Clone, Debug, Serialize)]
pub struct Paper {
    /// The paper's name in identifiers.
    pub name: String,
    /// The paper's authors and title.
    pub title: String,
    /// The figures that reproduce the paper.
    pub figures: Vec<Figure>,
    /// Every figure, table and sentence of the paper, with the place of its reproduction on the page; may be empty.
    pub rows: Vec<Row>,
}

/// A figure, a table or a sentence of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The identifier: `PAPER/NAME`.
    pub id: String,
    /// The content of the figure, table or sentence.
    pub what: String,
    /// The figures of the page that reproduce this row.
    pub figures: Vec<String>,
    /// The reason why no figure reproduces this row; empty if one does.
    pub missing: String,
}

/// A figure of the page.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The identifier: `PAPER/FIGURE`.
    pub id: String,
    /// The title that this project gives the figure.
    pub title: String,
    /// The number and the title as printed in the paper, with the section.
    pub printed: String,
    /// The testbed of the paper, and the setup used here.
    pub setup: String,
    /// The choices that fill the gaps in the paper's description.
    pub choices: Vec<String>,
    /// The plots of the figure.
    pub plots: Vec<Panel>,
    /// The claims that the figure tests.
    pub claims: Vec<Claim>,
}

/// A plot with its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// The title of the plot; may be empty.
    pub title: String,
    /// The drawing; `None` if there are only numbers.
    #[serde(skip)]
    pub plot: Option<Plot>,
    /// The heads of the columns of numbers.
    pub heads: Vec<String>,
    /// The numbers, with a row for each place on the horizontal axis.
    pub rows: Vec<Vec<String>>,
    /// A note on the numbers that are left out; may be empty.
    pub note: String,
}

/// A claim of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// The identifier: `PAPER/FIGURE/CLAIM`.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The place of the value in the paper.
    pub source: String,
    /// Whether the claim is no sentence of the paper; it is counted apart.
    pub own: bool,
    /// `holds`, `does_not_hold`, `unsettled` or `not_testable`.
    pub status: String,
    /// The status in words.
    pub words: String,
    /// The expected value, with the reason for the tolerance; may be empty.
    pub expected: String,
    /// The measured value; may be empty.
    pub measured: String,
    /// The expression that measures the value; may be empty.
    pub expression: String,
    /// The measurements that do not settle the claim; may be empty.
    pub tried: Vec<String>,
    /// The reason why the claim does not hold, is not testable or is unsettled; may be empty.
    pub why: String,
}

/// A drawing with its legend.
#[derive(Serialize)]
struct Drawn {
    svg: String,
    legend: Vec<(String, String)>,
}

/// Returns the ledger as one self-contained HTML page.
///
/// # Errors
/// Fails only if there is a bug in the template.
pub fn render(ledger: &Ledger) -> Result<String, HtmlError> {
    let mut environment = environment();
    environment.add_template("ledger", TEMPLATE)?;
    let claims = || ledger.papers.iter().flat_map(|paper| &paper.figures).flat_map(|figure| &figure.claims);
    let of_papers = || claims().filter(|claim| !claim.own);
    let count = |status: &str| of_papers().filter(|claim| claim.status == status).count();
    let refuted: Vec<&Claim> = claims().filter(|claim| claim.status == "does_not_hold").collect();
    let html = environment.get_template("ledger")?.render(context! {
        version => ledger.version.as_str(),
        command => ledger.command.as_str(),
        papers => Value::from(Serde(&ledger.papers)),
        drawn => Value::from(Serde(drawn(ledger))),
        claims => of_papers().count(),
        holds => count("holds"),
        does_not_hold => count("does_not_hold"),
        unsettled => count("unsettled"),
        not_testable => count("not_testable"),
        own => claims().filter(|claim| claim.own).count(),
        own_hold => claims().filter(|claim| claim.own && claim.status == "holds").count(),
        refuted => Value::from(Serde(&refuted)),
        style => Value::from_safe_string(format!("{STYLE}{OWN_STYLE}")),
    })?;
    Ok(html)
}

/// Returns the drawing of each panel, by paper and by figure.
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
