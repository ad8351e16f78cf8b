//! Every scheme, restart policy and avoidance law by name: one line each.
//!
//! A host that knows its scheme when it is compiled names the types and pays for nothing else. A host that takes a
//! name at run time finds the entry here, checks that the host can run it ([`SchemeEntry::check`]) and builds an
//! [`AnyController`]. A [`Registry`] adds the entries of users.

mod list;
mod needs;
mod numbers;
#[cfg(feature = "alloc")]
mod outside;
mod parameter;

pub use crate::large::Large;
pub use list::{EntryProblem, Registry, RegistryError};
pub use needs::{Ability, Help, Missing, Needs, Offers, check};
pub use numbers::{Choice, Numbers, Place};
pub(crate) use numbers::{choice, place};
#[cfg(feature = "alloc")]
pub use outside::{OutsideLaw, OutsideStartup};
pub use parameter::{Kind, Parameter, ParameterError, Problem, Settings, Value};

use crate::avoidance::{self, BbrCruise, Cubic, CubicLinux, Reno, RenoAcks, Vegas, Westwood};
use crate::controller::Controller;
use crate::hears::Hears;
use crate::restart::{self, Cwv, Nssr, QuickStartAgain, Rbp, Rfc5681, Ssr};
use crate::schemes::{
    self, Adaptive, Bbr, CarefulResume, HyStart, HyStartLinux, HyStartPlus, Initial, Leap, Limited, Paced,
    PacketPair, QuickStart, RapidStart, Search, SlowStart, Suss, VegasStart,
};
use crate::seam::{Avoidance, Event, Exit, Learned, Path, Plan, Startup, Step};
use crate::units::Bytes;

/// A controller whose parts were chosen by name.
pub type AnyController = Controller<AnyScheme, AnyRestart, AnyLaw>;

/// A member of ordinary size lives in place.
type Small<T> = T;

