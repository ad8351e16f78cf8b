//! The acknowledgement that is expected: in order, of packets that were sent once, with nothing lost or out of order
//! before it. Most are, so it takes a shorter way than [`Sender::on_ack`] goes with the others (the header prediction
//! of Jacobson's 1990 "4.3BSD-Reno TCP header prediction"); so does the full segment that leaves for it. Where both ways
//! can be taken they lead to the same state.

use firstflight::{
    Ack, Avoidance, Bytes, Call, Event, Heard, Pacing, RttSample, SendLimit, Sent, Startup, Time,
};

use super::Sender;
use super::ack::{AckInput, MOST_KEPT};
use super::rack::probe_timeout;
use super::recovery::Mode;
use super::scoreboard::Transmission;
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
        let orderly = matches!(self.mode, Mode::Open)
            && self.board.is_orderly(self.rack.newest)
            && self.rack.fack <= self.una;
        let waits_for_nothing = self.probe.is_none()
            && !self.probe_due
            && !self.persist_due
            && self.persist_at.is_none()
            && self.reorder_at.is_none()
            && self.reduction.is_none()
            && !self.reducing_for_marks
            && !self.cwr_due
            && !self.undo.armed
            && !self.new_first
            && !self.approved.is_awaited();
        let counted =
            self.dupacks | self.extra | u64::from(self.unanswered_probes | self.consecutive_timeouts);
        orderly
            && waits_for_nothing
            && counted == 0
            && self.rtt.backoff() == 0
            && self.established
            && self.queue.is_none()
            && !self.rules.as_linux
            && self.rules.expects
    }

    /// Whether an ACK is of this kind, if the sender is calm.
    pub(super) fn is_expected(&self, input: &AckInput<'_>) -> bool {
        input.ack > self.una
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.is_calm()
    }

    /// Whether an ACK on data tells a calm sender nothing: of the segments of a bulk transfer these are the receiver's
    /// half.
    #[inline]
    pub(crate) fn is_no_news(&self, ack: u64, window: u64) -> bool {
        ack == self.una && window == self.rwnd
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
        self.last_received = Some(now);
        let advanced = ack - self.una;
        self.delivered.clear();
        let tally = self.board.acknowledge_in_order(ack, &mut self.delivered);
        self.una = ack;
        self.set_window(ack, window);
        let mut rtt = None;
        if let Some(head) = tally.newest {
            let sample = now.since(head.flight.sent_at);
            self.rack.newest = head.packet;
            self.rack.rtt = sample;
            self.rack.fack = head.end;
            self.rtt.sample(sample);
            rtt = Some(RttSample { rtt: sample, handshake: false });
        }
        let bytes = Bytes::new(tally.bytes);
        let delivery_rate = self.rate.on_ack(now, bytes, tally.newest.map(|head| head.flight));
        let path = self.path_with(now, self.calm_flight());
        let mut event = Event::Acked(Ack {
            packets: &self.delivered,
            bytes,
            advanced: Bytes::new(advanced),
            sacked: Bytes::ZERO,
            segments: tally.segments,
            duplicate: false,
            rtt,
            delivery_rate,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        });
        if self.told.is_some() {
            let heard = Heard::new(&event);
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::On(heard));
        } else {
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::Plan);
        }
        if self.nxt == self.una {
            self.rto_at = None;
            self.probe_at = None;
        } else {
            self.rto_at = Some(now + self.rtt.rto());
            self.put_probe_off(now);
        }
        if self.delivered.capacity() > MOST_KEPT {
            self.put_lists_away();
        }
    }

    /// What [`Sender::schedule_probe`] does in a calm sender with something outstanding.
    #[inline]
    fn put_probe_off(&mut self, now: Time) {
        if self.recovery == Recovery::Rack && self.rules.probes_tail {
            let single = self.nxt - self.una <= self.mss.get();
            let at = now + probe_timeout(self.rtt.srtt(), single);
            self.probe_at = Time::earlier(Some(at), self.rto_at);
        } else {
            self.probe_at = None;
        }
    }

    /// What may leave a calm sender whose FIN was not sent: what [`Sender::poll`] would come to.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> Turn {
        debug_assert!(self.is_calm() && !self.fin_sent(), "only a calm sender takes turns");
        let (backlog, full) = (self.backlog(), self.mss.get());
        // Nothing is lost or SACKed, so the pipe is what is outstanding.
        let used = self.nxt - self.una;
        let plain = backlog > full
            && self.window_edge.saturating_sub(self.nxt) >= full
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
        } else if backlog == 0 && !self.fin && !matches!(self.plan.pacing, Pacing::Train { .. }) {
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

    /// [`Sender::next_timer`] of a calm sender.
    #[inline]
    pub(crate) fn next_calm_timer(&self) -> Option<Time> {
        let sending = Time::earlier(self.rto_at, self.probe_at);
        Time::earlier(sending, Time::earlier(self.pace_at, self.plan.wake))
    }

    /// Sends what [`Turn::Full`] promises; where it starts in the stream.
    #[inline]
    pub(crate) fn send_full(&mut self, now: Time) -> (u64, Sent) {
        let (start, packet, tag, bytes) = (self.nxt, self.next_packet, self.plan.tag, self.mss);
        self.next_packet += 1;
        let (since_delivery, since_first_sent) = self.rate.on_send(now, false);
        let how = Transmission {
            at: now,
            packet,
            tag,
            limit: self.limit,
            delivered: self.rate.delivered(),
            since_delivery,
            since_first_sent,
        };
        let sent = Sent { packet, bytes, tag, retransmission: false };
        // Said before the scoreboard takes the packet in: the flight is what it leaves behind.
        if self.told.is_some() || self.controller.minds_sends() {
            self.tell(now, &Event::Sent(sent));
        } else {
            self.controller.sent_unminded(self.calm_flight() + bytes);
        }
        self.board.sent(start, u16::try_from(bytes.get()).unwrap_or(u16::MAX), false, &how);
        self.nxt = start + bytes.get();
        self.packets_sent += 1;
        self.last_sent = Some(now);
        debug_assert!(self.rto_at.is_some() && !self.idle_served, "something is outstanding");
        self.put_probe_off(now);
        (start, sent)
    }

    /// Whether the shorter way is taken where it can be.
    #[cfg(test)]
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.rules.expects = on;
    }
}

#[cfg(test)]
mod tests;
