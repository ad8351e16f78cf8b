//! Builds the simulator's network of a scenario, and finds the start of the measured flow.

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Bytes, Span, Time};
use firstflight_measure::ideal::ENDLESS;
use firstflight_scenario::cross_entries::Beside;
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::script::ScriptedFlow;
use firstflight_scenario::{
    CastError, CastFlow, Goal, Rounds, Scenario, SchemeChoice, asks_routers, controller, quic_flow,
    sender_config,
};
use firstflight_sim::{
    Application, Flow, FlowId, LinkId, Network, Pause, Sim, TcpSpec, Topology, Traffic, Writes, in_a_row,
};
use firstflight_tcp::AckPolicy;

use crate::cross_flows;
use crate::error::RunError;
use crate::observe::Surroundings;
use crate::processors;
use crate::work;

pub(crate) type AnyNetwork = Network<AnyScheme, AnyRestart, AnyLaw>;

/// A run in progress.
pub(crate) type AnySim<W> = Sim<AnyScheme, AnyRestart, AnyLaw, W>;

/// The network of a run.
pub(crate) struct RunNetwork {
    pub(crate) network: AnyNetwork,
    pub(crate) bottlenecks: Vec<LinkId>,
    /// When the measured flow starts.
    pub(crate) start: Time,
}

impl RunNetwork {
    /// Creates the network for a run of `choice`. Without a choice, the measured flow has slow start as a placeholder, and the caller mutes
    /// it.
    pub(crate) fn new(scenario: &Scenario, choice: Option<&SchemeChoice>) -> Result<Self, RunError> {
        let (mut network, bottlenecks) = network(scenario, choice)?;
        let start = flow_start(scenario);
        network.most_events = work::allowed(scenario, start);
        Ok(Self { network, bottlenecks, start })
    }

    /// Returns the observer of the path and the other traffic, for a run that has not started.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings::new(&self.bottlenecks, self.start)
    }
}

/// Returns when the SYN of the measured flow is sent, for every scheme ([`Scenario::flow_start`]).
pub fn flow_start(scenario: &Scenario) -> Time {
    Time::ZERO + scenario.flow_start()
}

/// Returns the number of measured flows: one, or every client of a scenario with rounds. They have the first flow numbers.
pub(crate) fn clients(scenario: &Scenario) -> usize {
    scenario.rounds.map_or(1, |rounds| rounds.clients as usize)
}

/// Returns the numbers of the measured flows.
pub(crate) fn measured(scenario: &Scenario) -> impl Iterator<Item = FlowId> {
    flows(clients(scenario))
}

/// Returns the schemes of the measured flows in a run of `choice`, in flow order: `choice` itself, or each client's own scheme. A client
/// may also have its own ACK policy.
pub(crate) fn schemes_of(
    scenario: &Scenario,
    choice: &SchemeChoice,
) -> Result<Vec<(SchemeChoice, Option<AckPolicy>)>, CastError> {
    if !scenario.has_client_script() {
        return Ok(vec![(choice.clone(), None); clients(scenario)]);
    }
    let cast = scenario.cast(None)?;
    let of = |(part, flow): (&CastFlow, &ScriptedFlow)| (cast.choices[part.choice].clone(), flow.ack);
    Ok(cast.parts.iter().zip(&scenario.script).map(of).collect())
}

/// Checks whether a measured flow in a run of `choice` may ask routers.
///
/// # Errors
/// Fails for a script in which a flow has no scheme.
pub(crate) fn asks(scenario: &Scenario, choice: &SchemeChoice) -> Result<bool, CastError> {
    if !scenario.has_client_script() {
        return Ok(asks_routers(scenario, choice));
    }
    Ok(scenario.cast(None)?.choices.iter().any(|choice| asks_routers(scenario, choice)))
}

/// Returns the first `count` flow numbers.
pub(crate) fn flows(count: usize) -> impl Iterator<Item = FlowId> {
    (0u32..).take(count).map(FlowId)
}

pub(crate) fn replies(rounds: Rounds, reply: Bytes) -> firstflight_sim::Rounds {
    let (pause, spread) = match rounds.spread {
        Some(spread) => (Pause::Every(rounds.idle + spread * 2), spread),
        None => (Pause::AfterEnd(rounds.idle), Span::ZERO),
    };
    firstflight_sim::Rounds { count: rounds.count, bytes: reply.get(), pause, spread }
}

