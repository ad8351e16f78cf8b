//! The change of a number between two results: how far it moved, with a confidence interval.

use crate::ranks::{rank_sum, signed_rank};
use crate::student::{mean_and_half, t_within};

/// The scale on which a change is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The geometric mean of after / before, minus 1. It needs positive numbers.
    Ratio,
    /// The mean of after − before, in the unit of the number.
    Difference,
}

/// The change of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The number of pairs; without pairs, the smaller number of values on one side.
    pub pairs: usize,
    /// The number of pairs in which the number became larger.
    pub up: usize,
    /// The number of pairs in which the number became smaller.
    pub down: usize,
    /// The mean before.
    pub before: f64,
    /// The mean after.
    pub after: f64,
    /// The scale of `size` and of the interval.
    pub scale: Scale,
    /// The change: a share (0.03 is 3 % more) or a difference.
    pub size: f64,
    /// The 95 % confidence interval of the change; `None` with fewer than two values.
    pub interval: Option<(f64, f64)>,
    /// Whether the interval excludes no change and a rank test agrees, at 5 % for all comparisons together. Means alone have no ranks.
    pub is_significant: bool,
    /// Whether all pairs are equal; without pairs, whether both sides have the same values, or the same mean and interval.
    pub is_equal: bool,
}

/// A mean of several values, of which only these numbers are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval by Student's t; `None` with one value.
    pub half: Option<f64>,
    /// The number of values.
    pub count: u64,
}

impl Change {
    /// Measures the change over pairs of (before, after), such as two runs with the same path and seed. The interval is Student's of the
    /// paired differences, or of the logarithms of the ratios, with Bonferroni's correction: the intervals of all `comparisons` hold
    /// together with a probability of at least 95 %. A ratio that is not defined for all pairs becomes a difference. `None` without pairs.
    pub fn paired(pairs: &[(f64, f64)], scale: Scale, comparisons: u64) -> Option<Self> {
        let before = mean(pairs.iter().map(|(before, _)| *before))?;
        let after = mean(pairs.iter().map(|(_, after)| *after))?;
        let scale = defined(scale, pairs.iter().flat_map(|(before, after)| [*before, *after]));
        let steps: Vec<f64> = pairs
            .iter()
            .map(|(before, after)| match scale {
                Scale::Ratio => libm::log(after / before),
                Scale::Difference => after - before,
            })
            .collect();
        let (step, half) = mean_and_half(&steps, comparisons)?;
        let interval = half.map(|half| (of_step(scale, step - half), of_step(scale, step + half)));
        let count = |is: fn(f64, f64) -> bool| pairs.iter().filter(|(a, b)| is(*a, *b)).count();
        Some(Self {
            pairs: pairs.len(),
            up: count(|before, after| after > before),
            down: count(|before, after| after < before),
            before,
            after,
            scale,
            size: of_step(scale, step),
            interval,
            is_significant: excludes_zero(interval) && is_rare(signed_rank(&steps), comparisons),
            is_equal: pairs.iter().all(|(before, after)| before.total_cmp(after).is_eq()),
        })
    }

    /// Measures the change between values that have no partners, such as runs with other seeds. The interval is Welch's (B. L. Welch, *The
    /// generalization of Student's problem when several different population variances are involved*, Biometrika 34, 1947), with the
    /// correction of [`Change::paired`]. `None` if a side has no values.
    pub fn unpaired(before: &[f64], after: &[f64], scale: Scale, comparisons: u64) -> Option<Self> {
        let scale = defined(scale, before.iter().chain(after).copied());
        let on_scale = |values: &[f64]| -> Vec<f64> {
            let of = |value: &f64| if scale == Scale::Ratio { libm::log(*value) } else { *value };
            values.iter().map(of).collect()
        };
        let sides = [on_scale(before), on_scale(after)];
        let moments = [Moments::of(&sides[0])?, Moments::of(&sides[1])?];
        let (step, half) = welch(moments, comparisons);
        let interval = half.map(|half| (of_step(scale, step - half), of_step(scale, step + half)));
        Some(Self {
            pairs: before.len().min(after.len()),
            up: 0,
            down: 0,
            before: mean(before.iter().copied())?,
            after: mean(after.iter().copied())?,
            scale,
            size: of_step(scale, step),
            interval,
            is_significant: excludes_zero(interval) && is_rare(rank_sum(before, after), comparisons),
            is_equal: sorted(before) == sorted(after),
        })
    }

