//! The margins, line styles and colours of a figure.

use firstflight_measure::PhaseKind;

/// The margins at the left and at the right.
pub(super) const LEFT: f64 = 58.0;
pub(super) const RIGHT: f64 = 18.0;

/// Line styles in Okabe and Ito's colours, which the colour-blind can distinguish.
pub(super) const CWND: &str = "fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.6\"";
pub(super) const FLIGHT_FILL: &str = "#b3bfd1";
pub(super) const SSTHRESH: &str =
    "fill=\"none\" stroke=\"#b87a00\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\"";
pub(super) const PRODUCT: &str =
    "fill=\"none\" stroke=\"#555555\" stroke-width=\"1\" stroke-dasharray=\"1.5 2.5\"";
pub(super) const DROPPED: &str = "fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2\"";
pub(super) const LOST: &str = "fill=\"none\" stroke=\"#000000\" stroke-width=\"2\"";
pub(super) const QUEUE_FILL: &str = "#dfb4cc";

/// The phases, each with its name and its colour.
pub(super) const PHASES: [(PhaseKind, &str, &str); 6] = [
    (PhaseKind::Handshake, "handshake", "#e4e4e4"),
    (PhaseKind::Startup, "start-up", "#cfe5f5"),
    (PhaseKind::Restart, "restart", "#d3ecd9"),
    (PhaseKind::Recovery, "recovery", "#fbdcc4"),
    (PhaseKind::AfterTimeout, "after timeout", "#f3c4c4"),
    (PhaseKind::Avoidance, "avoidance", "#f6f6f0"),
];
