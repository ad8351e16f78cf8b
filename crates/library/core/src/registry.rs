//! Every scheme, restart policy and avoidance law by name: one line each.
//!
//! A host that knows its scheme at compile time names the types and pays for nothing else. A host that takes a name at run time finds the
//! entry here, checks that the host can run it ([`SchemeEntry::check`]) and builds an [`AnyController`]. A [`Registry`] adds the entries of
//! users.

mod any_law;
mod any_startup;
mod builtin;
mod entry;
mod list;
mod needs;
mod numbers;
#[cfg(feature = "alloc")]
mod outside_law;
#[cfg(feature = "alloc")]
mod outside_startup;
mod parameter;
mod plain;
mod settings;

pub use crate::maybe_box::MaybeBox;
pub use any_law::AnyLaw;
pub use any_startup::{AnyController, AnyPlain, AnyRestart, AnyScheme};
pub use builtin::{law, laws, restart, restarts, scheme, schemes};
pub use entry::{LawEntry, RestartEntry, SchemeEntry};
pub use list::{EntryProblem, Registry, RegistryError};
pub use needs::{Ability, Help, Missing, Needs, Offers, check};
pub use numbers::{Choice, Numbers, Place};
pub(crate) use numbers::{choice, place};
#[cfg(feature = "alloc")]
pub use outside_law::OutsideLaw;
#[cfg(feature = "alloc")]
pub use outside_startup::OutsideStartup;
pub use parameter::{Kind, Parameter, ParameterError, Problem, Value};
pub(crate) use plain::PLAIN;
pub use settings::Settings;
