//! Packet-timed round trips.

use crate::units::Bytes;

/// The packet-timed rounds of BBR: `BBR.round_count` and the state of the present round. BBR restarts a round when a phase begins; the
/// controller's rounds do not restart then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// `BBR.next_round_delivered`.
    next: Bytes,
    count: u32,
    started: bool,
}

impl Rounds {
    /// Creates the state before the first packet.
    pub(crate) const fn new() -> Self {
        Self { next: Bytes::ZERO, count: 0, started: false }
    }

    /// Updates the round for an ACK (`UpdateRound`). `delivered` is the number of bytes delivered now, and `at_send` the number when the
    /// newest acknowledged packet was sent. An ACK that completes no packet has no `at_send` and starts no round.
    pub(crate) fn acked(&mut self, at_send: Option<Bytes>, delivered: Bytes) {
        self.started = at_send.is_some_and(|at_send| at_send >= self.next);
        if self.started {
            self.restart(delivered);
            self.count = self.count.wrapping_add(1);
        }
    }

    /// Begins a round (`StartRound`).
    pub(crate) const fn restart(&mut self, delivered: Bytes) {
        self.next = delivered;
    }

    /// Returns whether a round began with the newest ACK (`BBR.round_start`).
    pub(crate) const fn has_started(&self) -> bool {
        self.started
    }

    /// Returns `BBR.round_count`, modulo 2^32.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }
}
