//! Flow control: the window that the peer offers (RFC 9293 section 3.8.6), and the persist timer while it is closed.

use firstflight::{Span, Time};

/// The peer's receive window.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct PeerWindow {
    /// The size of the window in bytes (`SND.WND`).
    offered: u64,
    /// The stream offset at which the window ends.
    edge: u64,
    /// The maximum window that the peer has offered, for silly-window avoidance (`Max(SND.WND)`, section 3.8.6.2.1).
    greatest: u64,
}

impl PeerWindow {
    /// Records that the peer acknowledged all data below `una` and offers a window of `window` bytes above it.
    #[inline]
    pub(super) fn offer(&mut self, una: u64, window: u64) {
        self.offered = window;
        self.greatest = self.greatest.max(window);
        self.edge = una.saturating_add(window);
    }

    /// Records that the peer acknowledged all data below `una` and offers a window of unchanged size above it.
    #[inline]
    pub(super) fn slide(&mut self, una: u64) {
        self.edge = una.saturating_add(self.offered);
    }

    #[inline]
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    #[inline]
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    pub(super) fn greatest(&self) -> u64 {
        self.greatest
    }

    /// Checks whether the window includes the byte at the stream offset `offset`.
    #[inline]
    pub(super) fn admits(&self, offset: u64) -> bool {
        self.edge > offset
    }

    /// Returns the number of bytes from `offset` to the window's end.
    #[inline]
    pub(super) fn room(&self, offset: u64) -> u64 {
        self.edge.saturating_sub(offset)
    }

    /// Returns the length of the segment that may be sent from `offset` on, at most `full` bytes. Returns `None` if the window is silly
    /// (section 3.8.6.2.1), unless the override timeout has `overridden` this rule.
    pub(super) fn segment(&self, offset: u64, full: u64, overridden: bool) -> Option<u64> {
        let room = self.room(offset);
        if room >= full {
            Some(full)
        } else {
            (room > 0 && (overridden || room >= self.greatest / 2)).then_some(room)
        }
    }
}

/// Intervals of zero-window probes: the first interval, the maximum number of doublings, and the maximum interval. RFC 9293 section 3.8.6.1
/// requires growing intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) first: Span,
    pub(super) doublings: u32,
    pub(super) longest: Span,
}

/// The persist timer. It runs while nothing is outstanding and the peer's window is closed, or too small for the waiting data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    timer: Option<Time>,
    /// Number of times that the timer was started since the window was last open.
    backoff: u32,
    /// Whether a zero-window probe is due.
    probe_due: bool,
    /// Whether a segment that is as small as the window is due (the override timeout of section 3.8.6.2.1).
    override_due: bool,
}

impl Persist {
    pub(super) fn timer(&self) -> Option<Time> {
        self.timer
    }

    pub(super) fn is_armed(&self) -> bool {
        self.timer.is_some()
    }

    /// Checks whether no timer runs, no probe is due, and the interval has its initial length.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.probe_due && self.timer.is_none() && self.backoff == 0
    }

    /// Starts the timer. When it fires, the data that fits is sent (section 3.8.6.2.1), or else a probe (section 3.8.6.1).
    pub(super) fn arm(&mut self, now: Time, waits: &Waits) {
        let wait = waits.first * (1 << self.backoff.min(waits.doublings));
        self.backoff = self.backoff.saturating_add(1);
        self.timer = Some(now + wait.min(waits.longest));
    }

    /// If the timer runs, restarts it without doubling the interval, because an ACK arrived (Linux `tcp_ack_probe`).
    pub(super) fn begin_again(&mut self, now: Time, waits: &Waits) {
        if self.timer.take().is_some() {
            self.backoff = self.backoff.saturating_sub(1);
            self.arm(now, waits);
        }
    }

    /// Stops the timer, because the window is open.
    #[inline]
    pub(super) fn stop(&mut self) {
        (self.timer, self.backoff) = (None, 0);
    }

    /// Returns whether the timer is due, and stops it if so.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        self.timer.take_if(|at| *at <= now).is_some()
    }

    /// Makes a zero-window probe due.
    pub(super) fn probe(&mut self) {
        self.probe_due = true;
    }

    /// Returns whether a probe is due, and clears this request.
    pub(super) fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe_due)
    }

    /// Makes a segment due that is as small as the window.
    pub(super) fn override_silly_window(&mut self) {
        self.override_due = true;
    }

    pub(super) fn overrides_silly_window(&self) -> bool {
        self.override_due
    }

    /// Records that new data was sent.
    #[inline]
    pub(super) fn data_left(&mut self) {
        self.override_due = false;
    }
}
