//! The runs of one seed: one for each scheme, and the run without the measured flow with which they are compared. They may share a warm-up.

use firstflight_measure::{CrossTotals, Row, Tap, add_harm, row, set_ideal, without_start_up};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::buffer_pool::BufferPool;
use crate::build_network::flow_start;
use crate::error::RunError;
use crate::harm::{Afterwards, Instants, Readings, Reference, has_harm, until_over};
use crate::observe::Watching;
use crate::run::{Outcome, Without, count_without, run_watched};
use crate::run_settings::How;
use crate::warm_up::WarmUp;

/// A finished run.
pub(crate) struct Finished {
    /// The scheme's place in the list.
    pub(crate) scheme: usize,
    pub(crate) seed: u64,
    /// The row of the run. It lacks the flow's effect on others until the comparison.
    pub(crate) row: Row,
    life: u64,
    end: u64,
    cross: CrossTotals,
    /// The state of the run at the flow's end, kept until the comparison.
    afterwards: Option<Afterwards>,
    /// The ideal stream that the seed's runs share; `None` if each run has its own.
    pub(crate) ideal: Option<Vec<(u64, u64)>>,
}

/// Makes the run of the scheme at the place `scheme`. Starts from the warm-up if there is one.
///
/// # Errors
/// Fails as [`crate::run()`] does.
pub(crate) fn measure(
    scenario: &Scenario,
    choice: &SchemeChoice,
    (scheme, seed): (usize, u64),
    warm_up: Option<&WarmUp>,
    how: &How<'_>,
    buffers: &BufferPool,
) -> Result<Finished, RunError> {
    how.go_on()?;
    let scenario = &*scenario.at_seed(seed);
    let record = how.record.filter(|_| seed == scenario.seed);
    let further = how
        .record_further
        .filter(|further| seed != scenario.seed && seed.wrapping_sub(scenario.seed) < further.runs);
    let slot = how.slots.map(|slots| slots.length);
    let clients = client_taps(scenario, choice, seed, how)?;
    let watching = Watching {
        full: record.is_some() || further.is_some(),
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
    if choice.own_controller().is_some() {
        without_start_up(&mut row);
    }
    row.windows = outcome.windows;
    if let Some(slots) = how.slots {
        slots.tell((Some(choice), 0, "", seed), &outcome.slots)?;
    }
    let recording = outcome.evidence.recording;
    if let Some(record) = record {
        record(&recording);
    }
    if let Some(further) = further {
        (further.take)(seed, &recording);
    }
    let (life, end) = (recording.ended_at - recording.syn_at, recording.ended_at);
    buffers.give(recording);
    let Outcome { cross, afterwards, .. } = outcome;
    Ok(Finished { scheme, seed, row, life, end, cross, afterwards, ideal: None })
}

/// Returns the observers of the scheme's clients of rounds, from the second client on.
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
/// Fails as [`run_without`] does. After an interrupt the seed is dropped, because a row without its harm is not finished.
pub(crate) fn compare(
    scenario: &Scenario,
    seed: u64,
    mut finished: Vec<Finished>,
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Vec<Finished>, RunError> {
    let scenario = &*scenario.at_seed(seed);
    let ends = finished.iter().map(|run| run.end).collect();
    let instants = has_harm(scenario).then(|| instants(scenario, &finished));
    let compared = read_without(scenario, seed, (ends, instants), warm_up, how)?;
    add_comparison(scenario, &mut finished, &compared);
    if has_harm(scenario) {
        let runs = finished.iter_mut().map(|run| run.afterwards.take()).collect();
        let fields = until_over(scenario, runs, compared.reference, &|| (how.interrupted)())?;
        finished.iter_mut().zip(fields).for_each(|(run, harm)| run.row.harm = harm);
    }
    Ok(finished)
}

/// Returns the instants at which the runs are compared. Runs that met their limit are left out.
fn instants(scenario: &Scenario, finished: &[Finished]) -> Instants {
    let over = finished.iter().filter(|run| run.afterwards.is_some());
    Instants::new(scenario, &over.map(|run| run.end).collect::<Vec<_>>())
}

/// The results of a seed's run without the flow, and the instants for which they hold.
#[derive(Default)]
pub(crate) struct Compared {
    ends: Vec<u64>,
    without: Without,
    /// The run without the flow, kept if others are observed after the flow's end.
    reference: Option<Reference>,
}

/// Runs the seed without the flow up to each of `ends`. Makes no run if there is no other traffic.
///
/// # Errors
/// Fails as [`run_without`] does.
pub(crate) fn without(
    scenario: &Scenario,
    seed: u64,
    ends: Vec<u64>,
    how: &How<'_>,
) -> Result<Compared, RunError> {
    read_without(scenario, seed, (ends, None), None, how)
}

/// Runs the seed without the flow as [`without`] does, and also reads it at the instants for harm, if there are any.
fn read_without(
    scenario: &Scenario,
    seed: u64,
    (mut ends, instants): (Vec<u64>, Option<Instants>),
    warm_up: Option<WarmUp>,
    how: &How<'_>,
) -> Result<Compared, RunError> {
    let scenario = &*scenario.at_seed(seed);
    if !scenario.has_cross() || ends.is_empty() {
        return Ok(Compared::default());
    }
    let start = flow_start(scenario).nanos();
    ends.extend(instants.as_ref().map(|_| start));
    ends.sort_unstable();
    ends.dedup();
    let interrupted = || (how.interrupted)();
    let mut readings = instants.map(Readings::new);
    let wanted = (&*ends, readings.as_mut());
    let (without, sim) = match warm_up {
        Some(warm_up) => warm_up.run_without(scenario, wanted, &interrupted),
        None => count_without(scenario, seed, wanted, &interrupted),
    }?;
    let at_start = without.totals.first().map_or(0, |totals| totals.delivered);
    let reference = readings.map(|readings| Reference { sim, readings, at_start });
    Ok(Compared { ends, without, reference })
}

/// Adds to each row the flow's effect on others, and the ideal stream that the runs share.
pub(crate) fn add_comparison(scenario: &Scenario, finished: &mut [Finished], compared: &Compared) {
    let Compared { ends, without: Without { totals, ideal }, .. } = compared;
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
