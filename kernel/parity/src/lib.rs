//! What schemes were told and decided in a kernel, as traces that `firstflight replay` holds the native schemes to.

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

pub use facts::{Facts, Kind, Told};
pub use record::{Record, records};
pub use trace::{Trace, traces};
