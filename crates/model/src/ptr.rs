//! Packet transmission rate (PTR) probing, the estimator that Paced Start is made from: Hu and Steenkiste, *Evaluation
//! and characterization of available bandwidth probing techniques* (JSAC 2003), and its program, version 2.2. Over the
//! packet-train model ([`super::paced`]) it is the oracle for what a search by trains can find.
//!
//! Trains leave with a growing gap until they arrive with the gap they left with. The rate at which the first of these
//! arrived is the answer. Paper and program differ (choice-10):
//!
//! | | program | paper |
//! |---|---|---|
//! | first gap, step | `g_B` after a burst, 3/4 and 1/4 of it | 1/2 and 1/8 of `g_B` |
//! | equal | grew by at most 5 µs | grew by less than 10 % of the greater |
//! | stops | at the second equal gap in a row | at the first |
//! | trains for each gap | 3 | 1 |
//!
//! The program also means to jump halfway to the gap of arrival when that is half as large again as the gap of departure.
//! It divides the sum of three means by the number of packets, 60, and so never does; `jumps` is what it means.
//! The burst is compared too: where a packet takes 5 µs or less at capacity, the program takes the capacity for available
//! unless three quarters of that gap show otherwise.

use super::error::{ModelError, refuse_unless};
use super::paced::Train;

/// The least available share: less would take too many trains.
const LEAST_AVAILABLE: f64 = 0.0001;
/// Version 2.2: the factor by which one gap must exceed the other for a jump.
const JUMPS_FROM: f64 = 1.5;

/// The control loop: the paper's or the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The program's, version 2.2.
    Program,
    /// The paper's.
    Paper,
}

/// A probing of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probing {
    /// The path.
    pub train: Train,
    /// The choice of gaps and the condition to stop.
    pub control: Control,
    /// Two gaps are equal if they differ by less than this share of the greater (δ).
    pub tolerance: f64,
    /// Two gaps are also equal if they differ by no more than this, in the unit of the gaps.
    pub slack: f64,
    /// Whether the program's intended jump is made.
    pub jumps: bool,
}

/// The result of a probing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The gap that was found.
    pub source_gap: f64,
    /// The gap with which the trains of that gap arrived. A packet's bits over it are the packet transmission rate.
    pub destination_gap: f64,
    /// The number of gaps tried, a burst's included.
    pub gaps: u64,
    /// Trains sent.
    pub trains: u64,
}

impl Probing {
    /// Probes until the loop stops.
    ///
    /// # Errors
    /// Less than 0.01 % available, or a tolerance that is not from 0 to under 1.
    pub fn turn(&self) -> Result<Turn, ModelError> {
        let available = self.train.available;
        refuse_unless(available >= LEAST_AVAILABLE, "available", available, "0.01 % and more is")?;
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
        // The train that showed `g_B` is the first.
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
