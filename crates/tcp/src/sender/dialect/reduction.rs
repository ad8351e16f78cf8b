//! How the window comes down to what a reduction left of it.

use firstflight::{Avoidance, Bytes, Startup};

use super::Dialect;
use crate::config::Recovery;
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::prr::Prr;
use crate::sender::recovery::Mode;

impl Dialect {
    /// Whether an ACK that delivers nothing moves PRR's window (RFC 9937 section 6.2: every ACK does). Linux's stands until
    /// something is delivered (`tcp_cwnd_reduction`).
    pub(in crate::sender) const fn steers_by_every_ack(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// PRR of an episode that an ACK of `progress` begins, of a window that was `prior`: in bytes, of what is in flight
    /// (RFC 9937 section 6.1), or in segments, of the window (`tcp_init_cwnd_reduction`).
    pub(in crate::sender) fn begin_reduction(&self, prior: Bytes, progress: &Progress) -> Prr {
        if self.rules.dialect.is_linux() {
            Prr::in_segments(prior)
        } else {
            let sacked_before = self.board.sacked_bytes() - Bytes::new(progress.sacked);
            Prr::begin(self.stream.outstanding(), sacked_before, Bytes::new(progress.advanced))
        }
    }

    /// Whether PRR says how much may leave in a repair: with RACK, which comes with it, and with Linux without SACK, too.
    pub(in crate::sender) fn repairs_in_proportion(&self) -> bool {
        self.rules.method == Recovery::Rack || self.rules.counts_duplicates()
    }

    /// PRR after a mark. RFC 3168 section 6.1.2 halves the window at once; Linux steers to the half as after a loss.
    pub(in crate::sender) fn reduction_for_mark(&self, prior: Bytes) -> Option<Box<Prr>> {
        self.rules.dialect.is_linux().then(|| Box::new(Prr::in_segments(prior)))
    }

    /// Bytes that PRR takes to be delivered where the reordering timer begins a repair: none, or a segment
    /// (`tcp_rack_reo_timeout`).
    pub(in crate::sender) fn delivered_by_timer(&self) -> u64 {
        if self.rules.dialect.is_linux() { self.stream.mss().get() } else { 0 }
    }

    /// A probe repaired a loss, and the reduction for that answers marks, too, unless one is under way. Linux says CWR whatever is
    /// being reduced (`tcp_init_cwnd_reduction`), and its state is open again at once: a mark on this ACK reduces anew.
    pub(in crate::sender) fn answer_marks_with_probes_loss(&mut self) {
        if self.rules.dialect.is_linux() {
            self.ecn.end();
            self.ecn.call_for_cwr();
        } else if !self.ecn.is_reducing() {
            self.ecn.answer(self.stream.nxt());
        }
    }

    /// Whether a timeout reduces nothing because the timeout before did (RFC 5681 section 3.1), or with Linux because a loss or a
    /// mark of the window that is out was answered by a reduction already (`tcp_enter_loss`).
    pub(in crate::sender) fn is_answered(&self, repeated: bool) -> bool {
        repeated || self.rules.dialect.is_linux() && self.is_answering()
    }

    /// Whether F-RTO's look at a timeout that reduced nothing stands for the reduction before (`tcp_enter_loss` sets `frto`
    /// whatever is reduced).
    pub(in crate::sender) fn look_again(&mut self, frto: bool) {
        if self.rules.dialect.is_linux() {
            self.undo.frto = frto;
        }
    }

    fn is_answering(&self) -> bool {
        match self.recovery.mode {
            Mode::Recovery(episode) => self.stream.una() < episode.recover,
            Mode::Open => self.ecn.answers_up_to(self.stream.una()),
            Mode::Loss { .. } => false,
        }
    }
}
