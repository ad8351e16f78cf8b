//! `firstflight paper check --mutants`: finds the claims that fail if another scheme is in the place of the paper's.

use std::fmt::Write as _;
use std::path::Path;

use firstflight_export::write_whole;
use firstflight_papers::{Figure, Ledger, MutantResult, mutants};

use super::asked::{AskedFor, HowToRun, lines, made};
use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::check_file;

/// The file of the results in the folder of `--record`.
const FILE: &str = "mutants.json";

/// Checks the requested figures with each of their mutants. Writes the results into the folder, if one is given.
///
/// # Errors
/// Fails if no claim fails with a mutant that is not marked as indistinct, or if one fails with a mutant that is. Also fails if runs cannot
/// be made, after an interrupt, or if the results cannot be written.
pub(super) fn check(
    ledger: &Ledger,
    asked: &AskedFor<'_>,
    how: &HowToRun,
    record: Option<&Path>,
    arguments: &[String],
) -> Result<(), Failure> {
    let figures: Vec<&Figure> = asked.figures().collect();
    if let Some(folder) = record {
        if figures.len() < ledger.figures.len() {
            let message =
                format!("--record: {FILE} has the mutants of all figures; no ID and no --fast are allowed");
            let place = Place::value(arguments, "--record", &folder.to_string_lossy());
            return Err(Failure::usage(message).at(place));
        }
        check_file("--record", &folder.join(FILE), &[], arguments)?;
    }
    let results = made(how, arguments, |settings| mutants(&figures, settings))?;
    if how.json {
        output::print(&lines(&results)?)?;
    } else {
        output::print_words(&shown(&results))?;
    }
    if let Some(folder) = record {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(&results).map_err(Failure::write)? + "\n";
        write_whole(&path, text.as_bytes()).map_err(Failure::write)?;
        output::say_written(&path);
    }
    let wrong: Vec<String> = results
        .iter()
        .filter(|result| !result.is_as_recorded())
        .map(|MutantResult { figure, mutant, fail, .. }| match fail.as_slice() {
            [] => format!("{figure}: {mutant} fails no claim, and is not `indistinct`"),
            _ => format!("{figure}: {mutant} is `indistinct`, and fails a claim"),
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::check(wrong.join("; "))) }
}

/// Returns a line for each mutant.
fn shown(results: &[MutantResult]) -> String {
    let mut out = String::new();
    let list = |ids: &[String]| if ids.is_empty() { String::new() } else { format!(" ({})", ids.join(", ")) };
    for MutantResult { figure, mutant, says, fail, pass, undefined, indistinct, .. } in results {
        let (failing, passing) = (fail.len(), pass.len());
        let _ = write!(
            out,
            "{figure}: {mutant} ({says}): {failing} fail{}, {passing} pass{}",
            list(fail),
            list(pass)
        );
        if !undefined.is_empty() {
            let _ = write!(out, ", {} undefined{}", undefined.len(), list(undefined));
        }
        let _ = writeln!(
            out,
            "{}",
            indistinct.as_ref().map(|why| format!("; indistinct: {why}")).unwrap_or_default()
        );
    }
    let _ = writeln!(out, "{} mutants", results.len());
    out
}
