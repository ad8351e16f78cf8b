//! One run: from scenario, scheme and seed to the evidence, and the same seed's run without the flow.

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Span, Time};
use firstflight_sim::{
    Application, Flow, FlowId, FlowStats, LinkId, Network, NetworkError, PathSpec, Pause, Probability,
    QueueLimit, QuickStartStats, Recorder, Sim, Stop, TcpSpec, Topology, Traffic, Writes, in_a_row,
};
use firstflight_tcp::Config;

use crate::choice::{ChoiceError, SchemeChoice};
use crate::crossing::{self, Hop, available};
use crate::observe::{Evidence, Observer, Surroundings, Watching};
use crate::quantity::{Decimal, QueueSize};
use crate::restart::RestartChoice;
use crate::rounds::Watch;
use crate::scenario::{Goal, Rounds, Scenario};
use crate::tap::Tap;
use crate::words::{Cross, QuickStartHops};

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A scheme that cannot be built.
    #[error(transparent)]
    Scheme(#[from] ChoiceError),
    /// A network that cannot be run.
    #[error("the path cannot be simulated: {0}")]
    Network(#[from] NetworkError),
    /// A scheme, law or policy that the library does not know.
    #[error("`{0}` is no scheme, avoidance law or restart policy")]
    UnknownName(&'static str),
    /// An avoidance law that the library does not know.
    #[error("`{0}` is no avoidance law")]
    UnknownLaw(String),
    /// A capture or event log that could not be written.
    #[error(transparent)]
    Tap(#[from] std::io::Error),
    /// Many flows are asked of one run.
    #[error(
        "flows: a population has no measured flow of its own; `firstflight race` and `run` make its rows"
    )]
    IsPopulation,
    /// One flow is asked of [`run`], and a population of [`crate::populations`].
    #[error(
        "flows: there is no population; say how many flows are measured with flows, and between which hosts with topology"
    )]
    NoPopulation,
    /// One scheme makes no mix.
    #[error("mixed: at least two schemes are wanted")]
    NothingToMix,
    /// Nobody made the earlier connection.
    #[error(
        "{0}: among flows between hosts, what an earlier connection saved has to be said, as in `careful-resume:saved=64kB,rtt=40ms`"
    )]
    NothingSaved(String),
    /// No threads.
    #[error("the runs cannot be spread over threads: {0}")]
    Threads(String),
    /// The user had enough.
    #[error("interrupted")]
    Interrupted,
}

/// What one run says: of the flow itself, and of the others.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of the flow.
    pub evidence: Evidence,
    /// Of the cross traffic, over the whole run.
    pub cross: CrossTotals,
}

/// What became of the cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossTotals {
    /// Data packets dropped.
    pub lost: u64,
    /// Payload bytes delivered in order, or IP bytes of datagrams that arrived.
    pub delivered: u64,
}

/// The measured flow comes first, so that cross traffic has the same random numbers whoever is measured.
const MEASURED: FlowId = FlowId(0);

/// How long responsive cross traffic runs before the measured flow begins, at least, and in base RTTs: long
/// enough to be in congestion avoidance.
const WARM_UP: Span = Span::from_secs(10);
const WARM_UP_RTTS: u64 = 100;
/// How long Quick-Start's routers measure a constant bit rate before the flow begins, at least, and in intervals.
const MEASURING: Span = Span::from_secs(1);
const MEASURING_INTERVALS: u64 = 10;
/// Responsive flows start within this from the beginning, as the seed says.
const START_SPREAD: Span = Span::from_secs(1);

/// The longest that a receiver delays an ACK (RFC 1122 section 4.2.3.2), and the queue on the way.
const LAST_ACK: Span = Span::from_secs(1);

/// More than any run can carry.
pub(crate) const ENDLESS: u64 = 1 << 62;

/// Between two looks at whether the user interrupted: simulated time.
pub(crate) const SLICE: Span = Span::from_secs(1);

/// Runs one scheme with one seed, from the beginning. `full` also records what only figures need; `tap` listens to the
/// flow; `interrupted` is asked now and then.
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

