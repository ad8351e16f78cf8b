//! The recorded results: `golden/papers/PAPER.json`, an array of claims.

use serde::{Deserialize, Serialize};

use crate::result::ClaimResult;

/// What was measured of a paper on a machine: `golden/papers/HABITAT/PAPER.json`. It does not come out the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The habitat.
    pub habitat: String,
    /// The day on which it began, in UTC: 2026-11-26.
    pub date: String,
    /// The system's load averages over a minute, when it began and when it ended.
    pub load: [f64; 2],
    /// Processors.
    pub cores: u64,
    /// The kernel's release.
    pub kernel: String,
    /// The claims.
    pub claims: Vec<ClaimResult>,
}

impl Measured {
    /// The text of the file.
    ///
    /// # Errors
    /// What does not serialise.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// What the library has of a habitat and a paper; `None` if nothing was recorded.
    ///
    /// # Errors
    /// A text that is no such file.
    pub fn embedded(habitat: &str, paper: &str) -> Result<Option<Self>, serde_json::Error> {
        let name = format!("{habitat}/{paper}.json");
        let text = embedded::GOLDEN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        text.map(serde_json::from_str).transpose()
    }
}

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/golden.rs"));
}

/// The results of a paper as the text of its file.
///
/// # Errors
/// Results that do not serialise.
pub fn text(results: &[ClaimResult]) -> Result<String, serde_json::Error> {
    // A claim a block, a key a line: a review shows which number moved.
    Ok(serde_json::to_string_pretty(results)? + "\n")
}

/// Reads the text of a paper's file.
///
/// # Errors
/// A text that is no such array.
pub fn read(text: &str) -> Result<Vec<ClaimResult>, serde_json::Error> {
    serde_json::from_str(text)
}

/// The text of a paper's file that the library has.
pub fn embedded(paper: &str) -> Option<&'static str> {
    let name = format!("{paper}.json");
    embedded::GOLDEN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
