//! Hostile networks, peers and inputs. The laws that must hold for any input are code here.
//!
//! Each target makes a scenario from arbitrary bytes and checks the scenario against the laws of the target's subject. It panics if a law
//! is broken. The same targets run in three places: in property tests, in the replay of every file of `fuzz/corpus` (both are tests of this
//! crate, on stable Rust), and in the fuzzers in `fuzz`. `docs/reference/laws.md` states the laws in words.
//!
//! Any bytes make a scenario. A [`Source`] that has no bytes left returns zeros, and zero is always the choice with the smallest effect.

#![expect(clippy::missing_panics_doc, reason = "a body panics if a law is broken: that is what it is for")]

mod capture;
mod endpoint;
mod flow;
pub mod hiding;
// The tests of `core` share these two files: the packets in flight of a test host, and the law on notes. The files are in `core` because
// its tests must not depend on this crate, which depends on the simulator.
#[allow(dead_code, reason = "each host uses its own part")]
#[path = "../../../crates/library/core/tests/it/common/in_flight.rs"]
mod in_flight;
#[path = "../../../crates/library/core/tests/it/common/ledger.rs"]
mod ledger;
pub mod packet_host;
mod pair;
mod peer;
mod qlog;
mod quick_start;
mod readers;
mod schemes;
mod source;
mod trace;

pub use capture::capture_reader;
pub use endpoint::endpoint_segments;
pub use flow::Broken;
pub use pair::two_endpoints;
pub use qlog::qlog_reader;
pub use quick_start::quick_start_options;
pub use readers::{packetdrill_script, toml_reader, units, wire_decode};
pub use schemes::{random_calls, scheme_events};
pub use source::Source;
pub use trace::trace_reader;

/// A target's body. It panics if the scenario that the bytes make breaks a law.
pub type Body = fn(&[u8]);

/// Every target, with the name that its fuzzer and its corpus have.
pub const TARGETS: [(&str, Body); 11] = [
    ("scheme_events", scheme_events),
    ("endpoint_segments", endpoint_segments),
    ("two_endpoints", two_endpoints),
    ("quick_start_options", quick_start_options),
    ("toml_reader", toml_reader),
    ("units", units),
    ("packetdrill_script", packetdrill_script),
    ("wire_decode", wire_decode),
    ("capture_reader", capture_reader),
    ("qlog_reader", qlog_reader),
    ("trace_reader", trace_reader),
];