    /// Measures the difference between two means by Welch's interval, as [`Change::unpaired`] does. Means alone do not give the mean of
    /// the logarithms, so the change is always a difference.
    pub fn of_means(before: Mean, after: Mean, comparisons: u64) -> Self {
        let (step, half) = welch([before.moments(), after.moments()], comparisons);
        let interval = half.map(|half| (step - half, step + half));
        Self {
            pairs: usize::try_from(before.count.min(after.count)).unwrap_or(usize::MAX),
            up: 0,
            down: 0,
            before: before.mean,
            after: after.mean,
            scale: Scale::Difference,
            size: step,
            interval,
            is_significant: excludes_zero(interval),
            is_equal: before == after,
        }
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn excludes_zero(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// Checks whether a probability is at most 5 %, with Bonferroni's correction.
#[expect(clippy::cast_precision_loss, reason = "comparisons are far below 2^53")]
fn is_rare(probability: f64, comparisons: u64) -> bool {
    probability * comparisons.max(1) as f64 <= 0.05
}

/// The mean of a sample, the variance of that mean, and the sample's degrees of freedom.
#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    /// The square of the standard error; `None` with one value.
    error: Option<f64>,
    freedom: f64,
}

impl Moments {
    #[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
    fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = mean(values.iter().copied())?;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let error = (values.len() > 1).then(|| squares / (n - 1.0) / n);
        Some(Self { mean, error, freedom: n - 1.0 })
    }
}

impl Mean {
    #[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
    fn moments(self) -> Moments {
        let freedom = self.count.saturating_sub(1);
        let error = self.half.filter(|_| freedom > 0).map(|half| {
            let error = half / t_within(0.95, freedom);
            error * error
        });
        Moments { mean: self.mean, error, freedom: freedom as f64 }
    }
}

/// Returns the difference of two means, and half the width of its interval.
fn welch([before, after]: [Moments; 2], comparisons: u64) -> (f64, Option<f64>) {
    let step = after.mean - before.mean;
    let (Some(one), Some(other)) = (before.error, after.error) else { return (step, None) };
    let sum = one + other;
    if sum <= 0.0 {
        return (step, Some(0.0));
    }
    let freedom = sum * sum / (one * one / before.freedom + other * other / after.freedom);
    #[expect(clippy::cast_precision_loss, reason = "comparisons are far below 2^53")]
    let inside = 1.0 - 0.05 / comparisons.max(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least the smaller number of degrees of freedom; rounding down widens the interval"
    )]
    let freedom = (freedom as u64).max(1);
    (step, Some(t_within(inside, freedom) * libm::sqrt(sum)))
}

/// Returns the scale, or a difference if a value has no logarithm.
fn defined(scale: Scale, mut values: impl Iterator<Item = f64>) -> Scale {
    if scale == Scale::Ratio && values.all(|value| value > 0.0) { Scale::Ratio } else { Scale::Difference }
}

fn of_step(scale: Scale, step: f64) -> f64 {
    match scale {
        Scale::Ratio => libm::expm1(step),
        Scale::Difference => step,
    }
}

