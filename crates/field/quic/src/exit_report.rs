//! The report of an exit.

use firstflight::{Bytes, Exit, Phase, Time};

/// The end of a start-up or of a restart, for logs and for a store of what was learned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExitReport {
    /// The instant of the event that ended the phase, since the origin of the host's clock.
    pub at: Time,
    /// The cause of the end, and what was learned about the path.
    pub exit: Exit,
    /// The phase that ended: a start-up or a restart.
    pub phase: Phase,
    /// The window when the phase ended, before any reduction.
    pub window: Bytes,
    /// Bytes in flight when the phase ended.
    pub in_flight: Bytes,
}
