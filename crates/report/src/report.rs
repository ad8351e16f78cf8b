//! The contents of the HTML report.

use crate::html::Drawn;
use crate::inspected::Summed;
use crate::record::Record;

/// The subject of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Subject {
    /// A race in the simulator.
    #[default]
    Race,
    /// Connections of captures.
    Captures,
    /// Transfers over a real path, as their sender knows them.
    Transfers,
}

/// One race, the connections of captures or transfers, with all that the report shows. The command builds it, and `html::render`
/// renders it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The report's subject.
    pub subject: Subject,
    /// The path in words, as in `100 Mbit/s, 80 ms, queue of 1000 packets, 40 Mbit/s CBR across`.
    pub title: String,
    /// The command line that makes the report again.
    pub command: String,
    /// The program's version.
    pub version: String,
    /// The seed of the runs that are drawn.
    pub seed: u64,
    /// The hash of the scenario.
    pub scenario_hash: String,
    /// The scenario's canonical text. For captures: the files read, and what was left out. For transfers: the files.
    pub scenario_text: String,
    /// The verdict in one line.
    pub verdict: String,
    /// Of captures with several senders: all senders together.
    pub summary: Option<Summed>,
    /// The results, best first: [`crate::records`] of the rows.
    pub rows: Vec<Record>,
    /// The runs that are drawn, in the order of the rows. A row without one has no panel.
    pub drawn: Vec<Drawn>,
    /// The clairvoyant ideal: (nanoseconds since the start of the simulation, payload bytes delivered),
    /// joined by straight lines.
    pub ideal: Vec<(u64, u64)>,
}
