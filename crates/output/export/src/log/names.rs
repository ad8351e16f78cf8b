//! The names in logs for values of the interface between schemes and their hosts.

use firstflight::{Origin, Phase};

/// Returns the name of the event that started start-up.
pub fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Fresh => "fresh",
        Origin::AfterIdle { .. } => "after-idle",
        Origin::AfterTimeout { .. } => "after-timeout",
        Origin::PathChange => "path-change",
    }
}

/// Returns the name of a phase of a connection.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Startup => "start-up",
        Phase::Restart => "restart",
        Phase::Avoidance => "avoidance",
    }
}
