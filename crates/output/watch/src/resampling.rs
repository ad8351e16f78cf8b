//! Differences between two groups of matched rows, and their confidence intervals by the bootstrap.
//!
//! A row of group g in stratum s has the weight w(s)/n(g, s), where n counts the group's rows in the stratum, and w(s) is the harmonic
//! mean of both counts. Both groups then have the same mixture of strata, and strata with rows of one group have no weight (overlap weights:
//! Li, Morgan and Zaslavsky, "Balancing covariates via propensity score weighting", JASA 113, 2018).
//!
//! A resample draws units with replacement, and computes the weights anew. A unit is a connection, a peer with all its connections, or a
//! prefix with all its connections. A unit with connections of both groups is drawn once, for both groups.

use std::collections::BTreeMap;

use firstflight_measure::student::t_within;
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64;

/// Minimum number of values on each side for an interval.
pub(crate) const FEW: usize = 10;

/// Minimum number of units in each group for the interval of an estimate, if a unit has several values. Units of unequal weight count by
/// their effective number, which is that of equal units with the same variance (Kish 1965).
const FEW_UNITS: u64 = 5;

/// Minimum share of resamples in which a statistic must be defined, in thousandths.
const DEFINED: usize = 995;

/// Maximum number of values visited for an interval. The number of resamples follows from it, within [`RESAMPLES`].
const VISITS: usize = 20_000_000;
const RESAMPLES: [usize; 2] = [200, 2_000];

/// Seed of the resampling. It is fixed, so that the same two groups always give the same intervals.
const SEED: u64 = 1;

/// How the values of a group are reduced to one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Statistic {
    Median,
    Mean,
    /// The sum of the numerators divided by the sum of the denominators.
    Ratio,
    /// The logarithm of the quotient of both sums; undefined if the quotient is zero.
    LogRatio,
    /// The mean of the logarithms.
    MeanLog,
}

/// A value of one row: a numerator and a denominator, the row's stratum, and the unit that is drawn with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) value: (f64, f64),
    pub(crate) stratum: usize,
    pub(crate) unit: usize,
}

/// Why there is no interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Few {
    /// A side has fewer than [`FEW`] values.
    Values,
    /// A side has only so many units.
    Units(u64),
    /// The statistic is undefined in too many resamples.
    Defined,
}

/// The values of both groups, and what is drawn.
#[derive(Debug)]
pub(crate) struct Sample {
    statistic: Statistic,
    sides: [Vec<Reading>; 2],
    strata: usize,
    /// Number of units by side.
    units: [usize; 2],
    /// Whether both sides draw the same units.
    is_joint: bool,
}

impl Sample {
    /// Keeps the values that have a partner in the other group.
    pub(crate) fn new(statistic: Statistic, sides: [Vec<Reading>; 2], strata: usize, is_joint: bool) -> Self {
        let mut has = vec![[false; 2]; strata];
        for (side, readings) in sides.iter().enumerate() {
            for reading in readings {
                has[reading.stratum][side] = true;
            }
        }
        let mut sides = sides;
        for readings in &mut sides {
            readings.retain(|reading| has[reading.stratum] == [true; 2]);
            // Medians need the order; the other statistics do not depend on it.
            readings.sort_by(|one, other| one.value.0.total_cmp(&other.value.0));
        }
        // Only units with a value are drawn.
        let mut numbers = [BTreeMap::new(), BTreeMap::new()];
        for (side, readings) in sides.iter_mut().enumerate() {
            let numbers = &mut numbers[if is_joint { 0 } else { side }];
            for reading in readings {
                let next = numbers.len();
                reading.unit = *numbers.entry(reading.unit).or_insert(next);
            }
        }
        let [first, second] = numbers.map(|numbers| numbers.len());
        let units = [first, if is_joint { first } else { second }];
        Self { statistic, sides, strata, units, is_joint }
    }

    /// Returns the number of values of each side.
    pub(crate) fn counts(&self) -> [usize; 2] {
        self.sides.each_ref().map(Vec::len)
    }

    /// Returns the statistic of each side.
    pub(crate) fn values(&self) -> [Option<f64>; 2] {
        let once = self.units.map(|units| vec![1; units]);
        self.weighted([&once[0], &once[1]])
    }

    /// Returns the statistic of each side if each unit is present so many times.
    fn weighted(&self, times: [&[u32]; 2]) -> [Option<f64>; 2] {
        let counts = self.present(times);
        [0, 1].map(|side| {
            let weight = |reading: &Reading| weight(&counts, reading, side, times[side][reading.unit]);
            let weighted = self.sides[side].iter().map(|reading| (reading.value, weight(reading)));
            reduced(self.statistic, weighted)
        })
    }

    /// Returns the number of values of each side in each stratum if each unit is present so many times.
    fn present(&self, times: [&[u32]; 2]) -> Vec<[f64; 2]> {
        let mut counts = vec![[0.0; 2]; self.strata];
        for (side, readings) in self.sides.iter().enumerate() {
            for reading in readings {
                counts[reading.stratum][side] += f64::from(times[side][reading.unit]);
            }
        }
        counts
    }

