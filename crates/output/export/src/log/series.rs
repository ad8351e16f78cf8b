//! Series over time of many flows and runs, in one tidy table. Its rows are states, or rates in slots of time.
//!
//! Each run writes its rows to its own temporary file. [`Series::finish`] joins these files in the order of the runs. The table therefore
//! does not depend on the number of threads, and memory does not grow with the number of flows.

mod run;
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

pub use self::run::SeriesRun;
pub use self::slots::SLOT_COLUMNS;
pub use self::states::SERIES_COLUMNS;

use self::run::Named;
use self::slots::SlotTap;
use self::spool::Spool;
use self::states::StateTap;
use self::table::Table;
use super::naming::naming;

/// The slots of time for a table of rates, and the links whose rates are in it besides those of flows.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The length of a slot.
    pub length: Span,
    /// The names of the links.
    pub links: Vec<String>,
}

/// The series of all runs of a command, which are written to one file.
pub struct Series {
    path: PathBuf,
    /// The names of schemes. Rows have their indices.
    names: Vec<String>,
    /// The slots of a table of rates; `None` for a table of states.
    slots: Option<Slots>,
    runs: Mutex<BTreeMap<SeriesRun, Arc<Mutex<Spool>>>>,
}

impl Series {
    /// Creates series of these schemes for the file at `path`, which is CSV if its name ends with `.csv`, or else Parquet. The rows are
    /// rates in `slots`, or states if there are no slots.
    pub fn new(path: &Path, names: Vec<String>, slots: Option<Slots>) -> Self {
        Self { path: path.to_path_buf(), names, slots, runs: Mutex::default() }
    }

    /// Creates the observer of a flow of a run. `scheme` is the index of the scheme's name.
    ///
    /// # Errors
    /// Fails if a file cannot be created in the folder of the table.
    pub fn tap(&self, run: &SeriesRun, scheme: usize, flow: u32) -> io::Result<Box<dyn Tap>> {
        let spool = self.spool(run)?;
        Ok(match &self.slots {
            Some(slots) => Box::new(SlotTap::new(spool, slots.length, scheme, flow)),
            None => Box::new(StateTap::new(spool, scheme, flow)),
        })
    }

    /// Adds the bits that a link sent in the slot that starts at `from`. `link` is the index of the link's name. `scheme` is the index of
    /// the scheme's name, or `None` if the flows have several schemes.
    ///
    /// # Errors
    /// Fails if a file cannot be created in the folder of the table, or cannot be written.
    pub fn link_slot(
        &self,
        run: &SeriesRun,
        scheme: Option<usize>,
        link: usize,
        (from, bits): (Time, u64),
    ) -> io::Result<()> {
        let spool = self.spool(run)?;
        let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
        spool.add(&slots::link_row(from, scheme, link, bits))
    }

    /// Writes the table.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
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

    /// Returns the temporary file of a run's rows.
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
