//! The logs of one flow, written while it runs: captures (pcapng), event logs (JSON lines) and qlogs.
//!
//! Each log is an observer, a [`firstflight_measure::Tap`]. A simulator or another host that runs a flow can therefore write it.

mod captures;
mod end_capture;
mod end_logs;
mod events;
mod flow;
mod names;
mod naming;
mod qlog;
mod qlog_schema;
mod series;
mod taps;

pub use captures::Captures;
pub use end_capture::CapturedEnds;
pub use end_logs::EndLogs;
pub use events::Events;
pub use flow::{LoggedEnd, LoggedFlow};
pub use names::{origin_name, phase_name};
pub use qlog::Qlog;
pub use qlog_schema::QlogSchema;
pub use series::{SERIES_COLUMNS, SLOT_COLUMNS, Series, SeriesRun, Slots};
pub use taps::{Folders, Taps};
