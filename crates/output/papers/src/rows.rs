//! The rows of the reproduction checklist. Each is a figure, a table or a quantitative sentence of the papers, with the file that
//! reproduces it.

use serde::{Deserialize, Serialize};

use crate::texts::first_unprintable;

/// A figure, a table or a quantitative sentence of a paper. Exactly one of `files`, `diagram` and `later` is set.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The identifier `PAPER/NAME`. The name is the paper's number of the figure, table or sentence.
    pub id: String,
    /// The subject of the figure, table or sentence.
    pub what: String,
    /// The files of the ledger that reproduce the row, as `PAPER/FIGURE`.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether the row is a diagram, notation or a sentence derived from others, so that there is nothing to reproduce.
    #[serde(default)]
    pub diagram: bool,
    /// The features that the simulator needs for the row but does not have.
    pub later: Option<String>,
}

impl Row {
    /// Returns the folder of the row's paper.
    pub fn paper(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Explains why no file of the ledger reproduces the row; `None` if a file does.
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

/// The file name of the table, next to the papers' folders.
pub(crate) const FILE: &str = "rows.toml";

/// Reads the rows of a table, in the order of the papers. The error is one line.
pub(crate) fn parse(text: &str) -> Result<Vec<Row>, String> {
    if let Some((_, shown)) = first_unprintable(text) {
        return Err(format!("`{shown}` is not allowed; a text of one line is"));
    }
    let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(file.row)
}
