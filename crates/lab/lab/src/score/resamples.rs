//! Confidence intervals of weighted quantiles, from resampled draws (Efron and Tibshirani, An Introduction to the Bootstrap, section 13.3).

use std::collections::{BTreeMap, BTreeSet};

use firstflight_measure::{Quantile, weighted_place};

use crate::sweep::Draws;

/// The number of resamples. The ends of a 95 % interval are the values of the ranks 25 and 975 in ascending order.
const RESAMPLES: usize = 999;

/// The ranks of the ends among the resampled quantiles, from zero.
const ENDS: [usize; 2] = [24, 974];

/// The minimum number of draws with an interval. With fewer, the resampled quantiles are a few values.
const FEWEST: usize = 10;

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
        let count = if places.len() < FEWEST { 0 } else { RESAMPLES };
        let times = (0..count).map(resample).collect();
        Self { places, times }
    }

    /// Returns the weighted quantile `q` of sorted values, with its interval.
    pub(super) fn quantile(&self, values: &[Sampled], q: f64) -> Quantile {
        let at = |place: usize| values[place].value.unwrap_or(f64::INFINITY);
        let weights = values.iter().map(|one| one.weight);
        let Some(place) = weighted_place(weights.clone(), q) else { return Quantile::Undefined };
        let draws: Vec<usize> =
            values.iter().map(|one| self.places.get(&one.draw).copied().unwrap_or_default()).collect();
        let resampled = self.times.iter().filter_map(|times| {
            let times = draws.iter().map(|draw| f64::from(times[*draw]));
            weighted_place(weights.clone().zip(times).map(|(weight, times)| weight * times), q)
        });
        // The values are sorted, so their places are ordered as they are.
        let mut resampled: Vec<usize> = resampled.collect();
        resampled.sort_unstable();
        let is_whole = resampled.len() == RESAMPLES;
        let [low, high] = ENDS.map(|end| resampled.get(end).filter(|_| is_whole).map(|place| at(*place)));
        match values[place].value {
            Some(value) => Quantile::Value { value, low, high },
            None => Quantile::Beyond { low: low.filter(|low| low.is_finite()) },
        }
    }
}
