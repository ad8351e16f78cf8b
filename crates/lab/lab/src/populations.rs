//! Populations: many measured flows between the hosts of a topology, with one scheme each or with all schemes mixed.

use std::sync::atomic::{AtomicU64, Ordering};

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Rate, Span, Time};
use firstflight_measure::PopulationResult;
use firstflight_measure::ideal::ENDLESS;
use firstflight_scenario::population::{ArrivalProcess, Population};
use firstflight_scenario::topology::{Hosts, Topology};
use firstflight_scenario::{Gemodel, Goal, Scenario, SchemeChoice, asks_routers, probability};
use firstflight_sim::{
    Arrivals, Content, Discipline, Ends, FlowId, Gap, LinkId, LinkSpec, Network, ParkingLot, QueueLimit,
    Recorder, Sim, Sizes, Ways,
};
use rayon::prelude::*;

use crate::advance::SLICE;
use crate::build_network::AnySim;
use crate::completed::{Completed, kept};
use crate::cross_flows;
use crate::error::RunError;
use crate::flow_costs::Census;
use crate::flow_group::{Group, arrivals, ends, groups};
use crate::flow_taps::TappedFlows;
use crate::flows::{Run, flow_rows, row};
use crate::processors;
use crate::run_settings::{How, PopulationFlow, pool};
use crate::watched_flows::WatchedFlows;
use crate::window_meter::{Meter, Metered};
use crate::work;

/// Runs a population of each of `choices`, and a mixed one if the scenario requests it. Each is run `scenario.runs` times, with the seeds
/// from `scenario.seed` on. With one seed, all populations have the same flows.
///
/// The results are in the order of `choices`, with the mixed population's results last. They do not depend on `how.jobs`. `each_flow` says
/// whether every flow's row is kept.
///
/// # Errors
/// Fails for a scenario without a population, and after an interrupt before all runs were finished. Otherwise returns the error of the
/// first run, in order, that failed.
pub fn populations(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    each_flow: bool,
    how: &How<'_>,
) -> Result<Vec<PopulationResult>, RunError> {
    populations_until_interrupted(scenario, choices, each_flow, how)?.whole()
}

/// Runs populations as [`populations`] does. After an interrupt, the result has only the finished runs, and only schemes with at least one
/// of them.
///
/// # Errors
/// Fails for a scenario without a population. Otherwise returns the error of the first run, in order, that failed.
pub fn populations_until_interrupted(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    each_flow: bool,
    how: &How<'_>,
) -> Result<Completed<Vec<PopulationResult>>, RunError> {
    let Some(population) = &scenario.population else { return Err(RunError::NoPopulation) };
    if population.mixed && choices.len() < 2 {
        return Err(RunError::NothingToMix);
    }
    if let Some(choice) = choices.iter().find(|choice| choice.lacks_saved()) {
        return Err(RunError::NothingSaved(choice.name().to_owned()));
    }
    let groups = groups(scenario, choices)?;
    let seeds = (0..u64::from(scenario.runs)).map(|index| scenario.seed.wrapping_add(index));
    let tasks: Vec<(usize, u64)> =
        seeds.flat_map(|seed| (0..groups.len()).map(move |group| (group, seed))).collect();
    let total = tasks.len() as u64;
    let done = AtomicU64::new(0);
    let one = |&(group, seed): &(usize, u64)| {
        how.go_on()?;
        let run = run(scenario, population, (group, &groups[group]), seed, how)?;
        tell_slots(&run, group, how)?;
        let over = done.fetch_add(1, Ordering::Relaxed) + 1;
        (how.progress)(over, total, groups[group].mix.first().map_or("", SchemeChoice::name));
        let of = |place: usize| {
            let flows = if each_flow { flow_rows(scenario, &run, place) } else { Vec::new() };
            (row(scenario, &run, place), flows)
        };
        Ok((group, (0..groups[group].mix.len()).map(of).collect::<Vec<_>>()))
    };
    let finished = pool(how)?
        .install(|| tasks.par_iter().map(one).filter_map(kept).collect::<Result<Vec<_>, RunError>>())?;
    let empty = |choice: &SchemeChoice| PopulationResult {
        name: choice.name().to_owned(),
        rows: Vec::new(),
        flows: Vec::new(),
    };
    let mut results: Vec<PopulationResult> = groups.iter().flat_map(|group| &group.mix).map(empty).collect();
    let missing = total - finished.len() as u64;
    for (group, rows) in finished {
        let first: usize = groups[..group].iter().map(|group| group.mix.len()).sum();
        for (result, (row, flows)) in results[first..].iter_mut().zip(rows) {
            result.rows.push(row);
            result.flows.extend(flows);
        }
    }
    results.retain(|result| !result.rows.is_empty());
    Ok(Completed::missing(results, missing))
}