fn network(
    scenario: &Scenario,
    choice: Option<&SchemeChoice>,
) -> Result<(AnyNetwork, Vec<LinkId>), RunError> {
    if scenario.population.is_some() {
        return Err(RunError::IsPopulation);
    }
    // Only measured flows run in a QUIC stack. The others, and the placeholder of a run without a choice, are TCP.
    let (asked, scenario) = (scenario, &Scenario { quic: None, ..scenario.clone() });
    let clients = clients(scenario);
    let topology = links(scenario, clients);
    let mut links = topology.links;
    let asks = choice.map_or(Ok(false), |choice| asks(scenario, choice))?;
    let own = choice.map_or(Ok(Vec::new()), |choice| schemes_of(scenario, choice))?;
    if asks {
        for (hop, id) in
            topology.routes.iter().take(clients).flat_map(|route| route.forward.iter().enumerate())
        {
            if let Some(link) = links.get_mut(id.0 as usize) {
                link.quick_start = scenario.approval(hop, !topology.bottlenecks.contains(id));
            }
        }
    }
    let mut network = Network::new(links);
    network.cpu = processors::spec(scenario);
    network.departures = scenario.departures();
    network.timer_noise = scenario.timer_noise.unwrap_or(Span::ZERO);
    let steady = Beside::steady(scenario.cross);
    let others = cross_flows::scheme(scenario, &steady)?;
    for (index, route) in topology.routes.into_iter().enumerate() {
        let measured = index < clients;
        let (choice, ack) = own.get(index).map_or((&others, None), |(choice, ack)| (choice, *ack));
        let (ack, ack_delay) = ack.map_or((scenario.ack, scenario.ack_delay), |ack| (ack, None));
        if measured
            && index < own.len()
            && let Some(foreign) = quic_flow(&asked.for_scheme(choice), choice)?
        {
            network.add(Flow {
                forward: route.forward,
                reverse: route.reverse,
                start: flow_start(scenario),
                start_spread: Span::ZERO,
                traffic: Traffic::Foreign(Box::new(foreign)),
                muted: false,
            });
            continue;
        }
        let own = Scenario { ack, ack_delay, ..scenario.clone() }.for_scheme(choice);
        if !measured && !matches!(scenario.cross, Cross::Tcp(_)) {
            let (config, controller) = (sender_config(&own), controller(&own, choice)?);
            let arrivals =
                cross_flows::arrivals(scenario, (&steady, Time::ZERO), vec![route], config, controller);
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
            start: if measured { flow_start(scenario) } else { Time::ZERO },
            start_spread: if measured { Span::ZERO } else { scenario.bulk_spread() },
            traffic: Traffic::Tcp(Box::new(TcpSpec {
                client: sender_config(&own),
                server: sender_config(&own),
                controller: controller(&own, choice)?,
                application,
            })),
            muted: false,
        });
    }
    for (from, to) in scenario.topology.crossings() {
        let way = topology.bottlenecks.get(from as usize..to as usize).unwrap_or_default();
        if let Some(datagrams) = cross_flows::datagrams(scenario, &steady, way, Time::ZERO) {
            network.add(datagrams);
        }
    }
    let hops = scenario.topology.hops();
    for entry in &scenario.beside {
        for (from, to) in scenario.topology.crossings() {
            let ahead: Vec<LinkId> = (from..to).map(LinkId).collect();
            let back: Vec<LinkId> = (from..to).rev().map(|hop| LinkId(hops + hop)).collect();
            let ways = if entry.reverse { (&*back, &*ahead) } else { (&*ahead, &*back) };
            cross_flows::add(scenario, entry, &mut network, ways, flow_start(scenario))?;
        }
    }
    Ok((network, topology.bottlenecks))
}

/// Creates the links, and a route for each client and for each pair of hosts of TCP cross traffic, in this order.
fn links(scenario: &Scenario, clients: usize) -> Topology {
    let hops = scenario.topology.hops();
    let pairs = cross_flows::pairs(scenario.cross);
    let crossings = scenario.topology.crossings();
    let others = crossings.into_iter().flat_map(|way| std::iter::repeat_n(way, pairs));
    let ways: Vec<_> = std::iter::repeat_n((0, hops), clients).chain(others).collect();
    in_a_row(&scenario.path(), hops, &ways)
}
