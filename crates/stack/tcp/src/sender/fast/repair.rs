//! A fast path for a repair in progress, in which RACK detects the losses and PRR limits sending (RFC 8985, RFC 9937). The repair of an
//! overshoot takes thousands of ACKs. This path processes ACKs that only continue a repair, and the segments that they release, faster than
//! [`Sender::on_ack`] and [`Sender::poll`]. If it can handle an ACK, it leads to the same state.

use firstflight::{Avoidance, Bytes, Delivered, Pacing, SendLimit, Span, Startup, Time};

use crate::clock;
use crate::sender::Sender;
use crate::sender::ack::Progress;
use crate::sender::approved::Approved;
use crate::sender::interface::{AckInput, Outgoing};
use crate::sender::prr::PrrAck;
use crate::sender::rack::Rack;
use crate::sender::rate::Flight;
use crate::sender::recovery::{Budget, Episode, Mode};
use crate::sender::scoreboard::{Arrival, Range};

/// The next transmission during a repair.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NextRepair {
    Leaves(Outgoing),
    Nothing,
    /// This is not known here; only [`Sender::poll`] can decide.
    Unclear,
}

/// A segment that may be sent next during a repair: its start, its length and, for a retransmission, its index on the scoreboard.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    start: u64,
    len: u16,
    again: Option<Range>,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Checks whether RACK and PRR are repairing losses, and no mark or probe must be answered.
    #[inline]
    fn repairs(&self) -> bool {
        matches!(self.recovery.mode, Mode::Recovery(Episode { budget: Budget::Proportional(_), .. }))
            && self.rules.has_fast_ways
            && self.shaper.queue.is_none()
            && self.ecn.reduction().is_none()
            && !self.recovery.probe.is_unanswered()
    }

    /// Checks whether RACK and PRR are repairing losses, and no probe is due. [`Sender::on_ack_in_repair`] and [`Sender::poll_in_repair`]
    /// do not change the result.
    pub(crate) fn mends(&self) -> bool {
        self.repairs() && !self.recovery.probe.is_due()
    }

    /// Checks whether an ACK only continues a repair: it does not end the repair, does not show that the repair was spurious, and echoes no
    /// mark.
    #[inline]
    pub(in crate::sender) fn goes_on(&self, input: &AckInput<'_>) -> bool {
        self.goes_on_plainly(input.ack)
            && input.dsack.is_none()
            && !input.ece
            && !self.answers_the_original(self.stream.una(), input)
            // Otherwise the timestamp may be the ACK's only RTT sample.
            && (input.echo.is_none() || input.ack == self.stream.una())
    }

    /// Makes the check of [`Sender::goes_on`] for an ACK up to `ack` that has no timestamp, ECN echo or report of a duplicate.
    #[inline]
    fn goes_on_plainly(&self, ack: u64) -> bool {
        self.repairs() && self.is_before_the_end(ack) && ack >= self.stream.una()
    }

    /// Checks whether the fast recovery continues after an ACK up to `ack`.
    #[inline]
    pub(crate) fn is_before_the_end(&self, ack: u64) -> bool {
        matches!(self.recovery.mode, Mode::Recovery(episode) if ack < episode.recover)
    }

    /// Processes an ACK up to `ack` with the SACK `blocks`, which only continues a repair. The result is that of [`Sender::on_ack`].
    #[inline(never)]
    pub(crate) fn on_ack_in_repair(&mut self, now: Time, ack: u64, window: u64, blocks: &[(u64, u64)]) {
        debug_assert!(self.goes_on_plainly(ack), "anything else takes the longer way");
        #[cfg(test)]
        {
            self.counters.repair_acks += 1;
        }
        self.activity.received(now);
        self.settle_timeouts();
        self.user_timeout.answered();
        let (progress, marked) = self.take_in_repair(now, ack, window, blocks);
        if progress.advanced > 0 {
            self.user_timeout.advanced();
            self.recovery.forget_duplicates();
        } else if progress.duplicate {
            self.recovery.dupacks += 1;
        }
        self.ecn.end_if_acknowledged(self.stream.una());
        if (progress.advanced > 0 || progress.bytes > 0)
            && !self.report_fast(ack, Bytes::new(progress.advanced), true)
        {
            self.report_acked_fully(now, progress, Bytes::new(progress.advanced));
        }
        self.scratch.lost.clear();
        // RFC 6675's number of SACKed segments changes only if segments are newly SACKed.
        self.find_losses_by_rack(now, marked);
        self.reckon_in_repair(now, &progress);
        if progress.advanced > 0
            && let Mode::Recovery(episode) = &mut self.recovery.mode
        {
            episode.partial_seen = true;
            self.timers.rto_at = Some(now + self.rtt.rto());
            self.timers.probe_at = None;
        }
        self.scratch.put_away();
    }

    /// Marks the segments that an ACK of a repair acknowledges, takes the samples, and lists the delivered segments. The returned flag says
    /// whether any segment was newly SACKed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it gives is dear to pass through memory")]
    fn take_in_repair(
        &mut self,
        now: Time,
        ack: u64,
        window: u64,
        blocks: &[(u64, u64)],
    ) -> (Progress, bool) {
        let advanced = ack - self.stream.una();
        self.scratch.delivered.clear();
        let mut intake = Intake {
            now,
            min_rtt: self.rtt.min(),
            mss: self.stream.mss(),
            next: (self.packets.next(), self.stream.nxt()),
            rack: &mut self.rack,
            approved: &mut self.packets.approved,
            delivered: &mut self.scratch.delivered,
            bytes: 0,
            newest: None,
            newest_clean: None,
            repaired: false,
        };
        let mut first = true;
        let (segments, trimmed) = if advanced > 0 {
            self.board.acknowledge(ack, |arrival| intake.add(&arrival, &mut first))
        } else {
            (0, 0)
        };
        let (whole, before) = (intake.bytes, intake.delivered.len());
        let mut first = true;
        for &(start, end) in blocks {
            if start >= ack && end <= self.stream.nxt() && start < end {
                self.board.sack(start, end, |arrival| intake.add(&arrival, &mut first));
            }
        }
        let marked = intake.delivered.len() > before;
        let Intake { bytes, newest, newest_clean, repaired, .. } = intake;
        let (sacked, bytes) = (bytes - whole, bytes + trimmed);
        self.stream.acknowledge(ack);
        self.take_window(ack, window);
        // Extends Karn's algorithm: see [`Sender::take_in`].
        let rtt = newest_clean.filter(|_| !repaired).map(|sent_at| now.since(sent_at));
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
        let newest = newest.map(|(_, flight)| flight).filter(|_| bytes > 0);
        self.packets.rate.on_ack(now, Bytes::new(bytes), newest.map(|newest| newest.sent_at));
        let (duplicate, reordering) = (advanced == 0 && sacked > 0, self.recovery.reorder_at.is_some());
        // Only the processing of an answer to a probe uses this value, and no probe is unanswered here.
        let window_changed = false;
        let progress = Progress {
            advanced,
            segments,
            bytes,
            sacked,
            duplicate,
            window_changed,
            rtt,
            newest,
            reordering,
        };
        (progress, marked)
    }

    /// Continues the recovery, as [`Sender::go_on_recovering`], during a repair with RACK and PRR.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn reckon_in_repair(&mut self, now: Time, progress: &Progress) {
        if !self.scratch.lost.is_empty() {
            self.report_lost(now);
        }
        let ack = PrrAck {
            delivered: Bytes::new(progress.bytes),
            pipe: self.board.pipe(),
            ssthresh: self.plan.window,
            safe: progress.advanced > 0 && self.scratch.lost.is_empty(),
            mss: self.stream.mss(),
        };
        if let Some(prr) = self.recovery.prr_mut() {
            prr.on_ack(&ack);
        }
    }

    /// Returns the result of [`Sender::poll`] during a repair with RACK and PRR. Returns [`NextRepair::Unclear`] if segments are paced, or
    /// if the end of the written data is near.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it gives is dear to pass through memory")]
    pub(crate) fn poll_in_repair(&mut self, now: Time) -> NextRepair {
        debug_assert!(self.mends(), "it is asked for by whoever knows that");
        debug_assert!(self.timers.put_off.is_none(), "what began it has settled the timeouts");
        let Some(next) = self.next_in_repair() else { return NextRepair::Unclear };
        debug_assert!(
            self.stream.nxt() > self.stream.una() && self.stream.is_established(),
            "what is repaired is outstanding"
        );
        self.timers.pace_at = None;
        let forced = next.again.is_some() && core::mem::take(&mut self.recovery.forced);
        if !forced && !self.fits_in_repair(next.len) {
            self.activity.limit = SendLimit::Window;
            return NextRepair::Nothing;
        }
        NextRepair::Leaves(self.send_in_repair(now, &next))
    }

    /// Returns the segment that may be sent next during a repair, if no probe is due.
    #[inline]
    fn next_in_repair(&mut self) -> Option<Candidate> {
        if !matches!(self.plan.pacing, Pacing::AckClock) {
            return None;
        }
        if let Some(index) = self.board.next_lost_index() {
            let range = self.board.range(index);
            return (!range.fin).then_some(Candidate {
                start: range.start,
                len: range.len,
                again: Some(range),
            });
        }
        let full = self.full_segment();
        let ahead = self.stream.backlog() > full && self.peer_window.room(self.stream.nxt()) >= full;
        let len = u16::try_from(full).ok().filter(|_| ahead)?;
        Some(Candidate { start: self.stream.nxt(), len, again: None })
    }

    /// Sends a segment during a repair.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn send_in_repair(&mut self, now: Time, next: &Candidate) -> Outgoing {
        let &Candidate { start, len, ref again } = next;
        let (how, sent) = self.transmission(now, len, again.is_some());
        if let Some(prr) = self.recovery.prr_mut() {
            prr.sent(sent.bytes);
        }
        self.report_sent(now, &sent);
        let end = start + u64::from(len);
        let mut cwr = false;
        if let Some(range) = again {
            self.board.resent(range, &how);
            self.counters.retransmissions += 1;
            self.undo.note_resent(start, end, clock::stamp(now));
        } else {
            self.board.sent(start, len, false, &how);
            self.stream.advance(end);
            self.timers.probe_at = None;
            cwr = self.ecn.take_cwr();
        }
        self.packets.left(now, true);
        self.activity.sent();
        if self.timers.rto_at.is_none() {
            self.timers.rto_at = Some(now + self.rtt.rto());
        }
        Outgoing { start, len, fin: false, cwr, push: false, sent }
    }

    /// Checks whether no timer is due before `at`, during a repair with RACK and PRR. The check is quick. If it returns false, a timer may
    /// still be later.
    #[inline]
    pub(crate) fn needs_no_waking_in_repair_before(&self, at: Option<Time>) -> bool {
        let Some(at) = at else { return false };
        let others = self.timers.probe_at.is_some() | self.timers.pace_at.is_some() | self.persist.is_armed();
        !others
            && self.plan.wake.is_none()
            && self.timers.put_off.is_none()
            && self.user_timeout.is_unused()
            && self.timers.rto_at.is_some_and(|timeout| at <= timeout)
            && self.recovery.reorder_at.is_none_or(|reordering| at <= reordering)
    }

    /// Checks whether `len` bytes fit the window, as [`Sender::fits`], during a repair with RACK and PRR.
    #[inline]
    fn fits_in_repair(&self, len: u16) -> bool {
        let Mode::Recovery(Episode { budget: Budget::Proportional(prr), .. }) = &self.recovery.mode else {
            return false;
        };
        let (pipe, bytes) = (self.board.pipe(), Bytes::new(u64::from(len)));
        let fits = pipe.is_zero() || pipe + bytes <= prr.window() + self.stream.mss() * self.recovery.extra;
        debug_assert_eq!(fits, self.fits(bytes), "the same rule");
        fits
    }
}

