//! A fast path for expected ACKs: they arrive in order for packets that were sent once, and nothing was lost or reordered before. Most ACKs
//! are expected. This path processes them and the full segment that each releases faster than [`Sender::on_ack`] and [`Sender::poll`]
//! (header prediction: Jacobson 1990, "4.3BSD-Reno TCP header prediction"). If it can handle an ACK, it leads to the same state.

use firstflight::fast_events::FastEvents;
use firstflight::{
    Ack, Avoidance, Bytes, Call, Event, OwnedEvent, Pacing, RttSample, SendLimit, Sent, Span, Startup, Tag,
    Time,
};

use crate::sender::Sender;
use crate::sender::interface::AckInput;
use crate::sender::rtt::RttEstimator;
use crate::sender::scoreboard::{Head, Transmission};
use crate::sender::scratch::MAX_KEPT;

/// The next transmission of a sender that is calm ([`Sender::fast_path_ok`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextData {
    /// A full segment of new data.
    Full,
    /// Nothing, until something arrives or is written. The value is the limit that stops the sender.
    Nothing(SendLimit),
    /// This is not known here; only [`Sender::poll`] can decide.
    Unclear,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Checks whether the sender is calm: no loss, mark or probe must still be answered or repaired. After [`Sender::on_expected_ack`],
    /// [`Sender::next_data`] and [`Sender::send_full`], a calm sender is still calm.
    pub(crate) fn fast_path_ok(&self) -> bool {
        // Conditions that fail most often come first.
        self.recovery.is_open()
            && self.board.is_orderly(self.rack.newest())
            && self.recovery.is_open_and_clean()
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

    /// Checks whether an ACK is expected: it acknowledges outstanding data and carries no other information.
    pub(in crate::sender) fn is_expected(&self, input: &AckInput<'_>) -> bool {
        self.may_expect(input.ack)
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.fast_path_ok()
    }

    /// Checks whether an ACK up to `ack` acknowledges outstanding data, and does not end the time in which a reduction may be undone. An
    /// ACK of more than was outstanding when the repair ended would end this time.
    #[inline]
    pub(crate) fn may_expect(&self, ack: u64) -> bool {
        ack > self.stream.una() && ack <= self.stream.nxt() && ack <= self.undo.settled_by()
    }

    /// Checks whether the ACK may be expected ([`Sender::may_expect`]) and does not acknowledge this side's FIN.
    #[inline]
    pub(crate) fn may_expect_of_data(&self, ack: u64) -> bool {
        ack <= self.stream.written() && self.may_expect(ack)
    }

    /// Checks whether `window` is the window that the peer offered before. If so, a data segment that acknowledges nothing new has no
    /// information for a calm sender. A receiver of bulk data gets mostly these segments.
    #[inline]
    pub(crate) fn is_window(&self, window: u64) -> bool {
        window == self.peer_window.offered()
    }

    /// Processes the ACK of a data segment that has no new information for the sender, with the same result as [`Sender::on_ack`].
    #[inline]
    pub(crate) fn on_no_news(&mut self, now: Time) {
        debug_assert!(self.fast_path_ok(), "only a calm sender expects anything");
        self.activity.received(now);
    }

    /// Processes an expected ACK with the same result as [`Sender::on_ack`].
    #[inline(never)]
    pub(crate) fn on_expected_ack(&mut self, now: Time, ack: u64, window: u64) {
        debug_assert!(self.fast_path_ok(), "only a calm sender expects anything");
        #[cfg(test)]
        {
            self.counters.expected_acks += 1;
        }
        // Nothing is changed before it is known that the common case applies, so no state must be restored.
        if !self.take_usual_ack(now, ack, window) {
            self.take_expected_ack(now, ack, window);
        }
    }

    /// Processes the common case of an expected ACK: it acknowledges one segment, its window is unchanged, and the controller needs only
    /// the window's growth. Returns false for other ACKs; nothing is then changed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn take_usual_ack(&mut self, now: Time, ack: u64, window: u64) -> bool {
        let Some(head) = self.board.head_up_to(ack).filter(|_| window == self.peer_window.offered()) else {
            return false;
        };
        let sample = now.since(head.sent_at);
        if !RttEstimator::is_ordinary(sample) || !self.report_fast(ack, head.bytes(), false) {
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

    /// Processes any expected ACK.
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
        if self.report_fast(ack, advanced, false) {
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
            self.report_expected_ack(now, ack, advanced);
        }
        self.timers.put_off(now, self.stream.is_outstanding());
    }

    /// Takes the RACK and RTT samples of an expected ACK from the newest packet that it acknowledges. Returns the RTT.
    fn sample_in_order(&mut self, now: Time, head: &Head) -> Span {
        let sample = now.since(head.flight.sent_at);
        self.rack.newest = head.packet;
        self.rack.rtt = sample;
        self.rack.fack = head.end;
        self.rtt.smooth(sample);
        sample
    }

    /// Processes an expected ACK, for a controller that needs the full event.
    #[inline(never)]
    fn report_expected_ack(&mut self, now: Time, ack: u64, advanced: Bytes) {
        self.scratch.delivered.clear();
        let tally = self.board.acknowledge_in_order(ack, |packet| self.scratch.delivered.push(packet));
        let rtt = tally.newest.map(|head| self.sample_in_order(now, &head));
        let bytes = Bytes::new(tally.bytes);
        let flight = tally.newest.map(|head| head.flight).filter(|_| !bytes.is_zero());
        self.packets.rate.on_ack(now, bytes, flight.map(|flight| flight.sent_at));
        let delivery_rate = flight.and_then(|flight| self.packets.rate.sample(now, &flight));
        // Nothing is lost or SACKed, so `pipe = flight`.
        let path = self.path_with(now, self.stream.outstanding(), self.stream.outstanding());
        let mut ack = Ack::of_stream(&[]);
        ack.packets = &self.scratch.delivered;
        ack.bytes = bytes;
        ack.advanced = advanced;
        ack.segments = tally.segments;
        ack.counts_bytes = self.rules.dialect.counts_bytes();
        ack.rtt = rtt.map(|rtt| RttSample { rtt, handshake: false });
        ack.delivery_rate = delivery_rate;
        let mut event = Event::Acked(ack);
        if self.journal.records_trace() {
            let heard = OwnedEvent::new(&event);
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::On(heard));
        } else {
            self.controller.on_own(&mut event, &path);
            self.adopt(&path, || Call::Plan);
        }
        if self.scratch.delivered.capacity() > MAX_KEPT {
            self.scratch.put_away();
        }
    }

    /// Returns the next transmission of a calm sender. The result agrees with [`Sender::poll`].
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

    /// Returns the result of [`Sender::next_data`] without changing the sender's state.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet")]
    pub(crate) fn peek_data(&self) -> NextData {
        debug_assert!(self.fast_path_ok(), "only a calm sender takes turns");
        let full = self.stream.mss().get();
        let end = self.stream.nxt() + full;
        // Nothing is lost or SACKed, so `pipe = nxt - una`.
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

    /// Checks whether no timer of a calm sender is due before `at`; `None` means never. The check is quick. If it returns false, a timer
    /// may still be later.
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

    /// Returns the payload bytes of a full segment.
    #[inline]
    pub(crate) fn full_length(&self) -> u16 {
        low(self.stream.mss())
    }

    /// Returns the packet data of the last full segment sent.
    #[inline]
    pub(crate) fn last_full(&self) -> Sent {
        self.packets.last_full(self.stream.mss())
    }

    /// Sends the full segment that [`NextData::Full`] announces, which begins at [`Sender::nxt`]. Returns true if it is certain that
    /// nothing else may be sent, so that [`Sender::next_data`] need not be called.
    #[inline]
    pub(crate) fn send_full(&mut self, now: Time) -> bool {
        let tag = self.plan.tag;
        if self.needs_sends() {
            // The event comes before the packet is on the scoreboard, because its flight must exclude this packet.
            let (packet, bytes) = (self.packets.next(), self.stream.mss());
            self.report(now, &Event::Sent(Sent { packet, bytes, tag, retransmission: false }));
            self.put_full(now, tag);
            return false;
        }
        self.send_unminded(now, tag)
    }

    /// Checks whether the controller needs an event for each sent segment.
    #[inline]
    fn needs_sends(&self) -> bool {
        self.rules.reports_all || self.controller.needs_sends()
    }

    /// Checks whether [`Sender::send_usual`] may send the full segment that [`NextData::Full`] announces. It may if the controller needs no
    /// event for it and the scoreboard has room.
    #[inline]
    pub(crate) fn sends_as_usual(&self) -> bool {
        self.timers.put_off.is_some() && !self.needs_sends() && self.board.has_room()
    }

    /// Sends a full segment, as [`Sender::send_full`]. Requires [`Sender::sends_as_usual`].
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
        // The plan is unchanged, so it also applies to the next transmission.
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

    /// Adds a full segment to the scoreboard. Returns the number of bytes that are then outstanding, which is less than 2^30 (RFC 7323
    /// section 2.3).
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

/// Returns the payload bytes of a full segment as a 16-bit number, which always fits.
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
    /// Sets whether the fast paths may be used.
    pub(crate) fn expect_acks(&mut self, on: bool) {
        self.rules.has_fast_ways = on;
    }
}

#[cfg(test)]
mod tests;
