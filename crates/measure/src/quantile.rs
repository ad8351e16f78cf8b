//! Quantiles that are one of the values, and intervals for them without assumptions about their distribution.

/// A quantile of values of which some may be beyond all numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantile {
    /// There are no values.
    Undefined,
    /// It falls among those beyond all numbers.
    Beyond {
        /// The low end of its interval, where there are values enough and that is one of them.
        low: Option<f64>,
    },
    /// A value, and a 95 % confidence interval where there are values enough.
    Value {
        /// The quantile.
        value: f64,
        /// The interval's low end.
        low: Option<f64>,
        /// Its high end; [`f64::INFINITY`] where it falls among those beyond all numbers.
        high: Option<f64>,
    },
}

/// The quantile `q` of sorted values, `None` the last of them: the least value that is not below a share `q` of them
/// (the inverse of the empirical distribution; Hyndman and Fan 1996, type 1). The interval is that of the order
/// statistics, if `with_interval`.
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

/// The rank, from 1, of the quantile `q` of `n` values; 0 of none.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are far below 2^53 and not negative"
)]
fn rank(n: usize, q: f64) -> usize {
    // A product such as 0.9 × 10 may come out a little above the whole number that it is.
    (libm::ceil(q * n as f64 - 1e-9) as usize).clamp(usize::from(n > 0), n)
}

/// The ranks, from 1, of the ends of the 95 % confidence interval of the quantile `q` of `n` independent values:
/// each end is beyond the quantile with a probability of at most 2.5 % (David and Nagaraja, Order Statistics, section
/// 7.1). `None` where there are too few values for an end.
pub fn interval(n: usize, q: f64) -> (Option<usize>, Option<usize>) {
    const TAIL: f64 = 0.025;
    // The number of values at or below the quantile is binomial. The low end is value number `low` if fewer than `low`
    // of them are, with at most that probability; the high end is number `high` if at least `high` are, likewise.
    let (mut low, mut high) = (None, None);
    let mut below = 0.0;
    for k in 0..=n {
        // `below` is the probability of fewer than `k`.
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

/// The probability of `k` among `n`, each with probability `p`.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn binomial(n: usize, k: usize, p: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
}
