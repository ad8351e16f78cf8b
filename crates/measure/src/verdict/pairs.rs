//! A paired comparison of two schemes of a race, run by run. All schemes run with the same seeds, and a seed may favour all
//! of them.

use std::collections::BTreeMap;

use super::judged::{EQUAL, Judged};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::row::Row;
use crate::student::mean_and_half;

/// A number for each run, by seed.
type Runs = BTreeMap<u64, Option<f64>>;

/// The number of a row that is compared.
type Number = fn(&Row) -> Option<f64>;

const SU_LOSS: Number = |row| row.su_loss;

/// The number that decides a race, and how many schemes it compares.
pub(super) struct Pairs {
    /// The number that decides. The flag tells whether a higher one is better.
    number: Number,
    more: bool,
    /// The highest throughput. Results within 1 % of it are compared by su-loss, unless they have equal su-loss in every
    /// run.
    most: Option<f64>,
    /// The number of possible comparisons, whichever result is best and whichever number decides.
    pub(super) comparisons: u64,
}

impl Pairs {
    pub(super) fn new(contest: &Contest, ranked: &[SchemeResult]) -> Self {
        let schemes = ranked.len() as u64;
        let pairs = schemes * schemes.saturating_sub(1) / 2;
        let by = |number| Self { number, more: false, most: None, comparisons: pairs };
        match contest.goal {
            Goal::Rounds => by(|row| row.elapsed_s.flatten()),
            Goal::Transfer { .. } if ranked.first().is_some_and(|best| Judged::of(best).cost.is_some()) => {
                by(|row| row.cost.flatten())
            }
            Goal::Transfer { .. } => by(|row| row.fct_s.flatten()),
            Goal::Duration => {
                let throughput = |result| Judged::of(result).throughput;
                let most = ranked.iter().map(throughput).max_by(f64::total_cmp);
                let by = by(|row| Some(row.throughput_bps));
                Self { more: true, most, comparisons: 2 * pairs, ..by }
            }
        }
    }

    /// Whether two results have equal deciding numbers in every run, all of them defined.
    pub(super) fn alike(&self, one: &SchemeResult, other: &SchemeResult) -> bool {
        let by = runs(one, self.number);
        let same = by == runs(other, self.number) && by.values().all(Option::is_some);
        same && (self.most.is_none() || runs(one, SU_LOSS) == runs(other, SU_LOSS))
    }

    /// Whether the difference between the best result and another may be chance. It may if the confidence interval of the
    /// differences contains zero, or if there is no interval. Only seeds for which both have the number count, and one run
    /// gives no doubt.
    pub(super) fn doubtful(&self, best: &SchemeResult, other: &SchemeResult) -> bool {
        if best.rows.len().max(other.rows.len()) < 2 {
            return false;
        }
        let mut worse = self.worse(best, other);
        let is_equal = |most: f64| Judged::of(other).throughput >= most * (1.0 - EQUAL);
        if self.most.is_some_and(is_equal) {
            let by_su_loss = differences(&runs(best, SU_LOSS), &runs(other, SU_LOSS));
            if by_su_loss.iter().any(|difference| *difference != 0.0) {
                worse = by_su_loss;
            }
        }
        match mean_and_half(&worse, self.comparisons) {
            Some((mean, Some(half))) => mean <= half,
            _ => true,
        }
    }

    /// The amounts by which the other result is worse than the best, run by run.
    fn worse(&self, best: &SchemeResult, other: &SchemeResult) -> Vec<f64> {
        let (best, other) = (runs(best, self.number), runs(other, self.number));
        if self.more { differences(&other, &best) } else { differences(&best, &other) }
    }
}

/// The second number less the first, for each seed that both have.
fn differences(from: &Runs, to: &Runs) -> Vec<f64> {
    from.iter().filter_map(|(seed, one)| Some(to.get(seed).copied()?? - (*one)?)).collect()
}

fn runs(result: &SchemeResult, number: Number) -> Runs {
    result.rows.iter().map(|row| (row.seed, number(row))).collect()
}