    /// Returns the number of units on the side that has fewer, by [`FEW_UNITS`]'s way of counting.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are small and above 0"
    )]
    fn fewest_units(&self) -> u64 {
        let once = self.units.map(|units| vec![1; units]);
        let counts = self.present([&once[0], &once[1]]);
        let effective = [0, 1].map(|side| {
            let mut weights = vec![0.0; self.units[side]];
            for reading in &self.sides[side] {
                weights[reading.unit] += weight(&counts, reading, side, 1) * reading.value.1;
            }
            let sum = weights.iter().sum::<f64>();
            let squares = weights.iter().map(|one| one * one).sum::<f64>();
            if squares > 0.0 { (sum * sum / squares).round() as u64 } else { 0 }
        });
        effective[0].min(effective[1])
    }

    /// Returns the number of units with a value on the side that has fewer.
    fn distinct_units(&self) -> usize {
        let drawn = self.sides.each_ref().map(|side| {
            let mut units: Vec<usize> = side.iter().map(|one| one.unit).collect();
            units.sort_unstable();
            units.dedup();
            units.len()
        });
        drawn[0].min(drawn[1])
    }

    /// Checks whether units have several values.
    fn has_groups(&self) -> bool {
        self.sides.iter().zip(self.units).any(|(side, units)| side.len() > units)
    }

    /// Returns the number of units that have a value above zero, of both sides.
    pub(crate) fn units_above_zero(&self) -> usize {
        let above = self.sides.each_ref().map(|side| {
            let mut units: Vec<usize> =
                side.iter().filter(|one| one.value.0 > 0.0).map(|one| one.unit).collect();
            units.sort_unstable();
            units.dedup();
            units.len()
        });
        above[0] + above[1]
    }

    /// Returns the differences of resamples.
    fn differences(&self) -> Result<Vec<f64>, Few> {
        let counts = self.counts();
        if counts.iter().any(|count| *count < FEW) {
            return Err(Few::Values);
        }
        let resamples = resamples(counts[0] + counts[1]);
        let mut random = Pcg64::seed_from_u64(SEED);
        let mut times = self.units.map(|units| vec![0_u32; units]);
        let mut differences = Vec::with_capacity(resamples);
        for _ in 0..resamples {
            let mut draw = |times: &mut Vec<u32>| {
                times.fill(0);
                let units = times.len();
                for _ in 0..units {
                    times[below(&mut random, units)] += 1;
                }
            };
            let [first, second] = &mut times;
            draw(first);
            if self.is_joint {
                second.copy_from_slice(first);
            } else {
                draw(second);
            }
            let [first, second] = self.weighted([first, second]);
            differences.extend(first.zip(second).map(|(first, second)| second - first));
        }
        if differences.len() * 1000 >= resamples * DEFINED { Ok(differences) } else { Err(Few::Defined) }
    }

    /// Returns the 95 % percentile interval of the difference (Efron and Tibshirani 1993, chapter 13); `None` with fewer than [`FEW`] units
    /// on a side.
    pub(crate) fn percentiles(&self) -> Option<[f64; 2]> {
        if self.distinct_units() < FEW {
            return None;
        }
        let mut differences = self.differences().ok()?;
        differences.sort_by(f64::total_cmp);
        let at =
            |share: usize| differences.get((differences.len() * share / 1000).min(differences.len() - 1));
        Some([*at(25)?, *at(975)?])
    }

    /// Returns the difference with the bootstrap's standard error.
    ///
    /// # Errors
    /// With fewer than [`FEW`] values or [`FEW_UNITS`] units on a side, or if the statistic is undefined.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn estimate(&self) -> Result<Estimate, Few> {
        if self.counts().iter().any(|count| *count < FEW) {
            return Err(Few::Values);
        }
        let distinct = self.distinct_units() as u64;
        let units = self.fewest_units();
        if units < 2 || self.has_groups() && units < FEW_UNITS {
            return Err(Few::Units(distinct));
        }
        let [Some(first), Some(second)] = self.values() else { return Err(Few::Defined) };
        let differences = self.differences()?;
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares = differences.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>();
        // The bootstrap's variance has the divisor n; the unbiased one has n - 1.
        let variance = squares / (count - 1.0).max(1.0) * units as f64 / (units - 1) as f64;
        Ok(Estimate { difference: second - first, error: variance.sqrt(), freedom: units - 1 })
    }
}

/// A difference with its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    difference: f64,
    error: f64,
    /// Degrees of freedom.
    freedom: u64,
}

impl Estimate {
    /// Returns the confidence interval by Student's t with Bonferroni's correction: all of `comparisons` intervals hold together with a
    /// probability of 95 %. With few values it is nearer to that than percentiles are.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn interval(&self, comparisons: usize) -> [f64; 2] {
        let half = t_within(1.0 - 0.05 / comparisons.max(1) as f64, self.freedom) * self.error;
        [self.difference - half, self.difference + half]
    }
}

