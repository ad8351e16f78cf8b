//! Races the parts of a sweep on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use firstflight_measure::Row;
use serde::Serialize;

use super::early::EarlyFields;
use super::neighbours::Beside;
use super::path_race::PathRace;
use super::schedule::{Schedule, Task};
use super::{PathFacts, Sweep, SweepError};
use crate::error::RunError;

/// One row of a sweep: the path, and the result of a run over it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweptRow {
    /// The path of the run.
    #[serde(flatten)]
    pub path: PathFacts,
    /// The result of byte-counting slow start over the path.
    #[serde(flatten)]
    pub beside: Beside,
    /// The bound of the path after one round trip, and the run's early deliveries.
    #[serde(flatten)]
    pub early: EarlyFields,
    /// The row of the run.
    #[serde(flatten)]
    pub row: Row,
}

/// Why the parts were not all raced.
#[derive(Debug)]
pub enum Stopped<E> {
    /// A path is not valid, or cannot be simulated.
    Path(SweepError),
    /// `put` failed to store a part.
    Part(E),
    /// The user interrupted before all parts were stored.
    Interrupted,
}

/// Races `parts` of the sweep on `jobs` threads. Calls `put` with each finished part's rows, ordered by path, scheme and seed, and `over`
/// after each finished path.
///
/// The next free thread takes the next run, in order. No thread therefore waits for another's long run, and about one part for each thread
/// is in progress. A free thread takes a warm-up if no prepared run is left. Threads share only the schedule and, once for each run, the
/// path's slot.
///
/// # Errors
/// Returns the first error, or an interrupt. Parts stored before it stay; unfinished parts are dropped.
pub fn race_parts<E: Send>(
    sweep: &Sweep,
    parts: &[u64],
    jobs: usize,
    interrupted: &(dyn Fn() -> bool + Sync),
    over: &(dyn Fn() + Sync),
    put: &(dyn Fn(u64, Vec<SweptRow>) -> Result<(), E> + Sync),
) -> Result<(), Stopped<E>> {
    let paths: Vec<Path> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, number)| sweep.paths_of(*number).map(move |index| (part, index)))
        .map(|(part, index)| Path { part, index, race: OnceLock::new(), rows: Mutex::new(Vec::new()) })
        .collect();
    let left: Vec<AtomicUsize> = parts
        .iter()
        .map(|part| {
            let paths = sweep.paths_of(*part);
            AtomicUsize::new(usize::try_from(paths.end - paths.start).unwrap_or(usize::MAX))
        })
        .collect();
    let work = Work {
        sweep,
        parts,
        paths: &paths,
        left: &left,
        schedule: Schedule::new(paths.len() * sweep.runs as usize, sweep.choices.len()),
        stop: AtomicBool::new(false),
        interrupted,
        over,
        put,
    };
    let fault = Mutex::new(None);
    std::thread::scope(|scope| {
        let go = || {
            if let Err(error) = work.go() {
                // The error is stored before the other threads stop. Otherwise the interrupts that they then report could hide it.
                let mut first = fault.lock().unwrap_or_else(PoisonError::into_inner);
                if matches!(*first, None | Some(Stopped::Interrupted)) {
                    *first = Some(error);
                }
                work.stop.store(true, Ordering::Relaxed);
            }
        };
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(go)).collect();
        // A panic of a scheme from outside this workspace goes on as it is: with its payload.
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(fault) => Err(fault),
        None if left.iter().any(|left| left.load(Ordering::Acquire) > 0) => Err(Stopped::Interrupted),
        None => Ok(()),
    }
}

/// A path in progress.
struct Path {
    /// The place of the path's part in the list of parts to race.
    part: usize,
    index: u64,
    race: OnceLock<Result<PathRace, SweepError>>,
    /// The rows of a finished path, kept until its part is finished.
    rows: Mutex<Vec<SweptRow>>,
}

impl Path {
    /// Converts the error of a run into the reason for stopping.
    fn stopped<E>(&self, error: &RunError) -> Stopped<E> {
        match error {
            RunError::Interrupted => Stopped::Interrupted,
            error => Stopped::Path(SweepError { path: self.index, message: error.to_string() }),
        }
    }
}

struct Work<'a, E> {
    sweep: &'a Sweep,
    parts: &'a [u64],
    /// The paths of all parts, in order.
    paths: &'a [Path],
    /// The number of unfinished paths in each part.
    left: &'a [AtomicUsize],
    /// The order in which threads take the runs of all paths.
    schedule: Schedule,
    stop: AtomicBool,
    interrupted: &'a (dyn Fn() -> bool + Sync),
    over: &'a (dyn Fn() + Sync),
    put: &'a (dyn Fn(u64, Vec<SweptRow>) -> Result<(), E> + Sync),
}

impl<E> Work<'_, E> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || (self.interrupted)()
    }

    /// Does tasks until none is left.
    fn go(&self) -> Result<(), Stopped<E>> {
        let runs = self.sweep.runs as usize;
        while let Some(task) = self.schedule.take(&|| self.stopped()) {
            match task {
                Task::WarmUp { seed } => {
                    let race = self.race(seed / runs);
                    let made = race.map(|(path, race)| (path, race.warm_up(seed % runs, &|| self.stopped())));
                    self.schedule.warmed_up(seed);
                    let (path, made) = made?;
                    made.map_err(|error| path.stopped(&error))?;
                }
                Task::Run { seed, scheme } => {
                    let (path, race) = self.race(seed / runs)?;
                    let interrupted = || self.stopped();
                    let over = race.run(seed % runs, scheme, &interrupted).and_then(|rows| {
                        rows.map(|rows| Ok((race.beside(&rows, &interrupted)?, rows))).transpose()
                    });
                    if let Some((beside, rows)) = over.map_err(|error| path.stopped(&error))? {
                        self.finish(path, race, rows, beside)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a path and its race. Creates the race at the first call.
    fn race(&self, path: usize) -> Result<(&Path, &PathRace), Stopped<E>> {
        let path = &self.paths[path];
        let begin =
            || self.sweep.scenario(path.index).map(|scenario| PathRace::new(scenario, &self.sweep.choices));
        let race = path.race.get_or_init(begin).as_ref();
        race.map(|race| (path, race)).map_err(|error| Stopped::Path(error.clone()))
    }

    /// Finishes a path, and its part if the path is the part's last.
    fn finish(
        &self,
        path: &Path,
        race: &PathRace,
        rows: Vec<Row>,
        beside: Vec<Beside>,
    ) -> Result<(), Stopped<E>> {
        let facts = self.sweep.facts(path.index, race.scenario());
        let bound = EarlyFields::of(race.scenario());
        let swept = |(row, beside): (Row, Beside)| {
            let early = bound.with(&row);
            SweptRow { path: facts.clone(), beside, early, row }
        };
        let rows = rows.into_iter().zip(beside).map(swept).collect();
        *path.rows.lock().unwrap_or_else(PoisonError::into_inner) = rows;
        (self.over)();
        // The last thread to count down sees the rows that the others wrote before.
        if self.left[path.part].fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(());
        }
        let of_part = self.paths.iter().filter(|other| other.part == path.part);
        let rows = of_part
            .flat_map(|path| std::mem::take(&mut *path.rows.lock().unwrap_or_else(PoisonError::into_inner)))
            .collect();
        (self.put)(self.parts[path.part], rows).map_err(Stopped::Part)
    }
}
