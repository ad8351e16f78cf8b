//! What a sender tells of itself.

use firstflight::{Avoidance, Span, Startup};

use super::Sender;
use super::recovery::Mode;
use crate::endpoint::{Info, Trouble};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(crate) fn set_nagle(&mut self, on: bool) {
        if let Some(queue) = &mut self.shaper.queue {
            queue.nagle = on;
        }
    }

    pub(crate) fn set_cork(&mut self, on: bool) {
        if let Some(queue) = &mut self.shaper.queue {
            queue.cork = on;
            if !on {
                queue.release();
            }
        }
    }

    pub(crate) fn write_more(&mut self, bytes: u64) {
        let before = self.stream.written();
        self.write(bytes);
        if let Some(queue) = &mut self.shaper.queue
            && self.stream.written() > before
        {
            queue.more_follows();
        }
    }

    pub(crate) fn push(&mut self) {
        if let Some(queue) = &mut self.shaper.queue {
            queue.push();
        }
    }

    pub(crate) fn set_unsent_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.shaper.queue {
            queue.set_unsent_limit(bytes);
        }
    }

    pub(crate) fn set_user_timeout(&mut self, span: Span, exact: bool) {
        self.user_timeout.set(span, exact);
    }

    pub(crate) fn set_send_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.shaper.queue {
            queue.set_limit(bytes);
        }
    }

    /// Whether more of the burst follows what was sent last.
    pub(crate) fn is_in_burst(&self) -> bool {
        self.shaper.queue.as_ref().is_some_and(|queue| queue.is_in_burst())
    }

    /// Stream bytes written that found no room.
    pub(crate) fn untaken(&self) -> u64 {
        self.shaper.queue.as_ref().map_or(0, |queue| queue.untaken())
    }

    /// Gives up what found no room; how much it was.
    pub(crate) fn drop_untaken(&mut self) -> u64 {
        let untaken = self.untaken();
        if let Some(queue) = &mut self.shaper.queue {
            queue.drop_untaken();
            self.stream.take_back(untaken);
        }
        untaken
    }

    /// Stream bytes written and not acknowledged.
    pub(crate) fn queued(&self) -> u64 {
        self.stream.queued()
    }

    pub(crate) fn trouble(&self) -> Trouble {
        match self.recovery.mode {
            Mode::Recovery(_) => Trouble::Recovery,
            Mode::Loss { .. } => Trouble::Loss,
            Mode::Open if self.ecn.is_reducing() => Trouble::Reduction,
            Mode::Open if self.board.sacked_segments() > 0 || self.recovery.dupacks > 0 => Trouble::Disorder,
            Mode::Open => Trouble::None,
        }
    }

    /// Bytes of the heap, a trace that is wanted aside.
    pub(crate) fn memory(&self) -> usize {
        self.board.memory() + self.journal.memory() + self.lists.memory()
    }

    /// The sender's part of what [`crate::Endpoint::info`] tells.
    pub(crate) fn info(&self) -> Info {
        Info {
            state: 0,
            trouble: self.trouble(),
            mss: u16::try_from(self.stream.mss().get()).unwrap_or(u16::MAX),
            cwnd: self.window(),
            ssthresh: self.plan.ssthresh,
            send_window: self.peer_window.offered(),
            outstanding: self.board.segments(),
            sacked: self.board.sacked_segments().max(self.recovery.dupacks.min(self.board.segments())),
            lost: self.board.lost_segments() + self.board.resent_segments(),
            resent: self.board.resent_segments(),
            retransmissions: self.counters.retransmissions,
            data_segments: self.packets.sent,
            reordering: self.rack.reordering,
            reorderings_seen: self.rack.reorderings_seen,
            timeouts_in_a_row: u64::from(self.user_timeout.timeouts()),
            backoff: u64::from(self.rtt.backoff()),
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt(),
            rtt_variation: self.rtt.variation(),
            min_rtt: self.rtt.min(),
            acknowledged: self.stream.acknowledged(),
            received: 0,
            unsent: self.stream.backlog(),
            duplicates_reported: self.counters.duplicates_reported,
        }
    }
}
