//! A paired comparison of two schemes, race by race. Both schemes run on the same paths in each race, so the differences within races show
//! more than the distributions of the two do.

use std::cmp::Ordering;

use crate::quantile::binomial;

/// The result of comparing a scheme with another, over the races that both were in. Each race counts with a weight; without weights it
/// counts as 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pairing {
    /// The weight of the races in which the scheme's cost was lower.
    pub faster: f64,
    /// The weight of the races in which the scheme's cost was higher. A run that was given up counts as slower than one that ended.
    pub slower: f64,
    /// The weight of the races in which both costs were equal to the nanosecond, or both runs were given up.
    pub alike: f64,
    /// The sum of the squared weights of the races in which the costs differ.
    pub squares: f64,
    /// The number of the races in which the costs differ.
    pub differ: usize,
    /// The smallest weight of these races; zero if there are none.
    pub smallest: f64,
}

impl Pairing {
    /// Counts a race with its weight.
    pub fn add(&mut self, own: Option<f64>, other: Option<f64>, weight: f64) {
        let order = match (own, other) {
            (Some(own), Some(other)) => own.total_cmp(&other),
            // A run that was given up has the highest cost.
            (own, other) => other.is_some().cmp(&own.is_some()),
        };
        match order {
            Ordering::Less => self.faster += weight,
            Ordering::Greater => self.slower += weight,
            Ordering::Equal => self.alike += weight,
        }
        if order.is_ne() {
            self.squares += weight * weight;
            self.smallest = if self.differ == 0 { weight } else { self.smallest.min(weight) };
            self.differ += 1;
        }
    }

    /// Checks whether the two schemes differ significantly by the two-sided sign test at 5 %, with Bonferroni's correction for
    /// `comparisons` tests (Conover, Practical Nonparametric Statistics, section 3.4). The null hypothesis is that in a race with different
    /// costs each scheme is equally likely to be the faster one. The races must be independent.
    ///
    /// Without weights the test is exact. With weights wᵢ the difference of the two weights has the variance Σ wᵢ² under the null
    /// hypothesis. The test then uses the normal distribution, with the smallest weight as the continuity correction, and a probability of
    /// at least 2¹⁻ⁿ for n races, which is that of n equal signs.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn is_significant(&self, comparisons: usize) -> bool {
        const LEVEL: f64 = 0.05;
        let Self { faster, slower, squares, differ, smallest, .. } = *self;
        let probability = match (count(faster), count(slower)) {
            (Some(faster), Some(slower)) if squares.total_cmp(&((faster + slower) as f64)).is_eq() => {
                2.0 * (0..=faster.min(slower)).map(|count| binomial(faster + slower, count, 0.5)).sum::<f64>()
            }
            _ => {
                let difference = ((faster - slower).abs() - smallest).max(0.0);
                let of_equal_signs = libm::exp2(1.0 - differ as f64);
                libm::erfc(difference / libm::sqrt(2.0 * squares)).max(of_equal_signs)
            }
        };
        faster.total_cmp(&slower).is_ne() && probability * comparisons.max(1) as f64 <= LEVEL
    }
}

/// Returns a sum of weights of 1 as a count; `None` if it is not a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53 and not negative"
)]
fn count(weight: f64) -> Option<usize> {
    (weight.fract().abs() <= 0.0).then_some(weight as usize)
}
