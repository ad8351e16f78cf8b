//! Leap by name: the entries of `leap` and `leap-saved` and their parameters.

use crate::registry::{Ability, Help, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::leap::Leap;
use crate::schemes::{Initial, SavedPath};
use crate::units::{Bytes, Span};

/// The default share of the capacity at which Probe sends, in millionths.
const FRACTION_PPM: u32 = 750_000;
/// The maximum window of TCP (RFC 7323 section 2.3).
const MAX_WINDOW: Bytes = Bytes::new(1 << 30);

const PROFILE: &str = "profile";
const SHARED: &str = "shared";
const ALONE: &str = "alone";
const FRACTION: &str = "fraction";
const SAVED: &str = "saved";
const RTT: &str = "rtt";

const PROFILE_PARAMETER: Parameter = Parameter {
    name: PROFILE,
    kind: Kind::Word(&[SHARED, ALONE]),
    default: Value::Word(SHARED),
    help: "shared: a short first train, then bounded growth, for paths that others use; alone: a train of an RTT, for a path of your own",
};

const FRACTION_PARAMETER: Parameter = Parameter {
    name: FRACTION,
    kind: Kind::Fraction { min_ppm: 100_000, max_ppm: 1_000_000 },
    default: Value::Fraction { ppm: FRACTION_PPM },
    help: "the share of the capacity at which the first train is paced: less loses less next to other traffic",
};

pub(crate) const LEAP: SchemeEntry = SchemeEntry {
    name: "leap",
    summary: "the first flight's spread gives the rate, a paced train the available share, a faster one verifies it",
    source: "docs/schemes/leap.md",
    law: "bbr-cruise",
    parameters: &[PROFILE_PARAMETER, FRACTION_PARAMETER],
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::Sends,
        Ability::NewestAck,
        Ability::PacketCounts,
        Ability::DeliveryRate,
    ])
    .using(&[Ability::Marks, Ability::LostPackets, Ability::ExactSendTimes, Ability::DenseAcks]),
    make: |initial, settings| Leap::from_numbers(initial, &settings.numbers()).into(),
};

pub(crate) const LEAP_SAVED: SchemeEntry = SchemeEntry {
    name: "leap-saved",
    summary: "leap that also sends a quarter of what an earlier connection found in its first round trip",
    parameters: &[
        PROFILE_PARAMETER,
        FRACTION_PARAMETER,
        Parameter {
            name: SAVED,
            kind: Kind::Bytes { min: Bytes::ZERO, max: MAX_WINDOW },
            default: Value::Bytes(Bytes::ZERO),
            help: "bytes that the earlier connection had acknowledged in an RTT; 0 is nothing saved",
        },
        Parameter {
            name: RTT,
            kind: Kind::Span { min: Span::ZERO, max: Span::from_secs(60) },
            default: Value::Span(Span::ZERO),
            help: "the earlier connection's minimum RTT; 0 is nothing saved",
        },
    ],
    needs: LEAP.needs.helped_by(Help::Memory),
    make: |initial, settings| Leap::from_saved(initial, &settings.numbers(), None).into(),
    ..LEAP
};

impl Leap {
    /// Returns a start-up of the profile `shared` for `initial`. `saved` is what an earlier connection over the path learned.
    pub fn new(initial: Initial, saved: Option<SavedPath>) -> Self {
        Self::with(initial, saved, false, FRACTION_PPM)
    }

    /// Returns the scheme with the parameters `numbers`, in the order of the entry of `leap`.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let is_alone = numbers.is(const { choice(LEAP.parameters, PROFILE, ALONE) });
        Self::with(initial, None, is_alone, numbers.ppm(const { place(LEAP.parameters, FRACTION) }))
    }

    /// Returns the scheme with the parameters `numbers`, in the order of the entry of `leap-saved`. `remembered` is the host's own memory
    /// of an earlier connection and replaces the saved values in `numbers`.
    pub fn from_saved(initial: Initial, numbers: &Numbers, remembered: Option<SavedPath>) -> Self {
        let is_alone = numbers.is(const { choice(LEAP_SAVED.parameters, PROFILE, ALONE) });
        let window = numbers.bytes(const { place(LEAP_SAVED.parameters, SAVED) });
        let rtt = numbers.span(const { place(LEAP_SAVED.parameters, RTT) });
        let saved = remembered.or(Some(SavedPath { window, rtt }));
        Self::with(initial, saved, is_alone, numbers.ppm(const { place(LEAP_SAVED.parameters, FRACTION) }))
    }
}
