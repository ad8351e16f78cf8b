//! Cross traffic as flows of the network.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_scenario::cross_entries::Beside;
use firstflight_scenario::keywords::{Cross, Often};
use firstflight_scenario::quantity::nanos;
use firstflight_scenario::{ByName, ControllerError, Scenario, SchemeChoice};
use firstflight_sim::{
    Application, Arrivals, Content, Ends, Flow, Gap, LinkId, LinkSpec, Network, Route, Sizes, TcpSpec,
    Traffic, Ways,
};
use firstflight_tcp::Config;

use crate::error::RunError;
use crate::flow_group::ends;

/// Returns the number of host pairs that an entry of TCP cross traffic needs: one for each bulk flow, or one for all flows that arrive
/// during the run.
pub(crate) fn pairs(cross: Cross) -> usize {
    match cross {
        Cross::None | Cross::Cbr(_) | Cross::OnOff { .. } => 0,
        Cross::Tcp(bulk) => bulk.flows as usize,
        Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_) => 1,
    }
}

/// The number of host pairs among which arriving flows with different round-trip times are divided.
const ARRIVING_PAIRS: u32 = 32;

/// Returns the scheme of an entry's flows.
///
/// # Errors
/// Fails if the scenario's registry does not have the scheme or the law.
pub(crate) fn scheme(scenario: &Scenario, entry: &Beside) -> Result<SchemeChoice, RunError> {
    let choices = scenario.registry.parse_choices(&entry.choice()).map_err(ControllerError::Scheme)?;
    Ok(choices.into_iter().next().unwrap_or_else(SchemeChoice::slow_start))
}

/// Creates the unresponsive traffic of an entry, over the links of `way`.
pub(crate) fn datagrams(
    scenario: &Scenario,
    entry: &Beside,
    way: &[LinkId],
    origin: Time,
) -> Option<Flow<AnyScheme, AnyRestart, AnyLaw>> {
    let traffic = match scenario.datagrams_of(entry.cross, entry.stop.map(|stop| origin + stop))? {
        firstflight_sim::Cross::Cbr(spec) => Traffic::Cbr(spec),
        firstflight_sim::Cross::OnOff(spec) => Traffic::OnOff(spec),
    };
    Some(Flow {
        forward: way.to_vec(),
        reverse: vec![],
        start: entry.start.map_or(Time::ZERO, |start| origin + start),
        start_spread: Span::ZERO,
        traffic,
        muted: false,
    })
}

/// Creates the arriving flows of an entry, each over one of `routes`. Each user has its own arrival process.
pub(crate) fn arrivals(
    scenario: &Scenario,
    entry: (&Beside, Time),
    routes: Vec<Route>,
    config: Config,
    controller: AnyController,
) -> Vec<Arrivals<AnyScheme, AnyRestart, AnyLaw>> {
    let processes = if let Cross::Users { users, .. } = entry.0.cross { users as usize } else { 1 };
    let process = process(scenario, entry, routes, config, controller);
    process.map_or_else(Vec::new, |process| vec![process; processes])
}

#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
fn process(
    scenario: &Scenario,
    (entry, origin): (&Beside, Time),
    routes: Vec<Route>,
    config: Config,
    controller: AnyController,
) -> Option<Arrivals<AnyScheme, AnyRestart, AnyLaw>> {
    let bits = |content: Content| scenario.mean_bits(content);
    let (content, gap) = match entry.cross {
        Cross::Poisson { often, size, sizes } => {
            let content = Content::Transfer(sizes.around(size.in_bytes(u64::from(scenario.mss))?));
            let gap = match often {
                Often::PerSecond(number) => 1.0 / number.to_f64(),
                Often::Load(rate) => bits(content) / rate.bps() as f64,
            };
            (content, Gap::Exponential(nanos(gap)))
        }
        Cross::Users { size, sizes, .. } => {
            (Content::Page(sizes.around(size.in_bytes(u64::from(scenario.mss))?)), Gap::Thinking)
        }
        Cross::Web(load) => {
            let rate = scenario.rate_of(entry).bps() as f64;
            let page = Content::Page(Sizes::Web);
            (page, Gap::Exponential(nanos(bits(page) / (load.to_f64() * rate))))
        }
        Cross::None | Cross::Cbr(_) | Cross::Tcp(_) | Cross::OnOff { .. } => return None,
    };
    Some(Arrivals {
        ways: Ways::Listed(routes),
        start: entry.start.map_or(Time::ZERO, |start| origin + start),
        stop: entry.stop.map(|stop| origin + stop),
        most: None,
        until: None,
        gap,
        content,
        mix: vec![Ends { client: config, server: config, controller }],
    })
}

/// Adds an entry of cross traffic to a network. Data takes the links `ahead`, and ACKs take the links `back`. Instants count from `origin`.
/// Each TCP sender has its own access link, which adds the difference between the entry's round-trip time and the path's. The receiver is
/// at the last router.
///
/// # Errors
/// Fails if a scheme cannot be built.
pub(crate) fn add(
    scenario: &Scenario,
    entry: &Beside,
    network: &mut Network<AnyScheme, AnyRestart, AnyLaw>,
    (ahead, back): (&[LinkId], &[LinkId]),
    origin: Time,
) -> Result<(), RunError> {
    if let Some(datagrams) = datagrams(scenario, entry, ahead, origin) {
        network.add(datagrams);
        return Ok(());
    }
    let choice = scheme(scenario, entry)?;
    let host = Scenario { rwnd: entry.rwnd.unwrap_or(scenario.rwnd), ..scenario.clone() };
    let (config, controller) = ends(&host, &choice)?;
    let count = match entry.cross {
        Cross::Tcp(bulk) => bulk.flows,
        _ if entry.rtt.is_some_and(|(least, most)| least < most) => ARRIVING_PAIRS,
        _ => 1,
    };
    let mut routes = Vec::with_capacity(count as usize);
    for index in 0..count {
        let further = entry.rtt_of(index, count, scenario.rtt) - scenario.rtt;
        let access = LinkId(u32::try_from(network.links.len()).unwrap_or(u32::MAX));
        network.links.push(LinkSpec::new(Some(scenario.access_rate), further));
        let forward = [&[access], ahead].concat();
        routes.push(Route { forward, reverse: back.to_vec() });
    }
    let Cross::Tcp(_) = entry.cross else {
        network.arrivals.extend(arrivals(scenario, (entry, origin), routes, config, controller));
        return Ok(());
    };
    for route in routes {
        network.add(Flow {
            forward: route.forward,
            reverse: route.reverse,
            start: entry.start.map_or(Time::ZERO, |start| origin + start),
            start_spread: if entry.start.is_none() { scenario.bulk_spread() } else { Span::ZERO },
            traffic: Traffic::Tcp(Box::new(TcpSpec {
                client: config,
                server: config,
                controller: controller.clone(),
                application: entry.stop.map_or(Application::Bulk, |stop| Application::Until(origin + stop)),
            })),
            muted: false,
        });
    }
    Ok(())
}
