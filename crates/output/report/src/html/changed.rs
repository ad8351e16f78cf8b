//! The comparison of two results as a page.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::{HtmlError, STYLE, environment};

const TEMPLATE: &str = include_str!("changed.html");

/// The contents of the page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title: the names of both results.
    pub title: String,
    /// What the comparison says, in sentences.
    pub sentences: Vec<String>,
    /// The table.
    pub table: Cells,
    /// The meaning of each field, each as (field, meaning).
    pub definitions: Vec<(&'static str, &'static str)>,
    /// The command line that writes the page.
    pub command: String,
}

/// A table of text.
#[derive(Clone, Debug, Serialize)]
pub struct Cells {
    /// The head of each column, and whether the column has numbers.
    pub heads: Vec<(String, bool)>,
    /// The rows. Each has a word for its standing, which chooses its colour.
    pub rows: Vec<(String, Vec<String>)>,
}

/// Returns the comparison as one self-contained HTML page without a script.
///
/// # Errors
/// Fails only if there is a bug in the template.
pub fn render(page: &Page) -> Result<String, HtmlError> {
    let mut environment = environment();
    environment.add_template("changed", TEMPLATE)?;
    let html = environment.get_template("changed")?.render(context! {
        title => page.title.as_str(),
        sentences => Value::from(Serde(&page.sentences)),
        heads => Value::from(Serde(&page.table.heads)),
        rows => Value::from(Serde(&page.table.rows)),
        definitions => Value::from(Serde(&page.definitions)),
        command => page.command.as_str(),
        style => Value::from_safe_string(STYLE.to_owned()),
    })?;
    Ok(html)
}
