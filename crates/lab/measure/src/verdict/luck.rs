//! The evidence of a number of runs. One run decides nothing if the seed changes runs, and one run suffices if it does not.

use crate::judge::Contest;
use crate::result::SchemeResult;
use crate::row::Row;

/// The first words of a verdict on a single run, if the seed changes runs.
pub(super) const ONE_RUN: &str =
    "One run decides nothing where the seed changes runs: --runs 10 compares schemes seed by seed. ";

/// Checks whether results are compared by one run although another seed would give other results.
pub(super) fn is_chance(contest: &Contest, ranked: &[SchemeResult]) -> bool {
    contest.seeded && ranked.len() > 1 && runs(ranked) == 1
}

/// Returns the sentence that all runs of a scheme are equal; empty if runs differ.
pub(super) fn says(contest: &Contest, ranked: &[SchemeResult]) -> String {
    match runs(ranked) {
        0 | 1 => String::new(),
        _ if !ranked.iter().all(is_one_run) => String::new(),
        runs if contest.seeded => format!(" All {runs} runs of a scheme gave the same."),
        _ => " The seed changes nothing on this path: one run says all.".to_owned(),
    }
}

fn runs(ranked: &[SchemeResult]) -> usize {
    ranked.iter().map(|result| result.rows.len()).max().unwrap_or(0)
}

/// Checks whether all runs of a result gave the same row.
fn is_one_run(result: &SchemeResult) -> bool {
    let without_seed = |row: &Row| Row { seed: 0, ..row.clone() };
    result.rows.windows(2).all(|pair| without_seed(&pair[0]) == without_seed(&pair[1]))
}
