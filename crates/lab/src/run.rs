//! One run: from scenario, scheme and seed to the evidence. The seed's run without the flow is here, too.

use firstflight::{Span, Time};
use firstflight_measure::scorecard::{self, PathFacts};
use firstflight_measure::{CrossTotals, Evidence, Hop, IdealSender, RouterAnswers, Tap, Windows};
use firstflight_scenario::quantity::humane_span;
use firstflight_scenario::words::Cross;
use firstflight_scenario::{Goal, Scenario, SchemeChoice};
use firstflight_sim::{Application, FlowId, FlowStats, HostName, LinkId, Recorder, Sim, Stop, Traffic};

use crate::build_network::{AnyNetwork, AnySim, RunNetwork, clients, flow_start, flows, measured};
use crate::cross_flows::is_overloaded;
use crate::error::RunError;
use crate::meter::{LinkSlots, Meter, Metered};
use crate::observe::{Observer, Recent, Surroundings, Watching};
use crate::processors;
use crate::round_watch::Watch;
use crate::tapped::TapsUnderWay;

/// The results of one run: of the flow, and of the other traffic.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The evidence of the flow.
    pub evidence: Evidence,
    /// The totals of the cross traffic, over the whole run.
    pub cross: CrossTotals,
    /// What was measured in the scenario's windows.
    pub windows: Windows,
    /// What links sent in slots.
    pub(crate) slots: Vec<LinkSlots>,
    /// The flow's last round trips, if they were wanted.
    pub(crate) recent: Option<Recent>,
}

/// The time for the last ACK: the longest delay of a delayed ACK (RFC 1122 section 4.2.3.2), and queueing on the reverse
/// path.
const LAST_ACK: Span = Span::from_secs(1);

/// The simulated time between two checks for a user's interrupt.
pub(crate) const SLICE: Span = Span::from_secs(1);

/// Runs one scheme with one seed, from the beginning. `full` also records the series that only figures need. `tap` observes
/// the flow. `interrupted` is called regularly.
///
/// # Errors
/// A scheme or path that cannot be simulated, a tap that failed, an interrupt.
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

/// [`run`] with an explicit way of observing.
pub(crate) fn run_watched(
    scenario: &Scenario,
    choice: &SchemeChoice,
    seed: u64,
    watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let built = RunNetwork::new(scenario, Some(choice))?;
    let sim = Sim::new(&built.network, seed, built.surroundings())?;
    measure(sim, &built, (scenario, choice), watching, interrupted)
}

/// Continues a run in which the measured flow has not begun.
pub(crate) fn measure(
    sim: AnySim<Surroundings>,
    built: &RunNetwork,
    (scenario, choice): (&Scenario, &SchemeChoice),
    mut watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let clients = clients(scenario);
    // Measured flows have the first numbers, so that cross traffic has equal random numbers for every scheme.
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
    let mut end = latest;
    let mut reached = sim.now();
    let ideal = scenario.ideal_sender();
    let mut are_intervals_known = false;
    let mut meter = Meter::new(scenario, built.start, metered(scenario, built), slot);
    meter.read(&sim, reached);
    while reached < latest {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        // Deliveries take memory until the scorecard's intervals are known, soon after the first data.
        let slice = if are_intervals_known { SLICE } else { scenario.rtt.clamp(FIRST_SLICE, SLICE) };
        reached = (reached + slice).min(latest);
        reached = meter.next(reached).unwrap_or(reached);
        if !sized {
            sim.run(reached);
        } else if flows(clients).all(|flow| has_ended(sim.run_until_ended(flow, reached))) {
            end = sim.now();
            // The remaining events of that instant, which the run without the flow has as well.
            sim.run(end);
            break;
        }
        meter.read(&sim, reached);
        // What is available at the first data depends on nothing that comes later.
        let began = sim.recorder().0.wants_intervals();
        if let Some(began) = began.filter(|began| !are_intervals_known && *began < reached.nanos()) {
            let length = interval(scenario, &ideal.available(&hops(&sim, built, clients)), began);
            sim = sim.watched_by(|(observer, rest)| (observer.intervals(length), rest));
            are_intervals_known = true;
        }
    }
    let RunNetwork { network, .. } = built;
    let hops = hops(&sim, built, clients);
    let available = ideal.available(&hops);
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
        // Until the last reply's sender has received the final ACK. This time is no part of the flow's life.
        sim.run((end + scenario.rtt * 2 + LAST_ACK).min(latest));
    }
    let (observer, (clients_taps, watch)) = sim.into_recorder();
    observer.finish()?;
    clients_taps.map_or(Ok(()), TapsUnderWay::finish)?;
    evidence.replies = watch.finish();
    choice.name().clone_into(&mut evidence.recording.label);
    evidence.recording.available = available;
    if scenario.rounds.is_none() {
        evidence.recording.ideal = ideal.stream(&hops, evidence.recording.syn_at);
    }
    evidence.routers = routers;
    evidence.cpu = cpu;
    evidence.finished_at = measured.finished().map(Time::nanos);
    evidence.aborted_at = measured.aborted().map(Time::nanos);
    Ok(Outcome { evidence, cross, windows, slots: meter.slots().to_vec(), recent })
}

