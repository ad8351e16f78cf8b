//! When the connection was last active, and what stopped the sender then.

use firstflight::{SendLimit, Time};

/// What is known of the connection's use: whether its window is still valid after an idle time is decided by it (RFC 5681 section
/// 4.1, RFC 7661).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Activity {
    last_received: Option<Time>,
    /// What limits sending now.
    pub(super) limit: SendLimit,
    /// Whether the controller was asked about the idle time before what is to be sent next, and restarted.
    idle_served: bool,
}

impl Default for Activity {
    fn default() -> Self {
        Self { last_received: None, limit: SendLimit::Window, idle_served: false }
    }
}

impl Activity {
    /// A segment arrived.
    #[inline]
    pub(super) fn received(&mut self, now: Time) {
        self.last_received = Some(now);
    }

    /// A data segment left: the next idle time is another one.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.idle_served = false;
    }

    #[inline]
    pub(super) fn last_received(&self) -> Option<Time> {
        self.last_received
    }

    pub(super) fn is_idle_served(&self) -> bool {
        self.idle_served
    }

    /// The controller restarted after the idle time.
    pub(super) fn idle_was_served(&mut self) {
        self.idle_served = true;
    }
}
