//! How the window is reduced to its target.

use firstflight::{Avoidance, Bytes, Startup};

use super::Dialect;
use crate::config::Recovery;
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::prr::Prr;
use crate::sender::recovery::Mode;

impl Dialect {
    /// Checks whether an ACK that delivers nothing changes PRR's window. In RFC 9937 section 6.2 every ACK does. Linux keeps its window
    /// until something is delivered (`tcp_cwnd_reduction`).
    pub(in crate::sender) const fn steers_by_every_ack(self) -> bool {
        !self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Begins PRR for a loss episode that an ACK with the results `progress` begins. `prior` is the window before. PRR counts bytes of the
    /// flight (RFC 9937 section 6.1) or, in Linux, segments of the window (`tcp_init_cwnd_reduction`).
    pub(in crate::sender) fn begin_reduction(&self, prior: Bytes, progress: &Progress) -> Prr {
        if self.rules.dialect.is_linux() {
            Prr::in_segments(prior)
        } else {
            let sacked_before = self.board.sacked_bytes() - Bytes::new(progress.sacked);
            Prr::begin(self.stream.outstanding(), sacked_before, Bytes::new(progress.advanced))
        }
    }

    /// Checks whether PRR limits sending in a repair. It does with RACK, which includes PRR, and in Linux also without SACK.
    pub(in crate::sender) fn repairs_in_proportion(&self) -> bool {
        self.rules.method == Recovery::Rack || self.rules.counts_duplicates()
    }

    /// Returns the PRR state for the reduction after a mark. Returns `None` if the window is halved at once (RFC 3168 section 6.1.2). Linux
    /// reduces it step by step, as after a loss.
    pub(in crate::sender) fn reduction_for_mark(&self, prior: Bytes) -> Option<Box<Prr>> {
        self.rules.dialect.is_linux().then(|| Box::new(Prr::in_segments(prior)))
    }

    /// Returns the number of bytes that PRR counts as delivered when the reordering timer begins a repair. It is zero or, in Linux, a
    /// segment (`tcp_rack_reo_timeout`).
    pub(in crate::sender) fn delivered_by_timer(&self) -> u64 {
        if self.rules.dialect.is_linux() { self.stream.mss().get() } else { 0 }
    }

    /// If a probe repaired a loss, the reduction for this loss is also the response to marks, unless a reduction is in progress. Linux
    /// sends CWR in any case (`tcp_init_cwnd_reduction`). Its state is then open again at once, so a mark on this ACK reduces the window
    /// again.
    pub(in crate::sender) fn answer_marks_with_probes_loss(&mut self) {
        if self.rules.dialect.is_linux() {
            self.ecn.end();
            self.ecn.call_for_cwr();
        } else if !self.ecn.is_reducing() {
            self.ecn.answer(self.stream.nxt());
        }
    }

    /// Checks whether a timeout reduces nothing because the previous timeout already did (RFC 5681 section 3.1). In Linux, this is also so
    /// if a reduction already answered a loss or mark of the outstanding window (`tcp_enter_loss`).
    pub(in crate::sender) fn is_answered(&self, repeated: bool) -> bool {
        repeated || self.rules.dialect.is_linux() && self.is_answering()
    }

    /// In Linux, sets whether F-RTO checks a timeout that reduced nothing. It may then undo the previous reduction (`tcp_enter_loss` sets
    /// `frto` in any case).
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
