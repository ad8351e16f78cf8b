//! The rows of the reproduction checklist: every figure, table and quantitative sentence of the papers, and where it is.

use serde::Deserialize;

use crate::ledger::embedded_text;

/// A figure, a table or a quantitative sentence of a paper. Exactly one of `files`, `diagram` and `later` is set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `PAPER/NAME`, as the paper counts it.
    pub id: String,
    /// What it shows.
    pub what: String,
    /// The files of the ledger that have it, as `PAPER/FIGURE`.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether it is a diagram, notation or a sentence derived from others.
    #[serde(default)]
    pub diagram: bool,
    /// What the simulator lacks for it.
    pub later: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
}

/// The name of the table, beside the papers' folders.
pub(crate) const FILE: &str = "rows.toml";

/// Every row, in the order of the papers.
///
/// # Errors
/// A table with a fault, in one line.
pub fn rows() -> Result<Vec<Row>, String> {
    let text = embedded_text(FILE).unwrap_or_default();
    let file: File = toml::from_str(text).map_err(|error| format!("{FILE}: {}", error.message()))?;
    Ok(file.row)
}
