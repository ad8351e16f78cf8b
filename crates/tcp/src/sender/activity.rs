//! When the connection was last active, and what stopped the sender then.

use firstflight::{SendLimit, Time};

/// What is known of the connection's use: whether its window is still valid after an idle time is decided by it (RFC 5681 section
/// 4.1, RFC 7661).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Activity {
    last_received: Option<Time>,
    last_sent: Option<Time>,
    /// What limits sending now.
    pub(super) limit: SendLimit,
    /// Whether the controller was asked about the idle time before what is to be sent next, and restarted.
    idle_served: bool,
}

impl Default for Activity {
    fn default() -> Self {
        Self { last_received: None, last_sent: None, limit: SendLimit::Window, idle_served: false }
    }
}

impl Activity {
    /// A segment arrived.
    #[inline]
    pub(super) fn received(&mut self, now: Time) {
        self.last_received = Some(now);
    }

    /// A data segment left.
    #[inline]
    pub(super) fn sent(&mut self, now: Time) {
        self.last_sent = Some(now);
        self.idle_served = false;
    }

    /// A data segment left while others were outstanding, so that no idle time was before it.
    #[inline]
    pub(super) fn sent_again(&mut self, now: Time) {
        debug_assert!(!self.idle_served, "something is outstanding");
        self.last_sent = Some(now);
    }

    #[inline]
    pub(super) fn last_received(&self) -> Option<Time> {
        self.last_received
    }

    #[inline]
    pub(super) fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }

    pub(super) fn is_idle_served(&self) -> bool {
        self.idle_served
    }

    /// The controller restarted after the idle time.
    pub(super) fn idle_was_served(&mut self) {
        self.idle_served = true;
    }
}