/// Passes the bits that links sent in the slots of a run to `how.slots`.
fn tell_slots(run: &Run<'_>, group: usize, how: &How<'_>) -> Result<(), RunError> {
    let Some(slots) = how.slots else { return Ok(()) };
    let Group { mix, population, .. } = run.group;
    // If the flows have several schemes, the link's bits belong to none of them.
    let choice = Some(mix).filter(|mix| mix.len() == 1).and_then(|mix| mix.first());
    Ok(slots.tell((choice, group, population, run.seed), run.meter.slots())?)
}

/// Makes one run of one population.
fn run<'a>(
    scenario: &Scenario,
    population: &Population,
    (place, group): (usize, &'a Group),
    seed: u64,
    how: &How<'_>,
) -> Result<Run<'a>, RunError> {
    let scenario = &*scenario.at_seed(seed);
    let Topology::Hosts(hosts) = scenario.topology else { return Err(RunError::NoPopulation) };
    let network = network(scenario, population, hosts, group)?;
    let census = Census::new(scenario.mss.into());
    let record = how.record_flow.filter(|_| seed == scenario.seed);
    if how.flow_tap.is_none() && record.is_none() {
        let sim = Sim::new(&network, seed, census)?;
        return follow(scenario, (population, hosts, group), seed, network, sim, how);
    }
    let tapped = how.flow_tap.map(|make| TappedFlows::new(make, (place, group), seed, 2 * hosts.hops));
    let warm = Time::ZERO + population.warm_up;
    let path = (scenario.rtt, scenario.mss.into());
    let watched = record.map(|_| WatchedFlows::new(group, warm, path, &between_routers(hosts)));
    let sim = Sim::new(&network, seed, (census, (tapped, watched)))?;
    let Run { measured, end, ways, meter, sim, .. } =
        follow(scenario, (population, hosts, group), seed, network, sim, how)?;
    let (mut taps, mut flows) = (None, None);
    let sim = sim.watched_by(|(census, (tapped, watched))| {
        (taps, flows) = (tapped, watched);
        census
    });
    taps.map_or(Ok(()), TappedFlows::finish)?;
    if let (Some(record), Some(flows)) = (record, flows) {
        let ended = |id| sim.flow(id).and_then(|flow| flow.ended()).unwrap_or(end);
        for (flow, recording) in flows.finish(ended) {
            let choice = sim.arrived(FlowId(flow)).and_then(|arrived| group.mix.get(group.place(arrived)?));
            if let Some(choice) = choice {
                let population = group.population.as_str();
                record(PopulationFlow { choice, group: place, population, seed, flow }, recording);
            }
        }
    }
    Ok(Run { seed, group, ways, measured, end, meter, sim })
}