/// Returns the number of resamples of so many values.
pub(crate) fn resamples(values: usize) -> usize {
    (VISITS / values.max(1)).clamp(RESAMPLES[0], RESAMPLES[1])
}

/// Returns a random number below `limit`. It is uniform except for a bias of at most `limit` · 2^-64.
fn below(random: &mut Pcg64, limit: usize) -> usize {
    let product = u128::from(random.next_u64()) * limit as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

/// Returns the weight of a value whose unit is present so many times.
fn weight(counts: &[[f64; 2]], reading: &Reading, side: usize, times: u32) -> f64 {
    let [one, other] = counts[reading.stratum];
    let own = counts[reading.stratum][side];
    if one * other > 0.0 { f64::from(times) * one * other / (one + other) / own } else { 0.0 }
}

/// Returns the statistic of values in ascending order, each with its weight.
fn reduced(statistic: Statistic, values: impl Iterator<Item = ((f64, f64), f64)> + Clone) -> Option<f64> {
    let (mut total, mut num, mut den) = (0.0, 0.0, 0.0);
    for ((value, divisor), weight) in values.clone() {
        total += weight;
        num +=
            weight * if statistic == Statistic::MeanLog { value.max(f64::MIN_POSITIVE).ln() } else { value };
        den += weight * divisor;
    }
    if total <= 0.0 {
        return None;
    }
    match statistic {
        Statistic::Mean | Statistic::MeanLog => Some(num / total),
        Statistic::Ratio => (den > 0.0).then_some(num / den),
        Statistic::LogRatio => (den > 0.0 && num > 0.0).then(|| (num / den).ln()),
        Statistic::Median => median(values, total),
    }
}

/// Returns the median of values in ascending order, whose weights have the sum `total`.
fn median(values: impl Iterator<Item = ((f64, f64), f64)>, total: f64) -> Option<f64> {
    // Weights are sums of quotients: a half is one within rounding.
    let (half, grain) = (total / 2.0, total * 1e-9);
    let mut passed = 0.0;
    let mut lower = None;
    for ((value, _), weight) in values.filter(|(_, weight)| *weight > 0.0) {
        if let Some(lower) = lower {
            return Some(f64::midpoint(lower, value));
        }
        passed += weight;
        if passed > half + grain {
            return Some(value);
        }
        if passed >= half - grain {
            lower = Some(value);
        }
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(values: impl Iterator<Item = f64>) -> Vec<Reading> {
        values.enumerate().map(|(unit, value)| Reading { value: (value, 1.0), stratum: 0, unit }).collect()
    }

    /// Returns the share of comparisons of a group with itself whose interval excludes zero, with `count` values a side.
    fn wrong(count: usize, comparisons: usize) -> f64 {
        const RUNS: u32 = 400;
        let mut random = Pcg64::seed_from_u64(7);
        // Twelve uniform numbers have a sum that is nearly normal, with a variance of 1.
        let mut uniform =
            || f64::from(u32::try_from(below(&mut random, 1 << 30)).unwrap_or(0)) / f64::from(1 << 30);
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>();
        let is_wrong = |_: &u32| {
            let sides = [(); 2].map(|()| readings((0..count).map(|_| normal())));
            let estimate = Sample::new(Statistic::Mean, sides, 1, false).estimate().expect("enough values");
            let [low, high] = estimate.interval(comparisons);
            low > 0.0 || high < 0.0
        };
        let wrong = u32::try_from((0..RUNS).filter(is_wrong).count()).unwrap_or(u32::MAX);
        f64::from(wrong) / f64::from(RUNS)
    }

    #[test]
    fn an_interval_excludes_the_truth_once_in_twenty_with_few_values_too() {
        assert!((0.02..0.08).contains(&wrong(12, 1)), "{}", wrong(12, 1));
        // Of five that hold together each does once in a hundred.
        assert!(wrong(12, 5) < 0.03, "{}", wrong(12, 5));
    }

    #[test]
    fn weights_give_both_sides_the_same_mixture_of_strata() {
        let reading = |value: f64, stratum, unit| Reading { value: (value, 1.0), stratum, unit };
        let first = vec![
            reading(1.0, 0, 0),
            reading(1.0, 0, 1),
            reading(1.0, 0, 2),
            reading(9.0, 1, 3),
            reading(5.0, 2, 4),
        ];
        let second = vec![reading(1.0, 0, 0), reading(9.0, 1, 1), reading(9.0, 1, 2), reading(9.0, 1, 3)];
        let sample = Sample::new(Statistic::Mean, [first, second], 3, false);
        // Both strata have three and one values: equal weights. The third has no partner.
        assert_eq!((sample.counts(), sample.values()), ([4, 4], [Some(5.0), Some(5.0)]));
    }
}
