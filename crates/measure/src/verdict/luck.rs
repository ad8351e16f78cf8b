//! What the number of runs says: one decides nothing where the seed changes runs, and says all where it does not.

use crate::judge::Contest;
use crate::result::SchemeResult;
use crate::row::Row;

/// The sentence about the seeds of a race; empty where there is nothing to say.
pub(super) fn says(contest: &Contest, ranked: &[SchemeResult]) -> String {
    let runs = ranked.iter().map(|result| result.rows.len()).max().unwrap_or(0);
    match runs {
        1 if contest.seeded && ranked.len() > 1 => {
            " One run decides nothing where the seed changes runs: --runs 10 compares schemes seed by seed."
                .to_owned()
        }
        0 | 1 => String::new(),
        _ if !ranked.iter().all(is_one_run) => String::new(),
        _ if contest.seeded => format!(" All {runs} runs of a scheme gave the same."),
        _ => " The seed changes nothing on this path: one run says all.".to_owned(),
    }
}

/// Whether all runs of a result gave the same row.
fn is_one_run(result: &SchemeResult) -> bool {
    let without_seed = |row: &Row| Row { seed: 0, ..row.clone() };
    result.rows.windows(2).all(|pair| without_seed(&pair[0]) == without_seed(&pair[1]))
}
