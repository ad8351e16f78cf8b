//! A repair under way: the ACK that goes on with it and says nothing else, and what leaves for that, where RACK finds the
//! losses and PRR says how much may leave (RFC 8985, RFC 9937). An overshoot makes thousands of them, so they take a shorter
//! way than [`Sender::on_ack`] and [`Sender::poll`] go with the others; where both ways can be taken they lead to the same
//! state.

use firstflight::{Avoidance, Bytes, Pacing, SendLimit, Startup, Time};

use super::Sender;
use super::ack::AckInput;
use super::emit::Outgoing;
use super::recovery::{Budget, Episode, Mode};
use super::scoreboard::Range;
use crate::clock;

/// What may leave next in a repair: where it starts, how long it is, and its place if it was sent before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    start: u64,
    len: u16,
    again: Option<Range>,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether losses are being repaired so, without a mark or a probe to be answered or made up for.
    #[inline]
    fn repairs(&self) -> bool {
        matches!(self.mode, Mode::Recovery(Episode { budget: Budget::Proportional(_), .. }))
            && self.rules.expects
            && !self.rules.as_linux
            && self.queue.is_none()
            && self.reduction.is_none()
            && self.probe.is_none()
    }

    /// Whether an ACK of what was sent goes on with such a repair: it neither ends it nor shows that it is for nothing, and
    /// tells of no mark.
    #[inline]
    pub(super) fn goes_on(&self, input: &AckInput<'_>) -> bool {
        self.repairs()
            && matches!(self.mode, Mode::Recovery(episode) if input.ack < episode.recover)
            && input.ack >= self.una
            && input.dsack.is_none()
            && !input.ece
            && !self.answers_the_original(self.una, input)
    }

    /// What [`Sender::on_ack`] does with one that does.
    pub(super) fn on_ack_in_repair(&mut self, now: Time, input: &AckInput<'_>) {
        debug_assert!(self.goes_on(input), "anything else takes the longer way");
        #[cfg(test)]
        {
            self.repair_acks += 1;
        }
        self.unanswered_probes = 0;
        let progress = self.take_in(now, input);
        if progress.advanced > 0 {
            self.consecutive_timeouts = 0;
            self.rtt.clear_backoff();
            (self.dupacks, self.extra) = (0, 0);
        } else if progress.duplicate {
            self.dupacks += 1;
        }
        if self.una > self.cwr_until {
            self.reducing_for_marks = false;
        }
        self.tell_acked(now, &progress);
        self.lost.clear();
        self.find_losses_by_rack(now);
        self.go_on_recovering(now, &progress);
        if progress.advanced > 0
            && let Mode::Recovery(episode) = &mut self.mode
        {
            episode.partial_seen = true;
            self.rto_at = Some(now + self.rtt.rto());
            self.probe_at = None;
        }
        self.put_lists_away();
    }

    /// What [`Sender::poll`] would look at next in such a repair, if nothing is to be probed or paced, and if it is not the
    /// end of what was written.
    #[inline]
    pub(super) fn next_in_repair(&mut self) -> Option<Repair> {
        if !self.repairs() || self.probe_due { None } else { self.next_unprobed() }
    }

    /// The same where no probe is due.
    #[inline]
    fn next_unprobed(&mut self) -> Option<Repair> {
        if !matches!(self.plan.pacing, Pacing::AckClock) {
            return None;
        }
        if let Some(index) = self.board.next_lost_index() {
            let range = self.board.range(index);
            return (!range.fin).then_some(Repair { start: range.start, len: range.len, again: Some(range) });
        }
        let full = self.full_segment();
        let ahead = self.backlog() > full && self.window_edge.saturating_sub(self.nxt) >= full;
        let len = u16::try_from(full).ok().filter(|_| ahead)?;
        Some(Repair { start: self.nxt, len, again: None })
    }

    /// What it gives then.
    pub(super) fn poll_in_repair(&mut self, now: Time, next: &Repair) -> Option<Outgoing> {
        debug_assert!(self.nxt > self.una && self.established, "what is repaired is outstanding");
        self.pace_at = None;
        let forced = next.again.is_some() && core::mem::take(&mut self.forced);
        if !forced && !self.fits_in_repair(next.len) {
            self.limit = SendLimit::Window;
            return None;
        }
        let &Repair { start, len, ref again } = next;
        let (how, sent) = self.transmission(now, len, again.is_some());
        if let Mode::Recovery(Episode { budget: Budget::Proportional(prr), .. }) = &mut self.mode {
            prr.sent(sent.bytes);
        }
        self.tell_sent(now, &sent);
        let end = start + u64::from(len);
        let mut cwr = false;
        if let Some(range) = again {
            self.board.resent(range, &how);
            self.retransmissions += 1;
            self.undo.note_resent(start, end, clock::stamp(now));
        } else {
            self.board.sent(start, len, false, &how);
            self.nxt = end;
            self.probe_at = None;
            cwr = core::mem::take(&mut self.cwr_due);
        }
        self.packets_sent += 1;
        self.last_sent = Some(now);
        self.idle_served = false;
        if self.rto_at.is_none() {
            self.rto_at = Some(now + self.rtt.rto());
        }
        let last = self.next_unprobed().is_some_and(|next| !self.fits_in_repair(next.len));
        if last {
            debug_assert!(self.clone().poll(now).is_none(), "nothing follows");
            self.limit = SendLimit::Window;
        }
        Some(Outgoing { start, len, fin: false, cwr, push: false, sent, last })
    }

    /// [`Sender::fits`] then.
    #[inline]
    fn fits_in_repair(&self, len: u16) -> bool {
        let Mode::Recovery(Episode { budget: Budget::Proportional(prr), .. }) = &self.mode else {
            return false;
        };
        let (pipe, bytes) = (self.board.pipe(), Bytes::new(u64::from(len)));
        let fits = pipe.is_zero() || pipe + bytes <= prr.window() + self.mss * self.extra;
        debug_assert_eq!(fits, self.fits(bytes), "the same rule");
        fits
    }
}
