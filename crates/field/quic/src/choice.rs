//! The choice of scheme, restart policy and law by name.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use firstflight::Controller;
use firstflight::registry::{
    Ability, AnyController, LawEntry, Missing, Offers, Registry, RestartEntry, SchemeEntry, Value,
};
use firstflight::schemes::Initial;

/// The abilities of a QUIC stack that calls [`Host::before_send`](crate::Host::before_send) before each packet and
/// [`Host::wake_up`](crate::Host::wake_up) at each wake-up.
pub const DRIVEN: Offers = Offers::of(
    "a driven QUIC stack",
    &[
        Ability::AckClock,
        Ability::Rate,
        Ability::Train,
        Ability::Hold,
        Ability::PacketAcks,
        Ability::Sends,
        Ability::ExactSendTimes,
        Ability::DeliveryRate,
        Ability::Timer,
        Ability::SegmentCounts,
        Ability::LostPackets,
        Ability::SpuriousLosses,
        Ability::Marks,
        Ability::IdleQuestion,
        Ability::Backlog,
    ],
);

/// The parts of a controller, chosen by name.
///
/// ```
/// use firstflight::registry::{Ability, Offers};
/// use firstflight_quic::{Choice, DRIVEN};
///
/// let choice = Choice::named("leap")?.law("cubic")?.initial_window(20);
/// choice.build(DRIVEN)?;
/// let window_only = Offers::of("a stack with a window", &[Ability::AckClock, Ability::IdleQuestion]);
/// let refused = choice.build(window_only).unwrap_err();
/// assert_eq!(refused.to_string(), "leap needs pacing at a rate, which a stack with a window cannot give");
/// # Ok::<(), firstflight_quic::ChoiceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Choice {
    registry: Registry,
    scheme: &'static SchemeEntry,
    restart: &'static RestartEntry,
    law: &'static LawEntry,
    initial: Initial,
    settings: Vec<(String, Value)>,
}

/// Why a choice is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChoiceError {
    /// There is no part of this name.
    Unknown {
        /// The kind of the part: a scheme, a restart policy or an avoidance law.
        kind: &'static str,
        /// The name as given.
        name: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// The part needs an ability that the stack does not have.
    Missing(Missing),
    /// The scheme does not accept a setting. The value is the message.
    Setting(String),
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, name, known } => {
                write!(f, "no {kind} is named {name:?}; the names are {}", known.join(", "))
            }
            Self::Missing(missing) => missing.fmt(f),
            Self::Setting(message) => f.write_str(message),
        }
    }
}

impl core::error::Error for ChoiceError {}

impl From<Missing> for ChoiceError {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl Choice {
    /// Chooses the built-in scheme of this name, with its default law, RFC 5681's restart and an initial window of ten packets (RFC 9002
    /// section 7.2).
    ///
    /// # Errors
    /// A name that no scheme has.
    pub fn named(scheme: &str) -> Result<Self, ChoiceError> {
        Self::named_in(Registry::builtin(), scheme)
    }

    /// Chooses as [`Choice::named`] does, with the names of `registry`.
    ///
    /// # Errors
    /// A name that no scheme has, or a registry without the scheme's law.
    pub fn named_in(registry: Registry, scheme: &str) -> Result<Self, ChoiceError> {
        let known = || registry.schemes().map(|entry| entry.name).collect();
        let unknown = || ChoiceError::Unknown { kind: "scheme", name: scheme.to_string(), known: known() };
        let entry = registry.scheme(scheme).ok_or_else(unknown)?;
        Ok(Self {
            registry,
            scheme: entry,
            restart: restart(registry, "rfc5681")?,
            law: law(registry, entry.law)?,
            initial: Initial { segments: 10, ssthresh: None },
            settings: Vec::new(),
        })
    }

    /// Chooses the avoidance law that takes over when start-up is over.
    ///
    /// # Errors
    /// A name that no law has.
    pub fn law(mut self, name: &str) -> Result<Self, ChoiceError> {
        self.law = law(self.registry, name)?;
        Ok(self)
    }

    /// Chooses the restart policy, which is active after an idle time.
    ///
    /// # Errors
    /// A name that no policy has.
    pub fn restart(mut self, name: &str) -> Result<Self, ChoiceError> {
        self.restart = restart(self.registry, name)?;
        Ok(self)
    }

    /// Sets the initial window in packets.
    pub fn initial_window(mut self, packets: u32) -> Self {
        self.initial.segments = packets;
        self
    }

    /// Sets a parameter of the scheme.
    ///
    /// # Errors
    /// A parameter that the scheme does not have, that was set before, or whose value is not allowed.
    pub fn set(mut self, parameter: &str, value: Value) -> Result<Self, ChoiceError> {
        self.settings.push((parameter.to_string(), value));
        self.with_settings(|settings| {
            self.scheme
                .build(self.initial, settings)
                .map(drop)
                .map_err(|error| ChoiceError::Setting(error.to_string()))
        })?;
        Ok(self)
    }

    /// Checks that a stack with these abilities can run the parts.
    ///
    /// # Errors
    /// The first ability that a part needs and the stack does not have.
    pub fn check(&self, offers: Offers) -> Result<(), ChoiceError> {
        self.with_settings(|settings| self.scheme.check(settings, offers))?;
        self.restart.check(offers)?;
        self.law.check(offers)?;
        Ok(())
    }

    /// Builds the controller for a stack with these abilities.
    ///
    /// # Errors
    /// Those of [`Choice::check`], and a setting that the scheme does not accept.
    pub fn build(&self, offers: Offers) -> Result<AnyController, ChoiceError> {
        self.check(offers)?;
        let built = self.with_settings(|settings| {
            self.scheme.build(self.initial, settings).map_err(|error| ChoiceError::Setting(error.to_string()))
        });
        let restart = self.restart.build(self.initial, &[]);
        let restart = restart.map_err(|error| ChoiceError::Setting(error.to_string()))?;
        Ok(Controller::new(built?, restart, self.law.build()))
    }

    /// Returns whether the chosen restart policy may pace its first packets.
    pub fn restart_paces(&self) -> bool {
        let paces = |ability| self.restart.needs.has(ability) || self.restart.needs.uses(ability);
        paces(Ability::Rate) || paces(Ability::Train)
    }

    /// Returns the names of scheme, restart policy and law, and the initial window in packets, for the header of a trace.
    pub fn names(&self) -> (&'static str, &'static str, &'static str, u32) {
        (self.scheme.name, self.restart.name, self.law.name, self.initial.segments)
    }

    fn with_settings<T>(&self, use_them: impl FnOnce(&[(&str, Value)]) -> T) -> T {
        let settings: Vec<(&str, Value)> =
            self.settings.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        use_them(&settings)
    }
}

fn law(registry: Registry, name: &str) -> Result<&'static LawEntry, ChoiceError> {
    registry.law(name).ok_or_else(|| ChoiceError::Unknown {
        kind: "avoidance law",
        name: name.to_string(),
        known: registry.laws().map(|entry| entry.name).collect(),
    })
}

fn restart(registry: Registry, name: &str) -> Result<&'static RestartEntry, ChoiceError> {
    registry.restart(name).ok_or_else(|| ChoiceError::Unknown {
        kind: "restart policy",
        name: name.to_string(),
        known: registry.restarts().map(|entry| entry.name).collect(),
    })
}
