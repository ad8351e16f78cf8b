//! One start-up: what is told of it, and its columns.

use firstflight_inspect::Found;
use firstflight_report::columns::{Column, Kind};
use firstflight_report::inspected::rows;
use firstflight_report::{Record, RecordError};
use serde::Serialize;

/// How a connection of this host started: what a capture taken at this host would tell ([`Found`]), and what only its kernel knows.
/// `None` where a number is undefined, and `undefined` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Start {
    /// A number for the socket that no other has: the kernel's socket cookie, as `ss -e` shows it (`sk:`, hexadecimal there).
    pub socket: u64,
    /// The inode of the socket's network namespace.
    pub namespace: u32,
    /// The destination's prefix.
    pub prefix: String,
    /// The congestion control when the first full segment left, or when the connection was opened if none did.
    pub congestion_control: String,
    /// The congestion control at the end, if it is another: a scheme handed over, or the program changed it.
    pub congestion_control_later: Option<String>,
    /// Whether the connection was still open when this was told.
    pub is_open: bool,
    /// Payload acknowledged in the round trip in which start-up ended, over its length.
    pub exit_rate_bps: Option<f64>,
    /// The congestion window before the threshold of slow start first became finite, or before the window first reached one that was
    /// finite from the beginning.
    pub kernel_exit_cwnd_segments: Option<u32>,
    /// The threshold then.
    pub kernel_exit_ssthresh_segments: Option<u32>,
    /// The state of the congestion control then: `open` (a delay or a train of acknowledgements did it), `disorder`, `cwr` (a mark),
    /// `recovery` (a loss) or `loss` (a timeout).
    pub kernel_exit_state: Option<&'static str>,
    /// The congestion window when the connection's end (its FIN) left; without one when the kernel last told of it.
    pub cwnd_segments: u32,
    /// The threshold of slow start then; `None` if it is infinite.
    pub ssthresh_segments: Option<u32>,
    /// Segments sent again, as the kernel counts them; `None` of a connection that is open.
    pub kernel_retransmitted_segments: Option<u32>,
    /// Facts of the connection that found no room in the ring: numbers above 0 make all others doubtful.
    pub facts_lost: u32,
    /// What a capture would tell.
    #[serde(flatten)]
    pub found: Found,
}

const fn column(name: &'static str, unit: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, unit, kind, meaning }
}

/// The columns of a start-up besides those of a sender in a capture, in the order of [`Start`].
pub const COLUMNS: &[Column] = &[
    column("socket", "", Kind::Unsigned, "The kernel's socket cookie."),
    column("namespace", "", Kind::Unsigned, "The inode of the socket's network namespace."),
    column("prefix", "", Kind::Text, "The destination's prefix."),
    column(
        "congestion_control",
        "",
        Kind::Text,
        "The congestion control when the first full segment left, or when the connection was opened if none did.",
    ),
    column(
        "congestion_control_later",
        "",
        Kind::Text,
        "The congestion control at the end, if it is another.",
    ),
    column("is_open", "", Kind::Text, "Whether the connection was still open when this was told."),
    column(
        "exit_rate_bps",
        "bit/s",
        Kind::Real,
        "Payload acknowledged in the round trip in which start-up ended, over its length.",
    ),
    column(
        "kernel_exit_cwnd_segments",
        "segments",
        Kind::Unsigned,
        "The kernel's congestion window before its threshold of slow start first became finite, or before the window first reached one \
         that was finite from the beginning.",
    ),
    column("kernel_exit_ssthresh_segments", "segments", Kind::Unsigned, "The threshold then."),
    column(
        "kernel_exit_state",
        "",
        Kind::Text,
        "The state of the congestion control then: open (a delay or an ACK train did it), disorder, cwr (a mark), recovery (a loss), loss \
         (a timeout).",
    ),
    column(
        "cwnd_segments",
        "segments",
        Kind::Unsigned,
        "The congestion window when the connection's end (its FIN) left; without one when the kernel last told of it.",
    ),
    column("ssthresh_segments", "segments", Kind::Unsigned, "The threshold then; null if it is infinite."),
    column(
        "kernel_retransmitted_segments",
        "segments",
        Kind::Unsigned,
        "Segments sent again, as the kernel counts them; null of a connection that is open.",
    ),
    column("facts_lost", "", Kind::Unsigned, "Facts of the connection that found no room in the ring."),
];

/// The columns of a start-up's row.
pub fn columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().chain(rows::columns().filter(|column| column.name != "file"))
}

/// A start-up's row: its numbers without the lists.
///
/// # Errors
/// A defect of the types.
pub fn record(start: &mut Start) -> Result<Record, RecordError> {
    let lists = (std::mem::take(&mut start.found.rounds), std::mem::take(&mut start.found.idle_restarts));
    let value = serde_json::to_value(&*start);
    (start.found.rounds, start.found.idle_restarts) = lists;
    match value? {
        serde_json::Value::Object(record) => Ok(record),
        _ => Err(RecordError::NotAnObject),
    }
}
