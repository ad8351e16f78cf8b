//! Traces: the calls that a controller got and its decisions, one JSON object a line.
//!
//! The first line is the [`Header`] (`"event":"trace"`): what was run. Each further line with `"event":"told"` is one
//! call of the host, in order. `call` is the event with all its values, `path` the connection at the call, `plan` the
//! plan after the call, and `notes` what the controller did. A line holds only those fields of `path` and `plan` that
//! differ from the line before; the first line holds all. The line of an ACK or a loss may have `judged`: the values
//! that the controller filled in before a scheme got the event. A host that runs a scheme without a controller can be
//! compared with them. Lines with another `event` may stand in between and are skipped. Times are nanoseconds
//! (`_ns`), rates IP bits per second (`_bps`), everything else bytes.
//!
//! A trace is open-loop: replayed to another scheme, it shows what that scheme would have decided on the same events.

mod delta;
mod read;
mod shapes;
mod write;

pub use read::{Calls, TraceError, read};
pub use write::Writer;

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const FORMAT: u32 = 2;

/// What was run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the format: [`FORMAT`].
    pub format: u32,
    /// The version of Firstflight that wrote the trace.
    pub version: String,
    /// The scheme with its parameters, as `--schemes` takes it.
    pub scheme: String,
    /// The restart policy, as `--restart` takes it.
    pub restart: String,
    /// The name of the avoidance law.
    pub avoidance: String,
    /// The initial window in segments.
    pub iw_segments: u32,
    /// The first slow-start threshold in bytes; `null` if there is none.
    pub ssthresh_bytes: Option<u64>,
}
