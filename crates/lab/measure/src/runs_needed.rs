//! The number of runs needed to distinguish a difference from zero. The answer is a range, because a few runs estimate neither the mean nor
//! the spread of the difference well.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::student::t_within;

/// The largest power of two that is tried as a number of runs.
pub const MAX_RUNS: u64 = 1 << 17;

/// The probability that the true number of runs is below the range of [`RunsNeeded`], and also the probability that it is above.
pub const OUTSIDE: f64 = 0.05;

/// The number of runs needed to distinguish a mean difference from zero. This is the smallest number for which the interval of
/// [`crate::student::mean_and_half`] excludes zero, if the runs had exactly the true mean and standard deviation.
///
/// For normal differences the true number is from `least` to `most` in nine of ten samples. The ends follow from 95 % bounds on either side
/// of the ratio of mean to standard deviation, by the noncentral t distribution (Hedges and Olkin, Statistical Methods for Meta-Analysis,
/// section 5.C). The range also holds if one looks only at samples whose interval contains zero. The exception is samples with as many runs
/// as the true number, whose interval contains zero only by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsNeeded {
    /// The lower end of the range.
    pub least: u64,
    /// The number of runs if the true ratio of mean to standard deviation is that of these runs; `None` if it exceeds [`MAX_RUNS`].
    pub if_alike: Option<u64>,
    /// The upper end of the range; `None` if the difference may be zero, or if the number exceeds [`MAX_RUNS`].
    pub most: Option<u64>,
}

/// Returns the range for these differences between runs. The intervals of all `comparisons` must hold together. `None` with fewer than two
/// values, for a mean of zero, or if even the lower end exceeds [`MAX_RUNS`].
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
pub fn runs_needed(values: &[f64], comparisons: u64) -> Option<RunsNeeded> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean == 0.0 {
        return None;
    }
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    let ratio = libm::fabs(mean) / libm::sqrt(variance);
    if !ratio.is_finite() {
        return Some(RunsNeeded { least: 2, if_alike: Some(2), most: Some(2) });
    }
    let root = libm::sqrt(n);
    let bound = |inside| noncentrality(inside, ratio * root, values.len() as u64 - 1) / root;
    let needed = |ratio| runs_for(ratio, comparisons);
    Some(RunsNeeded {
        least: needed(bound(OUTSIDE))?,
        if_alike: needed(ratio),
        most: needed(bound(1.0 - OUTSIDE)),
    })
}

