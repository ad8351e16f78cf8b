//! Available bandwidth by packet trains: PTR and IGI after Hu and Steenkiste, *Evaluation and characterization of
//! available bandwidth probing techniques* (JSAC 2003), section 4.
//!
//! A [`Prober`] is a deterministic state machine, as a start-up scheme is: [`Event`]s in, a [`Plan`] out. It has no clock,
//! socket, timer or randomness. A host sends the [`Train`] of the plan, tells the prober of each departure and of each
//! arrival at the far end, and asks for the plan again. A simulated host and a host with sockets differ in nothing else.
//!
//! - A train is faster than the bandwidth available if its packets arrive further apart than they left. The *turning point* is
//!   the least source gap at which packets arrive as far apart as they left.
//! - *PTR* (packet transmission rate) is the rate at which the train of the turning point arrived.
//! - *IGI* (initial gap increasing) is the capacity less the rate of other traffic, which the increased gaps of the train of the
//!   turning point tell.
//!
//! [`Control`] says how the source gaps are chosen. docs/probe.md says how accurate the estimates are.
#![no_std]

mod control;
mod estimate;
mod measured;
mod prober;
mod search;

pub use control::{Control, Faulty, Setting};
pub use estimate::{Ending, Estimate};
pub use measured::{MOST_PACKETS, Measured, Verdict};
pub use prober::{Event, Plan, Prober, Train};
