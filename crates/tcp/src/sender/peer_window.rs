//! Flow control: the window that the peer offers (RFC 9293 section 3.8.6), and the wait while it is closed.

use firstflight::{Span, Time};

/// The peer's receive window.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct PeerWindow {
    /// Its size in bytes (`SND.WND`).
    offered: u64,
    /// The stream offset at which it ends.
    edge: u64,
    /// The greatest size that the peer ever offered, for silly-window avoidance (`Max(SND.WND)`, section 3.8.6.2.1).
    greatest: u64,
}

impl PeerWindow {
    /// The peer acknowledges all up to `una` and offers `window` bytes from there.
    #[inline]
    pub(super) fn offer(&mut self, una: u64, window: u64) {
        self.offered = window;
        self.greatest = self.greatest.max(window);
        self.edge = una.saturating_add(window);
    }

    /// The peer acknowledges all up to `una` and offers as many bytes as before.
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

    /// Whether the byte at `offset` lies below the window's end.
    #[inline]
    pub(super) fn admits(&self, offset: u64) -> bool {
        self.edge > offset
    }

    /// Bytes from `offset` to the window's end.
    #[inline]
    pub(super) fn room(&self, offset: u64) -> u64 {
        self.edge.saturating_sub(offset)
    }

    /// How much of a segment of `full` bytes may leave from `offset` on: none rather than a silly window (section 3.8.6.2.1), unless
    /// nothing else comes for a while, so that the rule is `overridden`.
    pub(super) fn segment(&self, offset: u64, full: u64, overridden: bool) -> Option<u64> {
        let room = self.room(offset);
        if room >= full {
            Some(full)
        } else {
            (room > 0 && (overridden || room >= self.greatest / 2)).then_some(room)
        }
    }
}

/// How long the waits are while the window stays closed (RFC 9293 section 3.8.6.1 asks for growing intervals): the first one, how
/// often it doubles at most, and how long it becomes at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) first: Span,
    pub(super) doublings: u32,
    pub(super) longest: Span,
}

/// The persist timer: nothing is outstanding, and the peer's window is closed or too small for what waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    timer: Option<Time>,
    /// How often the timer was set since the window was open.
    backoff: u32,
    /// Whether a probe of the closed window is to leave.
    probe_due: bool,
    /// Whether as little is to leave as the window takes (the override timeout of section 3.8.6.2.1).
    override_due: bool,
}

impl Persist {
    pub(super) fn timer(&self) -> Option<Time> {
        self.timer
    }

    pub(super) fn is_armed(&self) -> bool {
        self.timer.is_some()
    }

    /// Whether nothing of it is under way: no timer, no probe, and no interval that has grown.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.probe_due && self.timer.is_none() && self.backoff == 0
    }

    /// The wait begins, after which what fits leaves (section 3.8.6.2.1), or a probe (section 3.8.6.1).
    pub(super) fn arm(&mut self, now: Time, waits: &Waits) {
        let wait = waits.first * (1 << self.backoff.min(waits.doublings));
        self.backoff = self.backoff.saturating_add(1);
        self.timer = Some(now + wait.min(waits.longest));
    }

    /// An ACK came while the timer ran: the wait begins again and is no longer for it (Linux `tcp_ack_probe`).
    pub(super) fn begin_again(&mut self, now: Time, waits: &Waits) {
        if self.timer.take().is_some() {
            self.backoff = self.backoff.saturating_sub(1);
            self.arm(now, waits);
        }
    }

    /// The window is open.
    #[inline]
    pub(super) fn stop(&mut self) {
        (self.timer, self.backoff) = (None, 0);
    }

    /// Whether the timer is due; asking clears it then.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        self.timer.take_if(|at| *at <= now).is_some()
    }

    /// A probe of the closed window is to leave.
    pub(super) fn probe(&mut self) {
        self.probe_due = true;
    }

    /// Whether a probe is to leave; asking clears it.
    pub(super) fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe_due)
    }

    /// As little is to leave as the window takes.
    pub(super) fn override_silly_window(&mut self) {
        self.override_due = true;
    }

    pub(super) fn overrides_silly_window(&self) -> bool {
        self.override_due
    }

    /// New data left.
    #[inline]
    pub(super) fn data_left(&mut self) {
        self.override_due = false;
    }
}
