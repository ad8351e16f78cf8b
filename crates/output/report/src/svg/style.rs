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

/// Styles of curves: colours that the colour-blind can distinguish (Okabe and Ito), each with its own dash pattern for print.
pub(super) const CURVES: [(&str, &str); 6] = [
    ("#0072b2", "none"),
    ("#d55e00", "8 4"),
    ("#009e73", "2 3"),
    ("#cc79a7", "10 3 2 3"),
    ("#e69f00", "14 4"),
    ("#000000", "4 2"),
];
