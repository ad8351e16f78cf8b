//! Two schemes, race by race: they meet on the same paths, so that the difference in each race tells more than two
//! distributions side by side.

use std::cmp::Ordering;

use crate::quantile::binomial;

/// How a scheme did against another in the races that both were in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Races in which it cost less.
    pub faster: usize,
    /// Races in which it cost more; one that was given up costs more than one that ended.
    pub slower: usize,
    /// Races in which both cost the same to the nanosecond, or both were given up.
    pub alike: usize,
}

impl Pairing {
    /// Counts a race.
    pub fn add(&mut self, own: Option<f64>, other: Option<f64>) {
        let order = match (own, other) {
            (Some(own), Some(other)) => own.total_cmp(&other),
            // What was given up is the greatest.
            (own, other) => other.is_some().cmp(&own.is_some()),
        };
        match order {
            Ordering::Less => self.faster += 1,
            Ordering::Greater => self.slower += 1,
            Ordering::Equal => self.alike += 1,
        }
    }

    /// Whether the two are told apart: were each of them the faster one with the same probability wherever they differ,
    /// so uneven a count would come with a probability of at most 5 % in any of `comparisons` (the sign test, two-sided,
    /// with Bonferroni's correction; Conover, Practical Nonparametric Statistics, section 3.4). Races have to be
    /// independent.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn tells(&self, comparisons: usize) -> bool {
        const LEVEL: f64 = 0.05;
        let differ = self.faster + self.slower;
        let tail: f64 = (0..=self.faster.min(self.slower)).map(|count| binomial(differ, count, 0.5)).sum();
        self.faster != self.slower && 2.0 * tail * comparisons.max(1) as f64 <= LEVEL
    }
}
