//! The names of the seam's values in logs.

use firstflight::{Origin, Phase};

/// The name of what began start-up.
pub fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Fresh => "fresh",
        Origin::AfterIdle { .. } => "after-idle",
        Origin::AfterTimeout { .. } => "after-timeout",
        Origin::PathChange => "path-change",
    }
}

/// The name of a phase of a connection.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Startup => "start-up",
        Phase::Restart => "restart",
        Phase::Avoidance => "avoidance",
    }
}