/// [`run`], for who has room to record in.
pub(crate) fn run_watched(
    scenario: &Scenario,
    choice: &SchemeChoice,
    seed: u64,
    watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let stage = Stage::new(scenario, Some(choice))?;
    let sim = Sim::new(&stage.network, seed, stage.surroundings())?;
    measure(sim, &stage, (scenario, choice), watching, interrupted)
}

/// Goes on with a run in which the measured flow has yet to begin.
pub(crate) fn measure(
    sim: AnySim<Surroundings>,
    stage: &Stage,
    (scenario, choice): (&Scenario, &SchemeChoice),
    watching: Watching,
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, RunError> {
    let clients = clients(scenario);
    let watch = Watch::new(clients, reply_bytes(scenario));
    let mss = u32::from(scenario.mss);
    let mut sim = sim.watched_by(|seen| (Observer::new(MEASURED, seen, mss, watching), watch));
    let latest = stage.start + scenario.longest();
    let sized = matches!(scenario.goal, Goal::Size(_));
    let mut end = latest;
    let mut reached = sim.now();
    while reached < latest {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        reached = (reached + SLICE).min(latest);
        if !sized {
            sim.run(reached);
        } else if flows(clients).all(|flow| sim.run_until_finished(flow, reached) == Stop::Finished) {
            // Rounds go on until the last reply's sender has heard of its delivery.
            let ack = scenario.rounds.map_or(Span::ZERO, |_| scenario.rtt * 2 + LAST_ACK);
            end = (sim.now() + ack).min(latest);
            // The other events of that instant, as the run without the flow will have them.
            sim.run(end);
            break;
        }
    }
    let Stage { network, bottlenecks, .. } = stage;
    let offers = sim.recorder().0.offered();
    let hops: Vec<Hop> = bottlenecks.iter().map(|link| hop(&sim, network, clients, *link, offers)).collect();
    let cross = cross_totals(&sim, clients);
    let routers = routers(&sim, network);
    let finished_at = sim.flow(MEASURED).and_then(|flow| flow.finished).map(Time::nanos);
    let (observer, watch) = sim.into_recorder();
    let mut evidence = observer.finish(end.nanos())?;
    evidence.replies = watch.finish();
    choice.name().clone_into(&mut evidence.recording.label);
    evidence.recording.available = available(scenario, &hops);
    evidence.routers = routers;
    evidence.finished_at = finished_at;
    Ok(Outcome { evidence, cross })
}

/// Runs the seed without the measured flow, from the beginning, and reads the cross traffic at each of `ends`, which are
/// in order.
///
/// # Errors
/// As [`run`].
pub fn run_without(
    scenario: &Scenario,
    seed: u64,
    ends: &[u64],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<CrossTotals>, RunError> {
    let Stage { mut network, .. } = Stage::new(scenario, None)?;
    measured(scenario).for_each(|flow| network.mute(flow));
    count(Sim::new(&network, seed, ())?, scenario, ends, interrupted)
}

/// Goes on with a run without the measured flow.
pub(crate) fn count(
    mut sim: AnySim<()>,
    scenario: &Scenario,
    ends: &[u64],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<CrossTotals>, RunError> {
    let mut totals = Vec::with_capacity(ends.len());
    for end in ends.iter().copied().map(Time::from_nanos) {
        advance(&mut sim, end, interrupted)?;
        totals.push(cross_totals(&sim, clients(scenario)));
    }
    Ok(totals)
}

/// Runs on to `until`, unless the user interrupts.
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

/// When a run ends, if that is known before it is made: unless a transfer is to be over first.
pub(crate) fn known_end(scenario: &Scenario, choice: &SchemeChoice) -> Option<u64> {
    match scenario.goal {
        Goal::Duration(_) => Some((flow_start(scenario, Some(choice)) + scenario.longest()).nanos()),
        Goal::Size(_) => None,
    }
}

/// When the measured flow's SYN leaves: at once, unless responsive flows warm up first, or Quick-Start's routers
/// have to measure what is there. The latter takes whole packets of a constant bit rate, so that the flow meets it
/// in the same phase as every other scheme does.
fn flow_start(scenario: &Scenario, choice: Option<&SchemeChoice>) -> Time {
    let measuring = MEASURING.max(scenario.qs_router.interval * MEASURING_INTERVALS);
    match scenario.cross {
        Cross::Cbr(rate) if choice.is_some_and(|choice| asks_routers(scenario, choice)) => {
            let between = rate.time_for(Bytes::new(u64::from(scenario.packet())));
            Time::ZERO + between * measuring.nanos().div_ceil(between.nanos().max(1))
        }
        Cross::None | Cross::Cbr(_) => Time::ZERO,
        Cross::OnOff { .. } => Time::ZERO + measuring,
        Cross::Tcp(_) | Cross::Poisson { .. } | Cross::Web(_) => {
            Time::ZERO + WARM_UP.max(scenario.rtt * WARM_UP_RTTS).max(measuring)
        }
    }
}

/// The scheme and the restart policy that ask routers for a rate.
const ASKING: &str = "quick-start";

/// Whether the routers of the path matter to a scheme.
pub(crate) fn asks_routers(scenario: &Scenario, choice: &SchemeChoice) -> bool {
    choice.entry.name == ASKING || choice.on(scenario).restart.asks_routers()
}

impl RestartChoice {
    /// Whether the routers of the path matter to it.
    pub(crate) fn asks_routers(&self) -> bool {
        self.entry.name == ASKING
    }
}

/// Whether the router of the sender's `hop`-th link, counted from zero, takes part in Quick-Start.
fn takes_part(scenario: &Scenario, hop: usize) -> bool {
    match scenario.qs_hops {
        QuickStartHops::All => true,
        QuickStartHops::None => false,
        QuickStartHops::First(hops) => hop < hops as usize,
    }
}

/// How many flows are measured: one, or every client of a scenario with rounds. They come first.
fn clients(scenario: &Scenario) -> usize {
    scenario.rounds.map_or(1, |rounds| rounds.clients as usize)
}

/// The measured flows.
pub(crate) fn measured(scenario: &Scenario) -> impl Iterator<Item = FlowId> {
    flows(clients(scenario))
}

/// The first so many flows.
fn flows(count: usize) -> impl Iterator<Item = FlowId> {
    (0u32..).take(count).map(FlowId)
}

/// Payload bytes of a reply.
fn reply_bytes(scenario: &Scenario) -> u64 {
    match scenario.goal {
        Goal::Size(bytes) => bytes.get(),
        Goal::Duration(_) => 0,
    }
}

fn replies(rounds: Rounds, reply: Bytes) -> firstflight_sim::Rounds {
    let (pause, spread) = match rounds.spread {
        Some(spread) => (Pause::Every(rounds.idle + spread * 2), spread),
        None => (Pause::AfterEnd(rounds.idle), Span::ZERO),
    };
    firstflight_sim::Rounds { count: rounds.count, bytes: reply.get(), pause, spread }
}

type AnyNetwork = Network<AnyScheme, AnyRestart, AnyLaw>;

/// A run under way.
type AnySim<W> = Sim<AnyScheme, AnyRestart, AnyLaw, W>;

/// What a run takes place on.
pub(crate) struct Stage {
    pub(crate) network: AnyNetwork,
    bottlenecks: Vec<LinkId>,
    /// When the measured flow begins.
    pub(crate) start: Time,
}

impl Stage {
    /// The stage of a choice. Without one the measured flow is there, to be muted.
    pub(crate) fn new(scenario: &Scenario, choice: Option<&SchemeChoice>) -> Result<Self, RunError> {
        let (network, bottlenecks) = network(scenario, choice)?;
        Ok(Self { network, bottlenecks, start: flow_start(scenario, choice) })
    }

    /// Who watches it from the beginning.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings::new(&self.bottlenecks, self.start)
    }
}

fn network(
    scenario: &Scenario,
    choice: Option<&SchemeChoice>,
) -> Result<(AnyNetwork, Vec<LinkId>), RunError> {
    if scenario.population.is_some() {
        return Err(RunError::IsPopulation);
    }
    let clients = clients(scenario);
    let topology = links(scenario, clients);
    let mut links = topology.links;
    if choice.is_some_and(|choice| asks_routers(scenario, choice)) {
        for (hop, id) in
            topology.routes.iter().take(clients).flat_map(|route| route.forward.iter().enumerate())
        {
            if let Some(link) = links.get_mut(id.0 as usize).filter(|_| takes_part(scenario, hop)) {
                link.quick_start = Some(scenario.qs_router.spec());
            }
        }
    }
    let mut network = Network::new(links);
    let slow_start = registry::scheme("slow-start").ok_or(RunError::UnknownName("slow-start"))?;
    let slow_start = SchemeChoice::plain(slow_start);
    let asked = choice;
    for (index, route) in topology.routes.into_iter().enumerate() {
        let measured = index < clients;
        let choice = choice.filter(|_| measured).unwrap_or(&slow_start);
        let own = choice.on(scenario);
        if !measured && !matches!(scenario.cross, Cross::Tcp(_)) {
            let arrivals = crossing::arrivals(scenario, route, config(&own), controller(&own, choice)?);
            network.arrivals.extend(arrivals);
            continue;
        }
        let application = match (scenario.goal, scenario.rounds) {
            (Goal::Size(bytes), Some(rounds)) if measured => Application::Rounds(replies(rounds, bytes)),
            (goal, None) if let Some(app) = scenario.app.filter(|_| measured) => {
                let total = match goal {
                    Goal::Size(bytes) => bytes.get(),
                    Goal::Duration(_) => ENDLESS,
                };
                Application::Writes(Writes { total, bytes: app.bytes.get(), period: app.period })
            }
            (Goal::Size(bytes), None) if measured => Application::Sized(bytes.get()),
            (Goal::Size(_) | Goal::Duration(_), _) => Application::Bulk,
        };
        network.add(Flow {
            forward: route.forward,
            reverse: route.reverse,
            start: if measured { flow_start(scenario, asked) } else { Time::ZERO },
            start_spread: if measured { Span::ZERO } else { START_SPREAD },
            traffic: Traffic::Tcp(Box::new(TcpSpec {
                client: config(&own),
                server: config(&own),
                controller: controller(&own, choice)?,
                application,
            })),
            muted: false,
        });
    }
    for (from, to) in scenario.topology.crossings() {
        let way = topology.bottlenecks.get(from as usize..to as usize).unwrap_or_default();
        if let Some(datagrams) = crossing::datagrams(scenario, way) {
            network.add(datagrams);
        }
    }
    Ok((network, topology.bottlenecks))
}

/// The links, and a route for each client and for each pair of hosts of TCP cross traffic, in this order.
fn links(scenario: &Scenario, clients: usize) -> Topology {
    let hops = scenario.topology.hops();
    let pairs = crossing::pairs(scenario.cross);
    let crossings = scenario.topology.crossings();
    let others = crossings.into_iter().flat_map(|way| std::iter::repeat_n(way, pairs));
    let ways: Vec<_> = std::iter::repeat_n((0, hops), clients).chain(others).collect();
    in_a_row(&path(scenario), hops, &ways)
}

fn path(scenario: &Scenario) -> PathSpec {
    let reverse_delay = scenario.reverse_delay();
    PathSpec {
        rate: scenario.rate,
        queue: scenario.queue_limit(),
        forward_delay: scenario.rtt - reverse_delay,
        reverse_delay,
        loss: probability(scenario.loss),
        jitter: scenario.jitter.unwrap_or(Span::ZERO),
        access_rate: Some(scenario.access_rate),
        reverse_rate: Some(scenario.reverse_rate),
        reverse_queue: match scenario.reverse_queue {
            Some(QueueSize::Packets(packets)) => QueueLimit::Packets(packets),
            Some(QueueSize::Bytes(bytes)) => QueueLimit::Bytes(bytes),
            Some(QueueSize::Bdp(_)) | None => QueueLimit::Unlimited,
        },
        rates: scenario.rate_trace.clone(),
        discipline: scenario.discipline(),
        policer: scenario.policer,
        ack_batch: scenario.ack_aggregation,
    }
}

/// To one part in 10^15.
pub(crate) fn probability(loss: Decimal) -> Probability {
    const PARTS: u64 = 1_000_000_000_000_000;
    Probability::ratio(loss.times(PARTS).unwrap_or(PARTS), PARTS)
}

pub(crate) fn config(scenario: &Scenario) -> Config {
    Config {
        mss: scenario.mss,
        sack: scenario.recovery.uses_sack(),
        timestamps: scenario.timestamps,
        receive_buffer: scenario.rwnd.get(),
        ack_policy: scenario.ack,
        recovery: scenario.recovery,
        min_rto: scenario.min_rto,
        ecn: scenario.ecn,
        ..Config::default()
    }
}

/// The controller of one flow, with the options that the scheme has for itself in `scenario` already.
pub(crate) fn controller(scenario: &Scenario, choice: &SchemeChoice) -> Result<AnyController, RunError> {
    let initial = Initial { segments: scenario.iw, ssthresh: scenario.ssthresh };
    let law = choice.law(scenario.avoidance);
    let law = registry::law(law).ok_or(RunError::UnknownName(law))?;
    let restart = scenario.restart.build(initial)?;
    Ok(AnyController::new(choice.build(initial)?, restart, law.build()))
}

/// The flows that are not measured: those of the network, and those that came up.
fn others<W: Recorder>(sim: &AnySim<W>, clients: usize) -> impl Iterator<Item = FlowId> {
    (0..sim.flow_count()).map(FlowId).skip(clients)
}

fn cross_totals<W: Recorder>(sim: &AnySim<W>, clients: usize) -> CrossTotals {
    others(sim, clients).filter_map(|id| sim.flow(id)).fold(CrossTotals::default(), |totals, flow| {
        let lost = flow.data_dropped_by_queue + flow.data_dropped_by_policer + flow.data_dropped_at_random;
        CrossTotals { lost: totals.lost + lost, delivered: totals.delivered + flow.delivered_bytes }
    })
}

/// What the others did on one link; `offers` is what on/off sources offered on all of them.
fn hop<W: Recorder>(
    sim: &AnySim<W>,
    network: &AnyNetwork,
    clients: usize,
    link: LinkId,
    offers: &[(u64, FlowId, u64)],
) -> Hop {
    let mut hop = Hop::default();
    for id in others(sim, clients).filter(|id| sim.way(*id).is_some_and(|way| way.contains(&link))) {
        match network.flows.get(id.0 as usize).map(|flow| &flow.traffic) {
            Some(Traffic::Cbr(cbr)) => hop.constant += cbr.rate.bps(),
            Some(Traffic::OnOff(_)) => {
                let own = offers.iter().filter(|(_, flow, _)| *flow == id);
                hop.offered.extend(own.map(|(at, _, bps)| (*at, *bps)));
            }
            Some(Traffic::Tcp(_)) | None => {
                let life = |flow: FlowStats| Some((flow.started?.nanos(), flow.finished.map(Time::nanos)));
                hop.lives.extend(sim.flow(id).and_then(life));
            }
        }
    }
    hop
}

/// What the routers did with requests for a rate, all of them together; `None` if none takes part.
fn routers<W: Recorder>(sim: &AnySim<W>, network: &AnyNetwork) -> Option<QuickStartStats> {
    let with_router = (0u32..).zip(&network.links).filter(|(_, link)| link.quick_start.is_some());
    let each = with_router.filter_map(|(id, _)| Some(sim.link(LinkId(id))?.quick_start));
    each.reduce(|a, b| QuickStartStats {
        asked: a.asked + b.asked,
        granted: a.granted + b.granted,
        reduced: a.reduced + b.reduced,
        refused: a.refused + b.refused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_probability_keeps_its_decimals() {
        let of = |text| probability(crate::quantity::fraction(text).expect("a fraction"));
        assert_eq!(of("2%"), Probability::ratio(1, 50));
        assert_eq!(of("0"), Probability::NEVER);
        assert_eq!(of("0.0001%"), Probability::from_ppm(1));
    }
}
