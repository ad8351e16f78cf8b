//! Cross traffic as flows of the network.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_scenario::quantity::nanos;
use firstflight_scenario::words::Cross;
use firstflight_scenario::{ByName, ControllerError, Scenario, SchemeChoice};
use firstflight_sim::{Arrivals, Content, Ends, Flow, Gap, LinkId, Route, Traffic, Ways};
use firstflight_tcp::Config;

use crate::error::RunError;

/// The number of host pairs that TCP cross traffic needs: one for each bulk flow, or one for all flows that arrive during
/// the run.
pub(crate) fn pairs(cross: Cross) -> usize {
    match cross {
        Cross::None | Cross::Cbr(_) | Cross::OnOff { .. } => 0,
        Cross::Tcp(bulk) => bulk.flows as usize,
        Cross::Poisson { .. } | Cross::Web(_) => 1,
    }
}

/// The scheme of the flows that are not measured.
///
/// # Errors
/// A scheme or a law that the scenario's registry does not have.
pub(crate) fn scheme(scenario: &Scenario) -> Result<SchemeChoice, RunError> {
    let Cross::Tcp(bulk) = scenario.cross else { return Ok(SchemeChoice::slow_start()) };
    let choices = scenario.registry.parse_choices(&bulk.choice()).map_err(ControllerError::Scheme)?;
    Ok(choices.into_iter().next().unwrap_or_else(SchemeChoice::slow_start))
}

/// The unresponsive traffic of a scenario, over the links of `way`.
pub(crate) fn datagrams(scenario: &Scenario, way: &[LinkId]) -> Option<Flow<AnyScheme, AnyRestart, AnyLaw>> {
    let traffic = match scenario.datagrams()? {
        firstflight_sim::Cross::Cbr(spec) => Traffic::Cbr(spec),
        firstflight_sim::Cross::OnOff(spec) => Traffic::OnOff(spec),
    };
    Some(Flow {
        forward: way.to_vec(),
        reverse: vec![],
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic,
        muted: false,
    })
}

/// The flows of a scenario that arrive during the run, over `route`.
#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
pub(crate) fn arrivals(
    scenario: &Scenario,
    route: Route,
    config: Config,
    controller: AnyController,
) -> Option<Arrivals<AnyScheme, AnyRestart, AnyLaw>> {
    let mss = f64::from(scenario.mss);
    let (content, gap) = match scenario.cross {
        Cross::Poisson { per_second, size, sizes } => {
            let mean = size.in_bytes(u64::from(scenario.mss))?;
            (Content::Transfer(sizes.around(mean)), 1.0 / per_second.to_f64())
        }
        Cross::Web(load) => {
            // The mean size counts headers of full segments. The last segment of a file is shorter, which adds under 0.04 %
            // (20 bytes a file of 61 kB). Handshakes, ACKs and retransmissions are extra.
            let bits = Content::Page.mean_bytes() * 8.0 * f64::from(scenario.packet()) / mss;
            (Content::Page, bits / (load.to_f64() * scenario.rate.bps() as f64))
        }
        Cross::None | Cross::Cbr(_) | Cross::Tcp(_) | Cross::OnOff { .. } => return None,
    };
    Some(Arrivals {
        ways: Ways::Listed(vec![route]),
        start: Time::ZERO,
        stop: None,
        most: None,
        until: None,
        gap: Gap::Exponential(nanos(gap)),
        content,
        mix: vec![Ends { client: config, server: config, controller }],
    })
}
