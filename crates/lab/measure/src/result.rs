//! The results of a race: the rows of each scheme.

use crate::population_row::{FlowRow, PopulationRow};
use crate::probe_row::{ProbeRow, TrainRow};
use crate::row::Row;

/// The results of one scheme in a race.
#[derive(Clone, Debug)]
pub struct SchemeResult {
    /// The scheme's name in rows: its label or, without one, the scheme's own name.
    pub name: String,
    /// One row for each run, in order of seeds. An interrupted race has fewer rows.
    pub rows: Vec<Row>,
    /// The first run's ideal stream, if the other traffic varies. It is computed from the run without the measured flow, so that all
    /// schemes share it.
    pub ideal: Option<Vec<(u64, u64)>>,
}

/// The results of one scheme in populations, alone or mixed with others.
#[derive(Clone, Debug)]
pub struct PopulationResult {
    /// The scheme's name in rows: its label or, without one, the scheme's own name.
    pub name: String,
    /// One row for each run, in order of seeds. An interrupted command has fewer rows.
    pub rows: Vec<PopulationRow>,
    /// Every flow of the scheme, in order of runs and then of arrivals; empty unless flows were requested.
    pub flows: Vec<FlowRow>,
}

/// The results of probing a path.
#[derive(Clone, Debug, Default)]
pub struct ProbeResult {
    /// One row for each run, in order of seeds. An interrupted command has fewer rows.
    pub rows: Vec<ProbeRow>,
    /// The trains, in order of runs and then of transmission.
    pub trains: Vec<TrainRow>,
}