/// Runs a population until it is over.
fn follow<'a, W: Recorder>(
    scenario: &Scenario,
    (population, hosts, group): (&Population, Hosts, &'a Group),
    seed: u64,
    network: Network<AnyScheme, AnyRestart, AnyLaw>,
    mut sim: AnySim<W>,
    how: &How<'_>,
) -> Result<Run<'a, W>, RunError> {
    let end = Time::ZERO + scenario.limit;
    let warm = Time::ZERO + population.warm_up;
    let mut measured = 0..0;
    let mut over = 0;
    let mut reached = Time::ZERO;
    let lot = lot(scenario, hosts);
    let access = |host, to_host| lot.edge_link(host, to_host);
    let metered = Metered::new(scenario, &network.links, between_routers(hosts), access);
    let mut meter = Meter::new(scenario, Time::ZERO, metered, how.slots.map(|slots| slots.length));
    meter.read(&sim, reached);
    while reached < end {
        if (how.interrupted)() {
            return Err(RunError::Interrupted);
        }
        reached = (reached + SLICE).min(end);
        while let Some(at) = meter.next(reached) {
            let stop = sim.run(at);
            work::check(stop, sim.most_events(), sim.now())?;
            meter.read(&sim, at);
        }
        let stop = sim.run_on(reached);
        work::check(stop, sim.most_events(), sim.now())?;
        // Flows arrive in order: the flows of the warm-up first, then the measured ones.
        let began = |id: u32| sim.flow(FlowId(id)).and_then(|flow| flow.started);
        while measured.start < sim.flow_count()
            && (began(measured.start).is_none_or(|at| at < warm) || !is_own(&sim, group, measured.start))
        {
            measured.start += 1;
        }
        measured.end = measured.end.max(measured.start);
        let is_over = |id: u32| sim.flow(FlowId(id)).is_some_and(|flow| flow.end.is_some());
        // `measured.end` is the first flow that is not over or has not arrived. Cross traffic between measured flows is not counted.
        while over < population.flows && measured.end < sim.flow_count() {
            let own = is_own(&sim, group, measured.end);
            if own && !is_over(measured.end) {
                break;
            }
            over += u32::from(own);
            measured.end += 1;
        }
        if scenario.is_sized() && over == population.flows {
            break;
        }
    }
    sim.run(reached);
    let mut count = 0;
    measured.end = measured.start;
    while count < population.flows && measured.end < sim.flow_count() {
        count += u32::from(is_own(&sim, group, measured.end));
        measured.end += 1;
    }
    // A flow that starts as the run ends has sent nothing. The last flow counted belongs to the population.
    let began = |id: u32| sim.flow(FlowId(id)).and_then(|flow| flow.started);
    let is_last = |id: u32| is_own(&sim, group, id) && began(id).is_some_and(|at| at < reached);
    while measured.end > measured.start && !is_last(measured.end - 1) {
        measured.end -= 1;
    }
    Ok(Run {
        seed,
        group,
        ways: network.arrivals.into_iter().next().map(|process| process.ways),
        measured,
        end: reached,
        meter,
        sim,
    })
}

/// Checks whether a flow belongs to the population, and not to cross traffic.
fn is_own<W: Recorder>(sim: &AnySim<W>, group: &Group, id: u32) -> bool {
    sim.arrived(FlowId(id)).and_then(|arrived| group.place(arrived)).is_some()
}

/// Returns the links between routers, in both directions, which are the bottlenecks.
fn between_routers(hosts: Hosts) -> Vec<LinkId> {
    (0..2 * hosts.hops).map(LinkId).collect()
}

/// Returns the routers and their hosts.
fn lot(scenario: &Scenario, hosts: Hosts) -> ParkingLot {
    ParkingLot {
        backbone: backbone(scenario, hosts.hops),
        backbone_back: Some(backbone_back(scenario, hosts.hops)),
        hops: hosts.hops,
        hosts: hosts.each,
        edge: Some(edge(scenario)),
        edge_down: scenario.receiver_access_rate.map(|rate| edge_down(scenario, rate)),
    }
}

