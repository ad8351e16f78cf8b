//! Confidence intervals of means over runs, by Student's t.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Returns the mean of values and half the width of its 95 % confidence interval, by Student's t. `None` without values; the half width is
/// `None` with fewer than two values.
pub fn mean_and_ci95(values: &[f64]) -> Option<(f64, Option<f64>)> {
    mean_and_half(values, 1)
}

/// Returns the mean of values and half the width of its confidence interval, by Student's t with Bonferroni's correction: all of
/// `comparisons` intervals hold together with a probability of at least 95 %. `None` without values; the half width is `None` with fewer
/// than two values.
#[expect(clippy::cast_precision_loss, reason = "runs and comparisons are far below 2^53")]
pub fn mean_and_half(values: &[f64], comparisons: u64) -> Option<(f64, Option<f64>)> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    if values.iter().all(|value| value.total_cmp(&values[0]).is_eq()) {
        // All values are equal. Their sum over the count may differ from the common value by rounding.
        return Some((values[0], (values.len() > 1).then_some(0.0)));
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let error = libm::sqrt(squares / (n - 1.0) / n);
    let inside = 1.0 - 0.05 / comparisons.max(1) as f64;
    Some((mean, Some(t_within(inside, values.len() as u64 - 1) * error)))
}

/// Returns the t for which |T| < t has the probability `inside`, at least 0.95, by Student's distribution with `df` ≥ 1 degrees of freedom.
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
pub fn t_within(inside: f64, df: u64) -> f64 {
    /// With more degrees of freedom than this, the expansion about the normal distribution is good to ten digits at 95 %.
    const LARGE: u64 = 1000;
    if df > LARGE {
        return about_normal(inside, df as f64);
    }
    where_it_is(inside, &|t| two_sided(t, df))
}

/// Returns the argument at which an increasing function from 0 to 1 reaches `inside`.
fn where_it_is(inside: f64, probability: &dyn Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1.9, 13.0);
    while probability(high) < inside {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if probability(middle) < inside {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the probability that |T| < t, by finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4).
#[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
fn two_sided(t: f64, df: u64) -> f64 {
    let angle = libm::atan2(t, libm::sqrt(df as f64));
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let odd = df % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = if df == 1 { 0.0 } else { term };
    let mut k = if odd { 2 } else { 1 };
    while k + 2 < df {
        term *= cos * cos * k as f64 / (k + 1) as f64;
        sum += term;
        k += 2;
    }
    if odd { (angle + sin * sum) * 2.0 / PI } else { sin * sum }
}

/// Returns the first terms of the expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
fn about_normal(inside: f64, df: f64) -> f64 {
    let z = where_it_is(inside, &|z| libm::erf(z * FRAC_1_SQRT_2));
    let z3 = z * z * z;
    let z5 = z3 * z * z;
    let z7 = z5 * z * z;
    z + (z3 + z) / (4.0 * df)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * df * df)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * df * df * df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        // The values are from the NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, to three decimals.
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (9, 2.262),
            (10, 2.228),
            (19, 2.093),
            (29, 2.045),
            (30, 2.042),
            (60, 2.000),
            (100, 1.984),
        ];
        for (df, t) in table {
            let ours = t_within(0.95, df);
            assert!((ours - t).abs() <= 0.000_5, "{df}: {ours} is not {t}");
        }
        assert!((t_within(0.95, 1_000_000) - 1.959_966).abs() < 1e-6);
        // The NIST table has these values at 0.995 and 0.999, which are two-sided 0.99 and 0.998.
        for (inside, df, t) in [
            (0.99, 1, 63.657),
            (0.99, 2, 9.925),
            (0.99, 9, 3.250),
            (0.99, 100, 2.626),
            (0.998, 1, 318.313),
            (0.998, 9, 4.297),
            (0.998, 30, 3.385),
        ] {
            let ours = t_within(inside, df);
            assert!((ours - t).abs() <= 0.005, "{inside}, {df}: {ours} is not {t}");
        }
    }

    #[test]
    fn the_sum_and_the_expansion_meet() {
        for inside in [0.95, 0.998, 0.9999] {
            assert!((t_within(inside, 1000) - about_normal(inside, 1000.0)).abs() < 1e-8, "{inside}");
        }
    }

    #[test]
    fn intervals_that_are_to_hold_together_are_wider() {
        let half = |comparisons| mean_and_half(&[1.0, 2.0, 3.0, 4.0, 5.0], comparisons).expect("values").1;
        assert_eq!(half(1), mean_and_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("values").1);
        // Five intervals that hold together need 99 % each: 4.604095 × sqrt(0.5).
        assert!((half(5).expect("five values") - 3.255_587).abs() < 1e-5);
    }

    #[test]
    fn a_mean_has_an_interval_from_two_values_on() {
        assert_eq!(mean_and_ci95(&[]), None);
        assert_eq!(mean_and_ci95(&[3.0]), Some((3.0, None)));
        // Five values of variance 2.5 have the half width 2.776445 × sqrt(0.5).
        let (mean, half) = mean_and_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five values");
        assert!((mean - 3.0).abs() < 1e-12);
        assert!((half.expect("five values") - 1.963_243).abs() < 1e-5);
    }

    #[test]
    fn identical_runs_have_their_exact_value_and_a_zero_interval() {
        for value in [0.1, 93.008, 1.0 / 3.0, 1e300, -7e-5, 0.0] {
            for runs in 2..50 {
                assert_eq!(mean_and_ci95(&vec![value; runs]), Some((value, Some(0.0))), "{runs} × {value}");
            }
        }
    }
}
