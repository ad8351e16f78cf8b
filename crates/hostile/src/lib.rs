//! Hostile networks, peers and inputs: the laws that hold whatever arrives, as code.
//!
//! Each target makes a scenario from arbitrary bytes and checks it against the laws of its subject; a broken law
//! panics. Three callers use the same bodies: property tests, the replay of every file of `fuzz/corpus` (both are
//! tests of this crate, on stable), and the fuzzers in `fuzz`. `docs/laws.md` states the laws in words.
//!
//! Any bytes are a scenario. A [`Source`] that has run dry gives zeros, and zero is the tamest choice everywhere.

#![expect(clippy::missing_panics_doc, reason = "a body panics if a law is broken: that is what it is for")]

mod capture;
pub mod conformance;
mod endpoint;
mod flow;
pub mod hiding;
// Core's own tests have these two files: the packets in flight of a test host, and the law on notes. They stand in core,
// because core's tests may need nothing of this crate, which needs the simulator.
#[allow(dead_code, reason = "each host uses its own part")]
#[path = "../../core/tests/it/common/in_flight.rs"]
mod in_flight;
#[path = "../../core/tests/it/common/ledger.rs"]
mod ledger;
pub mod packet_host;
mod pair;
mod peer;
mod quick_start;
mod readers;
mod schemes;
mod source;
mod trace;

pub use capture::capture_reader;
pub use endpoint::endpoint_segments;
pub use pair::two_endpoints;
pub use quick_start::quick_start_options;
pub use readers::{packetdrill_script, toml_reader, units, wire_decode};
pub use schemes::{scheme_events, told_at_random};
pub use source::Source;
pub use trace::trace_reader;

/// A body: panics if the scenario that the bytes make breaks a law.
pub type Body = fn(&[u8]);

/// Every target by the name of its fuzzer and its corpus.
pub const TARGETS: [(&str, Body); 10] = [
    ("scheme_events", scheme_events),
    ("endpoint_segments", endpoint_segments),
    ("two_endpoints", two_endpoints),
    ("quick_start_options", quick_start_options),
    ("toml_reader", toml_reader),
    ("units", units),
    ("packetdrill_script", packetdrill_script),
    ("wire_decode", wire_decode),
    ("capture_reader", capture_reader),
    ("trace_reader", trace_reader),
];
