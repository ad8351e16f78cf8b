//! The race over one path, whose runs any threads can make one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firstflight_measure::Row;
use firstflight_scenario::{Scenario, SchemeChoice};

use super::neighbours::{Beside, beside};
use crate::buffer_pool::BufferPool;
use crate::entrant::Entrant;
use crate::error::RunError;
use crate::run_settings::How;
use crate::seed_runs::{Finished, compare, measure};
use crate::warm_up::WarmUp;

/// The race over one path. For each seed it has a run of each scheme, as [`crate::race()`] does, but without observers and recordings.
pub(super) struct PathRace {
    scenario: Scenario,
    choices: Vec<SchemeChoice>,
    entrants: Vec<Entrant>,
    seeds: Vec<SeedRuns>,
    /// The runs of finished seeds.
    finished: Mutex<Vec<Finished>>,
}

/// The runs of one seed.
struct SeedRuns {
    seed: u64,
    /// The seed's warm-up, kept until all runs of the seed are finished.
    warm_up: Mutex<Option<Arc<WarmUp>>>,
    /// The finished runs, kept until all runs of the seed are finished.
    finished: Mutex<Vec<Finished>>,
}

impl PathRace {
    /// Creates a race without any run.
    pub(super) fn new(scenario: Scenario, choices: &[SchemeChoice]) -> Self {
        let runs = |index| SeedRuns {
            seed: scenario.seed.wrapping_add(index),
            warm_up: Mutex::new(None),
            finished: Mutex::new(Vec::new()),
        };
        Self {
            seeds: (0..u64::from(scenario.runs)).map(runs).collect(),
            choices: choices.to_vec(),
            entrants: Entrant::all(choices),
            finished: Mutex::new(Vec::new()),
            scenario,
        }
    }

    /// Returns the path.
    pub(super) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the result of byte-counting slow start for each of the rows.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does.
    pub(super) fn beside(
        &self,
        rows: &[Row],
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Beside>, RunError> {
        beside(&self.scenario, &self.choices, rows, &How { interrupted, ..How::default() })
    }

    /// Makes the warm-up of a seed, if it has one. A run without its warm-up takes longer and has the same result.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does.
    pub(super) fn warm_up(&self, place: usize, interrupted: &dyn Fn() -> bool) -> Result<(), RunError> {
        let seed = &self.seeds[place];
        let made = WarmUp::new(&self.scenario, &self.choices, seed.seed, interrupted)?;
        *lock(&seed.warm_up) = made.map(Arc::new);
        Ok(())
    }

    /// Makes the run of a scheme with a seed; each is made once. The thread that finishes a seed's last run also runs the seed without the
    /// flow. The thread that finishes the last seed gets all rows, ordered by scheme and seed. Other calls return `None`.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does. After an interrupt some runs are never finished, so no thread gets the rows.
    pub(super) fn run(
        &self,
        place: usize,
        scheme: usize,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<Row>>, RunError> {
        let how = How { interrupted, ..How::default() };
        let seed = &self.seeds[place];
        let choice = self.entrants[scheme].ready(&self.scenario, &|| interrupted())?;
        let warm_up = lock(&seed.warm_up).clone();
        let over = measure(
            &self.scenario,
            &choice,
            (scheme, seed.seed),
            warm_up.as_deref(),
            &how,
            &BufferPool::default(),
        )?;
        // The warm-up is dropped here, so that the last thread is its only owner.
        drop(warm_up);
        let mut finished = lock(&seed.finished);
        finished.push(over);
        if finished.len() < self.choices.len() {
            return Ok(None);
        }
        let finished = std::mem::take(&mut *finished);
        let warm_up = lock(&seed.warm_up).take().map(Arc::unwrap_or_clone);
        let compared = compare(&self.scenario, seed.seed, finished, warm_up, &how)?;
        let mut finished = lock(&self.finished);
        finished.extend(compared);
        if finished.len() < self.choices.len() * self.seeds.len() {
            return Ok(None);
        }
        finished.sort_by_key(|run| (run.scheme, run.seed.wrapping_sub(self.scenario.seed)));
        Ok(Some(finished.drain(..).map(|run| run.row).collect()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
