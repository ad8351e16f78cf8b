//! The time that limited slow start takes to reach a window (RFC 3742).
//!
//! Up to `max_ssthresh` the window grows as in slow start: by the factor `1 + 1/b` per RTT, with an ACK for every `b` segments. Above
//! `max_ssthresh`, `K = int(cwnd / (max_ssthresh / 2))`, and each ACK adds `1/K` of a segment. For a constant `K` the window therefore
//! grows by the factor `1 + 1/(b K)` per RTT. With `b` = 1 the window takes exactly one RTT from one `K` to the next, which is the RFC's
//! `log2(max_ssthresh) + (W - max_ssthresh) / (max_ssthresh / 2)`.
//!
//! For a window of 83000 segments, the RFC's example prints 836 RTTs. The RFC's own formula gives 1664.6, and a simulation of the rule
//! gives 1665.

use super::error::{ModelError, positive, within};

/// Growth by limited slow start up to a given window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitedGrowth {
    /// The window to reach, in segments.
    pub window: f64,
    /// The RFC's `max_ssthresh`, in segments.
    pub max_ssthresh: f64,
    /// The initial window in segments.
    pub initial_window: f64,
    /// The round-trip time in seconds.
    pub rtt: f64,
    /// The number of segments for each ACK: 2 with delayed ACKs, 1 without.
    pub segments_per_ack: f64,
    /// Bytes of a segment.
    pub mss: f64,
    /// How the remainder of `MSS / K` is handled.
    pub division: Division,
}

/// How the remainder of `MSS / K` in bytes is handled (choice 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// The remainder is carried to the next ACK.
    Carry,
    /// The remainder is dropped, as the RFC writes. If `K` exceeds the MSS, the window no longer grows.
    Truncate,
}

/// Returns the case of 5000 segments at an RTT of 200 ms, for which the HyStart paper states 21 s.
impl Default for LimitedGrowth {
    fn default() -> Self {
        Self {
            window: 5000.0,
            max_ssthresh: 100.0,
            initial_window: 1.0,
            rtt: 0.2,
            segments_per_ack: 1.0,
            mss: 1460.0,
            division: Division::Carry,
        }
    }
}

/// How long the window takes to grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The number of RTTs according to the rule, with a fraction for the last one; `None` if the window is never reached.
    pub round_trips: Option<f64>,
    /// The time of these RTTs in seconds; `None` if the window is never reached.
    pub time: Option<f64>,
    /// The number of RTTs according to the RFC's formula, for one ACK per segment and an initial window of one.
    pub formula_round_trips: f64,
    /// The number of RTTs of slow start without the limit.
    pub slow_start_round_trips: f64,
    /// The value of `K` when the window is reached. Up to `max_ssthresh` it is 1. An ACK adds a `K`-th of a segment.
    pub divisor: f64,
    /// The bytes that an ACK adds when the window is reached.
    pub bytes_per_ack: f64,
}

/// Maximum window in segments. It bounds the number of different `K`, because each takes a step.
const MAX_SEGMENTS: f64 = 1e8;

impl LimitedGrowth {
    /// Returns the time to reach the window, and the other results.
    ///
    /// # Errors
    /// A quantity outside the model's domain, by name.
    pub fn growth(&self) -> Result<Growth, ModelError> {
        self.check()?;
        let doubling = libm::log1p(1.0 / self.segments_per_ack);
        let ln = |ratio: f64| libm::log(ratio).max(0.0);
        let until_limit = ln(self.window.min(self.max_ssthresh) / self.initial_window) / doubling;
        let round_trips = self.limited_round_trips().map(|limited| until_limit + limited);
        let divisor = self.divisor(self.window);
        Ok(Growth {
            round_trips,
            time: round_trips.map(|round_trips| round_trips * self.rtt),
            formula_round_trips: libm::log2(self.window.min(self.max_ssthresh))
                + (self.window - self.max_ssthresh).max(0.0) / (self.max_ssthresh / 2.0),
            slow_start_round_trips: ln(self.window / self.initial_window) / doubling,
            divisor,
            bytes_per_ack: self.bytes_per_ack(divisor),
        })
    }

    /// Returns `K = int(cwnd / (0.5 max_ssthresh))` (section 2).
    fn divisor(&self, window: f64) -> f64 {
        if window <= self.max_ssthresh { 1.0 } else { libm::floor(2.0 * window / self.max_ssthresh) }
    }

    fn bytes_per_ack(&self, divisor: f64) -> f64 {
        match self.division {
            Division::Carry => self.mss / divisor,
            Division::Truncate => libm::floor(self.mss / divisor),
        }
    }

    /// Returns the number of RTTs above `max_ssthresh`, summed over `K`; `None` if growth stops before the window is reached.
    fn limited_round_trips(&self) -> Option<f64> {
        let mut window = self.initial_window.max(self.max_ssthresh);
        let mut divisor = libm::floor(2.0 * window / self.max_ssthresh);
        let mut round_trips = 0.0;
        while window < self.window {
            // In one RTT there is one ACK for every b segments, and each ACK adds these bytes.
            let growth = self.bytes_per_ack(divisor) / self.mss / self.segments_per_ack;
            if growth <= 0.0 {
                return None;
            }
            let end = self.window.min((divisor + 1.0) * self.max_ssthresh / 2.0);
            round_trips += libm::log(end / window) / libm::log1p(growth);
            window = end;
            divisor += 1.0;
        }
        Some(round_trips)
    }

    fn check(&self) -> Result<(), ModelError> {
        positive("window", self.window)?;
        positive("max-ssthresh", self.max_ssthresh)?;
        positive("iw", self.initial_window)?;
        positive("rtt", self.rtt)?;
        positive("mss", self.mss)?;
        positive("segments-per-ack", self.segments_per_ack)?;
        within(1.0..=1e3, "segments-per-ack", self.segments_per_ack, "1 to 1000 are")?;
        within(2.0..=MAX_SEGMENTS, "max-ssthresh", self.max_ssthresh, "2 to 1e8 segments are")?;
        within(1.0..=MAX_SEGMENTS, "iw", self.initial_window, "1 to 1e8 segments are")?;
        within(1.0..=MAX_SEGMENTS, "window", self.window, "1 to 1e8 segments are")?;
        if self.window < self.initial_window {
            let why = format!("{} segments are fewer than the initial {}", self.window, self.initial_window);
            return Err(ModelError::Together { parameter: "window", why });
        }
        Ok(())
    }
}
