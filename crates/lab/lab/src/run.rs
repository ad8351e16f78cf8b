//! Makes one run of a scheme with a seed, and returns its evidence. Also makes the seed's run without the measured flow.

use firstflight::{Span, Time};
use firstflight_measure::ideal::ip_bytes;
use firstflight_measure::scorecard::{self, PathFacts};
use firstflight_measure::{CrossTotals, Evidence, Hop, IdealSender, RouterAnswers, Tap, Windows};
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::quantity::humane_span;
use firstflight_scenario::{Goal, Scenario, SchemeChoice};
use firstflight_sim::{Application, FlowId, FlowStats, HostName, LinkId, Recorder, Sim, Stop, Traffic};

use crate::advance::{SLICE, advance, step};
use crate::build_network::{AnyNetwork, AnySim, RunNetwork, clients, flow_start, flows, measured};
use crate::error::RunError;
use crate::flow_taps::TapsUnderWay;
use crate::harm::{Afterwards, Readings, has_harm};
use crate::observe::{Observer, Recent, Surroundings, Watching};
use crate::others::{cross_totals, others};
use crate::processors;
use crate::round_watch::Watch;
use crate::window_meter::{LinkSlots, Meter, Metered};
use crate::work;

/// The results of one run, for the flow and for the other traffic.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The evidence of the flow.
    pub evidence: Evidence,
    /// The totals of the cross traffic, over the whole run.
    pub cross: CrossTotals,
    /// The measurements in the scenario's windows.
    pub windows: Windows,
    /// The bits that links sent in slots.
    pub(crate) slots: Vec<LinkSlots>,
    /// The flow's last round trips; `None` if they were not requested.
    pub(crate) recent: Option<Recent>,
    /// The state of the run at the flow's end; `None` if the run is not continued to measure harm.
    pub(crate) afterwards: Option<Afterwards>,
}

/// The time allowed for the last ACK: the longest delay of a delayed ACK (RFC 1122 section 4.2.3.2), plus queueing on the reverse path.
const LAST_ACK: Span = Span::from_secs(1);

/// Runs one scheme with one seed, from the start. `full` also records the series that only figures need. `tap` observes the flow.
/// `interrupted` is called regularly.
///
/// # Errors
/// Fails if the scheme or the path cannot be simulated, if the tap fails, or after an interrupt.
pub fn run(
    scenario: &Scenario,
    choice: &SchemeChoice,
    seed: u64,
    full: bool,
    tap: Option<Box<dyn Tap>>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let watching = Watching { full, tap, ..Watching::default() };
    run_watched(scenario, choice, seed, watching, interrupted)
}

/// Runs as [`run`] does, with explicit settings of the observation.
pub(crate) fn run_watched(
    scenario: &Scenario,
    choice: &SchemeChoice,
    seed: u64,
    watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let scenario = &*scenario.at_seed(seed);
    let built = RunNetwork::new(scenario, Some(choice))?;
    let sim = Sim::new(&built.network, seed, built.surroundings())?;
    measure(sim, &built, (scenario, choice), watching, interrupted)
}

