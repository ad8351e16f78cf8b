//! What is byte counting's and not a scheme's: a start-up that was never left grew as slow start does, and is compared with
//! slow start that counts the same.

use super::judged::{EQUAL, Judged, deploy};
use super::pairs::mean_of;
use super::words::{listed, span, su_loss, whole};
use crate::evidence::SuCounts;
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::row::ALONE;

/// Slow start that counts bytes, over the path of a race.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The names of the results that it is compared with.
    pub of: Vec<String>,
    /// Its runs, with the seeds of the race.
    pub result: SchemeResult,
}

/// The names of the results that must be compared with slow start that counts bytes, for they widened the window by more than
/// a segment an ACK and are better than another result that did not: those that never left start-up, and of those that did
/// the best that one can deploy alone, if it counts bytes. Empty with rounds, whose later replies are restarts.
pub fn wants_reference(contest: &Contest, results: &[SchemeResult]) -> Vec<String> {
    if contest.goal == Goal::Rounds {
        return Vec::new();
    }
    let by_acks: Vec<&SchemeResult> = results.iter().filter(|one| counts(one) == SuCounts::Acks).collect();
    let is_best_alone = |result: &SchemeResult| {
        let rivals = || results.iter().filter(|other| deploy(other) == ALONE);
        deploy(result) == ALONE && !rivals().any(|other| is_better_by(contest, other, result, 0.0))
    };
    let wants = |result: &&SchemeResult| {
        let may_owe = match counts(result) {
            SuCounts::Either | SuCounts::Acks => false,
            SuCounts::Bytes => never_left(result) || is_best_alone(result),
            SuCounts::Beyond => never_left(result),
        };
        may_owe && by_acks.iter().any(|other| is_better_by(contest, result, other, 0.0))
    };
    results.iter().filter(wants).map(|result| result.name.clone()).collect()
}

/// The most that any run's start-up counted.
pub(super) fn counts(result: &SchemeResult) -> SuCounts {
    result.rows.iter().map(|row| SuCounts::of(&row.su_counts)).max().unwrap_or_default()
}

/// Whether no run left start-up.
pub(super) fn never_left(result: &SchemeResult) -> bool {
    !result.rows.is_empty() && result.rows.iter().all(|row| row.exit_cause == "none")
}

/// Whether a result is better than another by more than a hundredth, or did what the other did not in every run.
fn is_better(contest: &Contest, one: &SchemeResult, other: &SchemeResult) -> bool {
    is_better_by(contest, one, other, EQUAL)
}

/// Whether two results are of one throughput within a hundredth, and the first lost less in start-up: so a race for a time ranks
/// them.
fn loses_less(contest: &Contest, one: &SchemeResult, other: &SchemeResult) -> bool {
    let is_alike = contest.goal == Goal::Duration && !is_better(contest, other, one);
    let lost = |result| Judged::of(result).su_loss.unwrap_or(0.0);
    is_alike && lost(one) < lost(other)
}

/// Whether a result is better than another by more than this share.
fn is_better_by(contest: &Contest, one: &SchemeResult, other: &SchemeResult, share: f64) -> bool {
    match (mean_of(contest, one), mean_of(contest, other)) {
        (Some(one), Some(other)) if contest.goal == Goal::Duration => one > other * (1.0 + share),
        (Some(one), Some(other)) => one < other * (1.0 - share),
        (one, other) => one.is_some() && other.is_none(),
    }
}

/// The references of a race.
pub(super) struct Credit<'a> {
    pub(super) contest: &'a Contest,
    pub(super) ranked: &'a [SchemeResult],
    pub(super) references: &'a [Reference],
}

impl Credit<'_> {
    /// Whether a result owes what it has over others to counting bytes.
    pub(super) fn is_bytes_alone(&self, result: &SchemeResult) -> bool {
        let own = self.references.iter().find(|reference| reference.of.contains(&result.name));
        own.is_some_and(|own| {
            !is_better(self.contest, result, &own.result) && !loses_less(self.contest, result, &own.result)
        })
    }

    /// The sentences that say so; empty without references.
    pub(super) fn says(&self) -> String {
        self.references.iter().map(|reference| self.says_of(reference)).collect()
    }

    fn says_of(&self, reference: &Reference) -> String {
        let Some(number) = self.number(&reference.result) else { return String::new() };
        let names = |is: &dyn Fn(&SchemeResult) -> bool| {
            self.ranked.iter().filter(|one| is(one)).map(|one| one.name.as_str()).collect::<Vec<_>>()
        };
        let owes = |one: &SchemeResult| reference.of.contains(&one.name) && self.is_bytes_alone(one);
        let owing = names(&owes);
        let by_acks = match names(&|one| counts(one) == SuCounts::Acks).as_slice() {
            [one] => format!("{one} counts ACKs"),
            few if few.len() <= 3 => format!("{} count ACKs", listed(few)),
            many => format!("{} schemes here count ACKs", many.len()),
        };
        let rest = format!("; {by_acks}, and --slow-start-counts bytes has all count alike.");
        if owing.is_empty() {
            return format!(" Slow start that counts bytes has {number}{rest}");
        }
        let have_left = self.ranked.iter().any(|one| owes(one) && !never_left(one));
        let never = if have_left { "" } else { " never left start-up, and" };
        let are = if owing.len() > 1 { "are" } else { "is" };
        format!(
            " {}{never} {are} no better than slow start that counts bytes, {number}{rest}",
            listed(&owing)
        )
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
