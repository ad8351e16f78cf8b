//! The recorded results: `golden/papers/PAPER.json`, an array of claims.

use serde::{Deserialize, Serialize};

use crate::mutants::MutantResult;
use crate::result::ClaimResult;

/// Measurements for a paper in another environment on one machine: `golden/papers/HABITAT/PAPER.json`. Repeated measurements are not equal
/// to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The environment.
    pub habitat: String,
    /// The day on which the measurements began, in UTC, such as 2026-11-26.
    pub date: String,
    /// The system's one-minute load averages at the beginning and at the end of the measurements.
    pub load: [f64; 2],
    /// The number of processors.
    pub cores: u64,
    /// The kernel's release.
    pub kernel: String,
    /// The claims.
    pub claims: Vec<ClaimResult>,
}

impl Measured {
    /// Returns the text of the file.
    ///
    /// # Errors
    /// Measurements that do not serialize.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the embedded measurements of a paper in an environment; `None` if nothing was recorded.
    ///
    /// # Errors
    /// A text that is not a file of measurements.
    pub fn embedded(habitat: &str, paper: &str) -> Result<Option<Self>, serde_json::Error> {
        let name = format!("{habitat}/{paper}.json");
        let text = embedded::GOLDEN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        text.map(serde_json::from_str).transpose()
    }
}

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/golden.rs"));
}

/// Returns the results of a paper as the text of its file.
///
/// # Errors
/// Results that do not serialize.
pub fn text(results: &[ClaimResult]) -> Result<String, serde_json::Error> {
    // The text has each key on a separate line, so that a review shows which number changed.
    Ok(serde_json::to_string_pretty(results)? + "\n")
}

/// Reads the text of a paper's file.
///
/// # Errors
/// A text that is not an array of claims.
pub fn read(text: &str) -> Result<Vec<ClaimResult>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns the embedded results of the mutants, `golden/papers/mutants.json`; empty if nothing was recorded.
///
/// # Errors
/// A text that is not an array of mutants.
pub fn mutants() -> Result<Vec<MutantResult>, serde_json::Error> {
    embedded("mutants").map_or(Ok(Vec::new()), serde_json::from_str)
}

/// Returns the embedded text of a paper's file.
pub fn embedded(paper: &str) -> Option<&'static str> {
    let name = format!("{paper}.json");
    embedded::GOLDEN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
