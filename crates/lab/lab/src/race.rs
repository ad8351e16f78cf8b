//! A race: every scheme over one path, with every seed, in parallel. The results do not depend on the number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use firstflight_measure::SchemeResult;
use firstflight_scenario::{Scenario, SchemeChoice};
use rayon::prelude::*;

use crate::buffer_pool::BufferPool;
use crate::completed::{Completed, kept};
use crate::entrant::Entrant;
use crate::error::RunError;
use crate::run::known_end;
use crate::run_settings::{How, pool};
use crate::seed_runs::{Finished, add_comparison, compare, measure, without};
use crate::warm_up::WarmUp;

/// Races `choices` over `scenario`, `scenario.runs` times each, with the seeds from `scenario.seed` on. If clients of rounds have their own
/// schemes, these schemes are raced instead. Each of their runs has all clients, and its row is about the clients of one scheme.
///
/// The results are in the order of `choices`; [`firstflight_measure::rank`] orders them. They do not depend on `how.jobs`.
///
/// # Errors
/// Fails after an interrupt before all runs were finished. Otherwise returns the error of the first run, in order, that failed.
pub fn race(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    how: &How<'_>,
) -> Result<Vec<SchemeResult>, RunError> {
    race_until_interrupted(scenario, choices, how)?.whole()
}

/// Races as [`race`] does. After an interrupt, the result has only the finished runs, and only schemes with at least one of them.
///
/// # Errors
/// Returns the error of the first run, in order, that failed.
pub fn race_until_interrupted(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    how: &How<'_>,
) -> Result<Completed<Vec<SchemeResult>>, RunError> {
    let cast = if scenario.has_client_script() { Some(scenario.cast(None)?.choices) } else { None };
    pool(how)?.install(|| race_here(scenario, cast.as_deref().unwrap_or(choices), how))
}

fn race_here(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    how: &How<'_>,
) -> Result<Completed<Vec<SchemeResult>>, RunError> {
    let (entrants, buffers) = (Entrant::all(choices), BufferPool::default());
    let done = AtomicU64::new(0);
    let total = choices.len() as u64 * u64::from(scenario.runs);
    let over = |name: &str| (how.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total, name);
    let run = |warm_up: Option<&WarmUp>, scheme: usize, seed| {
        let choice = entrants[scheme].ready(scenario, &|| (how.interrupted)())?;
        let finished = measure(scenario, &choice, (scheme, seed), warm_up, how, &buffers)?;
        over(choice.name());
        Ok(finished)
    };
    let seeds: Vec<u64> =
        (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index)).collect();
    let of_seeds =
        seeds.par_iter().map(|seed| seed_runs(scenario, choices, *seed, how, &run)).filter_map(kept);
    let of_seeds: Vec<Vec<Finished>> = of_seeds.collect::<Result<_, _>>()?;

    let result = |choice: &SchemeChoice| SchemeResult {
        name: choice.name().to_owned(),
        rows: Vec::new(),
        ideal: None,
    };
    let mut results: Vec<SchemeResult> = choices.iter().map(result).collect();
    let mut missing = total;
    for run in of_seeds.into_iter().flatten() {
        missing -= 1;
        let result = &mut results[run.scheme];
        result.rows.push(run.row);
        result.ideal = result.ideal.take().or(run.ideal);
    }
    results.retain(|result| !result.rows.is_empty());
    Ok(Completed::missing(results, missing))
}

/// Makes the run of the scheme at a place in the list, with a seed. Continues from the warm-up if there is one.
type Run<'a> = &'a (dyn Fn(Option<&WarmUp>, usize, u64) -> Result<Finished, RunError> + Sync);

/// Makes the runs of every scheme with one seed, and the run of the seed without the flow.
fn seed_runs(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    seed: u64,
    how: &How<'_>,
    run: Run<'_>,
) -> Result<Vec<Finished>, RunError> {
    let warm_up = WarmUp::new(scenario, choices, seed, &|| (how.interrupted)())?;
    // If the end of the runs is known in advance, the run without the flow need not wait for the other runs.
    let ends = known_end(scenario).filter(|_| warm_up.is_none()).map(|end| vec![end]);
    let totals = || ends.map(|ends| without(scenario, seed, ends, how));
    let one = |scheme| run(warm_up.as_ref(), scheme, seed);
    // Threads take one run at a time, so that at the end no thread has several runs left.
    let runs = (0..choices.len()).into_par_iter().with_max_len(1).map(one).filter_map(kept);
    let (totals, finished) = rayon::join(totals, || runs.collect::<Result<Vec<_>, _>>());
    let mut finished = finished?;
    let Some(totals) = totals else { return compare(scenario, seed, finished, warm_up, how) };
    add_comparison(scenario, &mut finished, &totals?);
    Ok(finished)
}
