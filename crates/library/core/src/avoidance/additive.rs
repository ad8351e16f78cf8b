//! The congestion window of the laws that grow by one segment per round trip: Reno, Westwood and Vegas.

use crate::interface::{Exit, Plan};
use crate::u32_bytes::Bytes32;
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

    /// Sets the window. Keeps the threshold and the progress towards the next segment.
    #[inline]
    pub(super) fn move_to(&mut self, window: Bytes) {
        self.window = window.into();
    }

    /// Sets the window and the threshold, and discards the progress towards the next segment.
    pub(super) fn set(&mut self, window: Bytes, ssthresh: Option<Bytes>) {
        self.window = window.into();
        self.ssthresh = ssthresh.map(Bytes32::from);
        self.acked = Bytes32::ZERO;
    }

    /// Takes over the window and threshold from a start-up. Returns true if congestion ended the start-up and the start-up set no
    /// threshold: the law must then still respond to the congestion.
    pub(super) fn take_over(&mut self, exit: &Exit) -> bool {
        let known = self.ssthresh.map(Bytes32::wide);
        self.set(exit.learned.window, exit.learned.ssthresh.or(known));
        exit.is_congestion() && exit.learned.ssthresh.is_none()
    }

    /// Returns whether the window is below the threshold.
    #[inline]
    pub(super) fn is_below_threshold(&self) -> bool {
        self.ssthresh.is_some_and(|ssthresh| self.get() < ssthresh.wide())
    }

    /// Widens the window by one segment once a window of bytes has been acknowledged (RFC 5681 section 3.1). Just after a reduction an ACK
    /// can cover more than the window. It then counts as one window.
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
