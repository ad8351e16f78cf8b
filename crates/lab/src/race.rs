//! A race: every scheme over the same path, with every seed; in parallel, and the same whatever the number of
//! threads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::choice::SchemeChoice;
use crate::judge::{add_harm, row};
use crate::recording::Recording;
use crate::row::Row;
use crate::run::{CrossTotals, RunError, run, run_without};
use crate::saved::resumed;
use crate::scenario::Scenario;
use crate::tap::Tap;
use crate::words::Cross;

/// What a race says of one scheme.
#[derive(Clone, Debug)]
pub struct SchemeResult {
    /// The scheme, with its parameters and label.
    pub choice: SchemeChoice,
    /// One row a run, in order of seeds; fewer if the race was interrupted.
    pub rows: Vec<Row>,
    /// The first run, for figures, if that was asked for.
    pub recording: Option<Recording>,
}

/// Makes the tap of one run; `None` if nobody listens to it.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// How to race, other than what decides the numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Runs at a time; `None` leaves it to the machine.
    pub jobs: Option<usize>,
    /// Whether to keep a full recording of each scheme's first run.
    pub record: bool,
    /// Called after each run with how many are over, of how many, and the row's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Whether the user interrupted: then finished runs are kept and no more are begun.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes captures and event logs.
    pub tap: MakeTap<'a>,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            record: false,
            progress: &|_, _, _| {},
            interrupted: &|| false,
            tap: &|_, _| Ok(None),
        }
    }
}

/// Races `choices` over `scenario`, `scenario.runs` times each, with the seeds from `scenario.seed` on.
///
/// The results are in the order of `choices`; [`crate::rank`] orders them. They do not depend on `how.jobs`.
/// After an interrupt they hold the runs that were finished, and only schemes with at least one.
///
/// # Errors
/// The first run, in order, that could not be made.
pub fn race(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    how: &How<'_>,
) -> Result<Vec<SchemeResult>, RunError> {
    pool(how)?.install(|| race_here(scenario, choices, how))
}

/// The threads of a race.
pub(crate) fn pool(how: &How<'_>) -> Result<rayon::ThreadPool, RunError> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = how.jobs {
        builder = builder.num_threads(jobs);
    }
    builder.build().map_err(|error| RunError::Threads(error.to_string()))
}

/// The race over one path, run by run, for whoever has time: as [`race`] races it, without taps and recordings.
pub(crate) struct PathRace {
    scenario: Scenario,
    choices: Vec<SchemeChoice>,
    finished: Mutex<Vec<Finished>>,
    left: AtomicUsize,
}

impl PathRace {
    /// Nothing is run yet.
    pub(crate) fn new(scenario: Scenario, choices: &[SchemeChoice]) -> Self {
        let runs = choices.len() * scenario.runs as usize;
        Self {
            scenario,
            choices: choices.to_vec(),
            finished: Mutex::new(Vec::with_capacity(runs)),
            left: AtomicUsize::new(runs),
        }
    }

    /// The path.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Makes the run `number`, of as many as schemes times runs; each is made once. Whoever ends the last one that was
    /// left also runs each seed without the flow, and gets all rows, ordered by scheme and seed.
    ///
    /// # Errors
    /// As [`run`]. After an interrupt some runs are never over, so that nobody gets rows.
    pub(crate) fn run(
        &self,
        number: usize,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<Row>>, RunError> {
        let how = How { interrupted, ..How::default() };
        let runs = self.scenario.runs as usize;
        let (scheme, index) = (number / runs, number % runs);
        let seed = self.scenario.seed.wrapping_add(index as u64);
        let choice = resumed(&self.scenario, &self.choices[scheme], &|| interrupted())?;
        let over = measure(&self.scenario, &choice, scheme, seed, &how)?;
        let lock = || self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        lock().push(over);
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(None);
        }
        let mut finished = std::mem::take(&mut *lock());
        finished.sort_by_key(|run| (run.scheme, run.seed.wrapping_sub(self.scenario.seed)));
        if self.scenario.cross != Cross::None {
            let seeds = (0..runs as u64).map(|index| self.scenario.seed.wrapping_add(index));
            let totals: Vec<Without> = seeds
                .map(|seed| without(&self.scenario, seed, &finished, &how))
                .collect::<Result<_, RunError>>()?;
            add_harms(&mut finished, &totals);
        }
        Ok(Some(finished.into_iter().map(|run| run.row).collect()))
    }
}

