//! Traces: what a controller was told and what it decided, one JSON object a line.
//!
//! The first line is the [`Header`] (`"event":"trace"`): what was run. Each further line with `"event":"told"` is
//! one call of the host, in order: `call` is the event with all that it carries, `path` the connection as it was
//! then, `plan` what the controller wanted from then on, `notes` what it did. Of `path` and `plan` a line holds only
//! what differs from the line before; the first holds all. An ACK's or a loss's line may have `judged`: what the
//! controller filled in before a scheme heard of it, for hosts that run a scheme without a controller to be held to. Lines with another `event` may stand between them and are
//! passed over. Times are nanoseconds (`_ns`), rates IP bits per second (`_bps`), everything else bytes.
//!
//! A trace is open-loop: replayed to another scheme it says what that would have decided on hearing the same.

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
    /// The version of Firstflight that wrote it.
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
