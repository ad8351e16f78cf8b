//! Quantiles, each of which is one of the values, with distribution-free confidence intervals.

/// A quantile of values, some of which may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantile {
    /// There are no values.
    Undefined,
    /// The quantile is infinite.
    Beyond {
        /// The lower end of the confidence interval, if there are enough values and that end is finite.
        low: Option<f64>,
    },
    /// The quantile is finite. It has a 95 % confidence interval if there are enough values.
    Value {
        /// The quantile.
        value: f64,
        /// The lower end of the confidence interval.
        low: Option<f64>,
        /// The upper end of the confidence interval; [`f64::INFINITY`] if it is infinite.
        high: Option<f64>,
    },
}

/// Returns the quantile `q` of sorted values. `None` is an infinite value; these are at the end. The quantile is the smallest value such
/// that at least a share `q` of the values does not exceed it (the inverse of the empirical distribution; Hyndman and Fan 1996, type 1).
/// With `with_interval`, the confidence interval is computed from the order statistics.
pub fn quantile(sorted: &[Option<f64>], q: f64, with_interval: bool) -> Quantile {
    let Some(value) = sorted.get(rank(sorted.len(), q).wrapping_sub(1)) else { return Quantile::Undefined };
    let at =
        |rank: Option<usize>| sorted.get(rank?.wrapping_sub(1)).map(|value| value.unwrap_or(f64::INFINITY));
    let (low, high) = if with_interval { interval(sorted.len(), q) } else { (None, None) };
    match *value {
        Some(value) => Quantile::Value { value, low: at(low), high: at(high) },
        None => Quantile::Beyond { low: at(low).filter(|low| low.is_finite()) },
    }
}

/// Returns the place of the quantile `q` of sorted values with these weights: of the first value up to which the weights add up to a share
/// `q` of all. `None` if all weights are zero. With equal weights it is the place of [`quantile`]'s value.
pub fn weighted_place(weights: impl Iterator<Item = f64> + Clone, q: f64) -> Option<usize> {
    let total: f64 = weights.clone().sum();
    // Rounding may put a sum a little below the share that it has.
    let wanted = q * total * (1.0 - 1e-12);
    let mut last = None;
    let mut sum = 0.0;
    for (place, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
        sum += weight;
        last = Some(place);
        if sum >= wanted {
            break;
        }
    }
    last
}

/// Returns the rank of the quantile `q` among `n` values, from 1; 0 if there are no values.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are far below 2^53 and not negative"
)]
fn rank(n: usize, q: f64) -> usize {
    // Rounding may put a product such as 0.9 × 10 a little above the whole number.
    (libm::ceil(q * n as f64 - 1e-9) as usize).clamp(usize::from(n > 0), n)
}

/// Returns the ranks, from 1, of the ends of the 95 % confidence interval of the quantile `q` of `n` independent values. The probability
/// that the quantile is beyond one end is at most 2.5 % (David and Nagaraja, Order Statistics, section 7.1). An end is `None` if there are
/// too few values for it.
pub fn interval(n: usize, q: f64) -> (Option<usize>, Option<usize>) {
    const TAIL: f64 = 0.025;
    // The number of values at or below the quantile is binomial. `low` is the largest number such that fewer than `low` values lie there
    // with a probability of at most 2.5 %. `high` is the smallest such number for at least `high` values.
    let (mut low, mut high) = (None, None);
    let mut below = 0.0;
    for k in 0..=n {
        // `below` is the probability that fewer than `k` values lie at or below the quantile.
        if k > 0 && below <= TAIL {
            low = Some(k);
        }
        if k > 0 && 1.0 - below <= TAIL {
            high = Some(k);
            break;
        }
        below += binomial(n, k, q);
    }
    (low, high)
}

/// Returns the binomial probability of exactly `k` successes in `n` trials, each with probability `p`.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn binomial(n: usize, k: usize, p: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
}
