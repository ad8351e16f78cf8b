//! Racing parts of a sweep on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use firstflight_measure::Row;
use serde::Serialize;

use super::beside::Beside;
use super::early::EarlyFields;
use super::path_race::PathRace;
use super::schedule::{Schedule, Task};
use super::{PathFacts, Sweep, SweepError};
use crate::error::RunError;

/// One row of a sweep: the path, and the results of a run over it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweptRow {
    /// The path.
    #[serde(flatten)]
    pub path: PathFacts,
    /// Slow start that counts bytes over it.
    #[serde(flatten)]
    pub beside: Beside,
    /// What is known after one round trip, and what the run had delivered by then.
    #[serde(flatten)]
    pub early: EarlyFields,
    /// The run.
    #[serde(flatten)]
    pub row: Row,
}

/// Why the parts were not all raced.
#[derive(Debug)]
pub enum Stopped<E> {
    /// A path that is not valid, or cannot be simulated.
    Path(SweepError),
    /// A part that `put` failed to store.
    Part(E),
}

/// Races `parts` of the sweep on `jobs` threads. Each finished part's rows are given to `put`, ordered by path, scheme and
/// seed. `over` is called for each finished path.
///
/// The next free thread takes the next run, in order. So no thread waits for another's long run, and about one part for
/// each thread is in progress. Warm-ups are taken in the same way, once no prepared runs are left. Threads share only the
/// schedule and, once for each run, the path's slot. After an interrupt, unfinished parts are dropped.
///
/// # Errors
/// The first error. Parts stored before it stay.
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
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                if let Err(error) = work.go() {
                    work.stop.store(true, Ordering::Relaxed);
                    fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            });
        }
    });
    fault.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// A path in progress.
struct Path {
    /// The place of the path's part among the parts that are raced.
    part: usize,
    index: u64,
    race: OnceLock<Result<PathRace, SweepError>>,
    /// The rows of a finished path, until its part is finished.
    rows: Mutex<Vec<SweptRow>>,
}

impl Path {
    /// The error of a run over the path.
    fn fault<E>(&self, error: &RunError) -> Stopped<E> {
        Stopped::Path(SweepError { path: self.index, message: error.to_string() })
    }
}

struct Work<'a, E> {
    sweep: &'a Sweep,
    parts: &'a [u64],
    /// The paths of all parts, in order.
    paths: &'a [Path],
    /// The number of unfinished paths of each part.
    left: &'a [AtomicUsize],
    /// The schedule of all paths' seeds and their schemes.
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
                    match made? {
                        (_, Ok(()) | Err(RunError::Interrupted)) => {}
                        (path, Err(error)) => return Err(path.fault(&error)),
                    }
                }
                Task::Run { seed, scheme } => {
                    let (path, race) = self.race(seed / runs)?;
                    let interrupted = || self.stopped();
                    let over = race.run(seed % runs, scheme, &interrupted).and_then(|rows| {
                        rows.map(|rows| Ok((race.beside(&rows, &interrupted)?, rows))).transpose()
                    });
                    match over {
                        Ok(None) | Err(RunError::Interrupted) => {}
                        Ok(Some((beside, rows))) => self.finish(path, race, rows, beside)?,
                        Err(error) => return Err(path.fault(&error)),
                    }
                }
            }
        }
        Ok(())
    }

    /// A path and its race, which is created at the first request.
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
        let facts = PathFacts::of(path.index, race.scenario());
        let bound = EarlyFields::of(race.scenario());
        let swept = |(row, beside): (Row, Beside)| {
            let early = bound.with(&row);
            SweptRow { path: facts.clone(), beside, early, row }
        };
        let rows = rows.into_iter().zip(beside).map(swept).collect();
        *path.rows.lock().unwrap_or_else(PoisonError::into_inner) = rows;
        (self.over)();
        // The last thread to count down sees what the others wrote before.
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