/// Creates the links, the arrival processes of the flows, and cross traffic.
pub(crate) fn network(
    scenario: &Scenario,
    population: &Population,
    hosts: Hosts,
    group: &Group,
) -> Result<Network<AnyScheme, AnyRestart, AnyLaw>, RunError> {
    let lot = lot(scenario, hosts);
    let mut links = lot.links();
    if group.mix.iter().any(|choice| asks_routers(scenario, choice)) {
        for (index, link) in links.iter_mut().enumerate() {
            let (hop, is_access) = lot.hop(index);
            link.quick_start = scenario.approval(hop, is_access);
        }
    }
    let mut network = Network::new(links);
    network.cpu = processors::spec(scenario);
    network.departures = scenario.departures();
    network.timer_noise = scenario.timer_noise.unwrap_or(Span::ZERO);
    network.most_events = work::allowed(scenario, Time::ZERO);
    network.arrivals = match group.parts.as_slice() {
        [] => drawn(scenario, population, hosts, group, &lot)?,
        _ => arrivals(scenario, group, &lot)?,
    };
    let onward: Vec<LinkId> = (0..hosts.hops).map(LinkId).collect();
    let back: Vec<LinkId> = (0..hosts.hops).rev().map(|hop| LinkId(hosts.hops + hop)).collect();
    for entry in &scenario.beside {
        let ways = if entry.reverse { (&*back, &*onward) } else { (&*onward, &*back) };
        cross_flows::add(scenario, entry, &mut network, ways, Time::ZERO)?;
    }
    Ok(network)
}

/// Creates the arrival processes of flows whose arrivals and sizes are drawn.
fn drawn(
    scenario: &Scenario,
    population: &Population,
    hosts: Hosts,
    group: &Group,
    lot: &ParkingLot,
) -> Result<Vec<Arrivals<AnyScheme, AnyRestart, AnyLaw>>, RunError> {
    let ends = |choice: &SchemeChoice| {
        let (config, controller) = ends(scenario, choice)?;
        Ok(Ends { client: config, server: config, controller })
    };
    let process = |(start, gap, most)| {
        Ok(Arrivals {
            ways: if hosts.onward { Ways::Onward(lot.clone()) } else { Ways::Between(lot.clone()) },
            start,
            stop: None,
            most,
            gap,
            until: None,
            content: match (scenario.goal, gap) {
                (Goal::Size(mean), Gap::Thinking) => Content::Page(population.sizes.around(mean)),
                (Goal::Size(mean), _) => Content::Transfer(population.sizes.around(mean)),
                (Goal::Duration(_), _) => Content::Transfer(Sizes::Fixed(ENDLESS)),
            },
            mix: group
                .draws
                .iter()
                .map(|place| &group.mix[*place])
                .map(ends)
                .collect::<Result<_, RunError>>()?,
        })
    };
    processes(population).into_iter().map(process).collect()
}

/// Returns the arrival processes of a population, each as (start, time between arrivals, maximum number of arrivals). Each listed instant
/// is a process with one arrival, and each user is a process.
fn processes(population: &Population) -> Vec<(Time, Gap, Option<u64>)> {
    match &population.arrivals {
        ArrivalProcess::At(instants) => {
            let one = |at: &Span| (Time::ZERO + *at, Gap::Constant(Span::from_secs(1)), Some(1));
            instants.iter().map(one).collect()
        }
        ArrivalProcess::Users(users) => vec![(Time::ZERO, Gap::Thinking, None); *users as usize],
        by_the_clock => {
            let most = population.last_arrival();
            by_the_clock.gap().map(|gap| (Time::ZERO, gap, most)).into_iter().collect()
        }
    }
}

/// Creates a link between two routers in the forward direction. It has the bottleneck's properties and an equal share of the propagation
/// delay of its direction, rounded down to a nanosecond.
fn backbone(scenario: &Scenario, hops: u32) -> LinkSpec {
    LinkSpec {
        rates: scenario.rates(),
        queue: scenario.queue_limit(),
        discipline: scenario.discipline(),
        policer: scenario.policer,
        loss: probability(scenario.loss),
        bursts: scenario.loss_bursts.map(Gemodel::bursts),
        jitter: scenario.jitter.unwrap_or_default(),
        ..LinkSpec::new(Some(scenario.rate), scenario.onward_delay() / u64::from(hops.max(1)))
    }
}

