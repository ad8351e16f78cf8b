//! The acknowledgement that is expected: in order, of packets that were sent once, with nothing lost or out of order
//! before it. Most are, so it takes a shorter way than [`Sender::on_ack`] goes with the others (the header prediction
//! of Jacobson's 1990 "4.3BSD-Reno TCP header prediction"); so does the full segment that leaves for it. Where both ways
//! can be taken they lead to the same state.

use firstflight::{
    Ack, Avoidance, Bytes, Call, Event, Heard, Pacing, RttSample, SendLimit, Sent, Span, Startup, Time,
};

use super::ack::{AckInput, MOST_KEPT};
use super::recovery::Mode;
use super::scoreboard::{Head, Transmission};
use super::{PutOff, Sender};
use crate::config::Recovery;

/// What a calm sender may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// A full segment of new data.
    Full,
    /// Nothing until something arrives or is written.
    Nothing,
    /// It takes a closer look.
    Unclear,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether nothing was lost, marked or probed that is still to be answered or made up for. [`Sender::on_expected_ack`],
    /// [`Sender::take_turn`] and [`Sender::send_full`] leave it so.
    pub(crate) fn is_calm(&self) -> bool {
        // What is most often otherwise comes first.
        if !matches!(self.mode, Mode::Open) || !self.board.is_orderly(self.rack.newest()) {
            return false;
        }
        let waits_for_nothing = self.probe.is_none()
            && !self.probe_due
            && !self.persist_due
            && self.persist_at.is_none()
            && self.reorder_at.is_none()
            && self.reduction.is_none()
            && !self.reducing_for_marks
            && !self.cwr_due
            && !self.new_first
            && !self.approved.is_awaited();
        let failures = self.unanswered_probes | self.consecutive_timeouts | self.persist_backoff;
        let counted = self.dupacks | self.extra | u64::from(failures);
        waits_for_nothing
            && counted == 0
            && self.rack.fack <= self.una
            && self.rtt.backoff() == 0
            && self.established
            && self.queue.is_none()
            && !self.rules.as_linux
            && self.rules.expects
    }

    /// Whether an ACK is of this kind, if the sender is calm.
    pub(super) fn is_expected(&self, input: &AckInput<'_>) -> bool {
        self.may_expect(input.ack)
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.is_calm()
    }

    /// Whether an ACK acknowledges something that is outstanding, and leaves a reduction that may yet be undone as it is:
    /// that is settled by what acknowledges more than was out when the repair ended.
    #[inline]
    pub(crate) fn may_expect(&self, ack: u64) -> bool {
        ack > self.una && ack <= self.nxt && ack <= self.undo.settled_by()
    }

    /// The same of an ACK that does not acknowledge our FIN.
    #[inline]
    pub(crate) fn may_expect_of_data(&self, ack: u64) -> bool {
        ack <= self.written && self.may_expect(ack)
    }

    /// Whether the peer offers the window that it offered before. Then an ACK on data that acknowledges nothing more tells
    /// a calm sender nothing: of the segments of a bulk transfer these are the receiver's half.
    #[inline]
    pub(crate) fn is_window(&self, window: u64) -> bool {
        window == self.rwnd
    }

    /// What [`Sender::on_ack`] does with that: nothing.
    #[inline]
    pub(crate) fn on_no_news(&mut self, now: Time) {
        debug_assert!(self.is_calm(), "only a calm sender expects anything");
        self.last_received = Some(now);
    }

    /// What [`Sender::on_ack`] does with an expected one.
    #[inline]
    pub(crate) fn on_expected_ack(&mut self, now: Time, ack: u64, window: u64) {
        debug_assert!(self.is_calm(), "only a calm sender expects anything");
        #[cfg(test)]
        {
            self.expected_acks += 1;
        }
        let advanced = Bytes::new(ack - self.una);
        self.last_received = Some(now);
        self.una = ack;
        if window == self.rwnd {
            self.window_edge = ack.saturating_add(window);
        } else {
            self.set_window(ack, window);
        }
        if self.tell_in_brief(advanced, false) {
            if let Some(head) = self.board.acknowledge_head(ack) {
                self.sample_in_order(now, &head);
                self.rate.on_ack(now, Bytes::new(head.bytes), Some(head.flight.sent_at));
            } else {
                self.take_in_order(now, ack);
            }
        } else {
            self.tell_expected_ack(now, ack, advanced);
        }
        self.rto_at = None;
        self.probe_at = None;
        self.put_off = (self.nxt != ack).then_some(PutOff { timeout_from: now, probe_from: now });
    }

    /// The samples that the newest of what it acknowledges gives; the round trip.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of the scoreboard's part")]
    fn sample_in_order(&mut self, now: Time, head: &Head) -> Span {
        let sample = now.since(head.flight.sent_at);
        self.rack.newest = head.packet;
        self.rack.rtt = sample;
        self.rack.fack = head.end;
        self.rtt.smooth(sample);
        sample
    }

    /// What is acknowledged if it is not one segment, or the FIN.
    #[inline(never)]
    fn take_in_order(&mut self, now: Time, ack: u64) {
        let tally = self.board.acknowledge_in_order(ack, |_| {});
        if let Some(head) = tally.newest {
            self.sample_in_order(now, &head);
        }
        self.rate.on_ack(now, Bytes::new(tally.bytes), tally.newest.map(|head| head.flight.sent_at));
    }

    /// The part of it that tells a controller that wants to hear all of it.
    #[inline(never)]
    fn tell_expected_ack(&mut self, now: Time, ack: u64, advanced: Bytes) {
        self.delivered.clear();
        let tally = self.board.acknowledge_in_order(ack, |packet| self.delivered.push(packet));
        let rtt = tally.newest.map(|head| self.sample_in_order(now, &head));
        let bytes = Bytes::new(tally.bytes);
        let flight = tally.newest.map(|head| head.flight).filter(|_| !bytes.is_zero());
        self.rate.on_ack(now, bytes, flight.map(|flight| flight.sent_at));
        let delivery_rate = flight.and_then(|flight| self.rate.sample(now, &flight));
        let path = self.path_with(now, self.calm_flight());
        let mut event = Event::Acked(Ack {
            packets: &self.delivered,
            bytes,
            advanced,
            sacked: Bytes::ZERO,
            segments: tally.segments,
            duplicate: false,
            rtt: rtt.map(|rtt| RttSample { rtt, handshake: false }),
            delivery_rate,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        });
        if self.journal.keeps_told() {
            let heard = Heard::new(&event);
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::On(heard));
        } else {
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::Plan);
        }
        if self.delivered.capacity() > MOST_KEPT {
            self.put_lists_away();
        }
    }

    /// What may leave a calm sender: what [`Sender::poll`] would come to.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> Turn {
        debug_assert!(self.is_calm(), "only a calm sender takes turns");
        let full = self.mss.get();
        let end = self.nxt + full;
        // Nothing is lost or SACKed, so the pipe is what is outstanding.
        let used = self.nxt - self.una;
        let plain = self.written > end
            && self.window_edge >= end
            && used > 0
            && matches!(self.plan.pacing, Pacing::AckClock)
            && self.plan.ask.is_none();
        if plain {
            self.pace_at = None;
            if used + full <= self.plan.window.get() {
                return Turn::Full;
            }
            self.limit = SendLimit::Window;
            Turn::Nothing
        } else if self.written <= self.nxt
            && (!self.fin || self.fin_sent())
            && !matches!(self.plan.pacing, Pacing::Train { .. })
        {
            self.pace_at = None;
            self.limit = SendLimit::App;
            Turn::Nothing
        } else {
            Turn::Unclear
        }
    }

    /// [`Sender::flight`] of a calm sender.
    #[inline]
    fn calm_flight(&self) -> Bytes {
        if self.recovery == Recovery::Ns2Sack1 { self.plan.window } else { Bytes::new(self.nxt - self.una) }
    }

    /// Whether the next timer of a calm sender is due at `at` or later, or there is neither, as far as a short look tells.
    #[inline]
    pub(crate) fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        if self.pace_at.is_some() || self.plan.wake.is_some() {
            return false;
        }
        match (&self.put_off, at) {
            (Some(put_off), Some(at)) => at.nanos_since(put_off.timeout_from) <= self.rtt.least_wait(),
            (None, None) => self.rto_at.is_none(),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The length of a full segment.
    #[inline]
    pub(crate) fn full_length(&self) -> u16 {
        low(self.mss)
    }

    /// The packet of new data that left last, if nothing came since.
    #[inline]
    pub(crate) fn last_sent(&self) -> Sent {
        let (bytes, tag) = self.board.last_sent();
        Sent { packet: self.next_packet - 1, bytes, tag, retransmission: false }
    }

    /// Sends what [`Turn::Full`] promises, from [`Sender::nxt`] on. Says whether the next turn would be [`Turn::Nothing`],
    /// and need not be taken.
    #[inline]
    pub(crate) fn send_full(&mut self, now: Time) -> bool {
        let tag = self.plan.tag;
        // Said before the scoreboard takes the packet in: the flight is what it leaves behind.
        let minded = self.rules.tells_all || self.controller.minds_sends();
        if minded {
            self.tell_full(now);
        }
        let (start, len) = (self.nxt, low(self.mss));
        let end = start + u64::from(len);
        let (since_delivery, since_first_sent) = self.rate.on_send(now, false);
        let how = Transmission {
            at: now,
            packet: self.next_packet,
            tag,
            limit: self.limit,
            delivered: self.rate.delivered(),
            since_delivery,
            since_first_sent,
        };
        self.board.sent(start, len, false, &how);
        self.nxt = end;
        self.next_packet += 1;
        self.packets_sent += 1;
        self.last_sent = Some(now);
        debug_assert!(!self.idle_served, "something is outstanding");
        match &mut self.put_off {
            Some(put_off) => put_off.probe_from = now,
            None => self.schedule_probe(now, self.rto_at),
        }
        if minded {
            return false;
        }
        let used = end - self.una;
        self.controller.sent_unminded(Bytes::new(used));
        // The plan stands: it is the next turn's.
        let next_end = end + u64::from(len);
        let last = self.written > next_end
            && self.window_edge >= next_end
            && used + u64::from(len) > self.plan.window.get();
        if last {
            debug_assert!(matches!(self.clone().take_turn(), Turn::Nothing), "nothing follows");
            self.limit = SendLimit::Window;
        }
        last
    }

    /// Says to the controller that a full segment leaves.
    #[inline(never)]
    fn tell_full(&mut self, now: Time) {
        let (packet, bytes, tag) = (self.next_packet, self.mss, self.plan.tag);
        self.tell(now, &Event::Sent(Sent { packet, bytes, tag, retransmission: false }));
    }
}

/// The length of a full segment, which fits its field.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the segment size is made of 16 bits")]
fn low(mss: Bytes) -> u16 {
    mss.get() as u16
}

#[cfg(test)]
impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether the shorter way is taken where it can be.
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.rules.expects = on;
    }
}

#[cfg(test)]
mod tests;
