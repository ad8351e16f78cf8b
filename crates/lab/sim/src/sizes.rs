//! Distributions of transfer sizes.

use firstflight::Span;

use crate::fault::FlowFault;
use crate::random::Stream;

/// A distribution of transfer sizes, in payload bytes. A size is whole and at least one byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sizes {
    /// All transfers have this size.
    Fixed(u64),
    /// Exponentially distributed sizes.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Log-normally distributed sizes.
    LogNormal {
        /// The mean.
        mean: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
    /// Pareto-distributed sizes, cut off at a largest size. [`Sizes::pareto`] finds the parameters for a mean.
    Pareto {
        /// Minimum size.
        least: f64,
        /// The exponent of the tail, above one.
        shape: f64,
        /// Larger draws are cut to this size.
        largest: f64,
    },
    /// Files of web servers: a log-normal body and a Pareto tail (P. Barford and M. Crovella, "Generating
    /// Representative Web Workloads for Network and Server Performance Evaluation", SIGMETRICS 1998, Table 1).
    Web,
}

/// The log-normal body of web files in Surge's table: the share of files that belong to it (93 %), and its parameters.
const BODY: f64 = 0.93;
const BODY_MU: f64 = 9.357;
const BODY_SIGMA: f64 = 1.318;
/// Size at which the tail begins, and its exponent.
const TAIL_LEAST: f64 = 133_000.0;
const TAIL_SHAPE: f64 = 1.1;
/// The size at which the tail is cut. The cut is our choice: the mean of an uncut tail depends on files so rare that no
/// run has one.
const TAIL_LARGEST: f64 = 10_000_000.0;

impl Sizes {
    /// Returns Pareto sizes with a tail of exponent `shape`, cut off at `largest`, whose mean after the cut is
    /// `mean`. The mean has to be below `largest`, and the exponent above one.
    pub fn pareto(mean: f64, shape: f64, largest: f64) -> Self {
        // The cut lowers the mean, so the minimum size is between these two.
        let (mut low, mut high) = (least(mean, shape), mean);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if cut_pareto_mean(middle, shape, largest) < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self::Pareto { least: high, shape, largest }
    }

    pub(crate) fn check(self) -> Result<(), FlowFault> {
        let possible = match self {
            Self::Fixed(bytes) => bytes > 0,
            Self::Exponential { mean } => is_size(mean),
            Self::LogNormal { mean, sigma } => is_size(mean) && (0.0..=10.0).contains(&sigma),
            Self::Pareto { least, shape, largest } => {
                least > 0.0 && shape > 1.0 && shape <= 1_000.0 && is_size(largest) && largest > least
            }
            Self::Web => true,
        };
        if possible { Ok(()) } else { Err(FlowFault::Sizes) }
    }

    /// Returns the mean of whole draws, exact to less than a byte.
    pub fn mean(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
            Self::Fixed(bytes) => bytes as f64,
            Self::Exponential { mean } | Self::LogNormal { mean, .. } => mean,
            Self::Pareto { least, shape, largest } => cut_pareto_mean(least, shape, largest),
            Self::Web => {
                // The mean of a log-normal below a bound: its mean, times the share of the first moment below the
                // bound, over the share of the mass.
                let bound = (libm::log(TAIL_LEAST) - BODY_MU) / BODY_SIGMA;
                let whole = libm::exp(BODY_MU + BODY_SIGMA * BODY_SIGMA / 2.0);
                let body = whole * normal_below(bound - BODY_SIGMA) / normal_below(bound);
                BODY * body + (1.0 - BODY) * cut_pareto_mean(TAIL_LEAST, TAIL_SHAPE, TAIL_LARGEST)
            }
        }
    }

    pub(crate) fn draw(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Exponential { mean } => whole(exponential(stream, mean)),
            Self::LogNormal { mean, sigma } => {
                whole(libm::exp(libm::log(mean) - sigma * sigma / 2.0 + sigma * normal(stream)))
            }
            Self::Pareto { least, shape, largest } => whole(pareto(stream, least, shape).min(largest)),
            Self::Web => whole(web(stream)),
        }
    }
}

fn is_size(bytes: f64) -> bool {
    (1.0..=1e15).contains(&bytes)
}

fn web(stream: &mut Stream) -> f64 {
    if stream.unit() >= BODY {
        return pareto(stream, TAIL_LEAST, TAIL_SHAPE).min(TAIL_LARGEST);
    }
    loop {
        let size = libm::exp(BODY_MU + BODY_SIGMA * normal(stream));
        if size < TAIL_LEAST {
            return size;
        }
    }
}

/// Returns an exponential draw of this mean.
pub(crate) fn exponential(stream: &mut Stream, mean: f64) -> f64 {
    -mean * libm::log(stream.unit())
}

/// Returns a Pareto draw: above `least`, with a tail of exponent `shape`.
pub(crate) fn pareto(stream: &mut Stream, least: f64, shape: f64) -> f64 {
    least * libm::pow(stream.unit(), -1.0 / shape)
}

/// Draws how long a Pareto span still lasts, at an instant that is independent of its beginning. The density at x is
/// the probability of a draw above x, over the mean: uniform up to `least`, and beyond it a tail whose exponent is one
/// less.
pub(crate) fn pareto_left(stream: &mut Stream, least: f64, shape: f64) -> f64 {
    let unit = stream.unit();
    if unit * shape < 1.0 {
        least * libm::pow(unit * shape, -1.0 / (shape - 1.0))
    } else {
        least * (1.0 - unit) * shape / (shape - 1.0)
    }
}

