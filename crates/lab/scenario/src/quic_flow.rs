//! The hosts of a flow that runs in a QUIC stack, and what is refused for it.

use std::sync::Arc;

use firstflight_sim::ForeignSpec;

use crate::asking::is_quick_start;
use crate::choice::SchemeChoice;
use crate::controller::ControllerError;
use crate::quic::{QuicStack, own_controller};
use crate::restart::RestartChoice;
use crate::scenario::{Goal, Scenario};
use crate::stacks::{SchemeOrder, StackController, StackOrder};

/// Keys that a scheme may set for its own flow in a QUIC stack.
const OF_SCHEMES: [&str; 3] = ["stack", "avoidance", "iw"];

/// Returns the flow of `choice` if it runs in a QUIC stack; `None` if it is a TCP flow of the simulator. The caller has already applied the
/// scheme's own options to `scenario` ([`Scenario::for_scheme`]).
///
/// # Errors
/// Fails with one line about a key or a controller that the stack does not have, or if no provider of the stack was given
/// ([`SchemeChoice::with_stacks`]).
pub fn quic_flow(scenario: &Scenario, choice: &SchemeChoice) -> Result<Option<ForeignSpec>, ControllerError> {
    let Some(stack) = scenario.quic else { return Ok(None) };
    let refuse =
        |why: String| ControllerError::Quic { scheme: choice.name().to_owned(), stack: stack.name(), why };
    if let Some(why) = lacks(scenario, choice, stack) {
        return Err(refuse(why));
    }
    let Some(stacks) = choice.stacks() else {
        return Err(refuse("only races, runs of scenario files and sweeps have QUIC stacks".to_owned()));
    };
    let controller = match choice.own_controller() {
        Some(name) => StackController::Own(name),
        None => StackController::Scheme(SchemeOrder {
            name: choice.entry.name,
            settings: choice.settings(),
            law: choice.law(scenario.avoidance),
            iw: scenario.iw,
        }),
    };
    let hosts = stacks.hosts(&StackOrder { stack, controller, packet: scenario.packet() }).map_err(refuse)?;
    let total = match scenario.goal {
        Goal::Size(bytes) => Some(bytes.get()),
        Goal::Duration(_) => None,
    };
    Ok(Some(ForeignSpec { hosts: Arc::clone(&hosts), total, headers: stacks.headers() }))
}

/// Returns what the flow would need and does not have in the stack.
fn lacks(scenario: &Scenario, choice: &SchemeChoice, stack: QuicStack) -> Option<String> {
    let own = own_controller(choice.entry.name);
    if own.is_some_and(|own| own.stack != stack) {
        return Some(format!("this controller is not of {}", stack.name()));
    }
    let allowed = |key: &&str| if own.is_some() { *key == "stack" } else { OF_SCHEMES.contains(key) };
    if let Some(key) = choice.own_keys().find(|key| !allowed(key)) {
        return Some(format!("`{key}` is a key of TCP senders, and this flow is QUIC"));
    }
    let without =
        |key: &str| Some(format!("`{key}` is only for the simulator's TCP; a QUIC flow is one transfer"));
    if scenario.population.is_some() {
        return without("flows");
    }
    if scenario.rounds.is_some() {
        return without("rounds");
    }
    if scenario.app.is_some() {
        return without("app");
    }
    if scenario.restart != RestartChoice::default() {
        return Some("restart policies are only for the simulator's TCP".to_owned());
    }
    if is_quick_start(scenario, choice) {
        return Some(
            "Quick-Start asks routers by options of TCP and IP, which QUIC does not have".to_owned(),
        );
    }
    None
}
