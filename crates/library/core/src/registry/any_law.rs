//! Any avoidance law, as one type.

#[cfg(feature = "alloc")]
use core::fmt;

use crate::avoidance::{BbrCruise, Cubic, CubicLinux, ProbeBw, Reno, RenoAcks, Vegas, Westwood};
use crate::controller::Controller;
use crate::interest::Interest;
use crate::interface::{Avoidance, Event, Exit, Path, Plan, Startup};
use crate::maybe_box::{MaybeBox, Small};
use crate::registry::entry::{Family, Laws};
#[cfg(feature = "alloc")]
use crate::registry::outside_law::OutsideLaw;
use crate::restart::Rfc5681;
use crate::units::Bytes;

macro_rules! any_law {
    ($(#[$doc:meta])* $name:ident { $($law:ident: $kept:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[repr(u8)]
        #[derive(Clone, Debug)]
        pub enum $name {
            $(#[doc = concat!("[`", stringify!($law), "`].")] $law($kept<$law>),)+
            /// A law of a type from outside this crate.
            #[cfg(feature = "alloc")]
            Outside(OutsideLaw),
        }

        impl Avoidance for $name {
            const INTEREST: Interest<Self> = Interest::ALL
                .sends_if(|any| match any {
                    $(Self::$law(law) => $law::INTEREST.sends(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::INTEREST.sends(outside),
                })
                .later_losses_if(|any| match any {
                    $(Self::$law(law) => $law::INTEREST.later_losses(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::INTEREST.later_losses(outside),
                })
                .others_if(|any| match any {
                    $(Self::$law(law) => $law::INTEREST.others(law),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::INTEREST.others(outside),
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

            fn observe(&mut self, event: &Event<'_>, path: &Path) {
                match self {
                    $(Self::$law(law) => law.observe(event, path),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.observe(event, path),
                }
            }

            fn forget_path(&mut self) {
                match self {
                    $(Self::$law(law) => law.forget_path(),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => outside.forget_path(),
                }
            }

            // The host reads the plan after every ACK, and one arm is too long for the compiler to inline by default.
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
                    $(Self::$law(law) => $law::INTEREST.widen(law, growth, mss),)+
                    #[cfg(feature = "alloc")]
                    Self::Outside(outside) => OutsideLaw::INTEREST.widen(outside, growth, mss),
                }
            }

            pub(super) fn state_size_after<S: Startup>(&self) -> usize {
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

any_law! {
    /// Any avoidance law.
    AnyLaw {
        Reno: Small, RenoAcks: Small, Cubic: Small, CubicLinux: MaybeBox, Vegas: Small, Westwood: MaybeBox, ProbeBw: MaybeBox, BbrCruise: MaybeBox,
    }
}

impl Family for Laws {
    type Any = AnyLaw;
}

#[cfg(feature = "alloc")]
impl AnyLaw {
    /// Boxes a law of a type from outside this crate.
    pub fn outside(law: impl Avoidance + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Outside(OutsideLaw::new(law))
    }
}
