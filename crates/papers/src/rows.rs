//! The rows of the reproduction checklist: every figure, table and quantitative sentence of the papers, and where it is.

use serde::{Deserialize, Serialize};

/// A figure, a table or a quantitative sentence of a paper. Exactly one of `files`, `diagram` and `later` is set.
#[derive(Clone, Debug, Deserialize, Serialize)]
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

impl Row {
    /// The folder of its paper.
    pub fn paper(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Why no file of the ledger has it; `None` if one has.
    pub fn missing(&self) -> Option<String> {
        match &self.later {
            _ if self.diagram => Some("a diagram, notation or a derived sentence: nothing to run".to_owned()),
            Some(needs) => Some(format!("left for later, for it needs {needs}")),
            None => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
}

/// The name of the table, beside the papers' folders.
pub(crate) const FILE: &str = "rows.toml";

/// The rows of a table, in the order of the papers. Says what is wrong with it in one line.
pub(crate) fn parse(text: &str) -> Result<Vec<Row>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(file.row)
}
