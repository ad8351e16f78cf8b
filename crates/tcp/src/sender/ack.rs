//! What an acknowledgement means: what it delivers, the samples that it gives, and what the controller is told of it.

use firstflight::{Ack, Avoidance, Bytes, Event, RttSample, Span, Startup, Time};

use super::Sender;
use super::echo::echoes_earlier;
use super::interface::AckInput;
use super::rate::Flight;
use crate::config::Recovery;

/// What one ACK brought, gathered for the controller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) advanced: u64,
    pub(super) segments: u32,
    /// Bytes newly delivered; `sacked` counts those of them that were SACKed.
    pub(super) bytes: u64,
    pub(super) sacked: u64,
    pub(super) duplicate: bool,
    /// Whether the ACK offers another window than the ACK before.
    pub(super) window_changed: bool,
    pub(super) rtt: Option<Span>,
    /// Of the packets that were delivered, the one that left last.
    pub(super) newest: Option<Flight>,
    /// Whether the reordering timer ran when the ACK came.
    pub(super) reordering: bool,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// An acknowledgement arrived. Says whether the ACK is acceptable. An ACK of data never sent is not; the endpoint answers
    /// it with an ACK of its own (RFC 9293 section 3.10.7.4).
    pub(crate) fn on_ack(&mut self, now: Time, input: &AckInput<'_>) -> bool {
        if input.ack > self.stream.nxt() {
            return false;
        }
        self.activity.received(now);
        if let Some(queue) = &mut self.shaper.queue {
            queue.release();
        }
        if !self.takes_fast_way(now, input) {
            self.on_any_ack(now, input);
        }
        true
    }

    /// What an ACK means, whatever it says: the steps in their order, and why each stands where it does.
    #[inline]
    fn on_any_ack(&mut self, now: Time, input: &AckInput<'_>) {
        // Before old ACKs are put aside, for ns-2's pipe counts those, too.
        self.recovery.count_in_pipe(1);
        // Any ACK answers a probe of a closed window: the peer lives (RFC 9293 section 3.8.6.1).
        self.user_timeout.answered();

        // An ACK that another one overtook acknowledges nothing, and its window is old (RFC 9293 section 3.10.7.4).
        let old;
        let input = if input.ack >= self.stream.una() {
            input
        } else if self.hears_old(input) {
            old = AckInput { ack: self.stream.una(), window: self.peer_window.offered(), ..*input };
            &old
        } else {
            return;
        };

        // What it delivers, offers and measures comes first, for all that follows goes by it: the scoreboard, the window, the
        // round trip (RFC 6298 section 2) and the delivery rate.
        let repairing = !self.recovery.is_open();
        let progress = self.take_in(now, input);
        if self.peer_window.offered() == 0 {
            self.user_timeout.excuse();
        }

        // Duplicates are counted before losses are looked for, which go by the count (RFC 5681 section 3.2).
        if progress.advanced > 0 {
            self.user_timeout.advanced();
            self.uncount_duplicates(progress.segments);
            self.recovery.extra = 0;
            self.limit_duplicates(u64::from(progress.segments));
        } else {
            self.count_duplicate(&progress);
        }

        // Something above the window that a mark reduced is acknowledged, so that CWR has reached the receiver: an
        // echo is of a new mark (RFC 3168 section 6.1.2), and what the controller hears from here on is no part of the reduction.
        self.ecn.end_if_acknowledged(self.stream.una());

        // The answer to a probe may be the only sign of a loss that the probe repaired (RFC 8985 section 7.4.2). Its reduction comes
        // before what the ACK undoes or shows, and cannot be undone itself.
        let probing = self.recovery.probe.is_unanswered();
        self.answer_probe(now, input, &progress);

        // A duplicate that is reported says that the reordering window is too narrow (RFC 8985 section 6.2 step 4), unless it is the
        // probe's: that one was early (Linux `FLAG_DSACK_TLP`).
        self.counters.duplicates_reported += u64::from(input.dsack.is_some());
        let by_probe = probing && !self.recovery.probe.is_unanswered();
        let widened = input.dsack.is_some()
            && !by_probe
            && self.recovery.widening.on_duplicate(self.stream.una(), self.stream.nxt());

        // What was for nothing is undone before the controller hears of the ACK, so that growth goes on from the window given
        // back (RFC 3522, RFC 3708, RFC 5682); not by evidence that is too old for it, and not the window if this ACK echoes a mark
        // that the reduction has to answer, too (RFC 3168 section 6.1.2).
        let settled = self.forget_old_undo();
        self.keep_reduction_for_mark(input.ece);
        self.undo_if_spurious(now, input, &progress);
        let counts = self.rules.dialect.counts_needless_recoveries() || !self.recovery.is_open();

        // The controller hears of the ACK, losses are found and marks answered: in the order of the stack.
        self.answer(now, &progress, input.ece);

        // Only now is it known whether a repair is over (RFC 8985 section 6.2 step 4 counts them), and how much of a window that
        // comes down step by step may be used.
        if repairing && counts && !widened && self.recovery.is_open() {
            self.recovery.widening.on_recovered();
        }
        self.steer_to_reduction(&progress);

        // Timers last: they run by the new estimate, and by what is outstanding and lost now (RFC 6298 section 5, RFC 8985 section
        // 7.2).
        self.restart_timers(now, &progress);

        self.lists.put_away();
        if settled {
            self.give_room_back();
        }
    }

    /// A repair is over and will not be undone: gives back the memory that only a repair needs. Most flows spend most of their
    /// time between two repairs.
    fn give_room_back(&mut self) {
        if self.recovery.is_open() {
            self.lists.shrink_after_repair();
            self.board.shrink();
        }
    }

    /// Marks what the ACK acknowledges and makes the samples.
    pub(super) fn take_in(&mut self, now: Time, input: &AckInput<'_>) -> Progress {
        self.lists.arrivals.clear();
        let advanced = input.ack - self.stream.una();
        let window_changed = self.changes_window(input);
        let (segments, trimmed) =
            self.board.acknowledge(input.ack, |arrival| self.lists.arrivals.push(arrival));
        let cumulative = self.lists.arrivals.len();
        self.stream.acknowledge(input.ack);
        if self.takes_window(input, window_changed, advanced) {
            self.take_window(input.ack, input.window);
        }
        if self.rules.method.uses_sack() {
            for &(start, end) in input.blocks {
                if let Some(queue) = &mut self.shaper.queue {
                    queue.cut(start);
                    queue.cut(end);
                }
                if start >= self.stream.una() && end <= self.stream.nxt() && start < end {
                    self.board.sack(start, end, |arrival| self.lists.arrivals.push(arrival));
                }
            }
        }
        let (mut bytes, mut sacked) = (trimmed, 0);
        let mut newest: Option<usize> = None;
        let mut newest_clean: Option<Time> = None;
        let mut repaired = false;
        let min_rtt = self.rtt.min();
        self.note_reordering(cumulative);
        let hears_in_order = self.rules.dialect.hears_in_order();
        for (i, arrival) in self.lists.arrivals.iter().enumerate() {
            let delivered = arrival.delivered;
            bytes += delivered.bytes.get();
            if i >= cumulative {
                sacked += delivered.bytes.get();
            }
            // What is echoed is of the first of them, of that transmission which arrived; of others it says nothing.
            let first = i == 0 && cumulative > 0;
            let original = first && delivered.retransmitted && echoes_earlier(input, delivered.sent_at);
            if hears_in_order && !original {
                self.rack.delivered(now, min_rtt, arrival);
            }
            self.packets.approved.delivered(delivered.packet, self.packets.next(), self.stream.nxt());
            if newest.is_none_or(|n| self.lists.arrivals[n].delivered.packet < delivered.packet) {
                newest = Some(i);
            }
            if !delivered.retransmitted {
                newest_clean = newest_clean.max(Some(delivered.sent_at));
            }
            repaired |= delivered.retransmitted;
        }
        if !hears_in_order {
            self.hear_sacks_first(now, min_rtt, cumulative);
        }
        let bytes = self.not_told_of_before(bytes, advanced);
        let newest = newest.map(|n| self.lists.arrivals[n].flight());
        // Karn's algorithm, and more: an ACK that a retransmission set free also covers data that arrived long
        // before it, and says nothing about the round trip but by the timestamp that it echoes.
        let rtt = if self.rules.dialect.measures_the_newest() {
            let clean = newest_clean.filter(|_| !repaired).map(|sent_at| now.since(sent_at));
            let echoed =
                || self.echoed(now, input, newest.map(|newest| newest.sent_at)).filter(|_| advanced > 0);
            clean.or_else(echoed).inspect(|&rtt| self.rtt.sample(rtt))
        } else {
            self.sample_as_linux(now, input, cumulative, segments)
        };
        if advanced > 0
            && let Some(window) = &mut self.bandwidth_window
        {
            window.on_ack(now, rtt, input.ack, self.stream.mss());
        }
        let newest = newest.filter(|_| bytes > 0);
        self.packets.rate.on_ack(now, Bytes::new(bytes), newest.map(|newest| newest.sent_at));
        let duplicate = if self.rules.method.uses_sack() {
            // RFC 6675 section 2: a duplicate ACK brings new SACK information.
            advanced == 0 && sacked > 0
        } else {
            // RFC 5681 section 2.
            advanced == 0 && !input.carries_data && !window_changed && self.stream.nxt() > self.stream.una()
        };
        let reordering = self.recovery.reorder_at.is_some();
        Progress { advanced, segments, bytes, sacked, duplicate, window_changed, rtt, newest, reordering }
    }

    /// RACK notes whether a segment arrived late: first among those acknowledged selectively, then among the rest.
    fn note_reordering(&mut self, cumulative: usize) {
        if self.rules.method != Recovery::Rack {
            return;
        }
        let (whole, selective) = self.lists.arrivals.split_at(cumulative);
        for group in [selective, whole] {
            let clean = group.iter().filter(|arrival| !arrival.delivered.retransmitted);
            if let Some(start) = clean.map(|arrival| arrival.end - arrival.delivered.bytes.get()).min() {
                self.rack.note_late(start, self.stream.mss());
            }
        }
    }

    pub(super) fn tell_acked(&mut self, now: Time, progress: &Progress) {
        if progress.advanced == 0 && progress.bytes == 0 && !progress.duplicate {
            return;
        }
        let advanced = Bytes::new(self.counts(progress));
        if !self.tell_in_brief(self.stream.una(), advanced, self.is_reducing()) {
            self.lists.delivered.clear();
            self.lists.delivered.extend(self.lists.arrivals.iter().map(|arrival| arrival.delivered));
            self.tell_acked_in_full(now, *progress, advanced);
        }
    }

    /// Tells a controller of an ACK that wants to hear all of it, the delivered packets included. `progress` is a copy: what is
    /// passed by reference would be written to memory on the other ways, too.
    #[inline(never)]
    pub(super) fn tell_acked_in_full(&mut self, now: Time, progress: Progress, advanced: Bytes) {
        let packets = core::mem::take(&mut self.lists.delivered);
        let ack = Ack {
            packets: &packets,
            bytes: Bytes::new(progress.bytes),
            advanced,
            sacked: Bytes::new(progress.sacked),
            segments: progress.segments,
            duplicate: progress.duplicate,
            counts_bytes: self.rules.dialect.counts_bytes(),
            rtt: progress.rtt.map(|rtt| RttSample { rtt, handshake: false }),
            delivery_rate: progress.newest.and_then(|newest| self.packets.rate.sample(now, &newest)),
            ..Ack::new(&[])
        };
        self.tell(now, &Event::Acked(ack));
        self.lists.delivered = packets;
    }
}