/// The deliveries of an ACK during a repair. Each segment is processed when the scoreboard marks it; [`Sender::take_in`] processes a list
/// instead.
#[derive(Debug)]
struct Intake<'a> {
    now: Time,
    min_rtt: Option<Span>,
    mss: Bytes,
    /// The number of the next packet, and the stream offset of the next new data.
    next: (u64, u64),
    rack: &'a mut Rack,
    approved: &'a mut Approved,
    delivered: &'a mut Vec<Delivered>,
    bytes: u64,
    /// The delivered packet that was sent last.
    newest: Option<(u64, Flight)>,
    /// The latest transmission time of delivered packets whose data was sent only once.
    newest_clean: Option<Time>,
    /// Whether retransmitted data was delivered.
    repaired: bool,
}

impl Intake<'_> {
    /// Processes a delivered segment. Segments that are acknowledged in the same way (cumulatively or selectively) come in stream order.
    /// Therefore only the `first` of them that was sent once must be checked for being late.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is told is dear to pass through memory")]
    fn add(&mut self, arrival: &Arrival, first: &mut bool) {
        let delivered = arrival.delivered;
        if delivered.retransmitted {
            self.repaired = true;
        } else {
            if core::mem::take(first) {
                self.rack.note_late(arrival.end - delivered.bytes.get(), self.mss);
            }
            self.newest_clean = self.newest_clean.max(Some(delivered.sent_at));
        }
        self.rack.delivered(self.now, self.min_rtt, arrival);
        self.approved.delivered(delivered.packet, self.next.0, self.next.1);
        self.bytes += delivered.bytes.get();
        if self.newest.is_none_or(|(newest, _)| newest < delivered.packet) {
            self.newest = Some((delivered.packet, arrival.flight()));
        }
        self.delivered.push(delivered);
    }
}

#[cfg(test)]
mod tests;
