//! Measures the available bandwidth with packet trains by the methods PTR and IGI of Hu and Steenkiste, *Evaluation and characterization of
//! available bandwidth probing techniques* (JSAC 2003), section 4.
//!
//! A [`Prober`] is a deterministic state machine, as a start-up scheme is. Its input are [`Event`]s, its output is a [`Plan`]. It has no
//! clock, socket, timer or randomness. A host sends the [`Train`] of the plan, reports each transmission and each arrival at the receiver
//! to the prober, and then reads the plan again. Simulated hosts and hosts with sockets use it in the same way.
//!
//! - A train is faster than the available bandwidth if its packets arrive further apart than they were sent. The *turning point* is the
//!   minimum gap at the sender at which packets arrive as far apart as they were sent.
//! - *PTR* (packet transmission rate) is the arrival rate of the train at the turning point.
//! - *IGI* (initial gap increasing) is the capacity minus the rate of other traffic, which is computed from the increased gaps of that
//!   train.
//!
//! [`Control`] defines how the source gaps are chosen. docs/guide/probe.md has the accuracy of the estimates.

mod control;
mod estimate;
mod measured;
mod prober;
mod search;

pub use control::{Control, Faulty, Setting};
pub use estimate::{Ending, Estimate};
pub use measured::{MAX_PACKETS, Measured, Verdict};
pub use prober::{Event, Plan, Prober, Train};
