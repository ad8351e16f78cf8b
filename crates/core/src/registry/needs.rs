//! What a scheme needs of its host, and what a host can do: a mismatch is an error at set-up, never a silent
//! loss.

use core::fmt;

/// A plan that a host can honour or a fact that it can give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Ability {
    /// Sends on the ACK clock, within a window.
    AckClock = 1,
    /// Paces at a rate.
    Rate = 1 << 1,
    /// Sends trains with exact gaps, and says when one is cut.
    Train = 1 << 2,
    /// Holds new data back.
    Hold = 1 << 3,
    /// Lists every packet that an ACK newly acknowledges, with its tag and when it left.
    PacketAcks = 1 << 4,
    /// Reports every packet sent.
    Sends = 1 << 5,
    /// Gives the exact instants of departures.
    ExactDepartures = 1 << 6,
    /// Tells what was acknowledged selectively from what was cumulatively.
    SackSplit = 1 << 7,
    /// Samples the delivery rate.
    DeliveryRate = 1 << 8,
    /// Wakes the scheme at an instant.
    Timer = 1 << 9,
}

impl Ability {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::AckClock,
        Self::Rate,
        Self::Train,
        Self::Hold,
        Self::PacketAcks,
        Self::Sends,
        Self::ExactDepartures,
        Self::SackSplit,
        Self::DeliveryRate,
        Self::Timer,
    ];

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AckClock => "sending on the ACK clock",
            Self::Rate => "pacing at a rate",
            Self::Train => "trains with exact gaps",
            Self::Hold => "holding new data back",
            Self::PacketAcks => "a list of the packets that each ACK acknowledges",
            Self::Sends => "a report of every packet sent",
            Self::ExactDepartures => "exact departure times",
            Self::SackSplit => "selective told from cumulative acknowledgement",
            Self::DeliveryRate => "delivery-rate samples",
            Self::Timer => "a timer",
        }
    }
}

/// A set of abilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Set(u16);

impl Set {
    const fn of(abilities: &[Ability]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < abilities.len() {
            bits |= abilities[index] as u16;
            index += 1;
        }
        Self(bits)
    }

    const fn has(self, ability: Ability) -> bool {
        self.0 & ability as u16 != 0
    }
}

/// What a scheme needs of its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs(Set);

impl Needs {
    /// These and no others.
    pub const fn of(abilities: &[Ability]) -> Self {
        Self(Set::of(abilities))
    }

    /// These and those of `other`.
    pub const fn and(self, other: Self) -> Self {
        Self(Set(self.0.0 | other.0.0))
    }

    /// Whether `ability` is among them.
    pub const fn has(self, ability: Ability) -> bool {
        self.0.has(ability)
    }

    /// The abilities needed.
    pub fn iter(self) -> impl Iterator<Item = Ability> {
        Ability::ALL.into_iter().filter(move |ability| self.has(*ability))
    }
}

/// What a host can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offers {
    /// The host's name in messages.
    pub host: &'static str,
    set: Set,
}

impl Offers {
    /// The host named `host` can do these and no others.
    pub const fn of(host: &'static str, abilities: &[Ability]) -> Self {
        Self { host, set: Set::of(abilities) }
    }

    /// The host named `host` can do everything.
    pub const fn all(host: &'static str) -> Self {
        Self::of(host, &Ability::ALL)
    }

    /// Whether the host can do `ability`.
    pub const fn has(self, ability: Ability) -> bool {
        self.set.has(ability)
    }
}

/// A scheme needs what a host cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The scheme.
    pub scheme: &'static str,
    /// The host.
    pub host: &'static str,
    /// What is missing: the first of possibly several.
    pub ability: Ability,
}

/// Whether a host can run a scheme.
///
/// # Errors
/// The first thing that the scheme needs and the host cannot do.
pub fn check(scheme: &'static str, needs: Needs, offers: Offers) -> Result<(), Missing> {
    match needs.iter().find(|ability| !offers.has(*ability)) {
        Some(ability) => Err(Missing { scheme, host: offers.host, ability }),
        None => Ok(()),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, host, ability } = self;
        write!(f, "{scheme} needs {}, which {host} cannot give", ability.name())
    }
}

impl core::error::Error for Missing {}