/// A run that is over, but for what it did to others.
struct Finished {
    scheme: usize,
    seed: u64,
    row: Row,
    life: u64,
    end: u64,
    cross: CrossTotals,
    recording: Option<Recording>,
}

fn race_here(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    how: &How<'_>,
) -> Result<Vec<SchemeResult>, RunError> {
    let interrupted = || (how.interrupted)();
    let prepared = choices.par_iter().map(|choice| match resumed(scenario, choice, &interrupted) {
        Err(RunError::Interrupted) => Ok(choice.clone()),
        other => other,
    });
    let choices: Vec<SchemeChoice> = prepared.collect::<Result<_, _>>()?;
    let seeds: Vec<u64> =
        (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index)).collect();
    let tasks: Vec<(usize, u64)> =
        seeds.iter().flat_map(|seed| (0..choices.len()).map(|scheme| (scheme, *seed))).collect();
    let done = AtomicU64::new(0);
    let total = tasks.len() as u64;
    let one = |&(scheme, seed): &(usize, u64)| {
        let finished = measure(scenario, &choices[scheme], scheme, seed, how)?;
        let over = done.fetch_add(1, Ordering::Relaxed) + 1;
        (how.progress)(over, total, choices[scheme].name());
        Ok(finished)
    };
    let mut finished = tasks.par_iter().map(one).filter_map(kept).collect::<Result<Vec<_>, _>>()?;
    compare(scenario, &seeds, &mut finished, how)?;

    let mut results: Vec<SchemeResult> = choices
        .iter()
        .map(|choice| SchemeResult { choice: choice.clone(), rows: Vec::new(), recording: None })
        .collect();
    for run in finished {
        let result = &mut results[run.scheme];
        result.rows.push(run.row);
        result.recording = result.recording.take().or(run.recording);
    }
    results.retain(|result| !result.rows.is_empty());
    Ok(results)
}

/// Interrupted runs are left out; other errors are not.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}

fn measure(
    scenario: &Scenario,
    choice: &SchemeChoice,
    scheme: usize,
    seed: u64,
    how: &How<'_>,
) -> Result<Finished, RunError> {
    if (how.interrupted)() {
        return Err(RunError::Interrupted);
    }
    let full = how.record && seed == scenario.seed;
    let tap = (how.tap)(choice, seed)?;
    let outcome = run(scenario, choice, seed, full, tap, &|| (how.interrupted)())?;
    let row = row(scenario, choice, seed, &outcome.evidence);
    let recording = outcome.evidence.recording;
    Ok(Finished {
        scheme,
        seed,
        row,
        life: recording.ended_at - recording.syn_at,
        end: recording.ended_at,
        cross: outcome.cross,
        recording: full.then_some(recording),
    })
}

/// What a seed's run without the flow says, at the end of each of the seed's runs.
type Without = (u64, Vec<(u64, CrossTotals)>);

/// Runs each seed once without the flow, and compares. Seeds whose comparison was interrupted lose their runs: a
/// row without its harm is not finished.
fn compare(
    scenario: &Scenario,
    seeds: &[u64],
    finished: &mut Vec<Finished>,
    how: &How<'_>,
) -> Result<(), RunError> {
    if scenario.cross == Cross::None {
        return Ok(());
    }
    let one = |seed: &u64| without(scenario, *seed, finished, how);
    let without: Vec<Without> =
        seeds.par_iter().map(one).filter_map(kept).collect::<Result<_, RunError>>()?;
    add_harms(finished, &without);
    Ok(())
}

/// Runs a seed without the flow.
fn without(
    scenario: &Scenario,
    seed: u64,
    finished: &[Finished],
    how: &How<'_>,
) -> Result<Without, RunError> {
    let mut ends: Vec<u64> = finished.iter().filter(|run| run.seed == seed).map(|run| run.end).collect();
    ends.sort_unstable();
    ends.dedup();
    if ends.is_empty() {
        return Ok((seed, Vec::new()));
    }
    let totals = run_without(scenario, seed, &ends, &|| (how.interrupted)())?;
    Ok((seed, ends.into_iter().zip(totals).collect()))
}

/// Adds what each run did to others; runs that have nothing to be compared with go.
fn add_harms(finished: &mut Vec<Finished>, without: &[Without]) {
    finished.retain_mut(|run| {
        let totals = without.iter().find(|(seed, _)| *seed == run.seed).map(|(_, totals)| totals);
        let at_end = totals.and_then(|totals| totals.iter().find(|(end, _)| *end == run.end));
        let Some((_, without)) = at_end else { return false };
        add_harm(&mut run.row, run.cross, *without, run.life);
        true
    });
}
