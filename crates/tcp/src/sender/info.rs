//! What a sender tells of itself.

use firstflight::{Avoidance, Delivered, LostPacket, Span, Startup};

use super::Sender;
use super::recovery::Mode;
use super::scoreboard::Arrival;
use crate::endpoint::{Info, Trouble};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(crate) fn set_nagle(&mut self, on: bool) {
        if let Some(queue) = &mut self.queue {
            queue.nagle = on;
        }
    }

    pub(crate) fn set_cork(&mut self, on: bool) {
        if let Some(queue) = &mut self.queue {
            queue.cork = on;
            if !on {
                queue.release();
            }
        }
    }

    pub(crate) fn write_more(&mut self, bytes: u64) {
        let before = self.written;
        self.write(bytes);
        if let Some(queue) = &mut self.queue
            && self.written > before
        {
            queue.more_follows();
        }
    }

    pub(crate) fn push(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.push();
        }
    }

    pub(crate) fn set_unsent_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_unsent_limit(bytes);
        }
    }

    pub(crate) fn set_patience(&mut self, patience: Span, exact: bool) {
        self.patience.set(patience, exact);
    }

    pub(crate) fn set_send_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_limit(bytes);
        }
    }

    /// Whether more of the burst follows what was sent last.
    pub(crate) fn is_in_burst(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.is_in_burst())
    }

    /// Stream bytes written that found no room.
    pub(crate) fn untaken(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.untaken())
    }

    /// Gives up what found no room; how much it was.
    pub(crate) fn drop_untaken(&mut self) -> u64 {
        let untaken = self.untaken();
        if let Some(queue) = &mut self.queue {
            queue.drop_untaken();
            self.written -= untaken;
        }
        untaken
    }

    /// Stream bytes written and not acknowledged.
    pub(crate) fn queued(&self) -> u64 {
        self.written - self.una.min(self.written)
    }

    pub(crate) fn trouble(&self) -> Trouble {
        match self.mode {
            Mode::Recovery(_) => Trouble::Recovery,
            Mode::Loss { .. } => Trouble::Loss,
            Mode::Open if self.reducing_for_marks => Trouble::Reduction,
            Mode::Open if self.board.sacked_segments() > 0 || self.dupacks > 0 => Trouble::Disorder,
            Mode::Open => Trouble::None,
        }
    }

    /// Bytes of the heap, a trace that is wanted aside.
    pub(crate) fn memory(&self) -> usize {
        self.board.memory()
            + self.journal.memory()
            + self.lists.arrivals.capacity() * size_of::<Arrival>()
            + self.lists.delivered.capacity() * size_of::<Delivered>()
            + self.lists.lost.capacity() * size_of::<LostPacket>()
    }

    /// The sender's part of what [`crate::Endpoint::info`] tells.
    pub(crate) fn info(&self) -> Info {
        Info {
            state: 0,
            trouble: self.trouble(),
            mss: u16::try_from(self.mss.get()).unwrap_or(u16::MAX),
            cwnd: self.window(),
            ssthresh: self.plan.ssthresh,
            send_window: self.rwnd,
            outstanding: self.board.segments(),
            sacked: self.board.sacked_segments().max(self.dupacks.min(self.board.segments())),
            lost: self.board.lost_segments() + self.board.resent_segments(),
            resent: self.board.resent_segments(),
            retransmissions: self.retransmissions,
            data_segments: self.packets_sent,
            reordering: self.rack.reordering,
            reorderings_seen: self.rack.reorderings_seen,
            timeouts_in_a_row: u64::from(self.consecutive_timeouts),
            backoff: u64::from(self.rtt.backoff()),
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt(),
            rtt_variation: self.rtt.variation(),
            min_rtt: self.rtt.min(),
            acknowledged: self.una.min(self.written),
            received: 0,
            unsent: self.written.saturating_sub(self.nxt),
            duplicates_reported: self.duplicates_reported,
        }
    }
}