macro_rules! any_startup {
    ($(#[$doc:meta])* $name:ident { $($scheme:ident: $kept:ident),+; Outside: $box:ident }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub enum $name {
            $(#[doc = concat!("[`", stringify!($scheme), "`].")] $scheme($kept<$scheme>),)+
            /// A type from outside this crate.
            #[cfg(feature = "alloc")]
            Outside($box<OutsideStartup>),
        }

        impl Startup for $name {
            const HEARS: Hears<Self> = Hears::ALL
                .sends_if(|any| match any {
                    $(Self::$scheme(scheme) => $scheme::HEARS.sends(scheme),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::HEARS.sends(outside),
                })
                .others_if(|any| match any {
                    $(Self::$scheme(scheme) => $scheme::HEARS.others(scheme),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::HEARS.others(outside),
                })
                .widened_by(Self::widen);

            fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
                match self {
                    $(Self::$scheme(scheme) => scheme.on(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.on(event, path),
                }
            }

            #[inline]
            fn overhear(&mut self, event: &Event<'_>, path: &Path) -> Option<Learned> {
                match self {
                    $(Self::$scheme(scheme) => scheme.overhear(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.overhear(event, path),
                }
            }

            fn plan(&self, path: &Path) -> Plan {
                match self {
                    $(Self::$scheme(scheme) => scheme.plan(path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.plan(path),
                }
            }

        }

        impl $name {
            #[inline]
            fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
                match self {
                    $(Self::$scheme(scheme) => $scheme::HEARS.widen(scheme, growth, mss),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::HEARS.widen(outside, growth, mss),
                }
            }

            /// Bytes of state that govern a connection with this scheme, the default restart policy and `law`.
            pub fn state_size(&self, law: &AnyLaw) -> usize {
                match self {
                    $(Self::$scheme(_) => law.state_size_after::<$scheme>(),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.state_size(law),
                }
            }

            /// Bytes of state that govern a connection with [`QuickStart`] around this scheme, the default restart
            /// policy and `law`.
            pub fn state_size_in_quick_start(&self, law: &AnyLaw) -> usize {
                match self {
                    $(Self::$scheme(_) => law.state_size_after::<QuickStart<$scheme>>(),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.state_size_in_quick_start(law),
                }
            }
        }

        $(impl From<$scheme> for $name {
            fn from(scheme: $scheme) -> Self {
                Self::$scheme($kept::<$scheme>::from(scheme))
            }
        })+
    };
}

macro_rules! any_law {
    ($(#[$doc:meta])* $name:ident { $($law:ident: $kept:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[repr(u8)]
        #[derive(Clone, Debug)]
        pub enum $name {
            $(#[doc = concat!("[`", stringify!($law), "`].")] $law($kept<$law>),)+
            /// One from outside the tree.
            #[cfg(feature = "alloc")]
            Outside(OutsideLaw),
        }

        impl Avoidance for $name {
            const HEARS: Hears<Self> = Hears::ALL
                .sends_if(|any| match any {
                    $(Self::$law(law) => $law::HEARS.sends(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::HEARS.sends(outside),
                })
                .later_losses_if(|any| match any {
                    $(Self::$law(law) => $law::HEARS.later_losses(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::HEARS.later_losses(outside),
                })
                .others_if(|any| match any {
                    $(Self::$law(law) => $law::HEARS.others(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::HEARS.others(outside),
                })
                .widened_by(Self::widen);

            fn enter(&mut self, exit: &Exit, path: &Path) {
                match self {
                    $(Self::$law(law) => law.enter(exit, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.enter(exit, path),
                }
            }

            #[inline]
            fn on(&mut self, event: &Event<'_>, path: &Path) {
                match self {
                    $(Self::$law(law) => law.on(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.on(event, path),
                }
            }

            fn overhear(&mut self, event: &Event<'_>, path: &Path) {
                match self {
                    $(Self::$law(law) => law.overhear(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.overhear(event, path),
                }
            }

            fn forget_path(&mut self) {
                match self {
                    $(Self::$law(law) => law.forget_path(),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.forget_path(),
                }
            }

            // The host asks after every ACK, and one arm is too long for the compiler to inline unasked.
            #[inline(always)]
            fn plan(&self, path: &Path) -> Plan {
                match self {
                    $(Self::$law(law) => law.plan(path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.plan(path),
                }
            }

        }

        impl $name {
            #[inline]
            fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
                match self {
                    $(Self::$law(law) => $law::HEARS.widen(law, growth, mss),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::HEARS.widen(outside, growth, mss),
                }
            }

            fn state_size_after<S: Startup>(&self) -> usize {
                match self {
                    $(Self::$law(_) => Controller::<S, Rfc5681, $law>::STATE_SIZE,)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.state_size_after::<S>(),
                }
            }
        }

        $(impl From<$law> for $name {
            fn from(law: $law) -> Self {
                Self::$law($kept::<$law>::from(law))
            }
        })+
    };
}

any_startup! {
    /// Any scheme that is not built around another.
    #[cfg_attr(not(feature = "alloc"), expect(clippy::large_enum_variant, reason = "there is no other place"))]
    AnyPlain {
        SlowStart: Small, Limited: Small, VegasStart: Small, PacketPair: Small, Paced: Large, HyStart: Small, HyStartLinux: Small, HyStartPlus: Small, Adaptive: Large, Search: Large, Bbr: Large, CarefulResume: Large, Suss: Large, RapidStart: Small, Leap: Large;
        Outside: Small
    }
}

/// Any start-up scheme.
#[derive(Clone, Debug)]
pub enum AnyScheme {
    /// A scheme that is not built around another.
    Plain(AnyPlain),
    /// [`QuickStart`] around such a scheme.
    QuickStart(Large<QuickStart<AnyPlain>>),
}

impl Startup for AnyScheme {
    const HEARS: Hears<Self> = Hears::ALL
        .sends_if(|any| match any {
            Self::Plain(scheme) => AnyPlain::HEARS.sends(scheme),
            Self::QuickStart(scheme) => QuickStart::HEARS.sends(scheme),
        })
        .widened_by(Self::widen);

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match self {
            Self::Plain(scheme) => scheme.on(event, path),
            Self::QuickStart(scheme) => scheme.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        match self {
            Self::Plain(scheme) => scheme.plan(path),
            Self::QuickStart(scheme) => scheme.plan(path),
        }
    }
}

impl AnyScheme {
    #[inline]
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        match self {
            Self::Plain(scheme) => AnyPlain::HEARS.widen(scheme, growth, mss),
            Self::QuickStart(scheme) => QuickStart::HEARS.widen(scheme, growth, mss),
        }
    }

    /// Bytes of state that govern a connection with this scheme, the default restart policy and `law`.
    pub fn state_size(&self, law: &AnyLaw) -> usize {
        match self {
            Self::Plain(scheme) => scheme.state_size(law),
            Self::QuickStart(scheme) => scheme.inside().state_size_in_quick_start(law),
        }
    }
}

impl<S> From<S> for AnyScheme
where
    AnyPlain: From<S>,
{
    fn from(scheme: S) -> Self {
        Self::Plain(scheme.into())
    }
}

any_startup! {
    /// Any restart policy.
    AnyRestart {
        Rfc5681: Small, Ssr: Small, Nssr: Small, Rbp: Large, Cwv: Large, QuickStartAgain: Large;
        Outside: Large
    }
}

impl AnyRestart {
    /// Bytes of state that govern a connection with slow start, this policy and `reno`.
    pub fn state_size_beside_slow_start(&self) -> usize {
        match self {
            Self::Rfc5681(_) => Controller::<SlowStart, Rfc5681, Reno>::STATE_SIZE,
            Self::Ssr(_) => Controller::<SlowStart, Ssr, Reno>::STATE_SIZE,
            Self::Nssr(_) => Controller::<SlowStart, Nssr, Reno>::STATE_SIZE,
            Self::Rbp(_) => Controller::<SlowStart, Rbp, Reno>::STATE_SIZE,
            Self::Cwv(_) => Controller::<SlowStart, Cwv, Reno>::STATE_SIZE,
            Self::QuickStartAgain(_) => Controller::<SlowStart, QuickStartAgain, Reno>::STATE_SIZE,
            #[cfg(feature = "alloc")]
            Self::Outside(outside) => outside.state_size_beside_slow_start(),
        }
    }
}

any_law! {
    /// Any avoidance law.
    #[cfg_attr(not(feature = "alloc"), expect(clippy::large_enum_variant, reason = "there is no other place"))]
    AnyLaw {
        Reno: Small, RenoAcks: Small, Cubic: Small, CubicLinux: Large, Vegas: Small, Westwood: Large, BbrCruise: Large,
    }
}

/// Gives the macro `$take` a line for each scheme that is not built around another, in the order in which lists show them:
/// name, name as an identifier, entry, type. The entries of the registry and the entry points of `kernel/bpf` are made of it.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_plain_scheme {
    ($take:ident) => {
        $take! {
            "slow-start": slow_start, SLOW_START, $crate::schemes::SlowStart;
            "slow-start-paced": slow_start_paced, SLOW_START_PACED, $crate::schemes::SlowStart;
            "limited": limited, LIMITED, $crate::schemes::Limited;
            "vegas": vegas, VEGAS, $crate::schemes::VegasStart;
            "packet-pair": packet_pair, PACKET_PAIR, $crate::schemes::PacketPair;
            "adaptive": adaptive, ADAPTIVE, $crate::schemes::Adaptive;
            "paced": paced, PACED, $crate::schemes::Paced;
            "hystart": hystart, HYSTART, $crate::schemes::HyStart;
            "hystart-linux": hystart_linux, HYSTART_LINUX, $crate::schemes::HyStartLinux;
            "hystart++": hystart_plus_plus, HYSTART_PLUS, $crate::schemes::HyStartPlus;
            "suss": suss, SUSS, $crate::schemes::Suss;
            "rapid-start": rapid_start, RAPID_START, $crate::schemes::RapidStart;
            "search": search, SEARCH, $crate::schemes::Search;
            "bbr": bbr, BBR, $crate::schemes::Bbr;
            "careful-resume": careful_resume, CAREFUL_RESUME, $crate::schemes::CarefulResume;
            "leap": leap, LEAP, $crate::schemes::Leap;
            "leap-saved": leap_saved, LEAP_SAVED, $crate::schemes::Leap;
        }
    };
}

macro_rules! entries {
    ($($name:literal: $word:ident, $entry:ident, $scheme:ty;)+) => { &[$(schemes::$entry),+] };
}

/// The schemes that are not built around another, in the order in which lists show them.
pub(crate) const PLAIN: &[SchemeEntry] = for_each_plain_scheme!(entries);

/// The schemes, in the order in which lists show them.
static SCHEMES: [SchemeEntry; PLAIN.len() + 1] = {
    let mut all = [schemes::QUICK_START; PLAIN.len() + 1];
    let mut index = 0;
    while index < PLAIN.len() {
        all[index] = PLAIN[index];
        index += 1;
    }
    all
};

/// The restart policies.
static RESTARTS: &[RestartEntry] = &[
    restart::RFC5681,
    restart::SSR,
    restart::NSSR,
    restart::RBP_RATE,
    restart::RBP_CWND,
    restart::CWV,
    restart::QUICK_START_AGAIN,
];

/// The avoidance laws.
static LAWS: &[LawEntry] = &[
    avoidance::RENO,
    avoidance::RENO_ACKS,
    avoidance::CUBIC,
    avoidance::CUBIC_LINUX,
    avoidance::VEGAS,
    avoidance::VEGAS_LINUX,
    avoidance::WESTWOOD,
    avoidance::BBR,
];

/// A start-up scheme by name.
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// The name of the avoidance law that goes with it by default.
    pub law: &'static str,
    /// The parameters that a user may set.
    pub parameters: &'static [Parameter],
    /// What it needs of its host, and beyond it.
    pub needs: Needs,
    /// Builds the scheme from settings that were checked.
    pub make: fn(Initial, &Settings<'_>) -> AnyScheme,
}

/// A restart policy by name.
#[derive(Clone, Copy, Debug)]
pub struct RestartEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// The parameters that a user may set.
    pub parameters: &'static [Parameter],
    /// What it needs of its host, and beyond it.
    pub needs: Needs,
    /// Builds the policy from settings that were checked.
    pub make: fn(Initial, &Settings<'_>) -> AnyRestart,
}

/// An avoidance law by name.
#[derive(Clone, Copy, Debug)]
pub struct LawEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// What it needs of its host, and beyond it.
    pub needs: Needs,
    /// Builds the law.
    pub make: fn() -> AnyLaw,
}

/// Every start-up scheme.
pub fn schemes() -> &'static [SchemeEntry] {
    &SCHEMES
}

/// Every restart policy.
pub fn restarts() -> &'static [RestartEntry] {
    RESTARTS
}

/// Every avoidance law.
pub fn laws() -> &'static [LawEntry] {
    LAWS
}

/// The start-up scheme of this name.
pub fn scheme(name: &str) -> Option<&'static SchemeEntry> {
    SCHEMES.iter().find(|entry| entry.name == name)
}

/// The restart policy of this name.
pub fn restart(name: &str) -> Option<&'static RestartEntry> {
    RESTARTS.iter().find(|entry| entry.name == name)
}

/// The avoidance law of this name.
pub fn law(name: &str) -> Option<&'static LawEntry> {
    LAWS.iter().find(|entry| entry.name == name)
}

impl SchemeEntry {
    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// What the scheme needs with these settings. A scheme built around another also needs what the inner scheme
    /// needs.
    pub fn needs_with(&self, settings: &[(&str, Value)]) -> Needs {
        let around = schemes::AROUND;
        let inside = settings.iter().find(|(name, _)| *name == around && self.parameter(around).is_some());
        match inside {
            Some((_, Value::Word(inside))) => {
                scheme(inside).map_or(self.needs, |entry| self.needs.and(entry.needs))
            }
            _ => self.needs,
        }
    }

    /// Whether a host can run this scheme with these settings.
    ///
    /// # Errors
    /// The first thing that the scheme needs and the host cannot do.
    pub fn check(&self, settings: &[(&str, Value)], offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs_with(settings), offers)
    }

    /// The scheme with these settings. A parameter that is not set has its default.
    ///
    /// # Errors
    /// The first setting that the scheme does not take.
    pub fn build<'a>(
        &self,
        initial: Initial,
        settings: &'a [(&'a str, Value)],
    ) -> Result<AnyScheme, ParameterError<'a>> {
        let settings = Settings::check(self.name, self.parameters, settings)?;
        Ok((self.make)(initial, &settings))
    }
}

impl RestartEntry {
    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether a host can run this policy.
    ///
    /// # Errors
    /// The first thing that the policy needs and the host cannot do.
    pub fn check(&self, offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs, offers)
    }

    /// The policy with these settings. A parameter that is not set has its default. `initial` gives the restart
    /// window.
    ///
    /// # Errors
    /// The first setting that the policy does not take.
    pub fn build<'a>(
        &self,
        initial: Initial,
        settings: &'a [(&'a str, Value)],
    ) -> Result<AnyRestart, ParameterError<'a>> {
        let settings = Settings::check(self.name, self.parameters, settings)?;
        Ok((self.make)(initial, &settings))
    }
}

impl LawEntry {
    /// Whether a host can run this law.
    ///
    /// # Errors
    /// The first thing that the law needs and the host cannot do.
    pub fn check(&self, offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs, offers)
    }

    /// The law.
    pub fn build(&self) -> AnyLaw {
        (self.make)()
    }
}