/// Continues a run in which the measured flow has not started.
pub(crate) fn measure(
    sim: AnySim<Surroundings>,
    built: &RunNetwork,
    (scenario, choice): (&Scenario, &SchemeChoice),
    mut watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let clients = clients(scenario);
    // Measured flows have the first numbers, so that cross traffic has the same random numbers for every scheme.
    let own: Vec<FlowId> = scenario.clients_of(choice)?.into_iter().map(FlowId).collect();
    let Some(first) = own.first().copied() else { return Err(RunError::NoClient(choice.name().to_owned())) };
    // Without rounds no client is observed.
    let watch = Watch::new(scenario.rounds.map_or(&[], |_| &*own), reply_bytes(scenario));
    let path = (scenario.rtt, u32::from(scenario.mss));
    let slot = watching.slot;
    let with_taps = own.iter().skip(1).copied().zip(std::mem::take(&mut watching.clients));
    let clients_taps = client_taps(scenario, &built.network, with_taps);
    let mut sim = sim.watched_by(|seen| (Observer::new(first, seen, path, watching), (clients_taps, watch)));
    let latest = built.start + scenario.limit;
    let sized = matches!(scenario.goal, Goal::Size(_));
    let (mut end, mut is_over) = (latest, false);
    let mut reached = sim.now();
    let ideal = scenario.ideal_sender_of_packets();
    let mut are_intervals_known = false;
    let mut meter = Meter::new(scenario, built.start, metered(scenario, built), slot);
    meter.read(&sim, reached);
    while reached < latest {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        // Each delivery takes memory until the scorecard's intervals are known, soon after the first data. Slices are short until then.
        let slice = if are_intervals_known { SLICE } else { scenario.rtt.clamp(FIRST_SLICE, SLICE) };
        reached = (reached + slice).min(latest);
        reached = meter.next(reached).unwrap_or(reached);
        let mut stop = Stop::Time;
        if !sized {
            stop = sim.run(reached);
        } else if flows(clients).all(|flow| {
            stop = sim.run_until_ended(flow, reached);
            has_ended(stop)
        }) {
            (end, is_over) = (sim.now(), true);
            // This runs the remaining events of that instant, which the run without the flow has as well.
            sim.run(end);
            break;
        }
        work::check(stop, sim.most_events(), sim.now())?;
        meter.read(&sim, reached);
        // The rate available at the first data packet does not depend on later events.
        let began = sim.recorder().0.wants_intervals();
        if let Some(began) = began.filter(|began| !are_intervals_known && *began < reached.nanos()) {
            let length = interval(
                scenario,
                &ideal.available(&hops(&sim, scenario, built), built.start.nanos()),
                began,
            );
            sim = sim.watched_by(|(observer, rest)| (observer.intervals(length), rest));
            are_intervals_known = true;
        }
    }
    let RunNetwork { network, .. } = built;
    let hops = hops(&sim, scenario, built);
    let available = ideal.available(&hops, built.start.nanos());
    let cross = cross_totals(&sim, clients);
    let windows = meter.fields(&[first]);
    let routers = routers(&sim, network);
    let measured = sim.flow(first).unwrap_or_default();
    let cpu = processors::fields(&sim, std::iter::once((first, measured)), end);
    let (mut evidence, mut recent) = (Evidence::default(), None);
    let mut sim = sim.watched_by(|(observer, watch)| {
        let length = observer.wants_intervals().and_then(|began| interval(scenario, &available, began));
        let mut observer = if are_intervals_known { observer } else { observer.intervals(length) };
        recent = observer.take_recent();
        let (seen, rest) = observer.close(end.nanos());
        evidence = seen;
        (rest, watch)
    });
    if scenario.rounds.is_some() {
        // The run continues until the sender of the last reply has received the final ACK. This time is not part of the flow's life.
        sim.run((end + scenario.rtt * 2 + LAST_ACK).min(latest));
    }
    let mut finished = Ok(());
    let sim = sim.watched_by(|(observer, (clients_taps, watch))| {
        finished = observer.finish().and_then(|()| clients_taps.map_or(Ok(()), TapsUnderWay::finish));
        evidence.replies = watch.finish();
    });
    finished?;
    choice.name().clone_into(&mut evidence.recording.label);
    evidence.recording.available = available;
    if scenario.rounds.is_none() {
        evidence.recording.ideal = ideal.stream(&hops, evidence.recording.syn_at);
    }
    evidence.routers = routers;
    evidence.cpu = cpu;
    evidence.finished_at = measured.finished().map(Time::nanos);
    evidence.aborted_at = measured.aborted().map(Time::nanos);
    let afterwards =
        (is_over && has_harm(scenario)).then(|| Afterwards { carried: carried(&sim, clients), sim, end });
    Ok(Outcome { evidence, cross, windows, slots: meter.slots().to_vec(), recent, afterwards })
}