/// Returns the smallest number of runs for which half the width of the interval is less than the mean. `ratio` is the mean over the
/// standard deviation. `None` if the number exceeds [`MAX_RUNS`].
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
fn runs_for(ratio: f64, comparisons: u64) -> Option<u64> {
    let inside = 1.0 - 0.05 / comparisons.max(1) as f64;
    let is_significant = |count: u64| t_within(inside, count - 1) < ratio * libm::sqrt(count as f64);
    let mut high = 2;
    while !is_significant(high) {
        high *= 2;
        if high > MAX_RUNS {
            return None;
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if is_significant(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Returns the noncentrality, zero or more, for which a noncentral t is at most `t` with this probability.
fn noncentrality(probability: f64, t: f64, df: u64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0 * t + 10.0);
    while noncentral_t(t, df, high) > probability {
        high *= 2.0;
    }
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if noncentral_t(t, df, middle) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the probability that (Z + `shift`) / S is at most `t`, where Z is standard normal and `df` S² is chi-square with `df` degrees of
/// freedom: the integral over S by midpoints.
#[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53")]
fn noncentral_t(t: f64, df: u64, shift: f64) -> f64 {
    const CELLS: u32 = 200;
    /// The number of standard deviations over which the integral runs. The standard deviation of S is about 1 / sqrt(2 df).
    const DEVIATIONS: f64 = 9.0;
    let df = df as f64;
    let far = DEVIATIONS / libm::sqrt(2.0 * df);
    let (from, to) = (f64::max(1.0 - far, 0.0), 1.0 + far);
    let (mut whole, mut below) = (0.0, 0.0);
    for cell in 0..CELLS {
        let s = from + (to - from) * (f64::from(cell) + 0.5) / f64::from(CELLS);
        let weight = libm::exp((df - 1.0) * libm::log(s) + 0.5 * df * (1.0 - s * s));
        whole += weight;
        below += weight * 0.5 * libm::erfc((shift - t * s) * FRAC_1_SQRT_2);
    }
    below / whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student::mean_and_ci95;

    /// One-sided tolerance factors k of 95 % confidence for nine tenths of a normal population: sqrt(n) k is the 95 % quantile
    /// of the noncentral t with n − 1 degrees of freedom and noncentrality sqrt(n) × 1.281 552 (Natrella, Experimental
    /// Statistics, table A-7).
    #[test]
    fn the_noncentral_t_agrees_with_published_factors() {
        for (n, k) in [(3_u32, 6.158), (5, 3.407), (10, 2.355), (20, 1.926), (50, 1.646)] {
            let root = libm::sqrt(f64::from(n));
            let probability = noncentral_t(root * k, u64::from(n) - 1, root * 1.281_552);
            assert!((probability - 0.95).abs() < 5e-4, "{n}: {probability}");
        }
        // Without a shift the distribution is Student's: 2.776 for 4 degrees of freedom, 12.706 for 1 (two-sided 95 %).
        for (df, t) in [(1, 12.706), (4, 2.776), (100, 1.984)] {
            assert!((noncentral_t(t, df, 0.0) - 0.975).abs() < 5e-4, "{df}");
        }
    }

    /// With mean 1 and variance 4, half the width is t × 2 / sqrt(n). By the tables this is 2.120 × 0.4851 = 1.028 for n = 17, and 2.110 ×
    /// 0.4714 = 0.995 for n = 18.
    #[test]
    fn the_required_run_count_makes_the_interval_exclude_zero() {
        let root = libm::sqrt(2.0);
        let values = [1.0 - root, 1.0 + root];
        let alike = |values: &[f64], comparisons| runs_needed(values, comparisons)?.if_alike;
        assert_eq!(alike(&values, 1), Some(18));
        assert_eq!(alike(&values.map(|value| -value), 1), Some(18), "either side");
        assert!(alike(&values, 3) > Some(18), "several comparisons together ask for more");
        assert_eq!(alike(&[3.0, 3.0], 1), Some(2));
        for undecidable in [&[1.0][..], &[], &[-1.0, 1.0]] {
            assert_eq!(runs_needed(undecidable, 1), None, "{undecidable:?}");
        }
        assert_eq!(alike(&[1.0, -0.999_999], 1), None);
        // With the number returned, the interval of values of this mean and variance excludes zero; with one value fewer it does not.
        for (count, is_significant) in [(17, false), (18, true)] {
            let spread = libm::sqrt(4.0 * f64::from(count - 1) / f64::from(count - count % 2));
            let side = |index| {
                if index == count - count % 2 {
                    0.0
                } else if index % 2 == 0 {
                    spread
                } else {
                    -spread
                }
            };
            let many: Vec<f64> = (0..count).map(|index| 1.0 + side(index)).collect();
            let (mean, half) = mean_and_ci95(&many).expect("values");
            assert_eq!(mean > half.expect("several"), is_significant, "{count}");
        }
    }

    #[test]
    fn the_run_count_range_contains_the_estimate_and_narrows_with_runs() {
        let of = |count: u32| {
            let values: Vec<f64> = (0..count).map(|at| if at % 2 == 0 { 2.5 } else { -1.5 }).collect();
            runs_needed(&values, 1).expect("a range")
        };
        let (few, many) = (of(4), of(4000));
        for range in [few, many] {
            let alike = range.if_alike.expect("a number");
            assert!(range.least <= alike && range.most.is_none_or(|most| most >= alike), "{range:?}");
        }
        assert_eq!(few.most, None, "four such runs do not exclude that there is no difference");
        assert!(few.least < many.least && many.most.is_some_and(|most| most < 100), "{few:?}, {many:?}");
    }

    /// Random numbers of `SplitMix64` (Steele, Lea and Flood 2014).
    struct Drawn(u64);

    impl Drawn {
        /// Returns a number above 0 and at most 1.
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 + f64::EPSILON / 4.0
        }

        /// Returns a standard normal number (Box and Muller 1958).
        fn normal(&mut self) -> f64 {
            let (radius, angle) = (libm::sqrt(-2.0 * libm::log(self.uniform())), self.uniform());
            radius * libm::cos(2.0 * std::f64::consts::PI * angle)
        }
    }

    /// Returns the share of samples whose range contains the true number of runs: among all `samples`, and among the undecided ones, whose
    /// range is reported. A sample has `runs` differences of mean `mean`. `number` draws numbers of mean 0 and variance 1.
    fn held(mean: f64, runs: usize, samples: u32, number: &mut dyn FnMut() -> f64) -> [f64; 2] {
        let truth = runs_for(mean, 1).expect("a number of runs");
        let (mut held, mut open, mut open_held) = (0, 0, 0);
        for _ in 0..samples {
            let values: Vec<f64> = (0..runs).map(|_| mean + number()).collect();
            let range = runs_needed(&values, 1);
            let holds = range
                .is_some_and(|range| range.least <= truth && range.most.is_none_or(|most| truth <= most));
            held += u32::from(holds);
            let (mean, half) = mean_and_ci95(&values).expect("values");
            if half.is_some_and(|half| mean.abs() <= half) {
                open += 1;
                open_held += u32::from(holds);
            }
        }
        [f64::from(held) / f64::from(samples), f64::from(open_held) / f64::from(open.max(1))]
    }

    /// With 200 samples the standard deviation of the share is 2.1 %.
    #[test]
    fn the_range_holds_the_true_number_of_runs_nine_times_of_ten() {
        let mut drawn = Drawn(1);
        // Where the estimated mean may be below zero, its sign is unknown, and the range is wider than necessary.
        for (mean, runs, most) in [(0.2, 3, 1.0), (1.5, 3, 0.95), (0.6, 10, 0.95), (0.4, 20, 0.95)] {
            let [all, open] = held(mean, runs, 200, &mut || drawn.normal());
            assert!((0.84..=most).contains(&all), "mean {mean}, {runs} runs: {all}");
            assert!(open >= 0.84, "mean {mean}, {runs} runs that do not decide: {open}");
        }
    }
}
