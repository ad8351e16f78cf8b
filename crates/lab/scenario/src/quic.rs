//! The QUIC stacks in which flows run, and the stacks' own controllers, which are chosen as schemes: `noq:cubic`.

use firstflight::registry::{self, AnyScheme, Needs, SchemeEntry, Settings};
use firstflight::schemes::Initial;

/// A QUIC stack in which the measured flow of a race runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicStack {
    /// noq.
    Noq,
    /// quinn.
    Quinn,
}

impl QuicStack {
    /// The stacks.
    pub const ALL: [Self; 2] = [Self::Noq, Self::Quinn];

    /// Returns the name by which a user chooses the stack, which rows have too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noq => "noq",
            Self::Quinn => "quinn",
        }
    }
}

/// A controller of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnController {
    /// The stack.
    pub(crate) stack: QuicStack,
    /// The controller's name in the stack.
    pub(crate) name: &'static str,
    /// The entry by which it is chosen. What the entry builds never runs.
    pub(crate) entry: SchemeEntry,
}

/// The word in rows for what a stack's own controller has instead of a law.
pub(crate) const OWN: &str = "own";

const fn own(
    stack: QuicStack,
    name: &'static str,
    full: &'static str,
    source: &'static str,
) -> OwnController {
    let entry = SchemeEntry {
        name: full,
        summary: "The controller of a QUIC stack, as its users have it.",
        source,
        law: "reno",
        parameters: &[],
        needs: Needs::of(&[]),
        make: placeholder,
    };
    OwnController { stack, name, entry }
}

/// The controllers of the stacks.
pub(crate) static OWN_CONTROLLERS: [OwnController; 6] = [
    own(QuicStack::Noq, "cubic", "noq:cubic", "noq-proto 1.4, congestion/cubic.rs"),
    own(QuicStack::Noq, "newreno", "noq:newreno", "noq-proto 1.4, congestion/new_reno.rs"),
    own(QuicStack::Noq, "bbr3", "noq:bbr3", "noq-proto 1.4, congestion/bbr3"),
    own(QuicStack::Quinn, "cubic", "quinn:cubic", "quinn-proto 0.11, congestion/cubic.rs"),
    own(QuicStack::Quinn, "newreno", "quinn:newreno", "quinn-proto 0.11, congestion/new_reno.rs"),
    own(QuicStack::Quinn, "bbr", "quinn:bbr", "quinn-proto 0.11, congestion/bbr"),
];

fn placeholder(initial: Initial, settings: &Settings<'_>) -> AnyScheme {
    (registry::schemes()[0].make)(initial, settings)
}

/// Returns the controller that is chosen by this name; `None` if no stack has it.
pub(crate) fn own_controller(name: &str) -> Option<&'static OwnController> {
    OWN_CONTROLLERS.iter().find(|own| own.entry.name == name)
}

/// Splits an item of a list of schemes after the name of a stack's own controller. The name may be unknown. `None` if the item does not
/// start with a stack.
pub(crate) fn split_own(item: &str) -> Option<(&str, Option<&str>)> {
    let (stack, rest) = item.split_once(':')?;
    if rest.contains('=') && !rest.contains(':') || !QuicStack::ALL.iter().any(|one| one.name() == stack) {
        return None;
    }
    match rest.split_once(':') {
        Some((name, parameter)) => Some((&item[..stack.len() + 1 + name.len()], Some(parameter))),
        None => Some((item, None)),
    }
}
