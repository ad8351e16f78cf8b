//! The acknowledgement that is expected: in order, of packets that were sent once, with nothing lost or out of order
//! before it. Most are, so it takes a shorter way than [`Sender::on_ack`] goes with the others (the header prediction
//! of Jacobson's 1990 "4.3BSD-Reno TCP header prediction"); where both can be taken they lead to the same state.

use firstflight::{Avoidance, Bytes, Startup, Time};

use super::Sender;
use super::ack::{AckInput, Progress};
use super::recovery::Mode;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether an ACK beside data tells nothing: all was acknowledged before and the window is what it was. Of the
    /// segments of a bulk transfer these are the receiver's half.
    pub(super) fn is_no_news(&self, input: &AckInput<'_>) -> bool {
        input.ack == self.una
            && self.una == self.nxt
            && input.window == self.rwnd
            && input.carries_data
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.is_at_rest()
    }

    /// Whether nothing is outstanding and nothing of what was is still to be answered.
    fn is_at_rest(&self) -> bool {
        matches!(self.mode, Mode::Open)
            && !self.rules.as_linux
            && self.probe.is_none()
            && !self.reducing_for_marks
            && self.reduction.is_none()
            && !self.undo.armed
            && self.dupacks == 0
            && self.window_edge > self.nxt
    }

    /// Whether an ACK is of this kind.
    #[inline]
    pub(super) fn is_expected(&self, input: &AckInput<'_>) -> bool {
        input.ack > self.una
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && matches!(self.mode, Mode::Open)
            && self.board.is_orderly(self.rack.newest)
            && self.rack.fack <= self.una
            && self.probe.is_none()
            && !self.undo.armed
            && self.una > self.cwr_until
            && self.reduction.is_none()
            && !self.approved.is_awaited()
            && self.queue.is_none()
            && !self.rules.as_linux
            && self.rules.expects
    }

    /// What [`Sender::on_ack`] does with it.
    pub(super) fn on_expected_ack(&mut self, now: Time, input: &AckInput<'_>) {
        #[cfg(test)]
        {
            self.expected_acks += 1;
        }
        self.unanswered_probes = 0;
        self.consecutive_timeouts = 0;
        self.rtt.clear_backoff();
        self.dupacks = 0;
        self.extra = 0;
        self.reducing_for_marks = false;
        let advanced = input.ack - self.una;
        self.delivered.clear();
        let tally = self.board.acknowledge_in_order(input.ack, &mut self.delivered);
        self.una = input.ack;
        self.set_window(input.ack, input.window);
        let rtt = tally.newest.map(|(_, _, flight)| now.since(flight.sent_at));
        if let (Some((packet, end, _)), Some(rtt)) = (tally.newest, rtt) {
            self.rack.newest = packet;
            self.rack.rtt = rtt;
            self.rack.fack = end;
            self.rtt.sample(rtt);
        }
        let flight = tally.newest.map(|(_, _, flight)| flight);
        self.delivery_rate = self.rate.on_ack(now, Bytes::new(tally.bytes), flight);
        let progress =
            Progress { advanced, segments: tally.segments, bytes: tally.bytes, rtt, ..Progress::default() };
        self.tell_acked(now, &progress);
        self.reorder_at = None;
        self.restart_timers(now, &progress);
        self.put_lists_away();
    }

    /// Whether the shorter way is taken where it can be.
    #[cfg(test)]
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.rules.expects = on;
    }

    #[cfg(test)]
    pub(crate) fn expected_acks(&self) -> u64 {
        self.expected_acks
    }
}

#[cfg(test)]
mod tests;
