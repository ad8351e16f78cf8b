//! The results of a race: the rows of each scheme.

use crate::population_row::{FlowRow, PopulationRow};
use crate::row::Row;

/// What a race says of one scheme.
#[derive(Clone, Debug)]
pub struct SchemeResult {
    /// What its rows are called: the label, or the scheme's name.
    pub name: String,
    /// One row a run, in order of seeds; fewer if the race was interrupted.
    pub rows: Vec<Row>,
    /// The first run's ideal, where the others come and go: it is no scheme's own, but that of the run without the measured
    /// flow.
    pub ideal: Option<Vec<(u64, u64)>>,
}

/// What the populations say of one scheme, alone or mixed with others.
#[derive(Clone, Debug)]
pub struct PopulationResult {
    /// What its rows are called: the label, or the scheme's name.
    pub name: String,
    /// One row a run, in order of seeds; fewer if it was interrupted.
    pub rows: Vec<PopulationRow>,
    /// Every flow of the scheme, by run and arrival; empty unless they were asked for.
    pub flows: Vec<FlowRow>,
}
