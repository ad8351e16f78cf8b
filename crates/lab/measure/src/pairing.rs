//! A paired comparison of two schemes, race by race. Both schemes run on the same paths in each race, so the differences within races show
//! more than the distributions of the two do.

use std::cmp::Ordering;

use crate::quantile::binomial;

/// The result of comparing a scheme with another, over the races that both were in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Races in which the scheme's cost was lower.
    pub faster: usize,
    /// Races in which the scheme's cost was higher. A run that was given up counts as slower than one that ended.
    pub slower: usize,
    /// Races in which both costs were equal to the nanosecond, or both runs were given up.
    pub alike: usize,
}

impl Pairing {
    /// Counts a race.
    pub fn add(&mut self, own: Option<f64>, other: Option<f64>) {
        let order = match (own, other) {
            (Some(own), Some(other)) => own.total_cmp(&other),
            // A run that was given up has the highest cost.
            (own, other) => other.is_some().cmp(&own.is_some()),
        };
        match order {
            Ordering::Less => self.faster += 1,
            Ordering::Greater => self.slower += 1,
            Ordering::Equal => self.alike += 1,
        }
    }

    /// Checks whether the two schemes differ significantly by the two-sided sign test at 5 %, with Bonferroni's correction for
    /// `comparisons` tests (Conover, Practical Nonparametric Statistics, section 3.4). The null hypothesis is that in a race with different
    /// costs each scheme is equally likely to be the faster one. The races must be independent.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn is_significant(&self, comparisons: usize) -> bool {
        const LEVEL: f64 = 0.05;
        let differ = self.faster + self.slower;
        let tail: f64 = (0..=self.faster.min(self.slower)).map(|count| binomial(differ, count, 0.5)).sum();
        self.faster != self.slower && 2.0 * tail * comparisons.max(1) as f64 <= LEVEL
    }
}
