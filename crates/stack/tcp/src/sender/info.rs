//! The state that a sender reports.

use firstflight::{Avoidance, Startup};

use super::Sender;
use super::recovery::Mode;
use crate::info::{Info, Trouble};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the number of bytes that were written and are not acknowledged.
    pub(crate) fn queued(&self) -> u64 {
        self.stream.queued()
    }

    /// Checks whether a packet train is being sent.
    pub(crate) fn is_in_train(&self) -> bool {
        self.shaper.pacer.train_left() > 0
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

    /// Returns the number of heap bytes, without those of a trace.
    pub(crate) fn memory(&self) -> usize {
        self.board.memory() + self.journal.memory() + self.scratch.memory()
    }

    /// Returns the sender's part of [`crate::Endpoint::info`].
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
            data_segments: self.packets.sent(),
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
