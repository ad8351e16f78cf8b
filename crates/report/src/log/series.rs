//! Series over time of many flows and runs, in one tidy table: states, or rates in slots of time.
//!
//! While runs go on, each writes its rows to a nameless file of its own. [`Series::finish`] joins them in the order of the
//! runs, so that neither the number of threads nor the number of flows shows in the table or in memory.

mod slots;
mod spool;
mod states;
mod table;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use firstflight::{Span, Time};
use firstflight_measure::Tap;

pub use self::slots::SLOT_COLUMNS;
pub use self::states::SERIES_COLUMNS;

use self::slots::SlotTap;
use self::spool::Spool;
use self::states::StateTap;
use self::table::{Cells, Table};
use super::naming::naming;

/// Whose rows they are, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesRun {
    /// The place of the run's group: of the scheme in the list; the mixed population's is behind all.
    pub group: usize,
    /// The seed of the run.
    pub seed: u64,
    /// What rows call the population; empty in a race.
    pub population: String,
}

/// Slots of time, and the links whose rates they have beside the flows'.
#[derive(Clone, Debug)]
pub struct Slots {
    /// How long a slot is.
    pub length: Span,
    /// The names of the links.
    pub links: Vec<String>,
}

/// The series of all runs, on their way to a file.
pub struct Series {
    path: PathBuf,
    /// The names of schemes, which rows refer to.
    names: Vec<String>,
    /// The slots; `None` for states.
    slots: Option<Slots>,
    runs: Mutex<BTreeMap<SeriesRun, Arc<Mutex<Spool>>>>,
}

impl Series {
    /// Series of these schemes for the file at `path`: CSV if its name ends with `.csv`, else Parquet. The rows are rates in
    /// `slots`, or without them states.
    pub fn new(path: &Path, names: Vec<String>, slots: Option<Slots>) -> Self {
        Self { path: path.to_path_buf(), names, slots, runs: Mutex::default() }
    }

    /// The tap of a flow of a run. `scheme` is the place of its name.
    ///
    /// # Errors
    /// A file that cannot be made beside the table's.
    pub fn tap(&self, run: &SeriesRun, scheme: usize, flow: u32) -> io::Result<Box<dyn Tap>> {
        let spool = self.spool(run)?;
        Ok(match &self.slots {
            Some(slots) => Box::new(SlotTap::new(spool, slots.length, scheme, flow)),
            None => Box::new(StateTap::new(spool, scheme, flow)),
        })
    }

    /// Adds what a link sent in the slot that begins at `from`. `link` is the place of its name, and `scheme` that of the flows'
    /// scheme; `None` if they have several.
    ///
    /// # Errors
    /// A file that cannot be made beside the table's, or not be written.
    pub fn link_slot(
        &self,
        run: &SeriesRun,
        scheme: Option<usize>,
        link: usize,
        (from, bits): (Time, u64),
    ) -> io::Result<()> {
        let spool = self.spool(run)?;
        let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
        spool.add(&slots::link_row(from, scheme, link, bits)).map_err(|error| naming(&self.path, &error))
    }

    /// Writes the table.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let Self { path, names, slots, runs } = self;
        let runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut table = Table::new(&path, slots.as_ref().map_or(SERIES_COLUMNS, |_| SLOT_COLUMNS))?;
        for (run, spool) in runs {
            let named = Named { run: &run, schemes: &names };
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            let mut take = |numbers: &[u64]| {
                table.add(&match &slots {
                    Some(Slots { length, links }) => slots::cells(&named, *length, links, numbers),
                    None => states::cells(&named, numbers),
                })
            };
            spool.read(&mut take).map_err(|error| naming(&path, &error))?;
        }
        table.end()?.commit().map_err(|error| naming(&path, &error.source))
    }

    /// The file of a run's rows.
    fn spool(&self, run: &SeriesRun) -> io::Result<Arc<Mutex<Spool>>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spool) = runs.get(run) {
            return Ok(Arc::clone(spool));
        }
        let numbers = if self.slots.is_some() { slots::NUMBERS } else { states::NUMBERS };
        let spool = Spool::beside(&self.path, numbers).map_err(|error| naming(&self.path, &error))?;
        let spool = Arc::new(Mutex::new(spool));
        runs.insert(run.clone(), Arc::clone(&spool));
        Ok(spool)
    }
}

/// A number that is none.
const NONE: u64 = u64::MAX;

fn known(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number != NONE)
}

/// What the rows of a run are named by.
struct Named<'a> {
    run: &'a SeriesRun,
    /// The names of schemes.
    schemes: &'a [String],
}

impl Named<'_> {
    /// The cells of the scheme, the population and the seed, for rows whose schemes have these places.
    fn cells(&self, schemes: &[u64]) -> [Cells; 3] {
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
