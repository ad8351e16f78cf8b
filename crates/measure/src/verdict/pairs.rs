//! A paired comparison of two schemes of a race, run by run. All schemes run with the same seeds, and a seed may favour all
//! of them.

use std::collections::BTreeMap;

use super::judged::{EQUAL, Judged};
use super::lag::{Lag, Measure};
use crate::judge::{Contest, Goal};
use crate::result::SchemeResult;
use crate::row::Row;

/// A number for each run, by seed.
type Runs = BTreeMap<u64, Option<f64>>;

/// The number that decides a race, and how many schemes it compares.
pub(super) struct Pairs {
    /// The number that decides.
    by: Measure,
    /// Whether a time is that of the replies of rounds.
    rounds: bool,
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
        let rounds = contest.goal == Goal::Rounds;
        let by = |by| Self { by, rounds, most: None, comparisons: pairs };
        match contest.goal {
            Goal::Transfer { .. } if ranked.iter().any(|one| Judged::of(one).cost.is_some()) => {
                by(Measure::Cost)
            }
            Goal::Transfer { .. } | Goal::Rounds => by(Measure::Time),
            Goal::Duration => {
                let throughput = |result| Judged::of(result).throughput;
                let most = ranked.iter().map(throughput).max_by(f64::total_cmp);
                Self { most, comparisons: 2 * pairs, ..by(Measure::Throughput) }
            }
        }
    }

    /// Whether two results have equal deciding numbers in every run, all of them defined.
    pub(super) fn alike(&self, one: &SchemeResult, other: &SchemeResult) -> bool {
        let by = self.runs(self.by, one);
        let same = by == self.runs(self.by, other) && by.values().all(Option::is_some);
        same && (self.most.is_none() || self.runs(Measure::SuLoss, one) == self.runs(Measure::SuLoss, other))
    }

    /// The lag of another result behind the best, if it may be chance: if the confidence interval of the differences contains
    /// zero, or if there is no interval. Only seeds for which both have the number count, and one run gives no doubt.
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

/// The mean of the number that decides, if every run has it: cost or, without an ideal, completion time; elapsed time;
/// throughput.
pub(super) fn mean_of(contest: &Contest, result: &SchemeResult) -> Option<f64> {
    let judged = Judged::of(result);
    match contest.goal {
        Goal::Rounds => judged.whole("elapsed_s"),
        Goal::Transfer { .. } => judged.cost.or(judged.fct),
        Goal::Duration => Some(judged.throughput),
    }
}

/// Both numbers for each seed that both have.
fn common(one: &Runs, other: &Runs) -> Vec<(f64, f64)> {
    one.iter().filter_map(|(seed, one)| Some(((*one)?, other.get(seed).copied()??))).collect()
}
