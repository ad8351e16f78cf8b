//! Paced Start by name: its parameters, and its profiles from them.

use crate::registry::{Ability, Kind, Needs, Parameter, SchemeEntry, Settings, Value};
use crate::schemes::paced::{Paced, train};
use crate::units::Span;

const PROFILE: &str = "profile";
const FIRST: &str = "first";
const TOLERANCE: &str = "tolerance";
const SLACK: &str = "slack";
const PAPER: &str = "paper";

pub(crate) const PACED: SchemeEntry = SchemeEntry {
    name: "paced",
    summary: "trains with chosen gaps search for the rate available, which then fills the pipe",
    source: "Hu and Steenkiste, Improving TCP startup performance using active measurements (ICNP 2003)",
    law: "reno",
    parameters: &[
        Parameter {
            name: PROFILE,
            kind: Kind::Word(&["practical", PAPER]),
            default: Value::Word("practical"),
            help: "practical, or as the paper has it: a pair, tolerance and slack 0, no early exit",
        },
        Parameter {
            name: FIRST,
            kind: Kind::Count { least: 2, most: 1_000 },
            default: Value::Count(10),
            help: "packets of the first, back-to-back burst (2 in the paper's profile)",
        },
        Parameter {
            name: TOLERANCE,
            kind: Kind::Fraction { least_ppm: 0, most_ppm: 1_000_000 },
            default: Value::Fraction { ppm: 50_000 },
            help: "growth of the gap that is not yet congestion (0 in the paper's profile)",
        },
        Parameter {
            name: SLACK,
            kind: Kind::Span { least: Span::ZERO, most: Span::from_secs(1) },
            default: Value::Span(Span::from_micros(5)),
            help: "the same as a time: the grain of timers and clocks (0 in the paper's profile)",
        },
    ],
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::Train,
        Ability::Hold,
        Ability::PacketAcks,
        Ability::Sends,
        Ability::ExactDepartures,
        Ability::SackSplit,
    ]),
    make: |_, settings| Paced::from_settings(settings).into(),
};

impl Paced {
    fn from_settings(settings: &Settings<'_>) -> Self {
        let profile = if settings.word(PROFILE) == PAPER { Self::paper() } else { Self::practical() };
        let mut scheme = profile;
        if let Some(Value::Count(first)) = settings.given(FIRST) {
            scheme.first = u16::try_from(first).unwrap_or(u16::MAX);
        }
        if let Some(Value::Fraction { ppm }) = settings.given(TOLERANCE) {
            scheme.tolerance_ppm = ppm;
        }
        if let Some(Value::Span(slack)) = settings.given(SLACK) {
            scheme.slack = train::gap(slack);
        }
        Self::new(scheme.practical, scheme.first, scheme.tolerance_ppm, scheme.slack)
    }
}