/// The least simulated time of a slice until the first data is under way.
const FIRST_SLICE: Span = Span::from_millis(1);

/// The length of the scorecard's intervals from `began` on, in nanoseconds.
fn interval(scenario: &Scenario, available: &[(u64, u64)], began: u64) -> Option<u64> {
    let (packet, mss) = (u64::from(scenario.packet()), u64::from(scenario.mss));
    scorecard::interval(&PathFacts { available, base_rtt: scenario.rtt.nanos(), packet, mss }, began)
}

/// The other traffic at each bottleneck so far.
fn hops<W: Recorder>(sim: &AnySim<(Observer, W)>, built: &RunNetwork, clients: usize) -> Vec<Hop> {
    let offers = sim.recorder().0.offered();
    built.bottlenecks.iter().map(|link| hop(sim, &built.network, clients, *link, offers)).collect()
}

/// The recorder of the taps of clients of rounds; `None` without any.
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

/// The links that windows measure.
fn metered(scenario: &Scenario, built: &RunNetwork) -> Metered {
    let between_routers = 2 * scenario.topology.hops();
    // The host at either end has the place of its client.
    let access = |(_, place): HostName, to_host: bool| {
        let way = &built.network.flows.get(place as usize)?.forward;
        let link = if to_host { way.last() } else { way.first() };
        link.copied().filter(|link| link.0 >= between_routers)
    };
    Metered::new(scenario, &built.network.links, built.bottlenecks.clone(), access)
}

/// Whether the awaited flow has ended, by completion or abort.
fn has_ended(stop: Stop) -> bool {
    match stop {
        Stop::Finished | Stop::Aborted => true,
        Stop::Time | Stop::Idle => false,
    }
}

/// The results of a seed's run without the measured flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// The totals of the cross traffic, at each of the requested instants.
    pub totals: Vec<CrossTotals>,
    /// The ideal sender's stream in the absence of the measured flow ([`firstflight_measure::Recording::ideal`]). If the
    /// other traffic varies, a run's own ideal depends on the flow's effect on the others; all runs of a seed are then
    /// compared with this one.
    pub ideal: Option<Vec<(u64, u64)>>,
}

/// Runs the seed without the measured flow, from the beginning, and reads the cross traffic's totals at each of `ends`,
/// which are in ascending order.
///
/// # Errors
/// As [`run`].
pub fn run_without(
    scenario: &Scenario,
    seed: u64,
    ends: &[u64],
    interrupted: &dyn Fn() -> bool,
) -> Result<Without, RunError> {
    let mut built = RunNetwork::new(scenario, None)?;
    measured(scenario).for_each(|flow| built.network.mute(flow));
    if has_on_off(scenario) {
        let sim = Sim::new(&built.network, seed, built.surroundings())?;
        return count(sim, &built, scenario, ends, &Surroundings::offers, interrupted);
    }
    let sim = Sim::new(&built.network, seed, ())?;
    count(sim, &built, scenario, ends, &|()| &[], interrupted)
}

