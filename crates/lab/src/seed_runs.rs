//! The runs of one seed: one for each scheme, after a common warm-up if there is one, and the run without the measured flow
//! with which they are compared.

use firstflight_measure::{CrossTotals, Row, Tap, add_harm, row, set_ideal};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::buffer_pool::BufferPool;
use crate::error::RunError;
use crate::how::How;
use crate::observe::Watching;
use crate::run::{Without, run_watched, run_without};
use crate::warm_up::WarmUp;

/// A finished run.
pub(crate) struct Finished {
    /// The scheme's place in the list.
    pub(crate) scheme: usize,
    pub(crate) seed: u64,
    /// The row. The effect on others is missing until the comparison.
    pub(crate) row: Row,
    life: u64,
    end: u64,
    cross: CrossTotals,
    /// The ideal stream that the seed's runs share, if it does not differ between them.
    pub(crate) ideal: Option<Vec<(u64, u64)>>,
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
    buffers: &BufferPool,
) -> Result<Finished, RunError> {
    if (how.interrupted)() {
        return Err(RunError::Interrupted);
    }
    let record = how.record.filter(|_| seed == scenario.seed);
    let slot = how.slots.map(|slots| slots.length);
    let clients = client_taps(scenario, choice, seed, how)?;
    let watching = Watching {
        full: record.is_some(),
        tap: (how.tap)(choice, seed)?,
        clients,
        slot,
        recent: None,
        buffers: buffers.take(),
    };
    let interrupted = || (how.interrupted)();
    let outcome = match warm_up {
        Some(warm_up) => warm_up.run(scenario, choice, watching, &interrupted),
        None => run_watched(scenario, choice, seed, watching, &interrupted),
    }?;
    let mut row = row(&scenario.measured(choice, seed), &outcome.evidence);
    row.windows = outcome.windows;
    if let Some(slots) = how.slots {
        slots.tell((Some(choice), 0, "", seed), &outcome.slots)?;
    }
    let recording = outcome.evidence.recording;
    if let Some(record) = record {
        record(&recording);
    }
    let (life, end) = (recording.ended_at - recording.syn_at, recording.ended_at);
    buffers.give(recording);
    Ok(Finished { scheme, seed, row, life, end, cross: outcome.cross, ideal: None })
}

/// The taps of the scheme's clients of rounds, from the second one on.
fn client_taps(
    scenario: &Scenario,
    choice: &SchemeChoice,
    seed: u64,
    how: &How<'_>,
) -> Result<Vec<Option<Box<dyn Tap>>>, RunError> {
    let Some(make) = how.client_tap else { return Ok(Vec::new()) };
    let clients = scenario.clients_of(choice)?;
    Ok(clients
        .into_iter()
        .skip(1)
        .map(|client| make(choice, seed, client))
        .collect::<std::io::Result<_>>()?)
}

/// Runs the seed without the flow, and adds the flow's effect on others to each row.
///
/// # Errors
/// As [`run_without`]. A seed whose comparison was interrupted is dropped, because a row without its harm is not finished.
pub(crate) fn compare(
    scenario: &Scenario,
    seed: u64,
    mut finished: Vec<Finished>,
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Vec<Finished>, RunError> {
    let ends = finished.iter().map(|run| run.end).collect();
    let compared = without(scenario, seed, ends, warm_up, how)?;
    add_comparison(scenario, &mut finished, &compared);
    Ok(finished)
}

/// The results of a seed's run without the flow, and the instants for which they hold.
#[derive(Default)]
pub(crate) struct Compared {
    ends: Vec<u64>,
    without: Without,
}

/// Runs the seed without the flow up to each of `ends`. Does nothing if there is no other traffic.
///
/// # Errors
/// As [`run_without`].
pub(crate) fn without(
    scenario: &Scenario,
    seed: u64,
    mut ends: Vec<u64>,
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Compared, RunError> {
    if !scenario.has_cross() || ends.is_empty() {
        return Ok(Compared::default());
    }
    ends.sort_unstable();
    ends.dedup();
    let interrupted = || (how.interrupted)();
    let without = match warm_up {
        Some(warm_up) => warm_up.run_without(scenario, &ends, &interrupted),
        None => run_without(scenario, seed, &ends, &interrupted),
    }?;
    Ok(Compared { ends, without })
}

/// Adds to each row the flow's effect on others, and the ideal stream that the runs share.
pub(crate) fn add_comparison(scenario: &Scenario, finished: &mut [Finished], compared: &Compared) {
    let Compared { ends, without: Without { totals, ideal } } = compared;
    for run in finished {
        let at_end = ends.iter().position(|end| *end == run.end);
        debug_assert!(
            at_end.is_some() || totals.is_empty(),
            "the others were counted at the end of every run"
        );
        if let Some(without) = at_end.and_then(|at| totals.get(at)) {
            add_harm(&mut run.row, run.cross, *without, run.life);
        }
        if let Some(ideal) = ideal {
            set_ideal(&mut run.row, scenario.goal_of_runs(), ideal, run.end - run.life);
            run.ideal = Some(ideal.clone());
        }
    }
}