/// Returns the mean; `None` without values. The mean of equal values is their value, without rounding.
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let first = values.clone().next()?;
    if values.clone().all(|value| value.total_cmp(&first).is_eq()) {
        return Some(first);
    }
    Some(values.clone().sum::<f64>() / values.count() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    #[test]
    fn a_ratio_is_the_geometric_mean_of_ratios() {
        let change = Change::paired(&[(1.0, 2.0), (4.0, 2.0), (3.0, 3.0)], Scale::Ratio, 1).unwrap();
        assert!(near(change.size, 0.0) && !change.is_significant, "{change:?}");
        assert_eq!((change.up, change.down, change.pairs), (1, 1, 3));
        assert!(!change.is_equal);
        let pairs: Vec<(f64, f64)> = (1..=6).map(f64::from).map(|before| (before, before * 1.03)).collect();
        let change = Change::paired(&pairs, Scale::Ratio, 1).unwrap();
        assert!(near(change.size, 0.03) && change.is_significant, "{change:?}");
    }

    #[test]
    fn a_ratio_with_a_zero_becomes_a_difference() {
        let change = Change::paired(&[(0.0, 2.0), (4.0, 5.0)], Scale::Ratio, 1).unwrap();
        assert_eq!((change.scale, change.size), (Scale::Difference, 1.5));
    }

    #[test]
    fn one_pair_has_a_change_without_an_interval() {
        let change = Change::paired(&[(2.0, 3.0)], Scale::Difference, 1).unwrap();
        assert_eq!((change.size, change.interval, change.is_significant), (1.0, None, false));
        assert_eq!(Change::paired(&[], Scale::Ratio, 1), None);
    }

    #[test]
    fn equal_pairs_are_no_change() {
        let change = Change::paired(&[(0.1, 0.1), (0.7, 0.7), (0.2, 0.2)], Scale::Ratio, 1).unwrap();
        assert!(change.is_equal && !change.is_significant);
        assert_eq!(change.interval, Some((0.0, 0.0)));
    }

    #[test]
    fn an_unpaired_interval_is_welchs() {
        let before = [1.0, 2.0, 3.0, 4.0];
        let after = [2.0, 4.0, 6.0];
        let change = Change::unpaired(&before, &after, Scale::Difference, 1).unwrap();
        // The variances of the means are 5/12 and 4/3. Degrees of freedom: 1.75² / ((5/12)² / 3 + (4/3)² / 2) = 3.2, rounded down.
        let half = 3.182_446_3 * libm::sqrt(1.75);
        let (low, high) = change.interval.unwrap();
        assert!((low - (1.5 - half)).abs() < 1e-5 && (high - (1.5 + half)).abs() < 1e-5, "{change:?}");
    }

    #[test]
    fn two_means_give_the_interval_of_their_values() {
        let before = [1.0, 2.0, 3.0, 4.0];
        let after = [2.0, 4.0, 6.0];
        let of = |values: &[f64]| {
            let (mean, half) = crate::student::mean_and_ci95(values).unwrap();
            Mean { mean, half, count: values.len() as u64 }
        };
        let by_values = Change::unpaired(&before, &after, Scale::Difference, 7).unwrap();
        let by_means = Change::of_means(of(&before), of(&after), 7);
        let ((a, b), (c, d)) = (by_values.interval.unwrap(), by_means.interval.unwrap());
        assert!((a - c).abs() < 1e-6 && (b - d).abs() < 1e-6, "{by_values:?} {by_means:?}");
    }

    #[test]
    fn a_few_clustered_values_are_not_significant_by_welch_alone() {
        let before = [0.157, 0.157, 0.157, 0.158, 0.158];
        let after = [0.161, 0.162, 0.162, 0.162, 0.162];
        let change = Change::unpaired(&before, &after, Scale::Difference, 21).unwrap();
        assert!(excludes_zero(change.interval) && !change.is_significant, "{change:?}");
    }

    #[test]
    fn more_comparisons_make_an_interval_wider() {
        let pairs = [(1.0, 1.2), (2.0, 2.1), (3.0, 3.3), (4.0, 4.1)];
        let width = |comparisons| {
            let (low, high) =
                Change::paired(&pairs, Scale::Difference, comparisons).unwrap().interval.unwrap();
            high - low
        };
        assert!(width(10) > width(1));
    }
}
