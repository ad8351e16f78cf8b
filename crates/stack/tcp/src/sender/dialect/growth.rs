//! Decides by how much of an ACK the window may grow.

use firstflight::{Avoidance, Startup};

use super::Dialect;
use crate::config::{Growth, SlowStartCounts};
use crate::sender::Sender;
use crate::sender::ack::Progress;

impl Dialect {
    /// Checks whether the sender decides by how much the window may grow, not the controller.
    pub(in crate::sender) const fn judges_growth(self) -> bool {
        self.growth.judges_growth()
    }

    /// Checks whether slow start uses the acknowledged bytes of an ACK ([`firstflight::Ack::counts_bytes`]).
    pub(in crate::sender) const fn counts_bytes(self) -> bool {
        matches!(self.counts, SlowStartCounts::Bytes)
    }

    /// Checks whether an ACK increases the window only while nearly all of the window is used.
    const fn wants_it_nearly_full(self) -> bool {
        matches!(self.growth, Growth::NearlyFull)
    }

    /// Checks whether a loss halves the window, not the flight (`TcpAgent::slowdown` of ns-2).
    pub(in crate::sender) const fn halves_the_window(self) -> bool {
        matches!(self.growth, Growth::AlwaysHalved)
    }

    /// Checks whether the sender must record how much of the window is used.
    const fn watches_window_use(self) -> bool {
        matches!(self.growth, Growth::Used)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the number of an ACK's bytes by which the window may grow, as far as the sender decides this: see [`Growth`]. Once
    /// reordering was seen, Linux includes bytes delivered out of order (`tcp_may_raise_cwnd`).
    pub(in crate::sender) fn counts(&self, progress: &Progress) -> u64 {
        if self.rules.dialect.wants_it_nearly_full() {
            let unused = self.plan.window - self.board.pipe();
            return if unused <= self.stream.mss() * 3 { progress.advanced } else { 0 };
        }
        if !self.rules.dialect.watches_window_use() {
            return progress.advanced;
        }
        let window = self.plan.window;
        let slow_start = self.plan.ssthresh.is_none_or(|ssthresh| window < ssthresh);
        if !self.shaper.window_use.is_limit(window.packets(self.stream.mss()), slow_start) {
            0
        } else if self.rules.dialect.is_linux() && self.rack.reordering > self.rules.reordering {
            progress.advanced.max(progress.bytes)
        } else {
            progress.advanced
        }
    }

    /// Records how much of the window is used, after new data was sent (`tcp_cwnd_validate`).
    #[inline]
    pub(in crate::sender) fn note_window_use(&mut self) {
        if self.rules.dialect.watches_window_use() {
            let full = self.board.in_network() >= self.window().packets(self.stream.mss());
            self.shaper.window_use.note(self.stream.una(), self.stream.nxt(), self.board.segments(), full);
        }
    }
}
