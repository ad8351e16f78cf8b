//! Credit for the results of a race, found by comparison with byte-counting slow start.

use super::claims::{Better, Claim, credit_notes, owing};
use super::judged::{Judged, deploy};
use super::pairs::mean_of;
use super::words::{span, su_loss, whole};
use crate::evidence::SuCounts;
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;

/// The result of byte-counting slow start over the path of a race or of populations.
#[derive(Clone, Debug)]
pub struct Reference<R = SchemeResult> {
    /// The names of the results that are compared with it.
    pub of: Vec<String>,
    /// The result of byte-counting slow start, with the seeds of the race.
    pub result: R,
}

/// Returns the names of the results that must be compared with byte-counting slow start ([`owing`]). Empty with rounds, because their later
/// replies are restarts.
pub fn wants_reference(contest: &Contest, results: &[SchemeResult]) -> Vec<String> {
    if contest.goal == Goal::Rounds {
        return Vec::new();
    }
    owing(better(contest), &claims(contest, results)).into_iter().map(str::to_owned).collect()
}

fn claims<'a>(contest: &Contest, results: &'a [SchemeResult]) -> Vec<Claim<'a>> {
    let claim = |result: &'a SchemeResult| Claim {
        name: &result.name,
        counts: counts(result),
        never_left: never_left(result),
        deploy: deploy(result),
        number: mean_of(contest, result),
    };
    results.iter().map(claim).collect()
}

const fn better(contest: &Contest) -> Better {
    match contest.goal {
        Goal::Duration => Better::More,
        Goal::Transfer { .. } | Goal::Rounds => Better::Less,
    }
}

/// Returns the highest growth class of any run's start-up.
fn counts(result: &SchemeResult) -> SuCounts {
    result.rows.iter().map(|row| SuCounts::of(&row.su_counts)).max().unwrap_or_default()
}

/// Checks whether no run left start-up.
pub(super) fn never_left(result: &SchemeResult) -> bool {
    !result.rows.is_empty() && result.rows.iter().all(|row| row.exit_cause == "none")
}

/// A race's results with its references.
pub(super) struct Credit<'a> {
    pub(super) contest: &'a Contest,
    pub(super) ranked: &'a [SchemeResult],
    pub(super) references: &'a [Reference],
}

impl Credit<'_> {
    /// Checks whether a result is no better than its reference, so that it owes its advantage over others to counting bytes.
    pub(super) fn is_bytes_alone(&self, result: &SchemeResult) -> bool {
        let own = self.references.iter().find(|reference| reference.of.contains(&result.name));
        own.is_some_and(|own| !self.is_better(result, &own.result) && !self.loses_less(result, &own.result))
    }

    fn is_better(&self, one: &SchemeResult, other: &SchemeResult) -> bool {
        let number = |result| mean_of(self.contest, result);
        better(self.contest).is_better(number(one), number(other))
    }

    /// Checks whether `one` lost less in start-up than `other`, which has no better throughput. Only a race for a fixed time is decided in
    /// this way.
    fn loses_less(&self, one: &SchemeResult, other: &SchemeResult) -> bool {
        let is_alike = self.contest.goal == Goal::Duration && !self.is_better(other, one);
        let lost = |result| Judged::of(result).su_loss.unwrap_or(0.0);
        is_alike && lost(one) < lost(other)
    }

    /// Returns the notes on byte-counting slow start; none without references.
    pub(super) fn notes(&self) -> Vec<String> {
        let claims = claims(self.contest, self.ranked);
        let says = |reference: &Reference| {
            let number = self.number(&reference.result)?;
            let owes = |one: &&SchemeResult| reference.of.contains(&one.name) && self.is_bytes_alone(one);
            let owing: Vec<&str> = self.ranked.iter().filter(owes).map(|one| one.name.as_str()).collect();
            Some(credit_notes(&owing, &claims, &number, COUNT_ALIKE))
        };
        self.references.iter().filter_map(says).flatten().collect()
    }

    fn number(&self, result: &SchemeResult) -> Option<String> {
        match self.contest.goal {
            Goal::Duration => {
                let rate = |bps| crate::show::rounded_rate(whole(bps));
                let lost = su_loss(&Judged::of(result));
                mean_of(self.contest, result).map(|bps| format!("{} with {lost}", rate(bps)))
            }
            Goal::Transfer { .. } | Goal::Rounds => Judged::of(result).fct.map(span),
        }
    }
}

/// The option of a race with which all schemes count bytes.
pub(super) const COUNT_ALIKE: &str = "--slow-start-counts bytes";
