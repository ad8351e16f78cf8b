//! The success probability of a Quick-Start request on a shared link: Scharf 2007, section VI-A, and the resulting
//! mean transfer time (section VI-C).
//!
//! The idea: a router with the target algorithm approves a request for `q` if the measured utilisation, plus `q/r`, plus the recent
//! approvals, is at most the threshold `θ`. The measured utilisation is assumed to be normally distributed with mean `μ` and standard
//! deviation `σ` (the text calls σ the variance, but uses it as the deviation). The number of requests in `H` is Poisson-distributed. A
//! recursion over this number gives the recent approvals.
//!
//! With reduction, a router halves a request that does not fit: once as in equation 11, or several times ([`Admission::halvings`]).
//! Equations 8 and 11 are then iterated together: request `i` adds its mean grant to the promised capacity.
//!
//! Known limits. The normal distribution gives some probability to a negative load. Therefore a threshold below `q/r`, which no request can
//! meet, still has a success probability of some percent. The mean load includes Quick-Start's own traffic. Approvals before `H` are
//! ignored, although a ring remembers up to one interval longer than equation 7 (choice 21). Therefore the model grants slightly too much.

use firstflight::RateCode;

use super::error::{ModelError, not_negative, positive, positive_share, share, within};
use super::transfer::{SmallTransfers, Transfer};

/// A router's link and the requests that arrive at the router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admission {
    /// The utilisation up to which the link counts as underused (`θ`), from 0 to 1.
    pub threshold: f64,
    /// The mean measured utilisation (`μ`), from 0 to 1.
    pub load: f64,
    /// The standard deviation of the measured utilisation (`σ`), above 0, at most 1.
    pub deviation: f64,
    /// The number of requests per second (`λ`).
    pub arrivals: f64,
    /// The requested rate in bit/s (`q`).
    pub request: f64,
    /// The link's rate in bit/s (`r`).
    pub link_rate: f64,
    /// The time for which an approval is remembered, in seconds (`H`, equation 7).
    pub hold: f64,
    /// The number of times that a router may halve a request: 0 is "without reduction", 1 is equation 11.
    pub halvings: u32,
}

/// Maximum number of halvings. There are 15 rate codes, each twice the previous one (RFC 4782 section 3.1).
pub const MAX_HALVINGS: u32 = 14;

/// Minimum rate that a router can approve, in bit/s: rate code 1 (RFC 4782 section 3.1).
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
const MIN_GRANT: f64 = RateCode::from_low_bits(1).rate().bps() as f64;

/// Maximum number of requests in `H`. The recursion takes a step for each request, so a larger number is an error.
const MAX_REQUESTS: f64 = 1e6;

/// Returns the case of Figures 8 to 10 with an `RTT_max` of 100 ms, at a threshold of a half.
impl Default for Admission {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            load: 0.2,
            deviation: 0.1,
            arrivals: 10.0,
            request: 5.12e6,
            link_rate: 100e6,
            hold: 0.2,
            halvings: 1,
        }
    }
}

/// The success probabilities of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The probability of a grant of `q / 2^k`, for `k` from 0 to the number of halvings. The list omits rates that are too low to be
    /// approved.
    pub granted: Vec<f64>,
}

impl Approval {
    /// Returns the probability of any grant.
    pub fn any(&self) -> f64 {
        self.granted.iter().sum::<f64>().min(1.0)
    }
}

/// The mean time of a transfer whose request succeeds with the model's probability (equation 12).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTime {
    /// The time without Quick-Start, in seconds.
    pub slow_start: f64,
    /// The time with the whole rate granted, in seconds.
    pub quick_start: f64,
    /// The mean, in seconds.
    pub mean: f64,
}

