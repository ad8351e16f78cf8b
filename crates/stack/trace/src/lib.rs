//! Traces of a controller: the calls that it received and its decisions, one JSON object per line.
//!
//! The first line is the [`Header`] (`"event":"trace"`): the start-up scheme, the restart policy, the avoidance law and their settings.
//! Each further line with `"event":"record"` is one call of the host, in order. `call` is the event with all its values, `path` the state
//! of the connection at the call, `plan` the controller's plan after the call, and `notes` the controller's actions. `path` and `plan` hold
//! only the fields that differ from the previous line; the first line holds all fields. The line of an ACK or a loss may have `judged`: the
//! values that the controller added to the event before it passed the event to a scheme. They serve to check a host that runs a scheme
//! without a controller. Readers skip lines with any other `event`. Times are in nanoseconds (`_ns`), rates in IP bits per second (`_bps`),
//! everything else in bytes.
//!
//! [`Hosts`] says whether a host runs a whole controller or a single part. [`Departures`] says whether it reports sent packets late.
//!
//! A trace is open-loop: if it is replayed to another scheme, it shows what that scheme would have decided on the same events.

mod delta;
mod quoted;
mod read;
mod shapes;
mod write;

pub use quoted::{in_a_line, in_lines, is_printable};
pub use read::{Calls, TraceError, read};
pub use write::Writer;

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const FORMAT: u32 = 2;

/// The controller that was run, and its settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the format: [`FORMAT`].
    pub format: u32,
    /// The version of Firstflight that wrote the trace.
    pub version: String,
    /// The start-up scheme with its parameters, in the syntax of `--schemes`.
    pub scheme: String,
    /// The restart policy, in the syntax of `--restart`.
    pub restart: String,
    /// The name of the avoidance law.
    pub avoidance: String,
    /// The initial window in segments.
    pub iw_segments: u32,
    /// The initial slow-start threshold in bytes; `null` if there is none.
    pub ssthresh_bytes: Option<u64>,
    /// The part of a controller that the host runs. Not written for a whole controller.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hosts: Hosts,
    /// When the host reports sent packets. Not written if it reports them at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub departures: Departures,
}

/// Value of [`Header::scheme`], [`Header::restart`] and [`Header::avoidance`] for a part that the host does not run.
pub const NOT_HOSTED: &str = "none";

/// The part of a controller that a host runs.
///
/// A host can run a scheme or a policy alone, with the part of the controller that judges its ACKs. It then also records how the scheme or
/// policy exits. While this part gives no plan, the `plan` of the line is the host's own plan: its congestion window, sent on the ACK clock
/// without pacing. The line of an exit has the window and threshold that the host learned from it. The rate of a plan has a burst of 0,
/// because these hosts use no bursts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hosts {
    /// A whole controller: a start-up scheme, a restart policy and an avoidance law.
    #[default]
    Controller,
    /// A start-up scheme until its exit. Its first plan is in the line after `established`.
    Startup,
    /// A restart policy. It observes all events, and is active from a `begin` after an idle time until its exit.
    Restart,
}

/// When a host reports sent packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Departures {
    /// At the time when each packet is sent.
    #[default]
    AtOnce,
    /// With the next ACK: one `sent` without a packet number reports all packets sent since the previous ACK. Other calls that were due,
    /// such as a wake-up, are reported at this time too. The line of the `sent` has the previous plan; the `plan` call after it requests
    /// the new plan.
    WithAcks,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The examples in `README.md`, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
