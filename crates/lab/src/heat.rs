//! A heat: the runs of one seed. Each scheme's, after a warm-up that they may have in common, and the one without the
//! measured flow that they are compared with.

use crate::choice::SchemeChoice;
use crate::judge::{add_harm, row};
use crate::observe::Watching;
use crate::race::How;
use crate::rooms::Rooms;
use crate::row::Row;
use crate::run::{CrossTotals, RunError, run_watched, run_without};
use crate::scenario::Scenario;
use crate::warm_up::WarmUp;
use crate::words::Cross;

/// A run that is over.
pub(crate) struct Finished {
    /// The scheme's place.
    pub(crate) scheme: usize,
    pub(crate) seed: u64,
    /// Without what it did to others, until it was compared.
    pub(crate) row: Row,
    life: u64,
    end: u64,
    cross: CrossTotals,
}

/// Makes the run of the scheme at the place `scheme`, from the beginning if there is no warm-up.
///
/// # Errors
/// As [`crate::run()`].
pub(crate) fn measure(
    scenario: &Scenario,
    choice: &SchemeChoice,
    (scheme, seed): (usize, u64),
    warm_up: Option<&WarmUp>,
    how: &How<'_>,
    rooms: &Rooms,
) -> Result<Finished, RunError> {
    if (how.interrupted)() {
        return Err(RunError::Interrupted);
    }
    let record = how.record.filter(|_| seed == scenario.seed);
    let watching = Watching { full: record.is_some(), tap: (how.tap)(choice, seed)?, room: rooms.take() };
    let interrupted = || (how.interrupted)();
    let outcome = match warm_up {
        Some(warm_up) => warm_up.run(scenario, choice, watching, &interrupted),
        None => run_watched(scenario, choice, seed, watching, &interrupted),
    }?;
    let row = row(scenario, choice, seed, &outcome.evidence);
    let recording = outcome.evidence.recording;
    if let Some(record) = record {
        record(&recording);
    }
    let (life, end) = (recording.ended_at - recording.syn_at, recording.ended_at);
    rooms.give(recording);
    Ok(Finished { scheme, seed, row, life, end, cross: outcome.cross })
}

/// Runs the seed without the flow, and adds to each row what its flow did to others.
///
/// # Errors
/// As [`run_without`]: a heat whose comparison was interrupted is lost, for a row without its harm is not finished.
pub(crate) fn compare(
    scenario: &Scenario,
    seed: u64,
    mut finished: Vec<Finished>,
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Vec<Finished>, RunError> {
    let ends = finished.iter().map(|run| run.end).collect();
    let totals = without(scenario, seed, ends, warm_up, how)?;
    add_harms(&mut finished, &totals);
    Ok(finished)
}

/// What a seed's run without the flow says, at each of some instants.
pub(crate) type Without = Vec<(u64, CrossTotals)>;

/// Runs the seed without the flow up to each of `ends`, unless there is nobody to be harmed.
///
/// # Errors
/// As [`run_without`].
pub(crate) fn without(
    scenario: &Scenario,
    seed: u64,
    mut ends: Vec<u64>,
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Without, RunError> {
    if scenario.cross == Cross::None || ends.is_empty() {
        return Ok(Vec::new());
    }
    ends.sort_unstable();
    ends.dedup();
    let interrupted = || (how.interrupted)();
    let totals = match warm_up {
        Some(warm_up) => warm_up.run_without(scenario, &ends, &interrupted),
        None => run_without(scenario, seed, &ends, &interrupted),
    }?;
    Ok(ends.into_iter().zip(totals).collect())
}

/// Adds to each row what its flow did to others; without totals there are none.
pub(crate) fn add_harms(finished: &mut [Finished], totals: &Without) {
    for run in finished {
        let at_end = totals.iter().find(|(end, _)| *end == run.end);
        debug_assert!(
            at_end.is_some() || totals.is_empty(),
            "the others were counted at the end of every run"
        );
        if let Some((_, without)) = at_end {
            add_harm(&mut run.row, run.cross, *without, run.life);
        }
    }
}
