//! Paced Start by name: its parameters, and its profiles. The profile gives every choice its default; a parameter
//! that is set overrides the default.

use crate::registry::{Ability, Choice, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::Initial;
use crate::schemes::paced::switches::{Switch, Switches};
use crate::schemes::paced::{MAX_FIRST, Paced, initial_burst, train};
use crate::units::Span;

const PROFILE: &str = "profile";
const PAPER: &str = "paper";
const FIRST: &str = "first";
const SSTHRESH: &str = "exit-ssthresh";
const ACKS: &str = "acks";
const MEAN: &str = "mean";
const COVERAGE: &str = "coverage";
const TOLERANCE: &str = "tolerance";
const SLACK: &str = "slack";
const SHORT_PIPE: &str = "short-pipe";
const FILL_RTT: &str = "fill-rtt";
const FILL_WINDOW: &str = "fill-window";
const CUT: &str = "cut";
const COMPRESSED: &str = "compressed";
const AGAIN: &str = "again";
const VOIDS: &str = "voids";

/// Returns a parameter that takes one of `words`; the first is the practical profile's.
const fn words(name: &'static str, words: &'static [&'static str], help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Word(words), default: Value::Word(words[0]), help }
}

pub(crate) const PACED: SchemeEntry = SchemeEntry {
    name: "paced",
    summary: "trains with chosen gaps search for the rate available, which then fills the pipe",
    source: "Hu and Steenkiste, Improving TCP startup performance using active measurements (ICNP 2003)",
    law: "reno",
    parameters: &[
        words(
            PROFILE,
            &["practical", PAPER],
            "the defaults of all the others: practical, or as the paper has it",
        ),
        Parameter {
            name: FIRST,
            kind: Kind::CountOr { word: "iw", min: 2, max: MAX_FIRST as u64 },
            default: Value::Word("iw"),
            help: "packets of the first, back-to-back burst, whose smallest gap is the capacity's: the initial window, or a number (paper: \
                   2)",
        },
        words(SSTHRESH, &["cwnd", "unset"], "ssthresh at the exit: the window, or as it was (paper: unset)"),
        words(
            ACKS,
            &["detect", "all", "literal"],
            "ACKs whose gaps count: all but those of a delayed-ACK timer, all, or of two segments and more",
        ),
        words(MEAN, &["segments", "acks"], "what the gap of arrival is a mean over (paper: acks)"),
        words(
            COVERAGE,
            &["half", "any"],
            "how much of a train the gaps that count must cover: half of its segments, or any (paper: any)",
        ),
        Parameter {
            name: TOLERANCE,
            kind: Kind::Fraction { min_ppm: 0, max_ppm: 1_000_000 },
            default: Value::Fraction { ppm: 50_000 },
            help: "growth of the gap that is not yet congestion (paper: 0)",
        },
        Parameter {
            name: SLACK,
            kind: Kind::Span { min: Span::ZERO, max: Span::from_secs(1) },
            default: Value::Span(Span::from_micros(5)),
            help: "the same as a time: the grain of timers and clocks (paper: 0)",
        },
        words(
            SHORT_PIPE,
            &["leave", "search"],
            "when the pipe would not hold the next train: leave, or search on (paper: search)",
        ),
        words(
            FILL_RTT,
            &["least", "smoothed", "latest"],
            "the round-trip time that the fill is reckoned with; the paper does not say",
        ),
        words(
            FILL_WINDOW,
            &["sent", "whole"],
            "the window after the fill: what was sent of it, or all of it (paper: whole)",
        ),
        words(
            CUT,
            &["void", "judge"],
            "a train for which there was too little data: invalid, or judged by the packets sent (paper: judge)",
        ),
        words(
            COMPRESSED,
            &["void", "judge"],
            "a train whose ACKs came a quarter closer than it left: invalid, or judged (paper: judge)",
        ),
        words(
            AGAIN,
            &["four", "first"],
            "packets of a repeated first burst: at least four, or as many as before (paper: first)",
        ),
        Parameter {
            name: VOIDS,
            kind: Kind::Count { min: 1, max: u8::MAX as u64 },
            default: Value::Count(2),
            help: "invalid trains after which it goes on as slow start; earlier ones are repeated",
        },
    ],
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::Train,
        Ability::PacketAcks,
        Ability::Sends,
        Ability::ExactSendTimes,
        Ability::DenseAcks,
    ])
    .using(&[Ability::SackSplit, Ability::Marks, Ability::SpuriousLosses]),
    make: |initial, settings| Paced::from_numbers(initial, &settings.numbers()).into(),
};

/// The choices that select a switch, other than the practical ones.
const SWITCHES: [(Choice, Switch); 12] = [
    (choice(PACED.parameters, SSTHRESH, "unset"), Switch::SsthreshUnset),
    (choice(PACED.parameters, ACKS, "all"), Switch::AllAcks),
    (choice(PACED.parameters, ACKS, "literal"), Switch::LiteralAcks),
    (choice(PACED.parameters, MEAN, "acks"), Switch::MeanOfAcks),
    (choice(PACED.parameters, COVERAGE, "any"), Switch::AnyCoverage),
    (choice(PACED.parameters, SHORT_PIPE, "search"), Switch::IgnoresShortPipe),
    (choice(PACED.parameters, FILL_RTT, "smoothed"), Switch::SmoothedRtt),
    (choice(PACED.parameters, FILL_RTT, "latest"), Switch::LatestRtt),
    (choice(PACED.parameters, FILL_WINDOW, "whole"), Switch::WholeFill),
    (choice(PACED.parameters, CUT, "judge"), Switch::JudgesCut),
    (choice(PACED.parameters, COMPRESSED, "judge"), Switch::JudgesCompressed),
    (choice(PACED.parameters, AGAIN, "first"), Switch::RepeatsFirst),
];

impl Paced {
    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let profile = if numbers.is(const { choice(PACED.parameters, PROFILE, PAPER) }) {
            Self::paper()
        } else {
            Self::practical(initial)
        };
        let mut scheme = match numbers.given(const { place(PACED.parameters, FIRST) }) {
            Some(Numbers::OTHER) => profile.with_first(initial_burst(initial)),
            Some(first) => profile.with_first(u16::try_from(first).unwrap_or(u16::MAX)),
            None => profile,
        };
        let (tolerance, slack) =
            const { (place(PACED.parameters, TOLERANCE), place(PACED.parameters, SLACK)) };
        if numbers.given(tolerance).is_some() {
            scheme.tolerance_ppm = numbers.ppm(tolerance);
        }
        if numbers.given(slack).is_some() {
            scheme.slack = train::gap(numbers.span(slack));
        }
        scheme.most_voids =
            u8::try_from(numbers.count(const { place(PACED.parameters, VOIDS) })).unwrap_or(u8::MAX);
        scheme.switches = switches(scheme.switches, numbers);
        scheme
    }
}

fn switches(profile: Switches, numbers: &Numbers) -> Switches {
    SWITCHES.iter().fold(profile, |switches, &(choice, switch)| match numbers.given(choice.place) {
        Some(_) => switches.with(switch, numbers.is(choice)),
        None => switches,
    })
}
