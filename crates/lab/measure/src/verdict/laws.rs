//! The notes that avoidance laws differ among ranked results, and on the ranking under one law.

use super::judged::Judged;
use super::ranking::rank;
use super::words::{span, whole};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::show::rounded_rate;

/// Returns the note that the avoidance law of the best result is not the law of all `ranked` results; `None` if all have one law.
///
/// `best` is the best result's law. Each of `ranked` is a result's law and its parameters. `ask` returns the option that gives all results
/// one law.
pub fn laws_differ(best: &str, ranked: &[(&str, &str)], ask: impl Fn(&str) -> String) -> Option<String> {
    let mut laws = vec![best];
    for (other, _) in ranked {
        if !laws.contains(other) {
            laws.push(other);
        }
    }
    if laws.len() == 1 {
        return None;
    }
    // The option has no effect on a scheme with its own law, nor on a controller of a QUIC stack.
    let has_own = |(law, params): &(&str, &str)| {
        *law == "own" || params.split(',').any(|one| one.starts_with("avoidance="))
    };
    let advice = if ranked.iter().any(has_own) {
        String::new()
    } else {
        format!("; {} compares start-ups alone", ask(most_common(ranked).unwrap_or(best)))
    };
    Some(format!("avoidance laws differ ({}){advice}.", laws.join(", ")))
}

/// Returns the note that ranks the results of a race under one law.
pub fn ranked_under(law: &str, contest: &Contest, mut results: Vec<SchemeResult>) -> String {
    rank(contest, &mut results);
    let says = |result: &SchemeResult| {
        let judged = Judged::of(result);
        let number = match contest.goal {
            Goal::Rounds => judged.whole("elapsed_s").map(span),
            Goal::Transfer { .. } => {
                judged.cost.map(|cost| format!("{cost:.2} x")).or_else(|| judged.fct.map(span))
            }
            Goal::Duration => Some(rounded_rate(whole(judged.throughput))),
        };
        format!("{} {}", result.name, number.as_deref().unwrap_or("unfinished"))
    };
    let said: Vec<String> = results.iter().map(says).collect();
    format!("with {law} for all: {}.", said.join(", "))
}

/// Returns the option of a race that gives all schemes one law.
pub(super) fn option(law: &str) -> String {
    format!("--avoidance {law}")
}

/// Returns the law that most results have; the first in order if several are equally common.
fn most_common<'a>(ranked: &[(&'a str, &str)]) -> Option<&'a str> {
    let count = |one: &str| ranked.iter().filter(|(law, _)| *law == one).count();
    // `max_by_key` returns the last of equal items, so the order is reversed.
    ranked.iter().rev().map(|(law, _)| *law).max_by_key(|one| count(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_is_advised_next_to_a_stacks_own_controller() {
        let note = |laws: &[(&str, &str)]| laws_differ("cubic", laws, option).expect("they differ");
        assert_eq!(note(&[("cubic", ""), ("own", "")]), "avoidance laws differ (cubic, own).");
        let advice = "avoidance laws differ (cubic, reno); --avoidance reno compares start-ups alone.";
        assert_eq!(note(&[("reno", ""), ("reno", "")]), advice);
    }
}
