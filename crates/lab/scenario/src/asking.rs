//! Whether a scheme asks the routers of the path for a rate (Quick-Start, RFC 4782).

use firstflight::registry;

use crate::choice::SchemeChoice;
use crate::restart::RestartChoice;
use crate::scenario::Scenario;

/// The scheme and the restart policy that ask routers for a rate.
const ASKING: &str = "quick-start";

/// Checks whether the routers of the path matter to this scheme. They do if the scheme or its restart policy asks them for a rate, or if
/// the scheme comes from outside the tree and may ask. Routers that no scheme asks have no effect. A QUIC flow asks none.
pub fn asks_routers(scenario: &Scenario, choice: &SchemeChoice) -> bool {
    let may_ask = |name| name == ASKING || registry::scheme(name).is_none();
    let own = scenario.for_scheme(choice);
    own.quic.is_none() && (may_ask(choice.entry.name) || own.restart.asks_routers())
}

/// Checks whether the scheme or its restart policy is the one that asks routers for a rate.
pub fn is_quick_start(scenario: &Scenario, choice: &SchemeChoice) -> bool {
    choice.entry.name == ASKING || scenario.for_scheme(choice).restart.entry.name == ASKING
}

impl RestartChoice {
    /// Checks whether the routers of the path matter to this policy.
    pub fn asks_routers(&self) -> bool {
        let name = self.entry.name;
        name == ASKING || registry::restart(name).is_none()
    }
}
