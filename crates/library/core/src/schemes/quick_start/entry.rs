//! Quick-Start by name.

use super::{QuickStart, QuickStartConfig};
use crate::rate_code::RateCode;
use crate::registry::{
    Ability, AnyPlain, AnyScheme, Kind, MaybeBox, Needs, PLAIN, Parameter, RestartEntry, SchemeEntry,
    Settings, Value,
};
use crate::restart::Rfc5681;
use crate::schemes::{Initial, SlowStart, slow_start};
use crate::units::Rate;

/// The parameter that names the scheme inside.
pub(crate) const AROUND: &str = "around";

/// The schemes that Quick-Start can be put around.
const INSIDE: [&str; PLAIN.len()] = {
    let mut names = [""; PLAIN.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PLAIN[index].name;
        index += 1;
    }
    names
};

/// The needs of Quick-Start with slow start inside; [`SchemeEntry::needs_with`] adds those of another scheme inside.
const NEEDS: Needs = slow_start::NEEDS
    .and(Needs::of(&[
        Ability::Rate,
        Ability::PacketAcks,
        Ability::Sends,
        Ability::LostPackets,
        Ability::RateRequest,
    ]))
    .using(&[Ability::Backlog]);

const REQUEST: Parameter = Parameter {
    name: "request",
    kind: Kind::Rate { min: Rate::ZERO, max: RateCode::MAX.rate() },
    default: Value::Rate(Rate::ZERO),
    help: "the rate to ask for, rounded up to 40 kbit/s x 2^N; 0 asks for what the data ready can use over \
           a round trip",
};
const PROFILE: Parameter = Parameter {
    name: "profile",
    kind: Kind::Word(&["rfc", "scharf"]),
    default: Value::Word("rfc"),
    help: "slow start afterwards: limited (RFC 3742) as RFC 4782 demands, or plain as in the analysis",
};
const SSTHRESH: Parameter = Parameter {
    name: "ssthresh",
    kind: Kind::Word(&["twice", "keep"]),
    default: Value::Word("twice"),
    help: "where slow start afterwards ends: at twice the window approved, or where it would have",
};
const AFTER: Parameter = Parameter {
    name: "after",
    kind: Kind::Word(&["sent", "window"]),
    default: Value::Word("sent"),
    help: "the window afterwards: what was sent, or all that could have been",
};
const RETRY: Parameter = Parameter {
    name: "retry",
    kind: Kind::Word(&["later", "never"]),
    default: Value::Word("later"),
    help: "a connection to which nothing was approved: asks again after an idle time, or never",
};
const SMALL: Parameter = Parameter {
    name: "small",
    kind: Kind::Word(&["skip", "ask"]),
    default: Value::Word("skip"),
    help: "whether to ask for data that the initial window holds",
};

pub(crate) const QUICK_START: SchemeEntry = SchemeEntry {
    name: "quick-start",
    summary: "asks the routers for a rate and starts with it; else the scheme inside",
    source: "RFC 4782; Scharf 2007",
    law: "reno",
    parameters: &[
        REQUEST,
        Parameter {
            name: AROUND,
            kind: Kind::Word(&INSIDE),
            default: Value::Word("slow-start"),
            help: "the scheme inside, with its defaults",
        },
        PROFILE,
        SSTHRESH,
        AFTER,
        RETRY,
        SMALL,
    ],
    needs: NEEDS,
    make: |initial, settings| {
        AnyScheme::QuickStart(MaybeBox::<QuickStart<AnyPlain>>::from(from_settings(initial, settings)))
    },
};

/// Quick-Start after an idle time, as a restart policy: slow start from the restart window, whose first packet
/// carries the request.
pub(crate) const QUICK_START_AGAIN: RestartEntry = RestartEntry {
    name: "quick-start",
    summary: "slow start again from the restart window, which asks the routers for a rate",
    source: "RFC 4782 sections 4.1 and 4.8",
    parameters: &[REQUEST, PROFILE, SSTHRESH, AFTER, RETRY, SMALL],
    needs: NEEDS.and(Needs::of(&[Ability::IdleQuestion])),
    make: |initial, settings| QuickStart::new(Rfc5681::new(initial), config(settings)).into(),
};

fn from_settings(initial: Initial, settings: &Settings<'_>) -> QuickStart<AnyPlain> {
    QuickStart::new(inside(initial, settings.word(AROUND)), config(settings))
}

fn config(settings: &Settings<'_>) -> QuickStartConfig {
    let request = match settings.value(REQUEST.name) {
        Some(Value::Rate(rate)) => RateCode::up(rate),
        _ => RateCode::DENIED,
    };
    QuickStartConfig {
        request,
        window_is_sent: settings.word(AFTER.name) == "sent",
        limited: settings.word(PROFILE.name) == "rfc",
        twice: settings.word(SSTHRESH.name) == "twice",
        retries: settings.word(RETRY.name) == "later",
        skips_small: settings.word(SMALL.name) == "skip",
    }
}

/// Returns the plain scheme named `name` with its defaults.
fn inside(initial: Initial, name: &str) -> AnyPlain {
    let built = PLAIN.iter().find(|entry| entry.name == name).map(|entry| entry.build(initial, &[]));
    match built {
        Some(Ok(AnyScheme::Plain(plain))) => plain,
        // The parameter's kind admits no other name.
        _ => SlowStart::new(initial).into(),
    }
}
