//! The state before a call.

use firstflight::{Path, Plan};

/// The state of the connection after the previous call, and so before the current one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) path: Path,
    pub(crate) plan: Plan,
}
