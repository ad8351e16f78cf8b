//! Results of one start-up, and the columns of its row.

use firstflight_export::columns::{Column, Kind};
use firstflight_export::rows;
use firstflight_export::{Record, RecordError};
use firstflight_inspect::Found;
use serde::Serialize;

/// Start-up of a connection of this host. It has the results that a capture at this host would give ([`Found`]), and results that only its
/// kernel knows. A result that is undefined is `None`, and `undefined` gives the reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Start {
    /// Unique number of the socket: the kernel's socket cookie, as `ss -e` shows it (`sk:`, hexadecimal there).
    pub socket: u64,
    /// The inode of the socket's network namespace.
    pub namespace: u32,
    /// The prefix of the destination's address.
    pub prefix: String,
    /// The first congestion control that sent a segment of 1,200 bytes or more; before that a program may send a greeting. If there is none,
    /// the one that sent most, or the last one if the connection sent no payload before it reached its threshold.
    pub congestion_control: String,
    /// The congestion control at the end, if it differs from `congestion_control` because a scheme handed over or the program changed it.
    pub congestion_control_later: Option<String>,
    /// Whether the connection was open when the row was written.
    pub is_open: bool,
    /// The delivery rate in the round in which start-up ended, in bits of payload per second:
    /// [`delivery_rate_bps`](firstflight_inspect::FoundRound::delivery_rate_bps).
    pub exit_rate_bps: Option<f64>,
    /// The congestion window just before start-up ended in the kernel. If ssthresh was infinite at first, this is when it first became
    /// finite. Otherwise, it is when the window first reached ssthresh.
    pub kernel_exit_cwnd_segments: Option<u32>,
    /// The slow start threshold at that time.
    pub kernel_exit_ssthresh_segments: Option<u32>,
    /// The state of the congestion control at that time: `open` (exit by a delay or an ACK train), `disorder`, `cwr` (a mark), `recovery`
    /// (a loss) or `loss` (a timeout).
    pub kernel_exit_state: Option<&'static str>,
    /// The congestion window when the connection's FIN was sent. Without a FIN, the last window that the kernel reported.
    pub cwnd_segments: u32,
    /// The slow start threshold at the time of `cwnd_segments`; `None` if it is infinite.
    pub ssthresh_segments: Option<u32>,
    /// Number of retransmitted segments in the kernel's statistics; `None` for an open connection.
    pub kernel_retransmitted_segments: Option<u32>,
    /// Number of retransmissions after the handshake that the kernel's statistics contain but no event reported; `None` for an open
    /// connection.
    pub unseen_retransmissions: Option<u64>,
    /// Number of segments with data that the kernel's statistics contain but that were not seen to leave; `None` for an open connection. A
    /// queue of this host may have dropped them.
    pub unseen_segments: Option<u32>,
    /// Number of the connection's events that the kernel could not report because the ring buffer was full. Above 0, all other numbers are
    /// doubtful.
    pub facts_lost: u32,
    /// Results that a capture would give.
    #[serde(flatten)]
    pub found: Found,
}

const fn column(name: &'static str, unit: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, unit, kind, meaning }
}

/// Columns of a start-up's row in addition to the columns of a sender in a capture, in the order of [`Start`].
pub const COLUMNS: &[Column] = &[
    column("socket", "", Kind::Whole, "The kernel's socket cookie."),
    column("namespace", "", Kind::Whole, "The inode of the socket's network namespace."),
    column("prefix", "", Kind::Text, "The destination's prefix."),
    column(
        "congestion_control",
        "",
        Kind::Text,
        "The first congestion control that sent a segment of 1,200 bytes or more.",
    ),
    column(
        "congestion_control_later",
        "",
        Kind::Text,
        "The congestion control at the end, if it is another.",
    ),
    column("is_open", "", Kind::Truth, "Whether the connection was open when the row was written."),
    column(
        "exit_rate_bps",
        "bit/s",
        Kind::Real,
        "The rate at which payload was delivered in the round trip in which start-up ended.",
    ),
    column(
        "kernel_exit_cwnd_segments",
        "segments",
        Kind::Whole,
        "The kernel's congestion window before its threshold of slow start first became finite, or before the window first reached one \
         that was finite from the beginning.",
    ),
    column("kernel_exit_ssthresh_segments", "segments", Kind::Whole, "The threshold then."),
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
        Kind::Whole,
        "The congestion window when the connection's end (its FIN) was sent; without a FIN, when the kernel last reported it.",
    ),
    column("ssthresh_segments", "segments", Kind::Whole, "The threshold then; null if it is infinite."),
    column(
        "kernel_retransmitted_segments",
        "segments",
        Kind::Whole,
        "Segments retransmitted, as the kernel counts them; null for an open connection.",
    ),
    column(
        "unseen_retransmissions",
        "segments",
        Kind::Whole,
        "The retransmissions after the handshake that the kernel counts and no fact reports; null for an open connection.",
    ),
    column(
        "unseen_segments",
        "segments",
        Kind::Whole,
        "The segments with data after the handshake that the kernel counts and that did not pass its network devices, or unseen: a \
         queue of the host may have dropped them; null for an open connection.",
    ),
    column("facts_lost", "", Kind::Whole, "Facts of the connection that found no room in the ring."),
];

/// Returns all columns of a start-up's row.
pub fn columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().chain(rows::columns().filter(|column| column.name != "file"))
}

/// Returns a start-up's row: its values without the lists of rounds and restarts.
///
/// # Errors
/// Fails only if [`Start`] does not serialize to a row, which is a bug.
pub fn record(start: &mut Start) -> Result<Record, RecordError> {
    let lists = (std::mem::take(&mut start.found.rounds), std::mem::take(&mut start.found.idle_restarts));
    let value = serde_json::to_value(&*start);
    (start.found.rounds, start.found.idle_restarts) = lists;
    match value? {
        serde_json::Value::Object(record) => Ok(record),
        _ => Err(RecordError::NotAnObject),
    }
}
