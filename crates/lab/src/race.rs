//! A race: every scheme over the same path, with every seed; in parallel, and the same whatever the number of
//! threads.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::choice::SchemeChoice;
use crate::entrant::Entrant;
use crate::heat::{Finished, add_comparison, compare, measure, without};
use crate::recording::Recording;
use crate::rooms::Rooms;
use crate::row::Row;
use crate::run::{RunError, known_end};
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
    /// The first run's ideal, where the others come and go: it is no scheme's own ([`crate::Without::ideal`]).
    pub ideal: Option<Vec<(u64, u64)>>,
}

/// Makes the tap of one run; `None` if nobody listens to it.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// Is given the recording of a run that is over, by the thread that made it; runs end in any order.
pub type TakeRecording<'a> = &'a (dyn Fn(&Recording) + Sync);

/// How to race, other than what decides the numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Runs at a time; `None` leaves it to the machine.
    pub jobs: Option<usize>,
    /// Takes what it wants of a full recording of each scheme's first run, also of one that an interrupt leaves without
    /// a row.
    pub record: Option<TakeRecording<'a>>,
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
            record: None,
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
    let (entrants, rooms) = (Entrant::all(choices), Rooms::default());
    let done = AtomicU64::new(0);
    let total = choices.len() as u64 * u64::from(scenario.runs);
    let over = |name: &str| (how.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total, name);
    let run = |warm_up: Option<&WarmUp>, scheme: usize, seed| {
        let choice = entrants[scheme].ready(scenario, &|| (how.interrupted)())?;
        let finished = measure(scenario, &choice, (scheme, seed), warm_up, how, &rooms)?;
        over(choice.name());
        Ok(finished)
    };
    let seeds: Vec<u64> =
        (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index)).collect();
    let heats = seeds.par_iter().map(|seed| heat(scenario, choices, *seed, how, &run)).filter_map(kept);
    let heats: Vec<Vec<Finished>> = heats.collect::<Result<_, _>>()?;

    let result =
        |entrant: Entrant| SchemeResult { choice: entrant.into_choice(), rows: Vec::new(), ideal: None };
    let mut results: Vec<SchemeResult> = entrants.into_iter().map(result).collect();
    for run in heats.into_iter().flatten() {
        let result = &mut results[run.scheme];
        result.rows.push(run.row);
        result.ideal = result.ideal.take().or(run.ideal);
    }
    results.retain(|result| !result.rows.is_empty());
    Ok(results)
}

/// Makes the run of the scheme at a place with a seed.
type Run<'a> = &'a (dyn Fn(Option<&WarmUp>, usize, u64) -> Result<Finished, RunError> + Sync);

/// Runs every scheme with one seed, and the seed without the flow.
fn heat(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    seed: u64,
    how: &How<'_>,
    run: Run<'_>,
) -> Result<Vec<Finished>, RunError> {
    let warm_up = WarmUp::new(scenario, choices, seed, &|| (how.interrupted)())?;
    // Where it is known when runs end, the one without the flow need not wait for them.
    let ends = known_end(scenario).filter(|_| warm_up.is_none()).map(|end| vec![end]);
    let totals = || ends.map(|ends| without(scenario, seed, ends, None, how));
    let one = |scheme| run(warm_up.as_ref(), scheme, seed);
    // One by one, so that no thread is left with several at the end.
    let runs = (0..choices.len()).into_par_iter().with_max_len(1).map(one).filter_map(kept);
    let (totals, finished) = rayon::join(totals, || runs.collect::<Result<Vec<_>, _>>());
    let mut finished = finished?;
    let Some(totals) = totals else { return compare(scenario, seed, finished, warm_up, how) };
    add_comparison(scenario, &mut finished, &totals?);
    Ok(finished)
}

/// Interrupted runs are left out; other errors are not.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
