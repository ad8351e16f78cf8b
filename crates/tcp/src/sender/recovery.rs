//! Loss recovery: when an episode begins, what window it sends within, and when it ends.

use firstflight::{Bytes, Time};

use super::prr::Prr;
use super::rack::{TailProbe, Widening};
use super::scoreboard::DUP_THRESH;

/// The state of loss recovery. RACK and the scoreboard stand apart, for every ACK touches them.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRecovery {
    pub(super) mode: Mode,
    /// Duplicate ACKs in a row.
    pub(super) dupacks: u64,
    /// Segments allowed beyond the window by limited transmit (RFC 3042).
    pub(super) extra: u64,
    /// Whether the next retransmission leaves whatever the window says: a fast retransmit, or a partial ACK's.
    pub(super) forced: bool,
    /// Whether new data leaves before anything is sent again, after a timeout that F-RTO looks at (RFC 5682).
    pub(super) new_first: bool,
    /// Where the last episode ended. Duplicate ACKs of this offset are of the episode's own retransmissions (RFC 6582 section
    /// 3.2).
    pub(super) recovered_to: Option<u64>,
    /// RACK's reordering timer (RFC 8985 section 6.2 step 5).
    pub(super) reorder_at: Option<Time>,
    /// RACK's reordering window.
    pub(super) widening: Widening,
    /// The probe of the tail.
    pub(super) probe: TailProbe,
}

impl LossRecovery {
    /// Whether nothing is being repaired.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.mode, Mode::Open)
    }

    /// Whether a fast recovery is under way.
    #[inline]
    pub(super) fn is_fast(&self) -> bool {
        matches!(self.mode, Mode::Recovery(_))
    }

    /// Whether a timeout is being repaired.
    #[inline]
    pub(super) fn is_after_timeout(&self) -> bool {
        matches!(self.mode, Mode::Loss { .. })
    }

    /// Whether nothing is being repaired, counted or waited for that a loss may come of.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.is_open()
            && self.probe.is_idle()
            && self.reorder_at.is_none()
            && !self.new_first
            && self.dupacks | self.extra == 0
    }

    /// The PRR of a fast recovery that has one.
    #[inline]
    pub(super) fn prr_mut(&mut self) -> Option<&mut Prr> {
        match &mut self.mode {
            Mode::Recovery(Episode { budget: Budget::Proportional(prr), .. }) => Some(prr),
            _ => None,
        }
    }

    /// The window that governs sending, `planned` by the controller, limited transmit aside.
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

    /// ns-2 lowers its pipe for every ACK of a recovery, stale ones included.
    pub(super) fn count_in_pipe(&mut self, packets: u64) {
        if let Mode::Recovery(Episode { budget: Budget::Counted { pipe }, .. }) = &mut self.mode {
            *pipe = pipe.saturating_sub(packets);
        }
    }

    /// New data was acknowledged, so that limited transmit is over.
    #[inline]
    pub(super) fn forget_duplicates(&mut self) {
        (self.dupacks, self.extra) = (0, 0);
    }

    /// A timeout is being repaired until `recover` is acknowledged; what was under way is forgotten.
    pub(super) fn time_out(&mut self, recover: u64) {
        self.mode = Mode::Loss { recover };
        self.forget_duplicates();
        self.forced = true;
        self.new_first = false;
        self.reorder_at = None;
        self.probe.forget();
    }

    /// An episode is over. Duplicate ACKs of `recover` begin no other one.
    pub(super) fn end(&mut self, recover: Option<u64>) {
        self.mode = Mode::Open;
        self.recovered_to = recover.or(self.recovered_to);
    }

    /// RFC 3042: a new segment on each of the first two duplicate ACKs.
    pub(super) fn limited_transmit(&mut self) {
        self.extra = self.dupacks.min(DUP_THRESH - 1);
    }
}

/// What the sender is doing about losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Mode {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Fast recovery, until `recover` is acknowledged.
    Recovery(Episode),
    /// After a timeout, until `recover` is acknowledged: no fast recovery before (RFC 6582 section 4,
    /// RFC 6675 section 5.1).
    Loss {
        /// `SND.NXT` when the timer fired.
        recover: u64,
    },
}

/// A fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    /// `SND.NXT` when it began.
    pub(crate) recover: u64,
    /// Whether a partial ACK was seen (impatient NewReno restarts the timer on the first only).
    pub(crate) partial_seen: bool,
    /// What bounds sending.
    pub(crate) budget: Budget,
    /// Where the search for holes goes on (RFC 6675 rule 3, ns-2).
    pub(crate) hole: u64,
    /// New ACKs that still look for an overdue segment (Vegas): the first two after a retransmission.
    pub(crate) worried: u8,
    /// Whether RFC 6675's one rescue retransmission was used.
    pub(crate) rescued: bool,
}

/// What bounds sending in a recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// The pipe within PRR's window (RFC 9937).
    Proportional(Prr),
    /// The pipe within the threshold (RFC 6675).
    Pipe,
    /// The flight within the threshold, inflated by what duplicate ACKs say has left (RFC 5681, RFC 6582).
    Inflated {
        /// Bytes by which the window is inflated; partial ACKs may deflate it below the threshold.
        by: i64,
    },
    /// ns-2's `pipe_`, counted by ACKs.
    Counted {
        /// Packets that ns-2 believes in flight.
        pipe: u64,
    },
}

/// The marks that were answered before a reduction: up to where in the stream, and whether CWR was still to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) until: u64,
    pub(crate) due: bool,
}

/// The evidence that an episode was spurious: all that was sent again arrived twice (DSACK, RFC 3708), or the original was
/// answered (timestamps, RFC 3522; F-RTO, RFC 5682).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Undo {
    /// Whether a reduction could be undone.
    pub(crate) armed: bool,
    /// Whether F-RTO watches for originals (RFC 5682).
    pub(crate) frto: bool,
    /// Whether an ECN mark called for the reduction, too. The window then stays reduced, whatever becomes of the losses.
    pub(crate) keeps_window: bool,
    /// The timestamp of the first retransmission.
    pub(crate) stamp: Option<u32>,
    /// Once the episode is over: the offset beyond which an acknowledgement makes the evidence too old.
    pub(crate) until: u64,
    /// Retransmissions of the episode that were not reported as duplicates. A retransmission that was lost keeps this above
    /// zero.
    pub(crate) outstanding: u64,
    /// What was sent again: the start of the first retransmission, and the greatest end of any.
    pub(crate) resent: Option<(u64, u64)>,
    /// The marks that were answered before the reduction.
    pub(crate) marks: Answered,
}

impl Undo {
    /// Up to where the stream may be acknowledged before it is too late to undo.
    #[inline]
    pub(crate) fn settled_by(&self) -> u64 {
        if self.armed { self.until } else { u64::MAX }
    }

    /// `[start, end)` was sent again.
    pub(crate) fn note_resent(&mut self, start: u64, end: u64, stamp: u32) {
        self.outstanding += 1;
        let upto = self.resent.map_or(end, |(_, upto)| upto.max(end));
        self.resent = Some((self.resent.map_or(start, |(first, _)| first), upto));
        self.stamp.get_or_insert(stamp);
        self.until = u64::MAX;
    }

    /// Whether `[start, end)`, reported as a duplicate, may be a retransmission of this episode.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.resent.is_some_and(|(first, upto)| first <= start && end <= upto)
    }
}
