//! Packet transmission rate (PTR) probing, the estimator from which Paced Start is derived: Hu and Steenkiste, *Evaluation and
//! characterization of available bandwidth probing techniques* (JSAC 2003), and its program, version 2.2. Over the packet-train model
//! ([`super::paced`]) it shows the best possible result of a search with trains.
//!
//! Trains are sent with a growing gap until a train arrives with the gap with which it was sent. The arrival rate of the first train like
//! this is the result. Paper and program differ (choice-10):
//!
//! | | program | paper |
//! |---|---|---|
//! | first gap, step | `g_B` after a burst, 3/4 and 1/4 of it | 1/2 and 1/8 of `g_B` |
//! | equal | grew by at most 5 µs | grew by less than 10 % of the greater |
//! | stops | at the second consecutive equal gap | at the first |
//! | trains for each gap | 3 | 1 |
//!
//! The program also tries to jump halfway to the arrival gap if that gap is at least 1.5 times the sending gap. It divides the sum of three
//! means by the number of packets, 60, and so never jumps; `jumps` implements the intention. The program also compares the burst: if a
//! packet takes 5 µs or less at capacity, it treats the whole capacity as available unless three quarters of that gap show otherwise.

use super::error::{ModelError, refuse_unless};
use super::paced::Train;

/// The minimum available share. A smaller share would take too many trains.
const MIN_AVAILABLE: f64 = 0.0001;
/// The factor by which one gap must exceed the other for a jump, in version 2.2 of the program.
const JUMPS_FROM: f64 = 1.5;

/// The choice of gaps and the condition to stop: the paper's or the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Those of the program, version 2.2.
    Program,
    /// Those of the paper.
    Paper,
}

/// A probing of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probing {
    /// The path.
    pub train: Train,
    /// The choice of gaps and the condition to stop.
    pub control: Control,
    /// Two gaps are equal if they differ by less than this share of the larger gap (δ).
    pub tolerance: f64,
    /// Two gaps are also equal if they differ by at most this value, in the unit of the gaps.
    pub slack: f64,
    /// Whether the search jumps as the program intends.
    pub jumps: bool,
}

/// The result of a probing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The sending gap at which the search stopped.
    pub source_gap: f64,
    /// The gap with which the trains of that sending gap arrived. The packet transmission rate is a packet's bits divided by this gap.
    pub destination_gap: f64,
    /// The number of gaps that were tried, including the gap of a burst.
    pub gaps: u64,
    /// The number of trains that were sent.
    pub trains: u64,
}

impl Probing {
    /// Probes until the condition to stop holds. Returns the result.
    ///
    /// # Errors
    /// Less than 0.01 % available, or a tolerance that is below 0, or 1 or more.
    pub fn turn(&self) -> Result<Turn, ModelError> {
        let available = self.train.available;
        refuse_unless(available >= MIN_AVAILABLE, "available", available, "0.01 % and more is")?;
        let tolerance = self.tolerance;
        refuse_unless(
            (0.0..1.0).contains(&tolerance),
            "tolerance",
            tolerance,
            "a share from 0 to under 1 is",
        )?;
        Ok(match self.control {
            Control::Program => self.program(),
            Control::Paper => self.paper(),
        })
    }

    fn is_equal(&self, source: f64, destination: f64) -> bool {
        let grown = destination - source;
        grown <= self.slack || grown < self.tolerance * destination.max(source)
    }

    fn paper(&self) -> Turn {
        let unit = self.train.capacity_gap;
        // The train that showed `g_B` counts as the first.
        let (mut gap, mut gaps) = (unit / 2.0, 2);
        while !self.is_equal(gap, self.train.destination_gap(gap)) {
            gap += unit / 8.0;
            gaps += 1;
        }
        self.turned(gap, gaps, 1)
    }

    fn program(&self) -> Turn {
        let burst = self.train.destination_gap(0.0);
        let (mut base, step) = (burst / 2.0, burst / 4.0);
        let (mut gap, mut gaps, mut equal) = (0.0, 1, None);
        loop {
            let arrived = self.train.destination_gap(gap);
            if !self.is_equal(gap, arrived) {
                equal = None;
            } else if let Some(first) = equal {
                return self.turned(first, gaps, 3);
            } else {
                equal = Some(gap);
            }
            if self.jumps && gaps > 1 && arrived >= JUMPS_FROM * gap {
                base = f64::midpoint(gap, arrived).max(base);
            }
            base += step;
            gap = base;
            gaps += 1;
        }
    }

    fn turned(&self, gap: f64, gaps: u64, repeats: u64) -> Turn {
        let destination_gap = self.train.destination_gap(gap);
        Turn { source_gap: gap, destination_gap, gaps, trains: gaps * repeats }
    }
}
