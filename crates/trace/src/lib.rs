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
//! A host may have a part of a controller alone, and may tell of departures afterwards: [`Hosts`] and [`Departures`].
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
    /// How much of a controller the host has. Not written of a whole one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hosts: Hosts,
    /// When the host tells of packets that left. Not written where it tells at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub departures: Departures,
}

/// What stands in [`Header::scheme`], [`Header::restart`] and [`Header::avoidance`] for what the host does not have.
pub const NOT_HOSTED: &str = "none";

/// How much of a controller a host has.
///
/// A host of a part alone has the scheme or the policy with the judge of its ACKs, and notes how the part exits. Where the part
/// gives no plan the line has the host's own: its window, on the ACK clock. The line of an exit has the window and the threshold
/// that were learned. A plan's rate has no burst (0), for the host takes none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hosts {
    /// A start-up, a restart policy and an avoidance law.
    #[default]
    Controller,
    /// A start-up scheme, until its exit. Its first plan is that after `established`.
    Startup,
    /// A restart policy, which overhears all and governs from a `begin` after an idle time to its exit.
    Restart,
}

/// When a host tells of packets that left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Departures {
    /// When each leaves.
    #[default]
    AtOnce,
    /// With the next ACK, all of them as one `sent` without a number; what is due meanwhile, such as a wake-up, is told then too.
    /// The plan is asked for by `plan` after a `sent`, whose line has the plan before.
    WithAcks,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
