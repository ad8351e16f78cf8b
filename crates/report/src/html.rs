//! The report: one HTML file that opens anywhere, offline, without any request.
//!
//! Tables and words are in the page itself. One script of ours draws the plots, with the plotting library inlined. The
//! page's content policy forbids every request.

mod captured;
mod drawing;
pub mod ledger;
mod page;
pub mod scored;

mod vlq;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

pub use drawing::{Drawn, FlowOf};

use crate::report::Report;

const TEMPLATE: &str = include_str!("html/report.html");
const STYLE: &str = include_str!("html/report.css");

/// The script that all pages share, then the report's own script. Its files share a function, and each may use the
/// definitions of those before it.
const SCRIPT: &str = concat!(
    include_str!("html/page.js"),
    "(() => {\n",
    include_str!("html/report/constants.js"),
    include_str!("html/report/data.js"),
    include_str!("html/report/series.js"),
    include_str!("html/report/layout.js"),
    include_str!("html/report/words.js"),
    include_str!("html/report/view.js"),
    include_str!("html/report/overview.js"),
    include_str!("html/report/panel.js"),
    include_str!("html/report.js"),
    "})();\n",
);

/// The report could not be built: a defect of this crate, not of its input.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The template failed.
    #[error("cannot build the report: {0}")]
    Template(#[from] minijinja::Error),
    /// The drawn data did not serialise.
    #[error("cannot build the report's data: {0}")]
    Data(#[from] serde_json::Error),
}

/// The report as one self-contained HTML page.
///
/// # Errors
/// A defect of the template or of the drawn data.
pub fn render(report: &Report) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("joined", |text: &str| crate::prose::joined(text));
    environment.add_template("report", TEMPLATE)?;
    let html = environment.get_template("report")?.render(context! {
        report => Value::from(Serde(page::Words::new(report))),
        summary => Value::from(Serde(report.summary.as_ref().map(captured::summary))),
        verdict_table => Value::from(Serde(page::verdict_table(report))),
        every_number => Value::from(Serde(page::every_number(report))),
        definitions => Value::from(Serde(page::definitions(report))),
        panels => Value::from(Serde(page::panels(report))),
        style => Value::from_safe_string(STYLE.to_owned()),
        library => Value::from_safe_string(library()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        data => Value::from_safe_string(inert(&drawing::Drawing::json(report)?)),
    })?;
    Ok(html)
}

/// JSON in a form that cannot end the HTML element around it.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// The plotting library's script, without its mathematics renderer.
fn library() -> String {
    let sources = plotly::Plot::offline_js_sources();
    let script = sources.split_once('>').map_or("", |(_, rest)| rest);
    script.split_once("</script>").map_or("", |(script, _)| script).to_owned()
}
