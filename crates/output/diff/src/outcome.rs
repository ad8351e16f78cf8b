//! The outcome of conditions.

use crate::condition::{Condition, Wanted};
use crate::side::Side;
use crate::table::value;

/// The outcome of a condition for one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The condition as it was written.
    pub condition: String,
    /// The scheme.
    pub scheme: String,
    /// Whether the condition holds.
    pub holds: bool,
    /// What was found, in one line: `leap: cost is 1.72, not <= 1.60`.
    pub line: String,
}

/// Checks a condition on each scheme that it is about. The number of a scheme is the mean over its rows, or the part of the distribution
/// that the condition names. A number that some rows lack does not meet any condition, because the mean of the others would hide, for
/// example, runs that did not finish. A condition on a scheme without rows does not hold either.
pub fn check(condition: &Condition, after: &Side, before: Option<&Side>) -> Vec<Outcome> {
    let is_meant = |name: &&String| condition.scheme.as_ref().is_none_or(|scheme| scheme == *name);
    let outcomes: Vec<Outcome> =
        after.names().iter().filter(is_meant).map(|name| outcome(condition, name, after, before)).collect();
    match (&condition.scheme, outcomes.is_empty()) {
        (Some(scheme), true) => vec![Outcome {
            condition: condition.text.clone(),
            scheme: scheme.clone(),
            holds: false,
            line: format!("{scheme}: there is no row of it"),
        }],
        _ => outcomes,
    }
}

fn outcome(condition: &Condition, name: &str, after: &Side, before: Option<&Side>) -> Outcome {
    let field = condition.field.as_str();
    let stem = crate::side::split(field).0;
    let (holds, line) = match found(after, name, field) {
        Err(why) => (false, why),
        Ok(found) => match wanted(condition, name, before, field) {
            Err(why) => (false, why),
            Ok(wanted) => {
                let holds = condition.comparison.holds(found, wanted, 0.0);
                let is = if holds { "" } else { "not " };
                let line = format!(
                    "{field} is {}, {is}{} {}",
                    value(stem, found),
                    condition.comparison.sign(),
                    value(stem, wanted)
                );
                (holds, line)
            }
        },
    };
    Outcome {
        condition: condition.text.clone(),
        scheme: name.to_owned(),
        holds,
        line: format!("{name}: {line}"),
    }
}

fn found(side: &Side, name: &str, field: &str) -> Result<f64, String> {
    let found = side.value(name, field);
    if found.undefined > 0 {
        return Err(format!("{field} is undefined in {} of {} runs", found.undefined, found.rows));
    }
    found.number.ok_or_else(|| format!("{field} is undefined"))
}

fn wanted(condition: &Condition, name: &str, before: Option<&Side>, field: &str) -> Result<f64, String> {
    match (condition.wanted, before) {
        (Wanted::Number(number), _) => Ok(number),
        (Wanted::Baseline { .. }, None) => Err("there is no baseline".to_owned()),
        (Wanted::Baseline { factor, plus }, Some(before)) => {
            if !before.names().iter().any(|one| one == name) {
                return Err("the baseline has no row of it".to_owned());
            }
            let found = found(before, name, field).map_err(|why| format!("in the baseline, {why}"))?;
            Ok(found * factor + plus)
        }
    }
}
