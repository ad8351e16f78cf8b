//! The state of loss recovery: the beginning of an episode, its window, and its end.

use firstflight::{Bytes, Time};

use super::prr::Prr;
use super::rack::{TailProbe, Widening};
use super::scoreboard::DUP_THRESH;

/// The state of loss recovery. The states of RACK and the scoreboard are stored elsewhere, because every ACK uses them.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRecovery {
    pub(super) mode: Mode,
    /// Number of consecutive duplicate ACKs.
    pub(super) dupacks: u64,
    /// Number of segments that limited transmit allows beyond the window (RFC 3042).
    pub(super) extra: u64,
    /// Whether the next retransmission is sent regardless of the window. This is so for a fast retransmit and for the response to a partial
    /// ACK.
    pub(super) forced: bool,
    /// Whether new data is sent before any retransmission, after a timeout that F-RTO checks (RFC 5682).
    pub(super) new_first: bool,
    /// Stream offset at which the last episode ended. Duplicate ACKs at this offset result from the episode's own retransmissions (RFC 6582
    /// section 3.2).
    pub(super) recovered_to: Option<u64>,
    /// The time of RACK's reordering timer (RFC 8985 section 6.2 step 5).
    pub(super) reorder_at: Option<Time>,
    /// The adaptation of RACK's reordering window.
    pub(super) widening: Widening,
    /// The state of tail loss probes.
    pub(super) probe: TailProbe,
}

impl LossRecovery {
    /// Checks whether nothing is being repaired.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.mode, Mode::Open)
    }

    /// Checks whether a fast recovery is in progress.
    #[inline]
    pub(super) fn is_fast(&self) -> bool {
        matches!(self.mode, Mode::Recovery(_))
    }

    /// Checks whether a timeout is being repaired.
    #[inline]
    pub(super) fn is_after_timeout(&self) -> bool {
        matches!(self.mode, Mode::Loss { .. })
    }

    /// Checks whether nothing is being repaired, and no counter or timer runs that may lead to the detection of a loss.
    #[inline]
    pub(super) fn is_open_and_clean(&self) -> bool {
        self.is_open()
            && self.probe.is_idle()
            && self.reorder_at.is_none()
            && !self.new_first
            && self.dupacks | self.extra == 0
    }

    /// Returns the PRR state of a fast recovery, if it uses PRR.
    #[inline]
    pub(super) fn prr_mut(&mut self) -> Option<&mut Prr> {
        match &mut self.mode {
            Mode::Recovery(Episode { budget: Budget::Proportional(prr), .. }) => Some(prr),
            _ => None,
        }
    }

    /// Returns the congestion window that is used, without limited transmit. `planned` is the window of the controller's plan.
    pub(super) fn window(&self, planned: Bytes, mss: Bytes) -> Bytes {
        match &self.mode {
            Mode::Open | Mode::Loss { .. } => planned,
            Mode::Recovery(episode) => match episode.budget {
                Budget::Proportional(prr) => prr.window(),
                Budget::Pipe | Budget::Counted { .. } => planned,
                Budget::Inflated { by } => Bytes::new(planned.get().saturating_add_signed(by)).max(mss),
            },
        }
    }

    /// Reduces the pipe of ns-2. ns-2 does this for every ACK of a recovery, including old ones.
    pub(super) fn count_in_pipe(&mut self, packets: u64) {
        if let Mode::Recovery(Episode { budget: Budget::Counted { pipe }, .. }) = &mut self.mode {
            *pipe = pipe.saturating_sub(packets);
        }
    }

    /// Clears the number of duplicate ACKs and limited transmit, because new data was acknowledged.
    #[inline]
    pub(super) fn forget_duplicates(&mut self) {
        (self.dupacks, self.extra) = (0, 0);
    }

    /// Begins the repair of a timeout, which lasts until the stream offset `recover` is acknowledged. Clears the previous state of
    /// recovery.
    pub(super) fn time_out(&mut self, recover: u64) {
        self.mode = Mode::Loss { recover };
        self.forget_duplicates();
        self.forced = true;
        self.new_first = false;
        self.reorder_at = None;
        self.probe.forget();
    }

    /// Ends an episode. Duplicate ACKs at the offset `recover` will not begin a new one.
    pub(super) fn end(&mut self, recover: Option<u64>) {
        self.mode = Mode::Open;
        self.recovered_to = recover.or(self.recovered_to);
    }

    /// Allows a new segment on each of the first two duplicate ACKs (RFC 3042).
    pub(super) fn limited_transmit(&mut self) {
        self.extra = self.dupacks.min(DUP_THRESH - 1);
    }
}

