//! A paired comparison of two schemes, race by race. Both run on the same paths, so that the differences tell more than two
//! distributions side by side.

use std::cmp::Ordering;

use crate::quantile::binomial;

/// How a scheme compared with another in the races that both were in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Races in which the scheme's cost was lower.
    pub faster: usize,
    /// Races in which the scheme's cost was higher. A run that was given up costs more than one that ended.
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

    /// Whether the two schemes differ significantly by the sign test, two-sided at 5 %, with Bonferroni's correction for
    /// `comparisons` tests (Conover, Practical Nonparametric Statistics, section 3.4). The null hypothesis is that each is
    /// as likely to be the faster one where they differ. The races must be independent.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn tells(&self, comparisons: usize) -> bool {
        const LEVEL: f64 = 0.05;
        let differ = self.faster + self.slower;
        let tail: f64 = (0..=self.faster.min(self.slower)).map(|count| binomial(differ, count, 0.5)).sum();
        self.faster != self.slower && 2.0 * tail * comparisons.max(1) as f64 <= LEVEL
    }
}
