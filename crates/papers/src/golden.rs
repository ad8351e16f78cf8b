//! The recorded results: `golden/papers/PAPER.json`, an array of claims.

use crate::result::ClaimResult;

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