/// Returns the minimum value of a Pareto distribution of this mean.
pub(crate) fn least(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// Returns the mean of min(Pareto, `largest`): ∫ P(X > x) dx.
fn cut_pareto_mean(least: f64, shape: f64, largest: f64) -> f64 {
    if largest <= least {
        return largest;
    }
    // `1 - (least / largest)^(shape - 1)`, exact to all digits if the exponent is close to one.
    let tail = -libm::expm1((shape - 1.0) * libm::log(least / largest));
    least + least / (shape - 1.0) * tail
}

/// Returns a standard normal draw (the Box–Muller transform; one of its two values).
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = (stream.unit(), stream.unit());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * angle)
}

/// Returns the probability of a standard normal below `x`.
fn normal_below(x: f64) -> f64 {
    libm::erfc(-x / core::f64::consts::SQRT_2) / 2.0
}

/// Rounds to the nearest whole byte, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
fn whole(bytes: f64) -> u64 {
    (libm::round(bytes) as u64).max(1)
}

/// Converts to whole nanoseconds, at least one, so that time advances.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
pub(crate) fn nanos(span: f64) -> Span {
    Span::from_nanos((span as u64).clamp(1, 1 << 62))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    /// Returns `count` sorted draws.
    fn draws(sizes: Sizes, count: usize) -> Vec<u64> {
        let mut stream = Stream::new(3, Purpose::Size, 0, 0);
        let mut draws: Vec<u64> = (0..count).map(|_| sizes.draw(&mut stream)).collect();
        draws.sort_unstable();
        draws
    }

    #[expect(clippy::cast_precision_loss, reason = "a test's sums")]
    fn mean(draws: &[u64]) -> f64 {
        draws.iter().sum::<u64>() as f64 / draws.len() as f64
    }

    fn near(found: f64, wanted: f64, share: f64) -> bool {
        (found - wanted).abs() < share * wanted
    }

    #[test]
    fn every_distribution_has_the_mean_that_it_says() {
        // The share is five standard errors of 10^6 draws, or more.
        for (sizes, share) in [
            (Sizes::Fixed(7), 1e-12),
            (Sizes::Exponential { mean: 50_000.0 }, 0.005),
            (Sizes::LogNormal { mean: 50_000.0, sigma: 1.0 }, 0.007),
            (Sizes::pareto(50_000.0, 1.5, 1e6), 0.02),
            (Sizes::pareto(10_000.0, 1.1, 1e7), 0.08),
            (Sizes::Web, 0.03),
        ] {
            let found = mean(&draws(sizes, 1_000_000));
            assert!(near(found, sizes.mean(), share), "{sizes:?}: {found} for {}", sizes.mean());
        }
    }

    #[test]
    fn a_pareto_distribution_has_the_mean_asked_for_with_its_cut() {
        for shape in [1.000_000_000_1, 1.1, 1.5, 2.0, 3.0, 100.0, 1_000.0] {
            for largest in [1_001.0, 2_000.0, 1e6, 1e15] {
                let sizes = Sizes::pareto(1_000.0, shape, largest);
                assert!(near(sizes.mean(), 1_000.0, 1e-12), "{sizes:?}: {}", sizes.mean());
                assert_eq!(sizes.check(), Ok(()), "{sizes:?}");
            }
        }
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a test's sums")]
    fn quantiles_are_those_of_the_distribution() {
        let at = |draws: &[u64], per_mille: usize| draws[draws.len() * per_mille / 1_000] as f64;
        let exponential = draws(Sizes::Exponential { mean: 100_000.0 }, 200_000);
        for (per_mille, quantile) in [(500, 69_315.0), (900, 230_259.0), (100, 10_536.0)] {
            assert!(near(at(&exponential, per_mille), quantile, 0.02));
        }
        // ln x is normal with mean ln 100 000 - 1/2; its upper decile is 1.2816 deviations up.
        let lognormal = draws(Sizes::LogNormal { mean: 100_000.0, sigma: 1.0 }, 200_000);
        assert!(near(at(&lognormal, 500), 60_653.0, 0.02));
        assert!(near(at(&lognormal, 900), 60_653.0 * 3.602, 0.02));
        // `P(X > x) = (least / x)^shape`, `least = 100 000 / 3`.
        let pareto = draws(Sizes::Pareto { least: 1e5 / 3.0, shape: 1.5, largest: 1e9 }, 200_000);
        assert!(pareto[0] >= 33_333);
        assert!(near(at(&pareto, 990), 33_333.0 * 21.544, 0.05));
        assert!(draws(Sizes::pareto(1_000.0, 1.2, 5_000.0), 10_000)[9_999] == 5_000);
        // Web files: 7 % above 133 kB; the median of the body is near e^9.357, a little lower for its cut.
        let web = draws(Sizes::Web, 200_000);
        let tail = web.iter().filter(|size| **size >= 133_000).count();
        assert!(tail.abs_diff(14_000) < 600, "{tail}");
        assert!(*web.last().expect("draws") <= 10_000_000);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for sizes in [
            Sizes::Fixed(0),
            Sizes::Exponential { mean: 0.0 },
            Sizes::Exponential { mean: f64::NAN },
            Sizes::LogNormal { mean: 1e3, sigma: -1.0 },
            Sizes::pareto(1e3, 1.0, 1e6),
            Sizes::pareto(1e3, 2.0, 1e2),
            Sizes::pareto(0.0, 2.0, 1e3),
            Sizes::pareto(f64::NAN, 2.0, 1e3),
        ] {
            assert_eq!(sizes.check(), Err(FlowFault::Sizes), "{sizes:?}");
        }
        assert_eq!(Sizes::Web.check(), Ok(()));
    }
}
