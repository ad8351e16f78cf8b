//! Runs with real packets: a program of this crate at each end of an emulated path.

mod kernel;
mod live;
mod probing;
mod running;
mod words;

pub use running::inside;
pub(crate) use running::{on_sockets, probe, probed, refusal, run};
