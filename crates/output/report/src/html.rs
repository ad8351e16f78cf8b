//! The report: one HTML file that opens anywhere, offline, without any request.
//!
//! Tables and text are in the page itself. One script of this project draws the plots, and includes the plotting library. The page's
//! content policy forbids every request.

mod captured;
pub mod changed;
mod drawing;
pub(crate) mod drawn;
pub mod ledger;
mod merged;
mod opening;
mod page;
pub mod scored;
mod styles;
mod vlq;

use firstflight_trace::in_lines;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context, escape_formatter};

pub use drawn::{Drawn, FlowOf, RunWindow};

use crate::report::Report;

const TEMPLATE: &str = include_str!("html/report.html");
const STYLE: &str = include_str!("html/report.css");

/// The plotting library: plotly.js with only the traces that the page draws. `html/plotly/README.md` has its version and its source.
const LIBRARY: &str = include_str!("html/plotly/plotly-basic.min.js");

/// The script that all pages share, followed by the report's own script. Its files are in one function scope: each may use the definitions
/// of the files before it.
const SCRIPT: &str = concat!(
    include_str!("html/page.js"),
    "(() => {\n",
    include_str!("html/report/constants.js"),
    include_str!("html/report/data.js"),
    include_str!("html/report/series.js"),
    include_str!("html/report/layout.js"),
    include_str!("html/report/words.js"),
    include_str!("html/report/opening.js"),
    include_str!("html/report/view.js"),
    include_str!("html/report/overview.js"),
    include_str!("html/report/panel.js"),
    include_str!("html/report.js"),
    "})();\n",
);

/// The report could not be built, because of a bug in this crate, not because of its input.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The template could not be rendered.
    #[error("cannot build the report: {0}")]
    Template(#[from] minijinja::Error),
    /// The drawn data could not be serialised.
    #[error("cannot build the report's data: {0}")]
    Data(#[from] serde_json::Error),
}

/// Returns the report as one self-contained HTML page.
///
/// # Errors
/// Fails only if there is a bug in the template or in the drawn data.
pub fn render(report: &Report) -> Result<String, HtmlError> {
    let merged = merged::Merged::new(report);
    let mut environment = environment();
    environment.add_template("report", TEMPLATE)?;
    let html = environment.get_template("report")?.render(context! {
        report => Value::from(Serde(page::Words::new(report))),
        summary => Value::from(Serde(report.summary.as_ref().map(captured::summary))),
        opening => Value::from(Serde(opening::Opening::new(report, &merged))),
        verdict_table => Value::from(Serde(page::verdict_table(report, &merged))),
        every_number => Value::from(Serde(page::every_number(report))),
        definitions => Value::from(Serde(page::definitions(report))),
        panels => Value::from(Serde(page::panels(report, &merged))),
        style => Value::from_safe_string(STYLE.to_owned()),
        library => Value::from_safe_string(LIBRARY.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        data => Value::from_safe_string(inert(drawing::Drawing::json(report, &merged)?)),
    })?;
    Ok(html)
}

/// Returns the template environment of all pages. Text that is put into a page is escaped, and its unprintable characters are written as
/// visible escapes.
fn environment<'a>() -> Environment<'a> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(in_lines(text))),
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("joined", |text: &str| crate::prose::joined(text));
    environment
}

/// Returns JSON in a form that cannot end the HTML element around it.
fn inert(json: String) -> String {
    firstflight_export::json::printable(json).replace('<', "\\u003c")
}
