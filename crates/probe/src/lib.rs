//! Available bandwidth by packet trains: PTR and IGI after Hu and Steenkiste, *Evaluation and characterization of
//! available bandwidth probing techniques* (JSAC 2003), section 4.
//!
//! A [`Prober`] is a deterministic state machine, as a start-up scheme is: [`Event`]s in, a [`Plan`] out. It has no clock,
//! socket, timer or randomness. A host sends the [`Train`] of the plan, tells the prober of each departure and of each
//! arrival at the far end, and asks for the plan again. A simulated host and a host with sockets differ in nothing else.
//!
//! - A train whose packets arrive further apart than they left was faster than the bandwidth available. The least gap at
//!   which they arrive as they left is the *turning point*.
//! - *PTR* (packet transmission rate) is the rate at which the train of the turning point arrived.
//! - *IGI* (initial gap increasing) takes from the capacity what the increased gaps of that train say of other traffic.
//!
//! [`Control`] says how the gaps are chosen. docs/probe.md has what the estimates are worth.
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