/// Returns the payload bytes that the measured flows delivered.
fn carried<W: Recorder>(sim: &AnySim<W>, clients: usize) -> u64 {
    flows(clients).filter_map(|id| sim.flow(id)).map(|flow| flow.delivered_bytes).sum()
}

/// The minimum simulated time of a slice until the first data is sent.
const FIRST_SLICE: Span = Span::from_millis(1);

/// Returns the length of the scorecard's intervals from `began` on, in nanoseconds.
fn interval(scenario: &Scenario, available: &[(u64, u64)], began: u64) -> Option<u64> {
    let (packet, mss) = (u64::from(scenario.packet()), u64::from(scenario.mss));
    scorecard::interval(&PathFacts { available, base_rtt: scenario.rtt.nanos(), packet, mss }, began)
}

/// Returns the other traffic at each bottleneck so far.
fn hops<W: Recorder>(sim: &AnySim<(Observer, W)>, scenario: &Scenario, built: &RunNetwork) -> Vec<Hop> {
    let offers = sim.recorder().0.offered();
    built.bottlenecks.iter().map(|link| hop(sim, scenario, &built.network, *link, offers)).collect()
}

/// Returns the recorder for the observers of clients of rounds; `None` if there are none.
fn client_taps(
    scenario: &Scenario,
    network: &AnyNetwork,
    taps: impl Iterator<Item = (FlowId, Option<Box<dyn Tap>>)>,
) -> Option<TapsUnderWay> {
    let mut under_way = TapsUnderWay::new(2 * scenario.topology.hops());
    let mut has_any = false;
    for (client, tap) in taps.filter_map(|(client, tap)| Some((client, tap?))) {
        let forward = network.flows.get(client.0 as usize).map_or(&[][..], |flow| &flow.forward);
        under_way.add(client, tap, forward);
        has_any = true;
    }
    has_any.then_some(under_way)
}

/// Returns the links that windows measure.
fn metered(scenario: &Scenario, built: &RunNetwork) -> Metered {
    let between_routers = 2 * scenario.topology.hops();
    // The host at either end of an access link has the number of its client.
    let access = |(_, place): HostName, to_host: bool| {
        let way = &built.network.flows.get(place as usize)?.forward;
        let link = if to_host { way.last() } else { way.first() };
        link.copied().filter(|link| link.0 >= between_routers)
    };
    Metered::new(scenario, &built.network.links, built.bottlenecks.clone(), access)
}

/// Checks whether the flow that the run waits for has ended, by completion or abort.
fn has_ended(stop: Stop) -> bool {
    match stop {
        Stop::Finished | Stop::Aborted => true,
        Stop::Time | Stop::Idle | Stop::Spent => false,
    }
}

/// The results of a seed's run without the measured flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// The totals of the cross traffic, at each of the requested instants.
    pub totals: Vec<CrossTotals>,
    /// The ideal sender's stream in the absence of the measured flow ([`firstflight_measure::Recording::ideal`]). It exists if the other
    /// traffic varies. A run's own ideal would then depend on the flow's effect on the others, so all runs of a seed are compared with this
    /// one.
    pub ideal: Option<Vec<(u64, u64)>>,
}

/// Runs the seed without the measured flow, from the start, and reads the cross traffic's totals at each of `ends`, which are in ascending
/// order.
///
/// # Errors
/// Fails as [`run`] does.
pub fn run_without(
    scenario: &Scenario,
    seed: u64,
    ends: &[u64],
    interrupted: &dyn Fn() -> bool,
) -> Result<Without, RunError> {
    Ok(count_without(scenario, seed, (ends, None), interrupted)?.0)
}

