//! The sentence that avoidance laws differ among the results that a verdict names.

use super::words::listed;

/// The sentence that laws differ between the best, which is the first of `named`, and the others; empty where they do not.
/// Each is named by its law and its parameters. `all` are the laws of all results, in order. `ask` says how to have one law
/// for all.
pub fn laws_differ<'a>(
    named: &[(&str, &str)],
    all: impl Iterator<Item = &'a str>,
    ask: impl Fn(&str) -> String,
) -> String {
    let Some(((best, _), others)) = named.split_first() else { return String::new() };
    let mut against: Vec<&str> = Vec::new();
    for (other, _) in others.iter().filter(|(other, _)| other != best) {
        if !against.contains(other) {
            against.push(other);
        }
    }
    if against.is_empty() {
        return String::new();
    }
    // A scheme with a law set for itself does not heed the option.
    let has_own = |params: &str| params.split(',').any(|one| one.starts_with("avoidance="));
    let advice = if named.iter().any(|(_, params)| has_own(params)) {
        String::new()
    } else {
        format!("; {} compares start-ups alone", ask(most_common(all).unwrap_or(best)))
    };
    format!(" Laws differ: {best} against {}{advice}.", listed(&against))
}

/// The option of a race that gives all schemes one law.
pub(super) fn option(law: &str) -> String {
    format!("--avoidance {law}")
}

/// The law of most results; of several the first in order.
fn most_common<'a>(laws: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let laws: Vec<&str> = laws.collect();
    let count = |one: &str| laws.iter().filter(|law| **law == one).count();
    // Of equals `max_by_key` takes the last.
    laws.iter().rev().copied().max_by_key(|one| count(one))
}
