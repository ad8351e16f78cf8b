//! The distribution of a number over many senders, in bounded memory.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;
use serde_json::Value;

/// The maximum number of values that are kept individually. Up to this number, quantiles are exact.
const FEW: usize = 10_000;

/// The number of significant digits of a quantile of more values than [`FEW`].
const DIGITS: u8 = 3;

/// The maximum number of reasons that are counted separately.
const MAX_REASONS: usize = 32;

/// The text under which all further reasons are counted.
const OTHER: &str = "other reasons";

/// The values of one field over many senders. For senders without a value, the reasons are counted.
#[derive(Debug)]
pub struct Distribution {
    /// The number of grains in one unit. Values are kept as whole numbers of grains.
    grains: f64,
    few: Vec<u64>,
    /// All values, if there are more than [`FEW`].
    many: Option<Histogram<u64>>,
    defined: u64,
    least: u64,
    most: u64,
    undefined: u64,
    reasons: BTreeMap<String, u64>,
}

/// A distribution in numbers. The quantile for a share is the smallest value that at least this share of the values does not exceed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Number of senders with a value.
    pub defined: u64,
    /// Number of senders for which the value is undefined.
    pub undefined: u64,
    /// The minimum. If there are no values, this and all numbers below are null.
    pub least: Value,
    /// The 25th percentile.
    pub p25: Value,
    /// The median.
    pub median: Value,
    /// The 75th percentile.
    pub p75: Value,
    /// The 90th percentile.
    pub p90: Value,
    /// The maximum.
    pub most: Value,
    /// The number of senders for which the value is undefined, for each reason.
    pub reasons: BTreeMap<String, u64>,
}

impl Distribution {
    /// Creates an empty distribution of counts.
    pub fn of_counts() -> Self {
        Self::new(1.0)
    }

    /// Creates an empty distribution of real numbers with a resolution of 10^-9. Times in seconds have the resolution of a nanosecond.
    pub fn of_reals() -> Self {
        Self::new(1e9)
    }

    fn new(grains: f64) -> Self {
        Self {
            grains,
            few: Vec::new(),
            many: None,
            defined: 0,
            least: u64::MAX,
            most: 0,
            undefined: 0,
            reasons: BTreeMap::new(),
        }
    }

    /// Adds a value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "negative and huge values saturate"
    )]
    pub fn add(&mut self, value: f64) {
        let value = (value * self.grains).round() as u64;
        self.defined += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        if let Some(many) = &mut self.many {
            record(many, value);
        } else {
            self.few.push(value);
            if self.few.len() > FEW {
                self.many = Histogram::new(DIGITS).ok().map(|mut many: Histogram<u64>| {
                    many.auto(true);
                    self.few.drain(..).for_each(|value| record(&mut many, value));
                    many
                });
                self.few.shrink_to_fit();
            }
        }
    }

    /// Adds a sender without a value, with the reason.
    pub fn lacks(&mut self, reason: &str) {
        self.undefined += 1;
        let is_known = self.reasons.contains_key(reason) || self.reasons.len() < MAX_REASONS;
        *self.reasons.entry(if is_known { reason } else { OTHER }.to_owned()).or_default() += 1;
    }

    /// Returns the distribution in numbers.
    pub fn quantiles(&self) -> Quantiles {
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        let quantile = |percent: u64| {
            if let Some(many) = &self.many {
                #[expect(clippy::cast_precision_loss, reason = "a per cent")]
                let value = many.value_at_quantile(percent as f64 / 100.0);
                return Some(many.median_equivalent(value).clamp(self.least, self.most));
            }
            let rank = (sorted.len() as u64 * percent).div_ceil(100).max(1);
            sorted.get(usize::try_from(rank - 1).unwrap_or(usize::MAX)).copied()
        };
        let value = |grains: Option<u64>| grains.map_or(Value::Null, |grains| self.value(grains));
        let has_any = self.defined > 0;
        Quantiles {
            defined: self.defined,
            undefined: self.undefined,
            least: value(has_any.then_some(self.least)),
            p25: value(quantile(25)),
            median: value(quantile(50)),
            p75: value(quantile(75)),
            p90: value(quantile(90)),
            most: value(has_any.then_some(self.most)),
            reasons: self.reasons.clone(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    fn value(&self, grains: u64) -> Value {
        if self.grains > 1.0 { (grains as f64 / self.grains).into() } else { grains.into() }
    }
}

/// Records a value. If it is above the histogram's range, it counts as the largest value in the range.
fn record(many: &mut Histogram<u64>, value: u64) {
    if many.record(value).is_err() {
        many.saturating_record(value);
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "few values are exact")]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_exact_quantiles_by_nearest_rank() {
        let mut of = Distribution::of_reals();
        for value in [0.04162, 0.0402, 0.1, 0.05] {
            of.add(value);
        }
        of.lacks("no SYN");
        let told = of.quantiles();
        assert_eq!((told.defined, told.undefined), (4, 1));
        let values = [&told.least, &told.p25, &told.median, &told.p75, &told.p90, &told.most];
        assert_eq!(values.map(|value| value.as_f64().unwrap()), [0.0402, 0.0402, 0.04162, 0.05, 0.1, 0.1]);
        assert_eq!(told.reasons, BTreeMap::from([("no SYN".to_owned(), 1)]));
    }

    #[test]
    fn many_values_have_quantiles_within_a_thousandth_and_exact_ends() {
        let mut of = Distribution::of_reals();
        (1..=100_000_u32).rev().for_each(|value| of.add(f64::from(value) * 4e-6));
        assert!(of.few.capacity() < FEW);
        let told = of.quantiles();
        assert_eq!((told.least.as_f64(), told.most.as_f64()), (Some(4e-6), Some(0.4)));
        for (value, right) in [(&told.p25, 0.1), (&told.median, 0.2), (&told.p75, 0.3), (&told.p90, 0.36)] {
            let off = value.as_f64().unwrap() / right - 1.0;
            assert!(off.abs() < 1e-3, "{value}: {right}");
        }
    }

    #[test]
    fn counts_stay_whole_and_nothing_has_no_quantile() {
        let mut of = Distribution::of_counts();
        assert_eq!(of.quantiles().median, Value::Null);
        (0..20_000_u32).for_each(|at| of.add(f64::from(at % 11)));
        let told = of.quantiles();
        assert_eq!((told.least, told.median, told.most), (0.into(), 5.into(), 10.into()));
    }

    #[test]
    fn reasons_without_end_are_bounded() {
        let mut of = Distribution::of_counts();
        (0..1000).for_each(|at| of.lacks(&format!("reason {at}")));
        let told = of.quantiles();
        assert_eq!((told.reasons.len(), told.undefined), (MAX_REASONS + 1, 1000));
        assert_eq!(told.reasons[OTHER], 1000 - MAX_REASONS as u64);
    }
}
