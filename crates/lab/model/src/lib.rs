//! Closed-form models of start-up: the equations of papers, evaluated without a simulation.
//!
//! - [`Transfer`]: transfer times with slow start and with Quick-Start (Scharf 2007, equations 1 to 6 and 13).
//! - [`Admission`]: the success probability of a Quick-Start request, and the mean transfer time (equations 8 to 12).
//! - [`Ring`]: the time for which a router remembers approvals, and its number of slots (equation 7).
//! - [`Train`] and [`paced`]: the packet-train gap model, and Paced Start's search in this model (Hu and Steenkiste 2003, section 3.2.3 and
//!   Table 2).
//! - [`ptr`]: packet transmission rate probing, the estimator from which Paced Start is derived, over the same model.
//! - [`LimitedGrowth`]: the time that limited slow start takes to reach a window (RFC 3742).
//!
//! Each model is plain arithmetic on doubles in SI units (bit/s, seconds, bytes). `exp`, `ln`, `erfc` and `lgamma` are those of `libm`, so
//! that results are equal to the byte on every machine. Every input is checked, and the error for an invalid input names it
//! ([`ModelError`]). [`MODELS`] describes the models as data for the command line.

mod admission;
mod catalog;
mod entries;
mod error;
mod limited;
pub mod paced;
pub mod ptr;
mod ring;
mod settings;
mod sweep;
mod transfer;

#[cfg(test)]
mod tests;

pub use admission::{Admission, Approval, MAX_HALVINGS, MeanTime};
pub use catalog::{Cell, Model, Row, Unit, Value, object};
pub use entries::MODELS;
pub use error::ModelError;
pub use limited::{Division, Growth, LimitedGrowth};
pub use paced::Train;
pub use ring::Ring;
pub use settings::{Parameter, Quantity, Settings};
pub use sweep::{Sweep, SweepError};
pub use transfer::{QuickStartTime, SlowStartTime, SmallTransfers, Transfer};
