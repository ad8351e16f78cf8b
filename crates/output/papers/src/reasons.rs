//! Measures the reasons of claims again: the entries of `tried`, and the evidence that is an expression.

use serde::Serialize;

use crate::claim::{Claim, Evidence, Measurement};
use crate::figure::Figure;
use crate::measure::Lab;
use crate::printed::Printed;
use crate::quantity::show;
use crate::result::CheckError;
use crate::runs::Settings;
use crate::show::status_words;
use crate::words::Status;

/// A recorded reason, and what it gives now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonResult {
    /// The claim, as `PAPER/FIGURE/CLAIM`.
    pub claim: String,
    /// The key of the file that has the reason: `tried` or `evidence`.
    pub of: &'static str,
    /// The set-up; absent for the figure's scenario and for commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_up: Option<String>,
    /// The expression or the command.
    pub reason: String,
    /// The recorded value, or the recorded texts of the command's output.
    pub recorded: String,
    /// The value now, or those of the texts that the output has.
    pub found: String,
    /// Whether the reason gives what is recorded.
    pub same: bool,
}

/// Measures the reasons of claims again.
///
/// # Errors
/// Runs that could not be made, an interrupt, or an expression that has no value.
pub fn reasons(
    asked: &[(&Figure, Vec<&Claim>)],
    settings: &Settings<'_>,
) -> Result<Vec<ReasonResult>, CheckError> {
    let wanted = asked.iter().map(|(figure, claims)| {
        let reasons = claims.iter().flat_map(|claim| of(claim));
        (*figure, reasons.map(|reason| reason.measurement.in_set_up()).collect())
    });
    let lab = Lab::run(&wanted.collect::<Vec<_>>(), settings)?;
    let mut results = Vec::new();
    for (figure, claims) in asked {
        for (claim, reason) in claims.iter().flat_map(|claim| of(claim).map(move |reason| (claim, reason))) {
            results.push(result(figure, claim, &reason, &lab)?);
        }
    }
    Ok(results)
}

/// A measured reason of a claim.
struct Reason<'a> {
    of: &'static str,
    measurement: &'a Measurement,
    gives: &'a Printed,
    /// Whether the recorded value meets the expectation; `None` if that is not recorded.
    holds: Option<bool>,
}

/// Returns the measured reasons of a claim.
fn of(claim: &Claim) -> impl Iterator<Item = Reason<'_>> {
    let tried = claim.tried.iter().map(|tried| Reason {
        of: "tried",
        measurement: &tried.measurement,
        gives: &tried.gives,
        holds: Some(tried.holds),
    });
    let evidence = claim.evidence.iter().filter_map(|evidence| match evidence {
        Evidence::Measured { measurement, gives } => {
            Some(Reason { of: "evidence", measurement, gives, holds: None })
        }
        Evidence::Printed { .. } => None,
    });
    tried.chain(evidence)
}

fn result(
    figure: &Figure,
    claim: &Claim,
    reason: &Reason<'_>,
    lab: &Lab<'_>,
) -> Result<ReasonResult, CheckError> {
    let id = format!("{}/{}", figure.name(), claim.id);
    let values = lab.values(figure, reason.measurement, None);
    let values = values.map_err(|message| CheckError::Expression { name: id.clone(), message })?.numbers;
    let holds = reason.holds.map(|_| claim.expected.is_some_and(|expected| expected.holds(&values)));
    let with = |text: String, holds: Option<bool>| match holds {
        None => text,
        Some(true) => format!("{text}, {}", status_words(Status::Holds)),
        Some(false) => format!("{text}, {}", status_words(Status::DoesNotHold)),
    };
    let shown = |value: &f64| if value.is_finite() { show(*value) } else { "undefined".to_owned() };
    Ok(ReasonResult {
        claim: id,
        of: reason.of,
        set_up: reason.measurement.set_up.clone(),
        reason: reason.measurement.measured.clone(),
        recorded: with(reason.gives.text(), reason.holds),
        found: with(values.iter().map(shown).collect::<Vec<_>>().join(", "), holds),
        same: reason.gives.is(&values) && holds == reason.holds,
    })
}
