//! Determines what limited the initial window, from the packets of the first round and the packet after them.

use serde::{Deserialize, Serialize};

/// Payload sizes of the first packets with new data, and pauses between them.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct FirstPackets {
    /// Payload bytes of the last packet of the first round.
    last: u64,
    /// Longest pause in the first round after a segment that was not full.
    pause: u64,
    /// Payload bytes of the first packet after the first round, and whether the acknowledgement before it released it at once.
    next: Option<(u64, bool)>,
}

impl FirstPackets {
    /// Records a packet of the first round. `pause` is the time since the previous packet if that was not full, otherwise zero.
    pub(super) fn sent(&mut self, len: u64, pause: u64) {
        self.last = len;
        self.pause = self.pause.max(pause);
    }

    /// Records a packet after the first round. `at_once` says whether it was sent immediately after an acknowledgement.
    pub(super) fn sent_later(&mut self, len: u64, at_once: bool) {
        self.next.get_or_insert((len, at_once));
    }

    /// Checks whether the sender had no more data in the first round. `silence` is the time before the acknowledgement that ended the
    /// round. The result is true in two cases. First, the round ended with a segment that is not full. Second, there was a pause after a
    /// segment that is not full, and nothing shows that the window was the limit. That is so if the silence was shorter than twice the
    /// pause and the acknowledgement released no full segment at once, or if the next segment is not full (RFC 896).
    pub(super) fn ran_out(&self, silence: Option<u64>, is_full: impl Fn(u64) -> bool) -> bool {
        let is_released = || self.next.is_some_and(|(next, at_once)| at_once && is_full(next));
        let is_cut_off = || silence.is_some_and(|silence| silence < 2 * self.pause) && !is_released();
        let is_held_back = || self.next.is_some_and(|(next, _)| !is_full(next));
        !is_full(self.last) || self.pause > 0 && (is_cut_off() || is_held_back())
    }
}
