//! Runs with real packets: a program of this crate at each end of an emulated path.

mod kernel;
mod live;
mod probing;
mod running;
mod web;
mod words;

pub use running::inside;
pub(crate) use running::{in_kernel, on_sockets, probe, probed, refusal, run};
pub(crate) use web::nginx;
pub(crate) use words::PORT;
