//! The run to which rows of a series belong.

use super::table::Cells;

/// The run to which rows belong. Runs are ordered by these fields in the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesRun {
    /// The index of the run's group, which is the index of its scheme in the list. The mixed population comes after all schemes.
    pub group: usize,
    /// The seed of the run.
    pub seed: u64,
    /// The population's name in rows; empty in a race.
    pub population: String,
}

/// The number that represents an absent value.
pub(super) const NONE: u64 = u64::MAX;

pub(super) fn known(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number != NONE)
}

/// A run, with the names to which its rows refer.
pub(super) struct Named<'a> {
    pub(super) run: &'a SeriesRun,
    /// The names of schemes.
    pub(super) schemes: &'a [String],
}

impl Named<'_> {
    /// Returns the cells of the columns scheme, population and seed. `schemes` has the scheme index of each row.
    pub(super) fn cells(&self, schemes: &[u64]) -> [Cells; 3] {
        let name =
            |scheme: &u64| usize::try_from(*scheme).ok().and_then(|place| self.schemes.get(place)).cloned();
        let population = (!self.run.population.is_empty()).then(|| self.run.population.clone());
        [
            Cells::Text(schemes.iter().map(name).collect()),
            Cells::Text(vec![population; schemes.len()]),
            Cells::Whole(vec![Some(self.run.seed); schemes.len()]),
        ]
    }
}
