//! Student's t: confidence intervals of means over runs.

use std::f64::consts::PI;

/// The mean, and half the width of its 95 % confidence interval by Student's t; the latter `None` below two
/// values.
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
pub fn mean_and_ci95(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return Some((mean, None));
    }
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let error = libm::sqrt(squares / (n - 1.0) / n);
    Some((mean, Some(t_975(values.len() as u64 - 1) * error)))
}

/// The 0.975 quantile of Student's t with `df` ≥ 1 degrees of freedom.
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
pub fn t_975(df: u64) -> f64 {
    /// Beyond this the expansion about the normal is good to ten digits.
    const LARGE: u64 = 1000;
    if df > LARGE {
        return about_normal(df as f64);
    }
    // The two-sided probability rises with t, from 0 to 1.
    let (mut low, mut high) = (1.9, 13.0);
    for _ in 0..60 {
        let t = f64::midpoint(low, high);
        if two_sided(t, df) < 0.95 {
            low = t;
        } else {
            high = t;
        }
    }
    f64::midpoint(low, high)
}

/// The probability that |T| < t: finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4).
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

/// The first terms about the normal quantile (Abramowitz and Stegun 26.7.5).
fn about_normal(df: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let z3 = Z * Z * Z;
    let z5 = z3 * Z * Z;
    let z7 = z5 * Z * Z;
    Z + (z3 + Z) / (4.0 * df)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * df * df)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * df * df * df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, to three decimals.
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
            assert!((t_975(df) - t).abs() <= 0.000_5, "{df}: {} is not {t}", t_975(df));
        }
        assert!((t_975(1_000_000) - 1.959_966).abs() < 1e-6);
    }

    #[test]
    fn the_sum_and_the_expansion_meet() {
        assert!((t_975(1000) - about_normal(1000.0)).abs() < 1e-9);
    }

    #[test]
    fn a_mean_has_an_interval_from_two_values_on() {
        assert_eq!(mean_and_ci95(&[]), None);
        assert_eq!(mean_and_ci95(&[3.0]), Some((3.0, None)));
        // Variance 2.5, five values: 2.776445 × sqrt(0.5).
        let (mean, half) = mean_and_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five values");
        assert!((mean - 3.0).abs() < 1e-12);
        assert!((half.expect("five values") - 1.963_243).abs() < 1e-5);
    }
}
