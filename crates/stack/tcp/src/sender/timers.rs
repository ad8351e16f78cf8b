//! The sender's timers that most segments use.

use firstflight::Time;

/// The timers that most segments use. The reordering timer and the persist timer run only during a repair or a wait for a window: see
/// [`super::recovery::LossRecovery`] and [`super::peer_window::Persist`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Timers {
    /// When expected ACKs restarted `rto_at` and `probe_at`. While this is set, both are `None`, and are computed only when needed.
    pub(super) put_off: Option<PutOff>,
    /// Time at which the retransmission timer fires (RFC 6298 section 5).
    pub(super) rto_at: Option<Time>,
    /// Time at which the tail loss probe is due (RFC 8985 section 7.2).
    pub(super) probe_at: Option<Time>,
    /// Time at which the pacer allows the next segment.
    pub(super) pace_at: Option<Time>,
}

/// Times at which the retransmission timer and the probe timer were last restarted.
#[derive(Clone, Copy, Debug)]
pub(super) struct PutOff {
    pub(super) timeout_from: Time,
    pub(super) probe_from: Time,
}

impl Timers {
    /// Restarts the retransmission timer and the probe timer at `now` after an expected ACK, if data is `outstanding`.
    #[inline]
    pub(super) fn put_off(&mut self, now: Time, outstanding: bool) {
        self.stop_timeouts();
        self.put_off = outstanding.then_some(PutOff { timeout_from: now, probe_from: now });
    }

    /// Stops the retransmission timer and the probe timer.
    #[inline]
    pub(super) fn stop_timeouts(&mut self) {
        self.rto_at = None;
        self.probe_at = None;
    }
}