/// Runs the seed as [`run_without`] does, and also reads it at the instants of `readings`.
///
/// # Errors
/// Fails as [`run`] does.
pub(crate) fn count_without(
    scenario: &Scenario,
    seed: u64,
    wanted: (&[u64], Option<&mut Readings>),
    interrupted: &dyn Fn() -> bool,
) -> Result<Counted, RunError> {
    let scenario = &*scenario.at_seed(seed);
    let mut built = RunNetwork::new(scenario, None)?;
    measured(scenario).for_each(|flow| built.network.mute(flow));
    if has_on_off(scenario) {
        let sim = Sim::new(&built.network, seed, built.surroundings())?;
        return count(sim, &built, scenario, wanted, &Surroundings::offers, interrupted);
    }
    let sim = Sim::new(&built.network, seed, ())?;
    count(sim, &built, scenario, wanted, &|()| &[], interrupted)
}

/// Checks whether an on/off source is among the cross traffic.
pub(crate) fn has_on_off(scenario: &Scenario) -> bool {
    scenario.traffic().any(|entry| matches!(entry.cross, Cross::OnOff { .. }))
}

/// Checks whether the flow has a size: that of its transfer, or of each reply.
fn has_bytes(scenario: &Scenario) -> bool {
    matches!(scenario.goal, Goal::Size(size) if size.get() > 0)
}

/// Returns the rates that on/off sources offered, from a recorder: each as (from when, which flow, IP bits per second).
pub(crate) type Offers<'a, W> = &'a dyn Fn(&W) -> &[(u64, FlowId, u64)];

/// The results of a seed's run without the measured flow, and the run, which can be continued.
pub(crate) type Counted = (Without, AnySim<()>);

/// Continues a run without the measured flow. Reads it at each of `ends`, and at the instants of `readings` as it reaches them.
pub(crate) fn count<W: Recorder>(
    mut sim: AnySim<W>,
    built: &RunNetwork,
    scenario: &Scenario,
    (ends, mut readings): (&[u64], Option<&mut Readings>),
    offers: Offers<'_, W>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Counted, RunError> {
    let clients = clients(scenario);
    let mut totals = Vec::with_capacity(ends.len());
    for end in ends.iter().copied().map(Time::from_nanos) {
        advance_reading(&mut sim, end, readings.as_deref_mut(), interrupted)?;
        totals.push(cross_totals(&sim, clients));
    }
    let ideal = follow_ideal(&mut sim, built, scenario, readings, offers, interrupted)?;
    Ok((Without { totals, ideal }, sim.watched_by(|_| ())))
}

/// Continues a run without the measured flow until the ideal sender is done. Returns the ideal stream; `None` if each run has its own.
fn follow_ideal<W: Recorder>(
    sim: &mut AnySim<W>,
    built: &RunNetwork,
    scenario: &Scenario,
    mut readings: Option<&mut Readings>,
    offers: Offers<'_, W>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<(u64, u64)>>, RunError> {
    if !scenario.varies() || scenario.rounds.is_some() {
        return Ok(None);
    }
    if scenario.is_overloaded() {
        // The rate that is left depends on how long the overload has lasted.
        return Ok(Some(Vec::new()));
    }
    let sender = scenario.ideal_sender_of_packets();
    let latest = built.start + horizon(built, scenario, &sender);
    let mut is_over = false;
    loop {
        let hop = |link: &LinkId| hop(sim, scenario, &built.network, *link, offers(sim.recorder()));
        let hops: Vec<Hop> = built.bottlenecks.iter().map(hop).collect();
        let ideal = sender.stream(&hops, built.start.nanos());
        let now = sim.now();
        let done = match sender.end(&ideal) {
            Some(end) => Time::from_nanos(end),
            // A flow that takes all of the rate may stop later. The time to look ahead therefore doubles until the ideal sender is done.
            None if has_bytes(scenario) => now + now.since(built.start).max(SLICE),
            None => now,
        };
        let until = done.min(latest);
        if is_over || until <= now {
            // Arrivals after the present time are unknown. A stream that is not done by now therefore has no known end, unless no traffic
            // can arrive.
            let ideal = if is_over || done <= now { ideal } else { Vec::new() };
            return Ok(Some(ideal));
        }
        match advance_reading(sim, until, readings.as_deref_mut(), interrupted) {
            // The traffic that the ideal sender would have met is unknown.
            Err(RunError::TooMuchWork { .. }) => return Ok(Some(Vec::new())),
            advanced => advanced?,
        }
        // The network stops before `until` only if it has no event left. Then it has no other traffic left either.
        is_over = sim.now() < until;
    }
}

