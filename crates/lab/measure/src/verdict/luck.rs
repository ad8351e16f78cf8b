//! The evidence of a number of runs. One run decides nothing if the seed changes runs, and one run suffices if it does not.

use crate::judge::Contest;
use crate::result::SchemeResult;
use crate::row::Row;

/// The first note on a single run, if results depend on the seed.
pub(super) const ONE_RUN: &str =
    "one run decides nothing, because results depend on the seed; --runs 10 compares schemes seed by seed.";

/// Checks whether results are compared by one run although another seed would give other results.
pub(super) fn is_chance(contest: &Contest, ranked: &[SchemeResult]) -> bool {
    contest.seeded && ranked.len() > 1 && runs(ranked) == 1
}

/// Returns the note that all runs of a scheme are equal; `None` if runs differ.
pub(super) fn note(contest: &Contest, ranked: &[SchemeResult]) -> Option<String> {
    match runs(ranked) {
        0 | 1 => None,
        _ if !ranked.iter().all(is_one_run) => None,
        runs if contest.seeded => Some(format!("all {runs} runs of each scheme gave the same result.")),
        _ => Some("the seed changes nothing on this path; one run is enough.".to_owned()),
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
