//! Two rank tests of whether numbers changed: Wilcoxon's signed-rank test of pairs, and his rank-sum test of two samples (W. J. Conover,
//! *Practical Nonparametric Statistics*, sections 5.1 and 5.7). They assume nothing about the distribution of the numbers. Equal numbers
//! have the mean of their ranks.

use std::f64::consts::FRAC_1_SQRT_2;

/// The maximum number of values for which probabilities are exact; beyond, the normal distribution is used.
const EXACT: usize = 60;

/// Returns the two-sided probability of signed ranks as uneven as these, or more, if positive and negative steps are equally likely. Steps
/// of zero do not count. 1 if there are none.
pub(crate) fn signed_rank(steps: &[f64]) -> f64 {
    signed_rank_of(steps, EXACT)
}

fn signed_rank_of(steps: &[f64], exact: usize) -> f64 {
    let steps: Vec<f64> = steps.iter().copied().filter(|step| step.abs() > 0.0).collect();
    let ranks = doubled_ranks(&steps.iter().map(|step| step.abs()).collect::<Vec<_>>());
    let positive: u64 =
        ranks.iter().zip(&steps).filter(|(_, step)| **step > 0.0).map(|(rank, _)| *rank).sum();
    let total: u64 = ranks.iter().sum();
    let extreme = positive.min(total - positive);
    if ranks.len() > exact {
        let squares: f64 = ranks.iter().map(|rank| real(*rank) * real(*rank)).sum();
        return by_normal(real(extreme), real(total) / 2.0, libm::sqrt(squares) / 2.0);
    }
    // The number of ways to reach each sum of ranks, as a share of all choices of signs.
    let mut ways = vec![0.0; place(total) + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (0..ways.len()).rev() {
            let with = sum.checked_sub(place(rank)).map_or(0.0, |rest| ways[rest]);
            ways[sum] = f64::midpoint(ways[sum], with);
        }
    }
    (2.0 * ways.iter().take(place(extreme) + 1).sum::<f64>()).min(1.0)
}

/// Returns the two-sided probability of rank sums as uneven as these, or more, if both samples come from one distribution. 1 if a sample is
/// empty.
pub(crate) fn rank_sum(one: &[f64], other: &[f64]) -> f64 {
    rank_sum_of(one, other, EXACT)
}

fn rank_sum_of(one: &[f64], other: &[f64], exact: usize) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = one.iter().chain(other).copied().collect();
    let ranks = doubled_ranks(&all);
    let found: u64 = ranks.iter().take(one.len()).sum();
    let (n, total) = (all.len(), ranks.iter().sum::<u64>());
    #[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
    let (chosen, whole) = (one.len() as f64, n as f64);
    let mean = real(total) * chosen / whole;
    if n > exact {
        let spread: f64 =
            ranks.iter().map(|rank| real(*rank) - real(total) / whole).map(|rank| rank * rank).sum();
        let variance = chosen * (whole - chosen) / whole * spread / (whole - 1.0);
        return by_normal(mean - (real(found) - mean).abs(), mean, libm::sqrt(variance));
    }
    // The share of the choices of so many ranks that have each sum.
    let mut ways = vec![vec![0.0; place(total) + 1]; one.len() + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for count in (1..=one.len().min(seen + 1)).rev() {
            for sum in (place(*rank)..=place(total)).rev() {
                ways[count][sum] += ways[count - 1][sum - place(*rank)];
            }
        }
    }
    let far = (real(found) - mean).abs() - 1e-9;
    let of_choices = &ways[one.len()];
    let all: f64 = of_choices.iter().sum();
    let is_far = |sum: usize| (real(sum as u64) - mean).abs() >= far;
    let extreme: f64 =
        of_choices.iter().enumerate().filter(|(sum, _)| is_far(*sum)).map(|(_, ways)| ways).sum();
    extreme / all
}

/// Returns twice the rank of each value, from 1; equal values have the mean of their ranks.
fn doubled_ranks(values: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0_u64;
    for equal in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let count = equal.len() as u64;
        for at in equal {
            ranks[*at] = 2 * before + count + 1;
        }
        before += count;
    }
    ranks
}

/// Returns the two-sided probability of a value at most `extreme`, below the mean, with half a rank (1, as ranks are doubled) as the
/// continuity correction.
fn by_normal(extreme: f64, mean: f64, deviation: f64) -> f64 {
    let distance = (mean - extreme - 1.0).max(0.0);
    if deviation > 0.0 { libm::erfc(distance / deviation * FRAC_1_SQRT_2) } else { 1.0 }
}

#[expect(clippy::cast_precision_loss, reason = "sums of ranks are far below 2^53")]
fn real(rank: u64) -> f64 {
    rank as f64
}

#[expect(clippy::cast_possible_truncation, reason = "sums of at most sixty ranks")]
fn place(rank: u64) -> usize {
    rank as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    #[test]
    fn signed_ranks_of_one_sign_have_twice_the_share_of_one_choice() {
        assert!(near(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0));
        assert!(near(signed_rank(&[-1.0, -2.0, -3.0]), 2.0 / 8.0));
        assert!(near(signed_rank(&[]), 1.0) && near(signed_rank(&[0.0, 0.0]), 1.0));
        // Sums of at most 3 of the ranks 1 to 5: {}, 1, 2, 3, 1+2.
        assert!(near(signed_rank(&[-3.0, 1.0, 2.0, 4.0, 5.0]), 2.0 * 5.0 / 32.0));
    }

    #[test]
    fn rank_sums_apart_have_the_share_of_the_extreme_choices() {
        assert!(near(rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 2.0 / 20.0));
        assert!(near(rank_sum(&[4.0, 5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 0.0, -1.0]), 2.0 / 252.0));
        assert!(near(rank_sum(&[1.0, 1.0], &[1.0, 1.0]), 1.0), "equal numbers differ in nothing");
        assert!(near(rank_sum(&[], &[1.0]), 1.0));
    }

    #[test]
    fn the_normal_distribution_continues_the_exact_one() {
        let steps = |n: i32| -> Vec<f64> {
            (1..=n).map(|at| if at % 3 == 0 { -f64::from(at) } else { f64::from(at) }).collect()
        };
        let steps = steps(60);
        let (exact, normal) = (signed_rank_of(&steps, 60), signed_rank_of(&steps, 0));
        assert!((exact - normal).abs() < 0.001 && exact < 0.05, "{exact} {normal}");
        let sample: Vec<f64> = (0..30).map(f64::from).collect();
        let shifted: Vec<f64> = sample.iter().map(|value| value + 8.0).collect();
        let (exact, normal) = (rank_sum_of(&sample, &shifted, 60), rank_sum_of(&sample, &shifted, 0));
        assert!((exact - normal).abs() < 0.001 && exact < 0.05, "{exact} {normal}");
    }
}
