//! Any start-up scheme, and any restart policy, as one type each.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use core::fmt;

use crate::avoidance::Reno;
use crate::controller::Controller;
use crate::interest::Interest;
use crate::interface::{Event, Path, PathEstimate, Plan, Startup, Step};
use crate::maybe_box::{MaybeBox, Small};
use crate::registry::any_law::AnyLaw;
use crate::registry::entry::{Family, Restarts, Schemes};
#[cfg(feature = "alloc")]
use crate::registry::outside_startup::OutsideStartup;
use crate::restart::{Cwv, Nssr, QuickStartAgain, Rbp, Rfc5681, Ssr};
use crate::schemes::{
    Adaptive, Bbr, CarefulResume, HyStart, HyStartLinux, HyStartPlus, Leap, Limited, Paced, PacketPair,
    QuickStart, RapidStart, Search, SlowStart, Suss, VegasStart,
};
use crate::units::Bytes;

/// A controller whose parts were chosen by name.
pub type AnyController = Controller<AnyScheme, AnyRestart, AnyLaw>;

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
            const INTEREST: Interest<Self> = Interest::ALL
                .sends_if(|any| match any {
                    $(Self::$scheme(scheme) => $scheme::INTEREST.sends(scheme),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::INTEREST.sends(outside),
                })
                .others_if(|any| match any {
                    $(Self::$scheme(scheme) => $scheme::INTEREST.others(scheme),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::INTEREST.others(outside),
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
            fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
                match self {
                    $(Self::$scheme(scheme) => scheme.observe(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.observe(event, path),
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
                    $(Self::$scheme(scheme) => $scheme::INTEREST.widen(scheme, growth, mss),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideStartup::INTEREST.widen(outside, growth, mss),
                }
            }

            /// Returns the size in bytes of a connection's state with this scheme, the default restart policy and `law`.
            pub fn state_size(&self, law: &AnyLaw) -> usize {
                match self {
                    $(Self::$scheme(_) => law.state_size_after::<$scheme>(),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.state_size(law),
                }
            }

            /// Returns the size in bytes of a connection's state with [`QuickStart`] around this scheme, the default restart policy and
            /// `law`.
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

any_startup! {
    /// Any scheme that is not built around another.
    #[cfg_attr(not(feature = "alloc"), expect(clippy::large_enum_variant, reason = "there is no other place"))]
    AnyPlain {
        SlowStart: Small, Limited: Small, VegasStart: Small, PacketPair: Small, Paced: MaybeBox, HyStart: Small, HyStartLinux: Small, HyStartPlus: Small, Adaptive: MaybeBox, Search: MaybeBox, Bbr: MaybeBox, CarefulResume: MaybeBox, Suss: MaybeBox, RapidStart: Small, Leap: MaybeBox;
        Outside: Small
    }
}

/// Any start-up scheme.
#[derive(Clone, Debug)]
pub enum AnyScheme {
    /// A scheme that is not built around another.
    Plain(AnyPlain),
    /// [`QuickStart`] around a plain scheme.
    QuickStart(MaybeBox<QuickStart<AnyPlain>>),
}

impl Startup for AnyScheme {
    const INTEREST: Interest<Self> = Interest::ALL
        .sends_if(|any| match any {
            Self::Plain(scheme) => AnyPlain::INTEREST.sends(scheme),
            Self::QuickStart(scheme) => QuickStart::INTEREST.sends(scheme),
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
            Self::Plain(scheme) => AnyPlain::INTEREST.widen(scheme, growth, mss),
            Self::QuickStart(scheme) => QuickStart::INTEREST.widen(scheme, growth, mss),
        }
    }

    /// Returns the size in bytes of a connection's state with this scheme, the default restart policy and `law`.
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
        Rfc5681: Small, Ssr: Small, Nssr: Small, Rbp: MaybeBox, Cwv: MaybeBox, QuickStartAgain: MaybeBox;
        Outside: MaybeBox
    }
}

impl AnyRestart {
    /// Returns the size in bytes of a connection's state with slow start, this policy and `reno`.
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

impl Family for Schemes {
    type Any = AnyScheme;
}

impl Family for Restarts {
    type Any = AnyRestart;
}

#[cfg(feature = "alloc")]
impl AnyScheme {
    /// Boxes a scheme of a type from outside this crate, as a [`super::SchemeEntry`] of a user does.
    pub fn outside(scheme: impl Startup + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Plain(AnyPlain::Outside(OutsideStartup::new(scheme)))
    }
}

#[cfg(feature = "alloc")]
impl AnyRestart {
    /// Boxes a restart policy of a type from outside this crate.
    pub fn outside(policy: impl Startup + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Outside(Box::new(OutsideStartup::new(policy)))
    }
}
