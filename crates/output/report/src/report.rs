//! The contents of the HTML report.

use crate::html::drawn::Drawn;
use crate::inspected::Summed;
use firstflight_export::record::Record;

/// The subject of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Subject {
    /// A race in the simulator.
    #[default]
    Race,
    /// Connections of captures.
    Captures,
    /// Transfers over a real path, as observed at the sender.
    Transfers,
}

/// The contents of a report: a race, connections in captures, or transfers. A command builds it, and `html::render` renders it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The report's subject.
    pub subject: Subject,
    /// The path in words, as in `100 Mbit/s, 80 ms, queue of 1000 packets, 40 Mbit/s CBR across`.
    pub title: String,
    /// The command line that reproduces the report.
    pub command: String,
    /// The program's version.
    pub version: String,
    /// The seed of the runs that have plots.
    pub seed: u64,
    /// The hash of the scenario.
    pub scenario_hash: String,
    /// The scenario's canonical text. For captures, it is the files read and what was left out. For transfers, it is the files.
    pub scenario_text: String,
    /// The verdict: a headline, and one line for each note.
    pub verdict: String,
    /// The summary over all senders, if the report has captures with several senders.
    pub summary: Option<Summed>,
    /// The results as [`records`](firstflight_export::records) returns them, best first.
    pub rows: Vec<Record>,
    /// The data for the plots of runs, in the order of the rows. A row without data has no panel.
    pub drawn: Vec<Drawn>,
    /// The line of the ideal sender, as points joined by straight lines: (nanoseconds since the start of the simulation, payload bytes
    /// delivered).
    pub ideal: Vec<(u64, u64)>,
    /// The packets that the bottleneck's queue holds; `None` without a limit or without a known queue.
    pub queue_packets: Option<f64>,
}
