//! The receiver's window: its right edge, and for how long it limits the sender.

use super::Sender;
use crate::events::Ack;

impl Sender {
    /// Processes the window of an acknowledgement. The right edge moves to the new value unless it was higher before, because a window must
    /// not shrink (RFC 9293 section 3.8.6).
    pub(super) fn take_window(&mut self, at: u64, ack: &Ack) {
        let edge = ack.to.saturating_add(ack.window);
        let window = &mut self.limits.window;
        if window.edge != Some(edge)
            && ack.is_scaled
            && let Some(trace) = &mut self.drawn.trace
        {
            trace.window.push((at, ack.window));
        }
        window.edge = Some(window.edge.map_or(edge, |last| last.max(edge)));
        window.is_raw |= !ack.is_scaled;
        self.count_full_window(at);
    }

    /// Records whether the window is full after a packet.
    pub(super) fn fill_window(&mut self, at: u64) {
        let is_full = self.has_full_window();
        let window = &mut self.limits.window;
        window.is_exceeded |= window.edge.is_some_and(|edge| self.board.next > edge);
        window.full_since = window.full_since.or(is_full.then_some(at));
    }

    /// Adds the time for which the window was full to the current round.
    fn count_full_window(&mut self, at: u64) {
        let Some(since) = self.limits.window.full_since.take() else { return };
        self.limits.window.was_full = true;
        if let Some(round) = self.rounds.current() {
            round.window_full += at.saturating_sub(since);
        }
        self.limits.window.full_since = self.has_full_window().then_some(at);
    }

    fn has_full_window(&self) -> bool {
        self.limits.window.edge.is_some_and(|edge| self.board.next + self.mss() > edge)
    }

    /// If the window is full when the capture ends, marks it as the limit of the current round.
    pub(super) fn end_window(&mut self) {
        if self.limits.window.full_since.is_some()
            && let Some(round) = self.rounds.current()
        {
            round.window_full = u64::MAX;
        }
    }

    /// If data exceeded a window of unknown scale, removes the receiver as the limit of all rounds. Such data proves that windows are
    /// scaled, so the size of the window is not known.
    pub(super) fn forget_raw_windows(&mut self) {
        if self.proves_a_scale() {
            self.rounds.forget_receiver();
        }
    }

    /// Checks whether the receiver's window was read without a known scale. Limits recorded from it are true only if windows are not
    /// scaled.
    pub(crate) fn has_raw_windows(&self) -> bool {
        self.limits.window.is_raw
    }

    /// Checks whether data proves that the receiver's window has an unknown scale.
    pub(crate) fn proves_a_scale(&self) -> bool {
        self.limits.window.is_raw && self.limits.window.is_exceeded
    }
}
