//! The start-up of a connection, as far as packets show it.

use crate::events::{Climb, Mark, Resent};
use crate::rounds::Round;

/// The observed data of a start-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) rounds: &'a [Round],
    /// The times at which the flight reached a new maximum, each with this maximum.
    pub(crate) climbs: &'a [Climb],
    pub(crate) resent: &'a [Resent],
    pub(crate) marks: &'a [Mark],
    /// Whether selective acknowledgements were seen. If not, the flight after a loss is unknown.
    pub(crate) has_sack: bool,
    /// Maximum flight before the idle time that precedes this start-up. `None` if no idle time precedes it.
    pub(crate) peak_before: Option<u64>,
    pub(crate) mss: u64,
}
