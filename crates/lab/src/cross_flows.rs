//! Cross traffic as flows of the network.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_scenario::beside::Beside;
use firstflight_scenario::quantity::nanos;
use firstflight_scenario::words::{Cross, Often};
use firstflight_scenario::{ByName, ControllerError, Scenario, SchemeChoice};
use firstflight_sim::{
    Application, Arrivals, Content, Ends, Flow, Gap, LinkId, LinkSpec, Network, Route, Sizes, TcpSpec,
    Traffic, Ways,
};
use firstflight_tcp::Config;

use crate::error::RunError;
use crate::group::ends;

/// The number of host pairs that TCP cross traffic needs: one for each bulk flow, or one for all flows that arrive during
/// the run.
pub(crate) fn pairs(cross: Cross) -> usize {
    match cross {
        Cross::None | Cross::Cbr(_) | Cross::OnOff { .. } => 0,
        Cross::Tcp(bulk) => bulk.flows as usize,
        Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_) => 1,
    }
}

/// How many pairs of hosts flows that arrive have, if their round-trip times differ.
const ARRIVING_PAIRS: u32 = 32;

/// Responsive flows of the whole run start at random instants within this time from the beginning.
pub(crate) const START_SPREAD: Span = Span::from_secs(1);

/// The scheme of an entry's flows.
///
/// # Errors
/// A scheme or a law that the scenario's registry does not have.
pub(crate) fn scheme(scenario: &Scenario, entry: &Beside) -> Result<SchemeChoice, RunError> {
    let choices = scenario.registry.parse_choices(&entry.choice()).map_err(ControllerError::Scheme)?;
    Ok(choices.into_iter().next().unwrap_or_else(SchemeChoice::slow_start))
}

/// The mean IP bits of an arrival. Mean sizes count headers of full segments. The last segment of a file is shorter, which adds
/// under 0.04 % to web pages (20 bytes a file of 61 kB). Handshakes, ACKs and retransmissions are extra.
fn mean_bits(scenario: &Scenario, content: Content) -> f64 {
    content.mean_bytes() * 8.0 * f64::from(scenario.packet()) / f64::from(scenario.mss)
}

/// The mean rate that cross traffic offers for good in the direction of the measured flow, whatever the path carries, in IP bits per
/// second. Traffic that waits for the path, such as bulk TCP flows and users, offers none, nor does any that stops.
#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
pub(crate) fn offered_load(scenario: &Scenario) -> f64 {
    let mean = |entry: Beside| match entry.cross {
        Cross::Cbr(rate) | Cross::Poisson { often: Often::Load(rate), .. } => rate.bps() as f64,
        Cross::OnOff { rate, on, off, .. } => {
            let (on, off) = (on.nanos() as f64, off.nanos() as f64);
            rate.bps() as f64 * on / (on + off)
        }
        Cross::Poisson { often: Often::PerSecond(number), size, sizes } => {
            let size = size.in_bytes(u64::from(scenario.mss));
            let content = size.map(|size| Content::Transfer(sizes.around(size)));
            content.map_or(0.0, |content| mean_bits(scenario, content) * number.to_f64())
        }
        Cross::Web(load) => load.to_f64() * scenario.rate_of(&entry).bps() as f64,
        Cross::None | Cross::Tcp(_) | Cross::Users { .. } => 0.0,
    };
    scenario.traffic().filter(|entry| !entry.reverse && entry.stop.is_none()).map(mean).sum()
}

/// Whether other traffic that does not wait offers more than the bottleneck carries. What is left then depends on how long that
/// has gone on, and there is no ideal.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
pub(crate) fn is_overloaded(scenario: &Scenario) -> bool {
    let sender = scenario.ideal_sender();
    let most = sender.rates.iter().map(|(_, bps)| *bps).max().unwrap_or(0);
    let carried = sender.policer.map_or(most, |policer| most.min(policer.bps));
    offered_load(scenario) > carried as f64
}

/// The unresponsive traffic of an entry, over the links of `way`.
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

/// The flows of an entry that arrive during the run, each over one of `routes`. Each user has a process.
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
    let bits = |content: Content| mean_bits(scenario, content);
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

/// Adds an entry of cross traffic to a network, over the links `ahead`, with ACKs over the links `back`. Instants count from
/// `origin`. Each sender of TCP has an access link of its own, which also delays what the entry's round-trip time exceeds the
/// path's by; its receiver is at the last router.
///
/// # Errors
/// A scheme that cannot be built.
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
            start_spread: if entry.start.is_none() { START_SPREAD } else { Span::ZERO },
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
