//! Test vectors of start-up schemes: the events of a sender and the decisions of a right controller, as files for implementers of any
//! language (`vectors/`, docs/guide/vectors.md).
//!
//! Each vector is a script: a short program that drives a [host](Script) to the rule that it tests. The files are what the scripts give;
//! a test compares them, and checks each script against the laws of hosts.

mod host;
mod pipe;
mod scripts;
mod vector;

pub use host::{MSS, Script};
pub use scripts::all;
pub use vector::{Config, Expect, Step, Vector};
