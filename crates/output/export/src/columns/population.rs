//! The fields of the rows of populations and of their flows.

use firstflight_measure::{Column, FlowRow, PopulationRow, count, joined};

use crate::record::Record;

/// The fields that only the rows of populations and of their flows have.
pub const POPULATION_COLUMNS: &[Column] = {
    const ALL: &[&[Column]] = &[PopulationRow::COLUMNS, FlowRow::COLUMNS];
    &joined::<{ count(ALL) }>(ALL)
};

/// Checks whether the records are the schemes of a population.
pub fn is_population(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("flows"))
}

/// Checks whether the records are the flows of a population.
pub fn is_flows(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("measured"))
}