/// Whether an on/off source is among the cross traffic.
pub(crate) fn has_on_off(scenario: &Scenario) -> bool {
    scenario.traffic().any(|entry| matches!(entry.cross, Cross::OnOff { .. }))
}

/// Whether the flow has a size, of the transfer or of each reply.
fn has_bytes(scenario: &Scenario) -> bool {
    matches!(scenario.goal, Goal::Size(size) if size.get() > 0)
}

/// Gets from a recorder the rates that on/off sources offered: (since when, which flow, IP bits per second).
pub(crate) type Offers<'a, W> = &'a dyn Fn(&W) -> &[(u64, FlowId, u64)];

/// Continues a run without the measured flow.
pub(crate) fn count<W: Recorder>(
    mut sim: AnySim<W>,
    built: &RunNetwork,
    scenario: &Scenario,
    ends: &[u64],
    offers: Offers<'_, W>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Without, RunError> {
    let clients = clients(scenario);
    let mut totals = Vec::with_capacity(ends.len());
    for end in ends.iter().copied().map(Time::from_nanos) {
        advance(&mut sim, end, interrupted)?;
        totals.push(cross_totals(&sim, clients));
    }
    if !scenario.varies() || scenario.rounds.is_some() {
        return Ok(Without { totals, ideal: None });
    }
    if is_overloaded(scenario) {
        return Ok(Without { totals, ideal: Some(Vec::new()) });
    }
    let sender = scenario.ideal_sender();
    let latest = built.start + horizon(built, scenario, &sender);
    loop {
        let hop = |link: &LinkId| hop(&sim, &built.network, clients, *link, offers(sim.recorder()));
        let hops: Vec<Hop> = built.bottlenecks.iter().map(hop).collect();
        let ideal = sender.stream(&hops, built.start.nanos());
        let now = sim.now();
        let done = match sender.end(&ideal) {
            Some(end) => Time::from_nanos(end),
            // A flow that takes all of the rate now may stop later, so the horizon doubles until the ideal sender is done.
            None if has_bytes(scenario) => now + now.since(built.start).max(SLICE),
            None => now,
        };
        if done.min(latest) <= now {
            // Who comes later is not known, so that a stream which is not done by now says nothing.
            let ideal = if done > now { Vec::new() } else { ideal };
            return Ok(Without { totals, ideal: Some(ideal) });
        }
        advance(&mut sim, done.min(latest), interrupted)?;
    }
}

/// Why a transfer of the scenario has no ideal to compare with, where it has none.
pub fn without_ideal(scenario: &Scenario) -> String {
    if is_overloaded(scenario) {
        return "the ideal is undefined: other traffic offers more than the bottleneck carries".to_owned();
    }
    if scenario.varies() {
        let most = scenario.limit * MOST_LIMITS;
        return format!(
            "the ideal is undefined: beside this traffic the ideal sender was not done, and it is followed for no more than \
             {MOST_LIMITS} times the limit, {}",
            humane_span(most)
        );
    }
    "the ideal is undefined: other traffic may take all of the rate".to_owned()
}

/// How long after the SYN the ideal sender is followed. It is followed until it is done, but no longer than the greater of
/// the runs' limit and [`PATIENCE`], and never longer than [`MOST_LIMITS`]. Where traffic exceeds the path, it may never be done.
fn horizon(built: &RunNetwork, scenario: &Scenario, sender: &IdealSender) -> Span {
    let hop = |link: &LinkId| Hop { delay: delay_of(&built.network, *link), ..Hop::default() };
    let free: Vec<Hop> = built.bottlenecks.iter().map(hop).collect();
    let alone = sender.end(&sender.stream(&free, built.start.nanos()));
    let alone = alone.map_or(Span::ZERO, |end| Time::from_nanos(end).since(built.start));
    scenario.limit.max((alone * PATIENCE).min(scenario.usual_limit()).min(scenario.limit * MOST_LIMITS))
}

