//! Events and decisions of schemes in a kernel, as traces with which `firstflight replay` compares the native
//! schemes.

#[path = "../../bpf/src/facts.rs"]
#[expect(clippy::inline_always, unreachable_pub, reason = "written for BPF")]
mod facts;
#[path = "../../bpf/src/hosted.rs"]
#[expect(
    clippy::inline_always,
    unreachable_pub,
    dead_code,
    reason = "written for BPF; of it the trains are wanted"
)]
mod hosted;
mod record;
mod trace;

pub use facts::{Decision, Facts, Kind};
pub use record::{Record, records};
pub use trace::{Trace, traces};
