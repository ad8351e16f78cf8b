//! When the connection was active, and what limits sending.

use firstflight::{SendLimit, Time};

/// How the connection was used. It decides whether the window is still valid after an idle time (RFC 5681 section 4.1, RFC 7661).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Activity {
    last_received: Option<Time>,
    /// The current limit of sending.
    pub(super) limit: SendLimit,
    /// Whether the controller has already restarted for the idle time before the next transmission.
    idle_served: bool,
}

impl Default for Activity {
    fn default() -> Self {
        Self { last_received: None, limit: SendLimit::Window, idle_served: false }
    }
}

impl Activity {
    /// Records the arrival of a segment.
    #[inline]
    pub(super) fn received(&mut self, now: Time) {
        self.last_received = Some(now);
    }

    /// Records the transmission of a data segment. An idle time after it needs another restart.
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

    /// Records that the controller restarted for the current idle time.
    pub(super) fn idle_was_served(&mut self) {
        self.idle_served = true;
    }
}
