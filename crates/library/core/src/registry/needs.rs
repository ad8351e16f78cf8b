//! The abilities that a scheme, restart policy or law needs of its host, and those that a host offers. If a host lacks a needed ability,
//! set-up fails with an error.
//!
//! A scheme cannot work without the abilities that it needs. An ability that a scheme uses changes the behaviour of the scheme if the host
//! offers it; without the ability the scheme still behaves as its documentation page says. An ability that is neither needed nor used
//! changes nothing. A test of `firstflight-fuzz-bodies` checks every declaration: it hides abilities from the schemes.

use core::fmt;

/// An ability of a host: to honour a kind of plan, or to report a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Ability {
    /// Sends on the ACK clock, within a window.
    AckClock = 1,
    /// Paces at a rate.
    Rate = 1 << 1,
    /// Sends trains with exact gaps, and reports when one is cut.
    Train = 1 << 2,
    /// Holds new data back.
    Hold = 1 << 3,
    /// Lists every packet that an ACK newly acknowledges, with its tag and its transmission time. A host with lists also offers
    /// [`Ability::NewestAck`] and [`Ability::PacketCounts`].
    PacketAcks = 1 << 4,
    /// Reports every packet sent.
    Sends = 1 << 5,
    /// Reports exact transmission times.
    ExactSendTimes = 1 << 6,
    /// Distinguishes selective from cumulative acknowledgement.
    SackSplit = 1 << 7,
    /// Samples the delivery rate.
    DeliveryRate = 1 << 8,
    /// Wakes the scheme at an instant. A host with an exact timer also offers [`Ability::LateTimer`].
    Timer = 1 << 9,
    /// Wakes the scheme at an instant or later, at the latest with the next event.
    LateTimer = 1 << 10,
    /// Reports the newest packet that each ACK acknowledges: its transmission time, and what limited sending then.
    NewestAck = 1 << 11,
    /// Counts the packets that each ACK acknowledges whole.
    PacketCounts = 1 << 12,
    /// Counts the segments by which each ACK advances the cumulative acknowledgement.
    SegmentCounts = 1 << 13,
    /// Lists every packet found lost, with its tag.
    LostPackets = 1 << 14,
    /// Passes each ACK separately when it arrives, and not several at once.
    DenseAcks = 1 << 15,
    /// Detects that a loss did not happen.
    SpuriousLosses = 1 << 16,
    /// Gets congestion marks (ECN).
    Marks = 1 << 17,
    /// Calls the controller before it sends new data after an idle time.
    IdleQuestion = 1 << 18,
    /// Knows how much the application has ready to send.
    Backlog = 1 << 19,
    /// Asks the routers for a rate (Quick-Start, RFC 4782).
    RateRequest = 1 << 20,
}

impl Ability {
    /// All abilities.
    pub const ALL: [Self; 21] = [
        Self::AckClock,
        Self::Rate,
        Self::Train,
        Self::Hold,
        Self::PacketAcks,
        Self::Sends,
        Self::ExactSendTimes,
        Self::SackSplit,
        Self::DeliveryRate,
        Self::Timer,
        Self::LateTimer,
        Self::NewestAck,
        Self::PacketCounts,
        Self::SegmentCounts,
        Self::LostPackets,
        Self::DenseAcks,
        Self::SpuriousLosses,
        Self::Marks,
        Self::IdleQuestion,
        Self::Backlog,
        Self::RateRequest,
    ];

    /// Returns the name used in messages: the object of "needs" and "cannot give".
    pub const fn name(self) -> &'static str {
        match self {
            Self::AckClock => "sending on the ACK clock",
            Self::Rate => "pacing at a rate",
            Self::Train => "trains with exact gaps",
            Self::Hold => "holding new data back",
            Self::PacketAcks => "a list of the packets that each ACK acknowledges",
            Self::Sends => "a report of every packet sent",
            Self::ExactSendTimes => "exact transmission times",
            Self::SackSplit => "selective acknowledgement apart from cumulative",
            Self::DeliveryRate => "delivery-rate samples",
            Self::Timer => "an exact timer",
            Self::LateTimer => "a timer",
            Self::NewestAck => "the newest packet that each ACK acknowledges",
            Self::PacketCounts => "a count of the packets that each ACK acknowledges",
            Self::SegmentCounts => "a count of the segments that each ACK acknowledges cumulatively",
            Self::LostPackets => "a list of the packets found lost",
            Self::DenseAcks => "each ACK as it arrives",
            Self::SpuriousLosses => "reports of spurious losses",
            Self::Marks => "congestion marks (ECN)",
            Self::IdleQuestion => "a question before the first packet after an idle time",
            Self::Backlog => "the amount of data ready to send",
            Self::RateRequest => "requests for a rate (Quick-Start)",
        }
    }

    /// Returns the abilities that a host with this ability also has, as bits.
    const fn implied(self) -> u32 {
        self as u32
            | match self {
                Self::PacketAcks => Self::NewestAck as u32 | Self::PacketCounts as u32,
                Self::Timer => Self::LateTimer as u32,
                _ => 0,
            }
    }
}

/// A set of abilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Set(u32);

impl Set {
    const fn of(abilities: &[Ability]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < abilities.len() {
            bits |= abilities[index].implied();
            index += 1;
        }
        Self(bits)
    }

