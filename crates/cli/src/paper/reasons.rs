//! `firstflight paper check --reasons`: measures the reasons of claims again, and repeats the commands that give their numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use firstflight_emulate::own_program;
use firstflight_papers::{Claim, Evidence, Figure, ReasonResult, Status, prints, reasons};

use super::asked::{AskedFor, HowToRun, interrupted, lines, made};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;

/// Compares every reason of the requested claims with its record.
///
/// # Errors
/// Fails if a reason gives something else, if runs cannot be made, or after an interrupt.
pub(super) fn check(asked: &AskedFor<'_>, how: &HowToRun, arguments: &[String]) -> Result<(), Failure> {
    let claims: Vec<(&Figure, Vec<&Claim>)> = asked.claims().collect();
    let mut results = made(how, arguments, |settings| reasons(&claims, settings))?;
    results.extend(commands(&claims)?);
    if how.json {
        output::print(&lines(&results)?)?;
    } else {
        output::print_words(&shown(&claims, &results))?;
    }
    let differ = results.iter().filter(|result| !result.same).count();
    if differ == 0 {
        return Ok(());
    }
    Err(Failure::check(format!("{differ} of {} reasons give something else than is recorded", results.len())))
}

/// Returns a line for each reason that differs, and then the counts.
fn shown(claims: &[(&Figure, Vec<&Claim>)], results: &[ReasonResult]) -> String {
    let mut out = String::new();
    for ReasonResult { claim, of, set_up, reason, recorded, found, .. } in
        results.iter().filter(|result| !result.same)
    {
        let set_up = set_up.as_ref().map(|name| format!(" in the set-up {name}")).unwrap_or_default();
        let _ = writeln!(out, "{claim}: {of}: {reason}{set_up}: recorded {recorded}; measured {found}");
    }
    let claims = || claims.iter().flat_map(|(_, claims)| claims);
    let has_none = |claim: &&&Claim| claim.evidence.is_empty() && claim.tried.is_empty();
    let with = claims().filter(|claim| !has_none(claim)).count();
    let without = claims().filter(|claim| claim.status == Status::DoesNotHold).filter(has_none).count();
    let _ = writeln!(
        out,
        "{} reasons of {with} claims; {without} claims that do not hold are without evidence",
        results.len()
    );
    out
}

/// Runs the commands of evidence, each once.
fn commands(claims: &[(&Figure, Vec<&Claim>)]) -> Result<Vec<ReasonResult>, Failure> {
    let interrupt = Interrupt::listen();
    let mut outputs: BTreeMap<&str, String> = BTreeMap::new();
    let mut results = Vec::new();
    for (figure, claims) in claims {
        for (claim, evidence) in
            claims.iter().flat_map(|claim| claim.evidence.iter().map(move |one| (claim, one)))
        {
            let Evidence::Printed { command, prints: texts } = evidence else { continue };
            if !outputs.contains_key(command.as_str()) {
                outputs.insert(command, answer(command)?);
            }
            if interrupt.happened() {
                return Err(interrupted());
            }
            let found: Vec<&str> = texts
                .iter()
                .map(String::as_str)
                .filter(|text| prints(&outputs[command.as_str()], text))
                .collect();
            results.push(ReasonResult {
                claim: format!("{}/{}", figure.name(), claim.id),
                of: "evidence",
                set_up: None,
                reason: command.clone(),
                recorded: texts.join(", "),
                found: if found.is_empty() { "none of it".to_owned() } else { found.join(", ") },
                same: found.len() == texts.len(),
            });
        }
    }
    Ok(results)
}

/// Runs a command of this program. Returns its output; empty if it fails.
fn answer(command: &str) -> Result<String, Failure> {
    let words = own_program::words().map_err(Failure::usage)?;
    let (program, before) = words.split_first().ok_or_else(|| Failure::usage("this program has no name"))?;
    let output = Command::new(program)
        .args(before)
        .args(command.split_whitespace().skip(1))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::usage(format!("{command}: {error}")))?;
    Ok(if output.status.success() {
        String::from_utf8_lossy(&output.stdout).into_owned()
    } else {
        String::new()
    })
}