/// Creates a link between two routers in the reverse direction. It is like [`backbone`] except where the scenario describes the return
/// path.
fn backbone_back(scenario: &Scenario, hops: u32) -> LinkSpec {
    let onward = backbone(scenario, hops);
    let own_queue = scenario.path().reverse_queue;
    let (queue, discipline) = match own_queue {
        QueueLimit::Unlimited => (onward.queue, onward.discipline),
        own => (own, Discipline::DropTail),
    };
    let (loss, bursts) = if scenario.ack_loss.is_zero() && scenario.ack_loss_bursts.is_none() {
        (onward.loss, onward.bursts)
    } else {
        (probability(scenario.ack_loss), scenario.ack_loss_bursts.map(Gemodel::bursts))
    };
    LinkSpec {
        rate: Some(scenario.reverse_rate),
        delay: scenario.back_delay() / u64::from(hops.max(1)),
        queue,
        discipline,
        loss,
        bursts,
        ..onward
    }
}

/// Creates a link between a host and its router. Its queue is unlimited, because it represents the host's interface.
fn edge(scenario: &Scenario) -> LinkSpec {
    LinkSpec::new(Some(scenario.access_rate), Span::ZERO)
}

/// Creates a link from a router to a host with its own rate. The queue is like the bottleneck's, because a router holds it.
fn edge_down(scenario: &Scenario, rate: Rate) -> LinkSpec {
    LinkSpec {
        queue: scenario.queue_limit(),
        discipline: scenario.discipline(),
        ..LinkSpec::new(Some(rate), Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_scenario::{parse_choices, parse_file};

    /// A recorder that does not accept drops reported late: it receives them in order of time.
    struct InTurn;

    impl Recorder for InTurn {}

    #[test]
    fn a_census_with_late_drop_reports_counts_like_one_with_immediate_reports() {
        let text = "rate = '5mbit'\nrtt = '40ms'\nqueue = '8p'\ntopology = 'dumbbell:hosts=6'\naccess-rate = '20mbit'\n\
                    flows = 300\narrivals = 'poisson:25'\nsize = '30p'\nsizes = 'exponential'\n";
        let scenario = Scenario::resolve(&parse_file(text).expect("a file").options).expect("a scenario");
        let population = scenario.population.as_ref().expect("flows between hosts");
        let Topology::Hosts(hosts) = scenario.topology else { panic!("a dumbbell") };
        let choices = parse_choices("slow-start").expect("a scheme");
        for seed in 1..=3 {
            let group = &groups(&scenario, &choices).expect("groups")[0];
            let network = network(&scenario, population, hosts, group).expect("a network");
            let mut late = Sim::new(&network, seed, Census::new(scenario.mss.into())).expect("a run");
            let mut in_turn =
                Sim::new(&network, seed, (Census::new(scenario.mss.into()), InTurn)).expect("a run");
            let end = Time::from_nanos(15_000_000_000);
            late.run(end);
            in_turn.run(end);
            let seen =
                |census: &Census, count: u32| (0..count).map(|id| census.of(FlowId(id))).collect::<Vec<_>>();
            let flows = seen(late.recorder(), late.flow_count());
            let others = seen(&in_turn.recorder().0, in_turn.flow_count());
            assert_eq!(flows.len(), others.len());
            for (id, (flow, other)) in flows.iter().zip(&others).enumerate() {
                assert_eq!(flow, other, "flow {id} with seed {seed}");
            }
            let lost: u32 = flows.iter().map(|flow| flow.counts(true).su_lost()).sum();
            assert!(lost > 300, "{lost} packets are too few to see a difference by");
        }
    }
}
