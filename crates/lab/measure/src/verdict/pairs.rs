//! A paired comparison of two schemes of a race, run by run. All schemes run with the same seeds, because a seed may favour all of them.

use std::collections::BTreeMap;

use super::judged::{EQUAL, Judged};
use super::lag::{Lag, Measure};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::row::Row;

/// A number for each run, by seed.
type Runs = BTreeMap<u64, Option<f64>>;

/// The number that decides a race, and the number of comparisons that the race makes.
pub(super) struct Pairs {
    /// The number that decides the race.
    by: Measure,
    /// Whether a time is the elapsed time of the replies of rounds.
    rounds: bool,
    /// The highest throughput. Results within 1 % of it are compared by su-loss, unless their su-loss is equal in every run.
    most: Option<f64>,
    /// The number of comparisons: the best with each other result, for each number that may decide. Choosing the best adds no comparison
    /// (J. C. Hsu, *Simultaneous confidence intervals for all distances from the "best"*, Annals of Statistics 9, 1981): if the intervals
    /// of all results against the truly best one hold, a result that is behind another by more than an interval is not the best.
    pub(super) comparisons: u64,
}

impl Pairs {
    pub(super) fn new(contest: &Contest, ranked: &[SchemeResult]) -> Self {
        let others = (ranked.len() as u64).saturating_sub(1);
        let rounds = contest.goal == Goal::Rounds;
        let by = |by| Self { by, rounds, most: None, comparisons: others };
        match contest.goal {
            Goal::Transfer { .. } if ranked.iter().any(|one| Judged::of(one).cost.is_some()) => {
                by(Measure::Cost)
            }
            Goal::Transfer { .. } | Goal::Rounds => by(Measure::Time),
            Goal::Duration => {
                let throughput = |result| Judged::of(result).throughput;
                let most = ranked.iter().map(throughput).max_by(f64::total_cmp);
                Self { most, comparisons: 2 * others, ..by(Measure::Throughput) }
            }
        }
    }

    /// Checks whether two results have equal deciding numbers in every run. False if a run lacks its number.
    pub(super) fn alike(&self, one: &SchemeResult, other: &SchemeResult) -> bool {
        let by = self.runs(self.by, one);
        let same = by == self.runs(self.by, other) && by.values().all(Option::is_some);
        same && (self.most.is_none() || self.runs(Measure::SuLoss, one) == self.runs(Measure::SuLoss, other))
    }

    /// Returns the lag of another result behind the best, if it may be chance: if the confidence interval of the differences contains zero,
    /// or if there is no interval. `None` otherwise, or with one run. Only seeds for which both results have the number count.
    pub(super) fn doubt(&self, best: &SchemeResult, other: &SchemeResult) -> Option<Lag> {
        if best.rows.len().max(other.rows.len()) < 2 {
            return None;
        }
        let of = |by| common(&self.runs(by, best), &self.runs(by, other));
        let is_equal = |most: f64| Judged::of(other).throughput >= most * (1.0 - EQUAL);
        let by_su_loss = if self.most.is_some_and(is_equal) { of(Measure::SuLoss) } else { Vec::new() };
        let (by, pairs) = if by_su_loss.iter().any(|(best, other)| best.total_cmp(other).is_ne()) {
            (Measure::SuLoss, by_su_loss)
        } else {
            (self.by, of(self.by))
        };
        Lag::may_be_chance(by, &pairs, self.comparisons)
    }

    fn runs(&self, by: Measure, result: &SchemeResult) -> Runs {
        let number = |row: &Row| match by {
            Measure::Cost => row.cost.flatten(),
            Measure::Time if self.rounds => row.elapsed_s.flatten(),
            Measure::Time => row.fct_s.flatten(),
            Measure::Throughput => Some(row.throughput_bps),
            Measure::SuLoss => row.su_loss,
        };
        result.rows.iter().map(|row| (row.seed, number(row))).collect()
    }
}

/// Returns the mean of the deciding number; `None` if a run lacks it. This number is the elapsed time with rounds, the cost or, without an
/// ideal, the completion time of a transfer, and the throughput otherwise.
pub(super) fn mean_of(contest: &Contest, result: &SchemeResult) -> Option<f64> {
    let judged = Judged::of(result);
    match contest.goal {
        Goal::Rounds => judged.whole("elapsed_s"),
        Goal::Transfer { .. } => judged.cost.or(judged.fct),
        Goal::Duration => Some(judged.throughput),
    }
}

/// Returns the numbers of both results, for each seed for which both have one.
fn common(one: &Runs, other: &Runs) -> Vec<(f64, f64)> {
    one.iter().filter_map(|(seed, one)| Some(((*one)?, other.get(seed).copied()??))).collect()
}
