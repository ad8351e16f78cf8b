//! Expected ACKs: in order, of packets that were sent once, with nothing lost or out of order before. Most ACKs are expected,
//! so they and the full segment that leaves for each take a shorter way than [`Sender::on_ack`] and [`Sender::poll`] (header
//! prediction: Jacobson 1990, "4.3BSD-Reno TCP header prediction"). Where both ways can be taken they lead to the same state.

use firstflight::brief::InBrief;
use firstflight::{
    Ack, Avoidance, Bytes, Call, Event, OwnedEvent, Pacing, RttSample, SendLimit, Sent, Span, Startup, Tag,
    Time,
};

use crate::sender::Sender;
use crate::sender::interface::AckInput;
use crate::sender::lists::MOST_KEPT;
use crate::sender::rtt::RttEstimator;
use crate::sender::scoreboard::{Head, Transmission};

/// The data that a calm sender may send next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextData {
    /// A full segment of new data.
    Full,
    /// Nothing until something arrives or is written, and what keeps the sender from sending more.
    Nothing(SendLimit),
    /// Only [`Sender::poll`] knows.
    Unclear,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether no loss, mark or probe is still to be answered or repaired. [`Sender::on_expected_ack`], [`Sender::next_data`]
    /// and [`Sender::send_full`] leave a calm sender calm.
    pub(crate) fn is_calm(&self) -> bool {
        // What is most often otherwise comes first.
        self.recovery.is_open()
            && self.board.is_orderly(self.rack.newest())
            && self.recovery.is_calm()
            && self.ecn.is_idle()
            && self.persist.is_idle()
            && self.user_timeout.is_unused()
            && !self.packets.approved.is_awaited()
            && self.rack.fack <= self.stream.una()
            && self.rtt.backoff() == 0
            && self.stream.is_established()
            && self.shaper.queue.is_none()
            && self.rules.has_fast_ways
    }

    /// Whether an ACK is expected.
    pub(in crate::sender) fn is_expected(&self, input: &AckInput<'_>) -> bool {
        self.may_expect(input.ack)
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.is_calm()
    }

    /// Whether an ACK up to `ack` acknowledges something that is outstanding and settles no reduction that may yet be undone.
    /// An ACK of more than was out when the repair ended settles it.
    #[inline]
    pub(crate) fn may_expect(&self, ack: u64) -> bool {
        ack > self.stream.una() && ack <= self.stream.nxt() && ack <= self.undo.settled_by()
    }

    /// [`Sender::may_expect`], for an ACK that does not acknowledge our FIN.
    #[inline]
    pub(crate) fn may_expect_of_data(&self, ack: u64) -> bool {
        ack <= self.stream.written() && self.may_expect(ack)
    }

    /// Whether `window` is the window that the peer offered before. Then a data segment that acknowledges nothing new tells a
    /// calm sender nothing. In a bulk transfer these are the segments that a receiver hears.
    #[inline]
    pub(crate) fn is_window(&self, window: u64) -> bool {
        window == self.peer_window.offered()
    }

    /// A data segment arrived that tells the sender nothing: what [`Sender::on_ack`] does with its ACK.
    #[inline]
    pub(crate) fn on_no_news(&mut self, now: Time) {
        debug_assert!(self.is_calm(), "only a calm sender expects anything");
        self.activity.received(now);
    }

    /// An expected ACK arrived: what [`Sender::on_ack`] does with it.
    #[inline(never)]
    pub(crate) fn on_expected_ack(&mut self, now: Time, ack: u64, window: u64) {
        debug_assert!(self.is_calm(), "only a calm sender expects anything");
        #[cfg(test)]
        {
            self.counters.expected_acks += 1;
        }
        // Nothing is done before it is known that the usual way leads to the end, so that there is nothing to keep for later.
        if !self.take_usual_ack(now, ack, window) {
            self.take_expected_ack(now, ack, window);
        }
    }

    /// Takes in the usual expected ACK: of one segment, with the window that was offered before, for a controller that minds
    /// nothing but growth. Says whether the ACK was such a one; if not, nothing was done.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn take_usual_ack(&mut self, now: Time, ack: u64, window: u64) -> bool {
        let Some(head) = self.board.head_up_to(ack).filter(|_| window == self.peer_window.offered()) else {
            return false;
        };
        let sample = now.since(head.sent_at);
        if !RttEstimator::is_ordinary(sample) || !self.tell_in_brief(ack, head.bytes(), false) {
            return false;
        }
        debug_assert_eq!(head.bytes(), Bytes::new(ack - self.stream.una()), "it is all that is acknowledged");
        self.activity.received(now);
        self.stream.acknowledge(ack);
        self.peer_window.slide(ack);
        self.board.drop_first(head.len);
        self.rack.newest = head.packet;
        self.rack.rtt = sample;
        self.rack.fack = ack;
        self.rtt.smooth_ordinary(sample);
        self.packets.rate.on_ack(now, head.bytes(), Some(head.sent_at));
        self.timers.put_off(now, self.stream.is_outstanding());
        true
    }

    /// Takes in any expected ACK.
    #[inline(never)]
    fn take_expected_ack(&mut self, now: Time, ack: u64, window: u64) {
        let advanced = Bytes::new(ack - self.stream.una());
        self.activity.received(now);
        self.stream.acknowledge(ack);
        if window == self.peer_window.offered() {
            self.peer_window.slide(ack);
        } else {
            self.take_window(ack, window);
        }
        if self.tell_in_brief(ack, advanced, false) {
            let tally = self.board.acknowledge_in_order(ack, |_| {});
            if let Some(head) = tally.newest {
                self.sample_in_order(now, &head);
            }
            self.packets.rate.on_ack(
                now,
                Bytes::new(tally.bytes),
                tally.newest.map(|head| head.flight.sent_at),
            );
        } else {
            self.tell_expected_ack(now, ack, advanced);
        }
        self.timers.put_off(now, self.stream.is_outstanding());
    }

    /// Makes the samples of RACK and of the round trip from the newest packet that an expected ACK acknowledges. Gives the
    /// round trip.
    fn sample_in_order(&mut self, now: Time, head: &Head) -> Span {
        let sample = now.since(head.flight.sent_at);
        self.rack.newest = head.packet;
        self.rack.rtt = sample;
        self.rack.fack = head.end;
        self.rtt.smooth(sample);
        sample
    }

    /// Takes in an expected ACK for a controller that wants to hear all of it.
    #[inline(never)]
    fn tell_expected_ack(&mut self, now: Time, ack: u64, advanced: Bytes) {
        self.lists.delivered.clear();
        let tally = self.board.acknowledge_in_order(ack, |packet| self.lists.delivered.push(packet));
        let rtt = tally.newest.map(|head| self.sample_in_order(now, &head));
        let bytes = Bytes::new(tally.bytes);
        let flight = tally.newest.map(|head| head.flight).filter(|_| !bytes.is_zero());
        self.packets.rate.on_ack(now, bytes, flight.map(|flight| flight.sent_at));
        let delivery_rate = flight.and_then(|flight| self.packets.rate.sample(now, &flight));
        // Nothing is lost or SACKed.
        let path = self.path_with(now, self.stream.outstanding(), self.stream.outstanding());
        let mut event = Event::Acked(Ack {
            packets: &self.lists.delivered,
            bytes,
            advanced,
            sacked: Bytes::ZERO,
            segments: tally.segments,
            duplicate: false,
            counts_bytes: self.rules.dialect.counts_bytes(),
            rtt: rtt.map(|rtt| RttSample { rtt, handshake: false }),
            delivery_rate,
            ..Ack::new(&[])
        });
        if self.journal.keeps_told() {
            let heard = OwnedEvent::new(&event);
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::On(heard));
        } else {
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::Plan);
        }
        if self.lists.delivered.capacity() > MOST_KEPT {
            self.lists.put_away();
        }
    }

    /// The data that may leave a calm sender: what [`Sender::poll`] would find.
    #[inline]
    pub(crate) fn next_data(&mut self) -> NextData {
        let next = self.peek_data();
        if next != NextData::Unclear {
            self.timers.pace_at = None;
        }
        if let NextData::Nothing(limit) = next {
            self.activity.limit = limit;
        }
        next
    }

    /// [`Sender::next_data`], which the sender does not take note of.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet")]
    pub(crate) fn peek_data(&self) -> NextData {
        debug_assert!(self.is_calm(), "only a calm sender takes turns");
        let full = self.stream.mss().get();
        let end = self.stream.nxt() + full;
        // Nothing is lost or SACKed, so the pipe is what is outstanding.
        let used = self.stream.nxt() - self.stream.una();
        let plain = self.stream.written() > end
            && self.peer_window.edge() >= end
            && used > 0
            && matches!(self.plan.pacing, Pacing::AckClock)
            && self.plan.ask.is_none();
        if plain {
            if used + full <= self.plan.window.get() {
                NextData::Full
            } else {
                NextData::Nothing(SendLimit::Window)
            }
        } else if self.stream.written() <= self.stream.nxt()
            && (!self.stream.is_shut() || self.stream.fin_sent())
            && !matches!(self.plan.pacing, Pacing::Train { .. })
        {
            NextData::Nothing(SendLimit::App)
        } else {
            NextData::Unclear
        }
    }

    /// Whether no timer of a calm sender is due before `at`, or there is neither a timer nor an `at`, as far as a short look
    /// tells.
    #[inline]
    pub(crate) fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        if self.timers.pace_at.is_some() || self.plan.wake.is_some() {
            return false;
        }
        match (&self.timers.put_off, at) {
            (Some(put_off), Some(at)) => at.nanos_since(put_off.timeout_from) <= self.rtt.least_wait(),
            (None, None) => self.timers.rto_at.is_none(),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The length of a full segment.
    #[inline]
    pub(crate) fn full_length(&self) -> u16 {
        low(self.stream.mss())
    }

    /// The full segment that left last.
    #[inline]
    pub(crate) fn last_full(&self) -> Sent {
        self.packets.last_full(self.stream.mss())
    }

    /// Sends what [`NextData::Full`] promises, from [`Sender::nxt`] on. Says whether nothing may follow, so that
    /// [`Sender::next_data`] need not be asked.
    #[inline]
    pub(crate) fn send_full(&mut self, now: Time) -> bool {
        let tag = self.plan.tag;
        if self.needs_sends() {
            // Said before the scoreboard takes the packet in: the flight is what it leaves behind.
            let (packet, bytes) = (self.packets.next(), self.stream.mss());
            self.tell(now, &Event::Sent(Sent { packet, bytes, tag, retransmission: false }));
            self.put_full(now, tag);
            return false;
        }
        self.send_unminded(now, tag)
    }

    /// Whether the controller hears of each segment that leaves.
    #[inline]
    fn needs_sends(&self) -> bool {
        self.rules.tells_all || self.controller.needs_sends()
    }

    /// Whether [`Sender::send_usual`] may send what [`NextData::Full`] promises: the controller does not hear of it, and the
    /// scoreboard has room.
    #[inline]
    pub(crate) fn sends_as_usual(&self) -> bool {
        self.timers.put_off.is_some() && !self.needs_sends() && self.board.has_room()
    }

    /// [`Sender::send_full`], if [`Sender::sends_as_usual`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    pub(crate) fn send_usual(&mut self, now: Time) -> bool {
        self.send_unminded(now, self.plan.tag)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from two places, one of which seldom comes to it")]
    fn send_unminded(&mut self, now: Time, tag: Tag) -> bool {
        let used = self.put_full(now, tag);
        self.controller.count_sent(Bytes::new(u64::from(used)));
        // The plan stands: it is the next turn's.
        let (full, used) = (u64::from(low(self.stream.mss())), u64::from(used));
        let next_end = self.stream.nxt() + full;
        let last = self.stream.written() > next_end
            && self.peer_window.edge() >= next_end
            && used + full > self.plan.window.get();
        if last {
            debug_assert!(matches!(self.peek_data(), NextData::Nothing(_)), "nothing follows");
            self.activity.limit = SendLimit::Window;
        }
        last
    }

    /// Puts a full segment on the scoreboard. Gives the bytes outstanding after that: less than 2^30 (RFC 7323 section 2.3).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it writes is at hand where it is asked for")]
    fn put_full(&mut self, now: Time, tag: Tag) -> u32 {
        let (start, len) = (self.stream.nxt(), low(self.stream.mss()));
        let end = start + u64::from(len);
        let (since_delivery, since_first_sent) = self.packets.rate.on_send(now, false);
        let how = Transmission {
            at: now,
            packet: self.packets.next(),
            tag,
            limit: self.activity.limit,
            delivered: self.packets.rate.delivered(),
            since_delivery,
            since_first_sent,
        };
        self.board.sent(start, len, false, &how);
        self.stream.advance(end);
        self.packets.full_left(now, tag);
        debug_assert!(!self.activity.is_idle_served(), "something is outstanding");
        match &mut self.timers.put_off {
            Some(put_off) => put_off.probe_from = now,
            None => self.schedule_probe(now, self.timers.rto_at),
        }
        let outstanding = end - self.stream.una();
        debug_assert!(outstanding < 1 << 31, "the peer's window holds it");
        short(outstanding)
    }
}

/// The length of a full segment, which fits its field.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the segment size is made of 16 bits")]
fn low(mss: Bytes) -> u16 {
    mss.get() as u16
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "what is outstanding fits")]
fn short(outstanding: u64) -> u32 {
    outstanding as u32
}

#[cfg(test)]
impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Sets whether the fast ways may be taken.
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.rules.has_fast_ways = on;
    }
}

#[cfg(test)]
mod tests;