/// The kind of repair in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Mode {
    /// Nothing: no data is known to be lost.
    #[default]
    Open,
    /// A loss, in a fast recovery that lasts until `recover` is acknowledged.
    Recovery(Episode),
    /// A timeout, until `recover` is acknowledged. No fast recovery begins before (RFC 6582 section 4, RFC 6675 section 5.1).
    Loss {
        /// `SND.NXT` when the timer fired.
        recover: u64,
    },
}

/// The state of a fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    /// `SND.NXT` when the recovery began.
    pub(crate) recover: u64,
    /// Whether a partial ACK was received. Impatient NewReno restarts the timer only on the first.
    pub(crate) partial_seen: bool,
    /// The limit of sending.
    pub(crate) budget: Budget,
    /// Index at which the search for holes continues (RFC 6675 rule 3, ns-2).
    pub(crate) hole: u64,
    /// Number of ACKs of new data that still check for an overdue segment (Vegas). The first two after a retransmission do.
    pub(crate) worried: u8,
    /// Whether the single rescue retransmission of RFC 6675 was sent.
    pub(crate) rescued: bool,
}

/// The limit of sending during a recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// The pipe must not exceed the window of PRR (RFC 9937).
    Proportional(Prr),
    /// The pipe must not exceed the threshold (RFC 6675).
    Pipe,
    /// The flight must not exceed the threshold, inflated by the segments that have left the network, as duplicate ACKs show (RFC 5681, RFC
    /// 6582).
    Inflated {
        /// Number of bytes by which the threshold is inflated. Partial ACKs may make it negative.
        by: i64,
    },
    /// The `pipe_` of ns-2, which is counted by ACKs.
    Counted {
        /// Number of packets that ns-2 assumes in flight.
        pipe: u64,
    },
}

/// A record of the congestion marks that were answered before a reduction: up to which stream offset, and whether CWR still had to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) until: u64,
    pub(crate) due: bool,
}

/// The evidence that an episode was spurious. Either all retransmitted data arrived twice (DSACK, RFC 3708), or the original was
/// acknowledged (timestamps, RFC 3522; F-RTO, RFC 5682).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Undo {
    /// Whether the reduction can be undone.
    pub(crate) armed: bool,
    /// Whether F-RTO checks if originals arrive (RFC 5682).
    pub(crate) frto: bool,
    /// Whether an ECN mark also required the reduction. The window then stays reduced, even if nothing was lost.
    pub(crate) keeps_window: bool,
    /// The timestamp value of the first retransmission.
    pub(crate) stamp: Option<u32>,
    /// Stream offset. After the episode, the evidence is too old once data above it is acknowledged.
    pub(crate) until: u64,
    /// Number of the episode's retransmissions that were not reported as duplicates. If a retransmission was lost, it never becomes zero.
    pub(crate) outstanding: u64,
    /// The retransmitted data: the start of the first retransmission, and the highest end of any retransmission.
    pub(crate) resent: Option<(u64, u64)>,
    /// The record of the marks that were answered before the reduction.
    pub(crate) marks: Answered,
}

impl Undo {
    /// Returns the stream offset up to which data may be acknowledged before it is too late to undo the reduction.
    #[inline]
    pub(crate) fn settled_by(&self) -> u64 {
        if self.armed { self.until } else { u64::MAX }
    }

    /// Records that the data from `start` to `end` was retransmitted.
    pub(crate) fn note_resent(&mut self, start: u64, end: u64, stamp: u32) {
        self.outstanding += 1;
        let upto = self.resent.map_or(end, |(_, upto)| upto.max(end));
        self.resent = Some((self.resent.map_or(start, |(first, _)| first), upto));
        self.stamp.get_or_insert(stamp);
        self.until = u64::MAX;
    }

    /// Checks whether the data from `start` to `end`, reported as a duplicate, may be a retransmission of this episode.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.resent.is_some_and(|(first, upto)| first <= start && end <= upto)
    }
}