/// Explains why a transfer of the scenario has no ideal completion time.
pub fn without_ideal(scenario: &Scenario) -> String {
    if scenario.is_overloaded() {
        return "the ideal is undefined: other traffic offers more than the bottleneck carries".to_owned();
    }
    if scenario.varies() {
        let most = scenario.limit * MAX_LIMITS;
        return format!(
            "the ideal is undefined: next to this traffic the ideal sender did not finish, and it is followed for no more than \
             {MAX_LIMITS} times the limit, {}",
            humane_span(most)
        );
    }
    "the ideal is undefined: other traffic may take all of the rate".to_owned()
}

/// Returns the maximum time after the SYN for which the ideal sender is followed. This is [`PATIENCE`] times its time on an empty path, but
/// at most the usual limit and [`MAX_LIMITS`] times the runs' limit, and at least the runs' limit. It must be finite, because the ideal
/// sender may never be done if traffic exceeds the path.
fn horizon(built: &RunNetwork, scenario: &Scenario, sender: &IdealSender) -> Span {
    let hop = |link: &LinkId| Hop { delay: delay_of(&built.network, *link), ..Hop::default() };
    let free: Vec<Hop> = built.bottlenecks.iter().map(hop).collect();
    let alone = sender.end(&sender.stream(&free, built.start.nanos()));
    let alone = alone.map_or(Span::ZERO, |end| Time::from_nanos(end).since(built.start));
    scenario.limit.max((alone * PATIENCE).min(scenario.usual_limit()).min(scenario.limit * MAX_LIMITS))
}

/// The maximum time for which the ideal sender is followed, in multiples of the runs' limit.
const MAX_LIMITS: u64 = 4;

/// The maximum time for which the ideal sender is followed under varying traffic, in multiples of its time on an empty path.
const PATIENCE: u64 = 100;

/// Continues to `until` as [`advance`] does, and reads the run at each instant of `readings` before that.
fn advance_reading<W: Recorder>(
    sim: &mut AnySim<W>,
    until: Time,
    readings: Option<&mut Readings>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    if let Some(readings) = readings {
        while let Some(at) = readings.due().filter(|at| *at <= until) {
            step(sim, (readings.instants.step, at), interrupted)?;
            readings.read(sim, at);
        }
    }
    advance(sim, until, interrupted)
}

/// Returns the end of a run in nanoseconds if it is known in advance; `None` if the run ends with a transfer.
pub(crate) fn known_end(scenario: &Scenario) -> Option<u64> {
    match scenario.goal {
        Goal::Duration(_) => Some((flow_start(scenario) + scenario.limit).nanos()),
        Goal::Size(_) => None,
    }
}

/// Returns the payload bytes of a reply.
fn reply_bytes(scenario: &Scenario) -> u64 {
    match scenario.goal {
        Goal::Size(bytes) => bytes.get(),
        Goal::Duration(_) => 0,
    }
}

fn delay_of(network: &AnyNetwork, link: LinkId) -> Span {
    network.links.get(link.0 as usize).map_or(Span::ZERO, |link| link.delay)
}

