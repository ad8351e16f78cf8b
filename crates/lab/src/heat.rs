//! A heat: the runs of one seed. Each scheme's, after a warm-up that they may have in common, and the one without the
//! measured flow that they are compared with.

use crate::choice::SchemeChoice;
use crate::judge::{add_harm, row};
use crate::race::How;
use crate::recording::Recording;
use crate::row::Row;
use crate::run::{CrossTotals, RunError, run, run_without};
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
    /// If it is wanted.
    pub(crate) recording: Option<Recording>,
}

/// Makes the run of the scheme at the place `scheme`, from the beginning if there is no warm-up.
///
/// # Errors
/// As [`run`].
pub(crate) fn measure(
    scenario: &Scenario,
    choice: &SchemeChoice,
    (scheme, seed): (usize, u64),
    warm_up: Option<&WarmUp>,
    how: &How<'_>,
) -> Result<Finished, RunError> {
    if (how.interrupted)() {
        return Err(RunError::Interrupted);
    }
    let full = how.record && seed == scenario.seed;
    let tap = (how.tap)(choice, seed)?;
    let interrupted = || (how.interrupted)();
    let outcome = match warm_up {
        Some(warm_up) => warm_up.run(scenario, choice, full, tap, &interrupted),
        None => run(scenario, choice, seed, full, tap, &interrupted),
    }?;
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
    if scenario.cross == Cross::None || finished.is_empty() {
        return Ok(finished);
    }
    let mut ends: Vec<u64> = finished.iter().map(|run| run.end).collect();
    ends.sort_unstable();
    ends.dedup();
    let interrupted = || (how.interrupted)();
    let totals = match warm_up {
        Some(warm_up) => warm_up.run_without(scenario, &ends, &interrupted),
        None => run_without(scenario, seed, &ends, &interrupted),
    }?;
    for run in &mut finished {
        if let Some((_, without)) = ends.iter().zip(&totals).find(|(end, _)| **end == run.end) {
            add_harm(&mut run.row, run.cross, *without, run.life);
        }
    }
    Ok(finished)
}
