//! The race over one path, run by run, for whoever has time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::choice::SchemeChoice;
use crate::entrant::Entrant;
use crate::heat::{Finished, compare, measure};
use crate::race::How;
use crate::rooms::Rooms;
use crate::row::Row;
use crate::run::RunError;
use crate::scenario::Scenario;
use crate::warm_up::WarmUp;

/// The race over one path: a heat for each seed, and in it a run of each scheme. As [`crate::race()`] races it, without
/// taps and recordings.
pub(super) struct PathRace {
    scenario: Scenario,
    choices: Vec<SchemeChoice>,
    entrants: Vec<Entrant>,
    heats: Vec<Heat>,
    /// Of heats that are over.
    finished: Mutex<Vec<Finished>>,
}

/// The runs of one seed.
struct Heat {
    seed: u64,
    /// Until all its runs are over.
    warm_up: Mutex<Option<Arc<WarmUp>>>,
    /// Until all are.
    finished: Mutex<Vec<Finished>>,
}

impl PathRace {
    /// Nothing is run yet.
    pub(super) fn new(scenario: Scenario, choices: &[SchemeChoice]) -> Self {
        let heat = |index| Heat {
            seed: scenario.seed.wrapping_add(index),
            warm_up: Mutex::new(None),
            finished: Mutex::new(Vec::new()),
        };
        Self {
            heats: (0..u64::from(scenario.runs)).map(heat).collect(),
            choices: choices.to_vec(),
            entrants: Entrant::all(choices),
            finished: Mutex::new(Vec::new()),
            scenario,
        }
    }

    /// The path.
    pub(super) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Makes the warm-up of a heat, if it has one. Runs that do without it take longer, and come out the same.
    ///
    /// # Errors
    /// As [`crate::run()`].
    pub(super) fn warm_up(&self, heat: usize, interrupted: &dyn Fn() -> bool) -> Result<(), RunError> {
        let heat = &self.heats[heat];
        let made = WarmUp::new(&self.scenario, &self.choices, heat.seed, interrupted)?;
        *lock(&heat.warm_up) = made.map(Arc::new);
        Ok(())
    }

    /// Makes the run of a scheme in a heat; each is made once. Whoever ends a heat's last one that was left also runs the
    /// seed without the flow, and who ends the last heat gets all rows, ordered by scheme and seed.
    ///
    /// # Errors
    /// As [`crate::run()`]. After an interrupt some runs are never over, so that nobody gets rows.
    pub(super) fn run(
        &self,
        heat: usize,
        scheme: usize,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<Row>>, RunError> {
        let how = How { interrupted, ..How::default() };
        let heat = &self.heats[heat];
        let choice = self.entrants[scheme].ready(&self.scenario, &|| interrupted())?;
        let warm_up = lock(&heat.warm_up).clone();
        let over = measure(
            &self.scenario,
            &choice,
            (scheme, heat.seed),
            warm_up.as_deref(),
            &how,
            &Rooms::default(),
        )?;
        // So that whoever is last has it alone.
        drop(warm_up);
        let mut finished = lock(&heat.finished);
        finished.push(over);
        if finished.len() < self.choices.len() {
            return Ok(None);
        }
        let finished = std::mem::take(&mut *finished);
        let warm_up = lock(&heat.warm_up).take().map(Arc::unwrap_or_clone);
        let compared = compare(&self.scenario, heat.seed, finished, warm_up, &how)?;
        let mut finished = lock(&self.finished);
        finished.extend(compared);
        if finished.len() < self.choices.len() * self.heats.len() {
            return Ok(None);
        }
        finished.sort_by_key(|run| (run.scheme, run.seed.wrapping_sub(self.scenario.seed)));
        Ok(Some(finished.drain(..).map(|run| run.row).collect()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