/// Returns the other traffic on one link. `offers` has the rates of all on/off sources.
fn hop<W: Recorder>(
    sim: &AnySim<W>,
    scenario: &Scenario,
    network: &AnyNetwork,
    link: LinkId,
    offers: &[(u64, FlowId, u64)],
) -> Hop {
    let (mss, packet) = (u64::from(scenario.mss), u64::from(scenario.packet()));
    let mut hop = Hop { delay: delay_of(network, link), ..Hop::default() };
    let mut sources: Vec<Vec<(u64, u64)>> = Vec::new();
    for id in others(sim, clients(scenario)) {
        let way = sim.way(id).unwrap_or_default();
        let Some(place) = way.iter().position(|one| *one == link) else { continue };
        // The propagation delay from the source to this link.
        let before: u64 = way[..place].iter().map(|link| delay_of(network, *link).nanos()).sum();
        let own = network.flows.get(id.0 as usize);
        match own.map(|flow| (&flow.traffic, flow.start)) {
            Some((Traffic::Cbr(cbr), Time::ZERO)) if cbr.stop.is_none() => hop.constant += cbr.rate.bps(),
            Some((Traffic::Cbr(cbr), start)) => {
                let stop = cbr.stop.map(|stop| (stop.nanos().saturating_add(before), 0));
                let begins = (start.nanos().saturating_add(before), cbr.rate.bps());
                sources.push(std::iter::once(begins).chain(stop).collect());
            }
            // A probing or a QUIC flow is the measured flow, never one of the others.
            Some((Traffic::Probe(_) | Traffic::Foreign(_), _)) => {}
            Some((Traffic::OnOff(_), _)) => {
                let own = offers.iter().filter(|(_, flow, _)| *flow == id);
                sources.push(own.map(|(at, _, bps)| (at.saturating_add(before), *bps)).collect());
            }
            // A bulk transfer takes its share until its stop time, or until the end of the run. If an aborted transfer were left out, each
            // scheme of a race would have another ideal.
            Some((Traffic::Tcp(spec), _)) => {
                let stop = match spec.application {
                    Application::Until(stop) => Some(stop.nanos()),
                    _ => None,
                };
                let life = |flow: FlowStats| Some((flow.started?.nanos(), stop));
                hop.lives.extend(sim.flow(id).and_then(life));
            }
            // The transfer's data is sent after its handshake.
            None => {
                let began = sim.flow(id).and_then(|flow| flow.started).zip(sim.arrived(id));
                hop.transfers.extend(began.map(|(at, arrived)| {
                    let bytes = ip_bytes(arrived.bytes, mss, packet - mss);
                    (at.nanos() + scenario.rtt.nanos() + before, bytes.saturating_mul(8))
                }));
            }
        }
    }
    hop.offered = summed(&sources);
    hop
}

/// Returns the sum of the rates of several sources, as steps.
fn summed(sources: &[Vec<(u64, u64)>]) -> Vec<(u64, u64)> {
    if let [one] = sources {
        return one.clone();
    }
    let steps = |(source, steps): (usize, &Vec<(u64, u64)>)| {
        steps.iter().map(move |(at, bps)| (*at, source, *bps)).collect::<Vec<_>>()
    };
    let mut all: Vec<(u64, usize, u64)> = sources.iter().enumerate().flat_map(steps).collect();
    all.sort_by_key(|(at, ..)| *at);
    let mut now = vec![0u64; sources.len()];
    let mut total = 0u64;
    let mut together: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (at, source, bps) in all {
        total = total - now[source] + bps;
        now[source] = bps;
        match together.last_mut() {
            Some(last) if last.0 == at => last.1 = total,
            _ => together.push((at, total)),
        }
    }
    together
}

/// Returns the sum of the routers' answers to requests for a rate; `None` if no router takes part.
fn routers<W: Recorder>(sim: &AnySim<W>, network: &AnyNetwork) -> Option<RouterAnswers> {
    let with_router = (0u32..).zip(&network.links).filter(|(_, link)| link.quick_start.is_some());
    let each = with_router.filter_map(|(id, _)| Some(sim.link(LinkId(id))?.quick_start));
    each.fold(None, |all: Option<RouterAnswers>, one| {
        let all = all.unwrap_or_default();
        Some(RouterAnswers {
            asked: all.asked + one.asked,
            granted: all.granted + one.granted,
            reduced: all.reduced + one.reduced,
            refused: all.refused + one.refused,
        })
    })
}
