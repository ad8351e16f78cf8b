//! The window of the laws that grow by a segment a window: Reno, Westwood and Vegas.

use crate::compact::Bytes32;
use crate::seam::{Exit, Plan};
use crate::units::Bytes;

/// A congestion window, its slow-start threshold, and the progress towards the next segment.
#[derive(Clone, Debug, Default)]
pub(super) struct AdditiveWindow {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// Bytes acknowledged since the window last grew (byte counting, RFC 5681 section 3.1).
    acked: Bytes32,
}

impl AdditiveWindow {
    pub(super) const NEW: Self = Self { window: Bytes32::ZERO, ssthresh: None, acked: Bytes32::ZERO };

    #[inline]
    pub(super) fn get(&self) -> Bytes {
        self.window.wide()
    }

    /// Moves the window; the threshold and the progress towards the next segment stay.
    #[inline]
    pub(super) fn move_to(&mut self, window: Bytes) {
        self.window = window.into();
    }

    /// Sets the window and the threshold; the progress towards the next segment is lost.
    pub(super) fn set(&mut self, window: Bytes, ssthresh: Option<Bytes>) {
        self.window = window.into();
        self.ssthresh = ssthresh.map(Bytes32::from);
        self.acked = Bytes32::ZERO;
    }

    /// Takes over what a start-up left. Says whether the law still has to answer congestion: the start-up ended by it, and
    /// answered with no threshold.
    pub(super) fn take_over(&mut self, exit: &Exit) -> bool {
        let known = self.ssthresh.map(Bytes32::wide);
        self.set(exit.learned.window, exit.learned.ssthresh.or(known));
        exit.is_congestion() && exit.learned.ssthresh.is_none()
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub(super) fn is_below_threshold(&self) -> bool {
        self.ssthresh.is_some_and(|ssthresh| self.get() < ssthresh.wide())
    }

    /// Grows by a segment once a window of bytes was acknowledged (RFC 5681 section 3.1). An ACK can cover more than the
    /// window just after a reduction; it counts as one window.
    #[inline]
    pub(super) fn grow(&mut self, by: Bytes, mss: Bytes) {
        let window = self.get();
        let acked = self.acked.wide() + by.min(window);
        if acked >= window {
            self.window = (window + mss).into();
            self.acked = (acked - window).into();
        } else {
            self.acked = acked.into();
        }
    }

    #[inline]
    pub(super) fn plan(&self) -> Plan {
        Plan::ack_clocked(self.get(), self.ssthresh.map(Bytes32::wide))
    }
}
