//! Words of the seam, as logs write them.

use firstflight::{Origin, Phase};

/// What began start-up.
pub fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Fresh => "fresh",
        Origin::AfterIdle { .. } => "after-idle",
        Origin::AfterTimeout { .. } => "after-timeout",
        Origin::PathChange => "path-change",
    }
}

/// A phase of a connection.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Startup => "start-up",
        Phase::Restart => "restart",
        Phase::Avoidance => "avoidance",
    }
}