impl Admission {
    /// Returns the mean probability of each grant (equations 9 and 10; with halvings equation 11).
    ///
    /// # Errors
    /// A quantity outside the model's domain, by name.
    pub fn approval(&self) -> Result<Approval, ModelError> {
        self.check()?;
        let mean = self.expected_requests();
        // Above this number of requests, the Poisson probability is zero in a double.
        let last = mean + 40.0 * libm::sqrt(mean) + 40.0;
        let router = Self { halvings: self.possible_halvings(), ..*self };
        let mut granted = vec![0.0; router.halvings as usize + 1];
        let (mut promised, mut requests) = (0.0, 0.0);
        while requests <= last {
            let weight = poisson(mean, requests);
            let now = router.grants(promised);
            for (sum, probability) in granted.iter_mut().zip(&now) {
                *sum += weight * probability;
            }
            promised += router.expected_share(&now);
            requests += 1.0;
        }
        Ok(Approval { granted })
    }

    /// Returns the mean time of equation 12 for `transfer` over the access link. With halvings, the equation has one summand for each
    /// possible grant.
    ///
    /// # Errors
    /// A quantity outside the model's domain, by name.
    pub fn mean_time(&self, transfer: &Transfer) -> Result<MeanTime, ModelError> {
        let approval = self.approval()?;
        let slow_start = transfer.slow_start()?.transfer;
        let mut rate = self.request;
        let quick_start = transfer.quick_start(rate, SmallTransfers::Ask)?.transfer;
        let mut mean = (1.0 - approval.any()) * slow_start;
        for probability in &approval.granted {
            mean += probability * transfer.quick_start(rate, SmallTransfers::Ask)?.transfer;
            rate /= 2.0;
        }
        Ok(MeanTime { slow_start, quick_start, mean })
    }

    /// Returns the mean number of requests within `H` (`λ H`).
    pub fn expected_requests(&self) -> f64 {
        self.arrivals * self.hold
    }

    /// Returns how often the request can be halved before it is below the minimum rate that a router can approve.
    fn possible_halvings(&self) -> u32 {
        let mut rate = self.request / 2.0;
        let mut halvings = 0;
        while halvings < self.halvings && rate >= MIN_GRANT {
            rate /= 2.0;
            halvings += 1;
        }
        halvings
    }

    /// Returns the probability of each grant while the share `promised` of the link is promised (equations 8 and 11).
    fn grants(&self, promised: f64) -> Vec<f64> {
        let mut share = self.request / self.link_rate;
        let mut larger = 0.0;
        (0..=self.halvings)
            .map(|_| {
                let fits = self.load_is_under(self.threshold - share - promised);
                let only_this = fits - larger;
                larger = fits;
                share /= 2.0;
                only_this
            })
            .collect()
    }

    /// Returns the mean share of the link that one request is granted.
    fn expected_share(&self, grants: &[f64]) -> f64 {
        let mut share = self.request / self.link_rate;
        let mut sum = 0.0;
        for probability in grants {
            sum += probability * share;
            share /= 2.0;
        }
        sum
    }

    /// Returns the probability that the measured utilisation is below this value: `F_ρ`, the normal distribution of section VI-A.
    fn load_is_under(&self, utilisation: f64) -> f64 {
        let deviations = (utilisation - self.load) / self.deviation;
        0.5 * libm::erfc(-deviations / core::f64::consts::SQRT_2)
    }

    fn check(&self) -> Result<(), ModelError> {
        share("threshold", self.threshold)?;
        share("load", self.load)?;
        positive_share("deviation", self.deviation)?;
        not_negative("arrivals", self.arrivals)?;
        positive("request", self.request)?;
        positive("link-rate", self.link_rate)?;
        positive("hold", self.hold)?;
        let most = f64::from(MAX_HALVINGS);
        within(0.0..=most, "halvings", f64::from(self.halvings), "a whole number from 0 to 14 is")?;
        if self.expected_requests() > MAX_REQUESTS {
            let why = format!(
                "{} a second are {} requests within the {} s of equation 7; up to a million are allowed",
                self.arrivals,
                self.expected_requests(),
                self.hold
            );
            return Err(ModelError::Together { parameter: "arrivals", why });
        }
        Ok(())
    }
}

/// Returns the Poisson probability of `count` events if their mean number is `mean`.
fn poisson(mean: f64, count: f64) -> f64 {
    if mean <= 0.0 {
        return if count < 0.5 { 1.0 } else { 0.0 };
    }
    libm::exp(count * libm::log(mean) - mean - libm::lgamma(count + 1.0))
}
