//! Probings: packet trains over a scenario's path, and the bandwidth that was truly available.

use std::sync::atomic::{AtomicU64, Ordering};

use firstflight::Time;
use firstflight_measure::arithmetic::seconds;
use firstflight_measure::available::carried;
use firstflight_measure::{PROBE, ProbeResult, ProbeRow, Probed, TrainRow};
use firstflight_scenario::{ProbeChoice, Scenario};
use firstflight_sim::{FlowId, LinkId, LinkSpec, ProbeSpec, Sim, Traffic};
use rayon::prelude::*;

use crate::advance::{SLICE, advance};
use crate::build_network::{AnySim, RunNetwork};
use crate::completed::{Completed, kept};
use crate::error::RunError;
use crate::run_settings::{How, pool};

/// The minimum share of the path's rate that must be available for the error of an estimate to be defined.
const MIN_TRUTH: f64 = 0.01;

/// The flow number of the probing: the first, as for the measured flow of a race.
const PROBING: FlowId = FlowId(0);

/// Probes the path `scenario.runs` times, with the seeds from `scenario.seed` on. The results are in the order of seeds and do not
/// depend on `how.jobs`.
///
/// # Errors
/// Fails for a scenario without a probing, and after an interrupt before all runs were finished. Otherwise returns the error of the first
/// run, in order, that failed.
pub fn probe(scenario: &Scenario, how: &How<'_>) -> Result<ProbeResult, RunError> {
    probe_until_interrupted(scenario, how)?.whole()
}

/// Probes the path as [`probe`] does. After an interrupt, the result has only the finished runs.
///
/// # Errors
/// Fails for a scenario without a probing. Otherwise returns the error of the first run, in order, that failed.
pub fn probe_until_interrupted(
    scenario: &Scenario,
    how: &How<'_>,
) -> Result<Completed<ProbeResult>, RunError> {
    let Some(choice) = scenario.probe else { return Err(RunError::NoProbing) };
    let seeds: Vec<u64> =
        (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index)).collect();
    let done = AtomicU64::new(0);
    let one = |seed: &u64| {
        how.go_on()?;
        let run = run(scenario, choice, *seed, how)?;
        (how.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, seeds.len() as u64, PROBE);
        Ok(run)
    };
    let finished = pool(how)?
        .install(|| seeds.par_iter().map(one).filter_map(kept).collect::<Result<Vec<_>, RunError>>())?;
    let missing = seeds.len() - finished.len();
    let (rows, trains): (Vec<ProbeRow>, Vec<Vec<TrainRow>>) = finished.into_iter().unzip();
    let result = ProbeResult { rows, trains: trains.into_iter().flatten().collect() };
    Ok(Completed::missing(result, missing as u64))
}

fn run(
    scenario: &Scenario,
    choice: ProbeChoice,
    seed: u64,
    how: &How<'_>,
) -> Result<(ProbeRow, Vec<TrainRow>), RunError> {
    let scenario = &*scenario.at_seed(seed);
    let mut built = RunNetwork::new(scenario, None)?;
    let spec = ProbeSpec::new(choice.setting(scenario.packet()))
        .map_err(|fault| firstflight_sim::NetworkError::Flow { flow: 0, fault })?;
    if let Some(flow) = built.network.flows.first_mut() {
        flow.traffic = Traffic::Probe(Box::new(spec));
    }
    let interrupted = || (how.interrupted)();
    let mut sim: AnySim<()> = Sim::new(&built.network, seed, ())?;
    let latest = built.start + scenario.limit;
    let mut reached = Time::ZERO;
    while reached < latest && sim.probing(PROBING).is_none_or(|probing| probing.ended.is_none()) {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        reached = (reached + SLICE).min(latest);
        sim.run_until_ended(PROBING, reached);
    }
    let Some(probing) = sim.probing(PROBING) else { return Err(RunError::NoProbing) };
    let began = probing.began.unwrap_or(built.start);
    let ended = probing.ended.unwrap_or(latest);
    built.network.mute(PROBING);
    let available = available(scenario, &built, seed, (began, ended), &interrupted)?;
    let probed = Probed {
        search: choice.to_string(),
        wire: choice.setting(scenario.packet()).wire,
        estimate: probing.prober.estimate(),
        began,
        ended,
        rtt: Some(scenario.rtt),
        available,
        least_truth: bits(scenario.rate.bps()) * MIN_TRUTH,
        seed,
        scenario_hash: scenario.hash(),
    };
    Ok((probed.row(), probing.trains.iter().map(|train| probed.train(train)).collect()))
}

/// Returns the minimum over the path's links of the rate available on a link. This is the link's rate minus the traffic that it carries in
/// a run without the probing, over the same period.
fn available(
    scenario: &Scenario,
    muted: &RunNetwork,
    seed: u64,
    (from, until): (Time, Time),
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<f64>, RunError> {
    let mut sim: AnySim<()> = Sim::new(&muted.network, seed, ())?;
    let sent = |sim: &AnySim<()>| -> Vec<u64> {
        let bits = |link: &LinkId| sim.link(*link).map_or(0, |stats| stats.sent_bits);
        muted.bottlenecks.iter().map(bits).collect()
    };
    advance(&mut sim, from, interrupted)?;
    let before = sent(&sim);
    advance(&mut sim, until, interrupted)?;
    let after = sent(&sim);
    let links = muted.bottlenecks.iter().zip(before.iter().zip(after)).map(|(link, (before, after))| {
        let spec = muted.network.links.get(link.0 as usize);
        let capacity = spec.and_then(|spec| capacity(spec, from, until))?;
        Some((capacity - bits(after.saturating_sub(*before))).max(0.0) / seconds(until.nanos_since(from)))
    });
    // Only the probing uses the access links.
    let access = [Some(scenario.access_rate), scenario.receiver_access_rate];
    let access = access.into_iter().flatten().map(|rate| Some(bits(rate.bps())));
    let least = |least: f64, one: Option<f64>| one.map(|one| least.min(one));
    Ok(links.chain(access).try_fold(f64::INFINITY, least).filter(|least| least.is_finite()))
}

/// Returns the bits that a link can carry from one instant to another; `None` for a link without a rate.
fn capacity(link: &LinkSpec, from: Time, until: Time) -> Option<f64> {
    let steps: Vec<(u64, u64)> = match &link.rates {
        Some(trace) => trace.steps().iter().map(|(at, rate)| (at.nanos(), rate.bps())).collect(),
        None => vec![(0, link.rate?.bps())],
    };
    #[expect(clippy::cast_precision_loss, reason = "bits of a probing are far below 2^53 ten to the ninth")]
    Some(carried(&steps, from.nanos(), until.nanos()) as f64 / 1e9)
}

#[expect(clippy::cast_precision_loss, reason = "rates and bits of a probing are far below 2^53")]
fn bits(bits: u64) -> f64 {
    bits as f64
}