/// How long the ideal sender is followed at most, in multiples of the runs' limit.
const MOST_LIMITS: u64 = 4;

/// How long the ideal sender is followed beside varying traffic, in multiples of its time on an empty path.
const PATIENCE: u64 = 100;

/// Continues to `until`, unless the user interrupts.
pub(crate) fn advance<W: Recorder>(
    sim: &mut AnySim<W>,
    until: Time,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let mut reached = sim.now();
    while reached < until {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        reached = (reached + SLICE).min(until);
        sim.run(reached);
    }
    Ok(())
}

/// When a run ends, if that is known before it is made, as it is without a transfer to finish.
pub(crate) fn known_end(scenario: &Scenario) -> Option<u64> {
    match scenario.goal {
        Goal::Duration(_) => Some((flow_start(scenario) + scenario.limit).nanos()),
        Goal::Size(_) => None,
    }
}

/// Payload bytes of a reply.
fn reply_bytes(scenario: &Scenario) -> u64 {
    match scenario.goal {
        Goal::Size(bytes) => bytes.get(),
        Goal::Duration(_) => 0,
    }
}

/// The flows that are not measured: those of the network, and those that arrived during the run.
fn others<W: Recorder>(sim: &AnySim<W>, clients: usize) -> impl Iterator<Item = FlowId> {
    (0..sim.flow_count()).map(FlowId).skip(clients)
}

fn cross_totals<W: Recorder>(sim: &AnySim<W>, clients: usize) -> CrossTotals {
    others(sim, clients).filter_map(|id| sim.flow(id)).fold(CrossTotals::default(), |totals, flow| {
        let lost = flow.data_dropped_by_queue + flow.data_dropped_by_policer + flow.data_dropped_at_random;
        CrossTotals { lost: totals.lost + lost, delivered: totals.delivered + flow.delivered_bytes }
    })
}

fn delay_of(network: &AnyNetwork, link: LinkId) -> Span {
    network.links.get(link.0 as usize).map_or(Span::ZERO, |link| link.delay)
}

/// The other traffic on one link. `offers` is the rates of all on/off sources.
fn hop<W: Recorder>(
    sim: &AnySim<W>,
    network: &AnyNetwork,
    clients: usize,
    link: LinkId,
    offers: &[(u64, FlowId, u64)],
) -> Hop {
    let mut hop = Hop { delay: delay_of(network, link), ..Hop::default() };
    let mut sources: Vec<Vec<(u64, u64)>> = Vec::new();
    for id in others(sim, clients) {
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
            // It is the measured flow, never one of the others.
            Some((Traffic::Probe(_), _)) => {}
            Some((Traffic::OnOff(_), _)) => {
                let own = offers.iter().filter(|(_, flow, _)| *flow == id);
                sources.push(own.map(|(at, _, bps)| (at.saturating_add(before), *bps)).collect());
            }
            // A bulk transfer takes its share until its stop, or the end of the run. If an aborted one were left out, each
            // scheme of a race would have another ideal.
            Some((Traffic::Tcp(spec), _)) => {
                let stop = match spec.application {
                    Application::Until(stop) => Some(stop.nanos()),
                    _ => None,
                };
                let life = |flow: FlowStats| Some((flow.started?.nanos(), stop));
                hop.lives.extend(sim.flow(id).and_then(life));
            }
            None => {
                let life = |flow: FlowStats| Some((flow.started?.nanos(), flow.ended().map(Time::nanos)));
                hop.lives.extend(sim.flow(id).and_then(life));
            }
        }
    }
    hop.offered = summed(&sources);
    hop
}

/// The rates of several sources together, as steps.
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

/// The routers' answers to requests for a rate, summed; `None` if no router takes part.
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
