//! Closed-form models of start-up: what the papers' equations say, without a simulation.
//!
//! - [`Transfer`]: transfer times with slow start and with Quick-Start (Scharf 2007, equations 1 to 6 and 13).
//! - [`Admission`]: how often a Quick-Start request succeeds, and the mean transfer time (equations 8 to 12).
//! - [`Ring`]: how long and in how many slots a router remembers approvals (equation 7).
//! - [`Train`] and [`paced`]: the packet-train gap model, and what Paced Start makes of it (Hu and Steenkiste 2003,
//!   section 3.2.3 and Table 2).
//! - [`ptr`]: the estimator behind it, packet transmission rate probing, over the same model.
//! - [`LimitedGrowth`]: limited slow start's time to a window (RFC 3742).
//!
//! Each is plain arithmetic on doubles in SI units (bit/s, seconds, bytes), with `exp`, `ln`, `erfc` and `lgamma`
//! from `libm`, so that the bytes agree on every machine. Every input is checked: what makes no sense is refused by
//! its name ([`ModelError`]). [`MODELS`] describes them to the command line, as data.

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

pub use admission::{Admission, Approval, MOST_HALVINGS, MeanTime};
pub use catalog::{Cell, Model, Row, Unit, Value, object};
pub use entries::MODELS;
pub use error::ModelError;
pub use limited::{Division, Growth, LimitedGrowth};
pub use paced::Train;
pub use ring::Ring;
pub use settings::{Parameter, Quantity, Settings};
pub use sweep::{Sweep, SweepError};
pub use transfer::{QuickStartTime, SlowStartTime, SmallTransfers, Transfer};
