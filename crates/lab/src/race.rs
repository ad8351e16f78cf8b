//! A race: every scheme over the same path, with every seed; in parallel, and the same whatever the number of
//! threads.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::choice::SchemeChoice;
use crate::heat::{Finished, compare, measure};
use crate::recording::Recording;
use crate::row::Row;
use crate::run::RunError;
use crate::saved::resumed;
use crate::scenario::Scenario;
use crate::tap::Tap;
use crate::warm_up::WarmUp;

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
    let done = AtomicU64::new(0);
    let total = choices.len() as u64 * u64::from(scenario.runs);
    let over = |name: &str| (how.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total, name);
    let seeds: Vec<u64> =
        (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index)).collect();
    let heats = seeds.par_iter().map(|seed| heat(scenario, &choices, *seed, how, &over)).filter_map(kept);
    let heats: Vec<Vec<Finished>> = heats.collect::<Result<_, _>>()?;

    let mut results: Vec<SchemeResult> = choices
        .iter()
        .map(|choice| SchemeResult { choice: choice.clone(), rows: Vec::new(), recording: None })
        .collect();
    for run in heats.into_iter().flatten() {
        let result = &mut results[run.scheme];
        result.rows.push(run.row);
        result.recording = result.recording.take().or(run.recording);
    }
    results.retain(|result| !result.rows.is_empty());
    Ok(results)
}

/// Runs every scheme with one seed, and the seed without the flow.
fn heat(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    seed: u64,
    how: &How<'_>,
    over: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Finished>, RunError> {
    let warm_up = WarmUp::new(scenario, choices, seed, &|| (how.interrupted)())?;
    let one = |(scheme, choice): (usize, &SchemeChoice)| {
        let finished = measure(scenario, choice, (scheme, seed), warm_up.as_ref(), how)?;
        over(choice.name());
        Ok(finished)
    };
    let finished = choices.par_iter().enumerate().map(one).filter_map(kept);
    compare(scenario, seed, finished.collect::<Result<_, _>>()?, warm_up, how)
}

/// Interrupted runs are left out; other errors are not.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
