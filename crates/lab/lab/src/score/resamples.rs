//! Confidence intervals of weighted quantiles, from resampled draws (Efron and Tibshirani, An Introduction to the Bootstrap, section 13.3).

use std::collections::{BTreeMap, BTreeSet};

use firstflight_measure::{Quantile, weighted_place};

use crate::sweep::Draws;

/// The number of resamples. The ends of a 95 % interval are the values of the ranks 25 and 975 in ascending order.
const RESAMPLES: usize = 999;

/// The ranks of the ends among the resampled quantiles, from zero.
const ENDS: [usize; 2] = [24, 974];

/// The minimum number of values expected on each side of a quantile that has an interval. Nearer to the extremes, a resample cannot show what
/// lies beyond the values of the sample.
const FEWEST: f64 = 5.0;

/// A value with the weight and the draw of its row.
pub(super) struct Sampled {
    /// The value; `None` is infinite.
    pub(super) value: Option<f64>,
    pub(super) weight: f64,
    pub(super) draw: u64,
}

/// Resamples of a class: each takes as many draws as the class has, with replacement. All numbers of a class have the same resamples.
pub(super) struct Resamples {
    /// The place of each draw in a resample.
    places: BTreeMap<u64, usize>,
    /// For each resample, how often it has each draw.
    times: Vec<Vec<u16>>,
}

impl Resamples {
    /// Makes the resamples of these draws. They depend only on the number of draws.
    pub(super) fn new(draws: &BTreeSet<u64>) -> Self {
        let places: BTreeMap<u64, usize> =
            draws.iter().enumerate().map(|(place, draw)| (*draw, place)).collect();
        let mut random = Draws::new(0, "resamples", 0);
        let number = places.len() as u64;
        let resample = |_| {
            let mut times = vec![0_u16; places.len()];
            for _ in 0..places.len() {
                let place = usize::try_from(random.below(number)).unwrap_or_default();
                times[place] = times[place].saturating_add(1);
            }
            times
        };
        let times = (0..RESAMPLES).map(resample).collect();
        Self { places, times }
    }

    /// Returns the weighted quantile `q` of sorted values, with its interval. An end that is the smallest or the greatest value is `None`.
    /// The interval is approximate; with weights that differ much it is too short.
    pub(super) fn quantile(&self, values: &[Sampled], q: f64) -> Quantile {
        let at = |place: usize| values[place].value.unwrap_or(f64::INFINITY);
        let weights = values.iter().map(|one| one.weight);
        let Some(place) = weighted_place(weights.clone(), q) else { return Quantile::Undefined };
        let [low, high] = if effective(weights.clone()) * q.min(1.0 - q) < FEWEST {
            [None, None]
        } else {
            let draws: Vec<usize> =
                values.iter().map(|one| self.places.get(&one.draw).copied().unwrap_or_default()).collect();
            let resampled = self.times.iter().filter_map(|times| {
                let times = draws.iter().map(|draw| f64::from(times[*draw]));
                weighted_place(weights.clone().zip(times).map(|(weight, times)| weight * times), q)
            });
            // The values are sorted, so their places are ordered as they are.
            let mut resampled: Vec<usize> = resampled.collect();
            resampled.sort_unstable();
            let is_inner = |place: &usize| (1..values.len() - 1).contains(place);
            ENDS.map(|end| resampled.get(end).copied().filter(is_inner).map(at))
        };
        match values[place].value {
            Some(value) => Quantile::Value { value, low, high },
            None => Quantile::Beyond { low: low.filter(|low| low.is_finite()) },
        }
    }
}

/// Returns the number of equal weights that a mean would be as certain with: (Σ w)² / Σ w² (Kish 1965, section 11.7).
fn effective(weights: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}