    const fn has(self, ability: Ability) -> bool {
        self.0 & ability as u32 != 0
    }
}

/// Help that a scheme, restart policy or law needs from beyond the sender that runs it. A sender's operator cannot deploy it alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Help {
    /// Routers on the path answer: they approve a rate, as in Quick-Start (RFC 4782).
    Routers = 1,
    /// Queues on the path set marks, and the receiver echoes the marks (ECN, RFC 3168).
    Marks = 1 << 1,
    /// A store keeps what an earlier connection over the path learned, as in Careful Resume (RFC 9959).
    Memory = 1 << 2,
}

impl Help {
    /// All kinds of help.
    pub const ALL: [Self; 3] = [Self::Routers, Self::Marks, Self::Memory];

    /// Returns the word for this help in rows and lists of output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Routers => "router-help",
            Self::Marks => "marks",
            Self::Memory => "memory",
        }
    }
}

/// Abilities that a scheme, restart policy or law needs of its host, abilities that it uses if the host offers them, and the help that it
/// needs from beyond its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    needed: Set,
    used: Set,
    /// Bits of [`Help`].
    help: u8,
}

impl Needs {
    /// Returns the needs of a scheme that needs `abilities` and uses no others. A need for [`Ability::RateRequest`] implies help of
    /// routers, and a need for [`Ability::Marks`] implies help by marks; [`Needs::helped_by`] declares other help.
    pub const fn of(abilities: &[Ability]) -> Self {
        let needed = Set::of(abilities);
        let routers = if needed.has(Ability::RateRequest) { Help::Routers as u8 } else { 0 };
        let marks = if needed.has(Ability::Marks) { Help::Marks as u8 } else { 0 };
        Self { needed, used: Set(0), help: routers | marks }
    }

    /// Returns these needs with an additional need for `help` from beyond the sender.
    #[must_use]
    pub const fn helped_by(self, help: Help) -> Self {
        Self { help: self.help | help as u8, ..self }
    }

    /// Returns the help needed from beyond the sender; none if a sender's operator can deploy the scheme alone.
    pub fn help(self) -> impl Iterator<Item = Help> {
        Help::ALL.into_iter().filter(move |help| self.help & *help as u8 != 0)
    }

    /// Returns these needs with `abilities` as additional uses.
    #[must_use]
    pub const fn using(self, abilities: &[Ability]) -> Self {
        Self { used: Set(self.used.0 | Set::of(abilities).0), ..self }
    }

    /// Returns the needs and uses of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            needed: Set(self.needed.0 | other.needed.0),
            used: Set(self.used.0 | other.used.0),
            help: self.help | other.help,
        }
    }

    /// Returns whether `ability` is needed.
    pub const fn has(self, ability: Ability) -> bool {
        self.needed.has(ability)
    }

    /// Returns whether `ability` is used, but not needed.
    pub const fn uses(self, ability: Ability) -> bool {
        self.used.has(ability) && !self.has(ability)
    }

    /// Returns the abilities needed, without those that another needed ability implies.
    pub fn iter(self) -> impl Iterator<Item = Ability> {
        Self::listed(self.needed)
    }

    /// Returns the abilities used and not needed, without those that another of them implies.
    pub fn used(self) -> impl Iterator<Item = Ability> {
        Self::listed(Set(self.used.0 & !self.needed.0))
    }

    fn listed(set: Set) -> impl Iterator<Item = Ability> {
        let comes_with = move |ability: Ability| {
            let with = move |other: &Ability| *other != ability && other.implied() & ability as u32 != 0;
            Ability::ALL.iter().any(move |other| set.has(*other) && with(other))
        };
        Ability::ALL.into_iter().filter(move |ability| set.has(*ability) && !comes_with(*ability))
    }
}

/// The abilities of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offers {
    /// The host's name in messages.
    pub host: &'static str,
    set: Set,
}

impl Offers {
    /// Returns the offers of the host named `host`, which has `abilities` and no others.
    pub const fn of(host: &'static str, abilities: &[Ability]) -> Self {
        Self { host, set: Set::of(abilities) }
    }

    /// Returns the offers of the host named `host`, which has all abilities.
    pub const fn all(host: &'static str) -> Self {
        Self::of(host, &Ability::ALL)
    }

    /// Returns whether the host has `ability`.
    pub const fn has(self, ability: Ability) -> bool {
        self.set.has(ability)
    }
}

/// The error of a scheme, restart policy or law that needs an ability that the host does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The name of the scheme, policy or law.
    pub of: &'static str,
    /// The host.
    pub host: &'static str,
    /// The missing ability: the first of possibly several.
    pub ability: Ability,
}

/// Checks that a host can run a scheme, restart policy or law with these needs; `of` is its name.
///
/// # Errors
/// Returns the first ability that is needed and that the host does not have.
pub fn check(of: &'static str, needs: Needs, offers: Offers) -> Result<(), Missing> {
    match needs.iter().find(|ability| !offers.has(*ability)) {
        Some(ability) => Err(Missing { of, host: offers.host, ability }),
        None => Ok(()),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, host, ability } = self;
        write!(f, "{of} needs {}, which {host} cannot give", ability.name())
    }
}

impl core::error::Error for Missing {}
