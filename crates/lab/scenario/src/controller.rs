//! The sender of a flow: its controller and its configuration.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme, Registry};
use firstflight::schemes::Initial;
use firstflight_tcp::{Config, Offload, PacedBy, Stack};

use crate::choice::{ChoiceError, OFFERS, SchemeChoice};
use crate::restart::RestartChoice;
use crate::scenario::{Scenario, ScenarioError};

/// Why a controller cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// A scheme that cannot be built.
    #[error(transparent)]
    Scheme(#[from] ChoiceError),
    /// Options that a scheme sets for its own flows and that exclude each other.
    #[error(transparent)]
    Own(#[from] ScenarioError),
    /// A flow that cannot run in a QUIC stack.
    #[error("{scheme}: in {stack}: {why}")]
    Quic {
        /// The name of the row.
        scheme: String,
        /// The name of the stack.
        stack: &'static str,
        /// The reason.
        why: String,
    },
    /// An avoidance law that the library does not know.
    #[error("`{0}` is no scheme, avoidance law or restart policy")]
    UnknownName(&'static str),
}

/// The components of a controller.
pub(crate) type Parts = (AnyScheme, AnyRestart, AnyLaw);

/// Builds the controller of one flow. The caller has already applied the scheme's own options to `scenario` ([`Scenario::for_scheme`]).
///
/// # Errors
/// A scheme, restart policy or law that cannot be built.
pub fn controller(scenario: &Scenario, choice: &SchemeChoice) -> Result<AnyController, ControllerError> {
    scenario.check_stack()?;
    if let Some(stack) = scenario.quic {
        let why =
            "only the measured flow of a race runs there, and its size is one transfer or none".to_owned();
        return Err(ControllerError::Quic { scheme: choice.name().to_owned(), stack: stack.name(), why });
    }
    let initial = Initial { segments: scenario.iw, ssthresh: scenario.ssthresh };
    let law = choice.law(scenario.avoidance);
    let (startup, restart, law) = compose(scenario.registry, initial, choice, &scenario.restart, law)?;
    Ok(AnyController::new(startup, restart, law))
}

/// Returns the scheme, the restart policy and the law of a controller whose initial values are `initial`.
pub(crate) fn compose(
    registry: Registry,
    initial: Initial,
    choice: &SchemeChoice,
    restart: &RestartChoice,
    law: &'static str,
) -> Result<Parts, ControllerError> {
    let law = registry.law(law).ok_or(ControllerError::UnknownName(law))?;
    law.check(OFFERS).and(restart.entry.check(OFFERS)).map_err(ChoiceError::Host)?;
    let restart = restart.build(initial).map_err(|error| ChoiceError::Parameter(error.to_string()))?;
    Ok((choice.build(initial)?, restart, law.build()))
}

/// Returns the configuration of both endpoints of a flow. The caller has already applied the scheme's own options to `scenario`
/// ([`Scenario::for_scheme`]).
pub fn sender_config(scenario: &Scenario) -> Config {
    let linux = scenario.stack == Stack::Linux;
    Config {
        stack: scenario.stack,
        // The sender paces its packets. Its network device, which is the first link, does not.
        pacing: PacedBy::Sender,
        offload: linux.then(Offload::of_an_endless_buffer),
        mss: scenario.mss,
        sack: scenario.recovery.uses_sack(),
        sack_blocks: scenario.sack_blocks,
        timestamps: scenario.timestamps,
        receive_buffer: scenario.rwnd.get(),
        ack_policy: scenario.ack,
        ack_delay: scenario.ack_delay,
        recovery: scenario.recovery,
        min_rto: scenario.min_rto,
        initial_rto: scenario.initial_rto,
        rto_floor: scenario.rto_floor,
        growth: scenario.growth,
        slow_start_counts: scenario.slow_start_counts,
        inflight_limit: scenario.inflight_limit,
        limited_transmit: scenario.limited_transmit,
        // The default of `tcp_syn_linear_timeouts` in Linux 6.5 and later.
        linear_syns: if linux { 4 } else { 0 },
        ecn: scenario.ecn,
        ..Config::default()
    }
}
