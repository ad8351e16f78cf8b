//! Processes an ACK: the data that it delivers, its RTT and rate samples, and the events for the controller.

use firstflight::{Ack, Avoidance, Bytes, Event, RttSample, Span, Startup, Time};

use super::Sender;
use super::echo::echoes_earlier;
use super::interface::AckInput;
use super::rate::Flight;
use crate::config::Recovery;

/// Results of one ACK, which are collected for the controller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) advanced: u64,
    pub(super) segments: u32,
    /// Number of bytes newly delivered. `sacked` is the number of those that were selectively acknowledged.
    pub(super) bytes: u64,
    pub(super) sacked: u64,
    pub(super) duplicate: bool,
    /// Whether the ACK's window differs from the window of the previous ACK.
    pub(super) window_changed: bool,
    pub(super) rtt: Option<Span>,
    /// The delivered packet that was sent last.
    pub(super) newest: Option<Flight>,
    /// Whether the reordering timer was running when the ACK arrived.
    pub(super) reordering: bool,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Processes an ACK. Returns false if it is not acceptable because it acknowledges data that was never sent. The endpoint then replies
    /// with an ACK (RFC 9293 section 3.10.7.4).
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

    /// Processes an ACK on the full path. The comments give the reason for the position of each step.
    #[inline]
    fn on_any_ack(&mut self, now: Time, input: &AckInput<'_>) {
        // Comes before old ACKs are dropped, because the pipe of ns-2 counts them as well.
        self.recovery.count_in_pipe(1);
        // Any ACK is an answer to a zero-window probe, which shows that the peer is alive (RFC 9293 section 3.8.6.1).
        self.user_timeout.answered();

        // An ACK that arrives after a later ACK acknowledges nothing new, and its window is old (RFC 9293 section 3.10.7.4).
        let old;
        let input = if input.ack >= self.stream.una() {
            input
        } else if self.processes_old_ack(input) {
            old = AckInput { ack: self.stream.una(), window: self.peer_window.offered(), ..*input };
            &old
        } else {
            return;
        };

        // The data that the ACK delivers, its window and its samples come first, because all later steps use them: the scoreboard, the
        // window, the RTT (RFC 6298 section 2) and the delivery rate.
        let repairing = !self.recovery.is_open();
        let progress = self.take_in(now, input);
        if self.peer_window.offered() == 0 {
            self.user_timeout.excuse();
        }

        // Duplicate ACKs are counted before loss detection, which uses their number (RFC 5681 section 3.2).
        if progress.advanced > 0 {
            self.user_timeout.advanced();
            self.uncount_duplicates(progress.segments);
            self.recovery.extra = 0;
            self.limit_duplicates(u64::from(progress.segments));
        } else {
            self.count_duplicate(&progress);
        }

        // After a reduction for a congestion mark, CWR has reached the receiver once data above the window of the reduction is
        // acknowledged. A later echo is for a new mark (RFC 3168 section 6.1.2). Events that the controller receives from here on do not
        // belong to the reduction.
        self.ecn.end_if_acknowledged(self.stream.una());

        // The answer to a tail loss probe may be the only sign of a loss that the probe repaired (RFC 8985 section 7.4.2). The reduction
        // for this loss comes before this ACK's undo and losses, and cannot be undone itself.
        let probing = self.recovery.probe.is_unanswered();
        self.answer_probe(now, input, &progress);

        // A DSACK shows that the reordering window is too small (RFC 8985 section 6.2 step 4). If it reports the probe, it only shows that
        // the probe was sent too early (Linux `FLAG_DSACK_TLP`).
        self.counters.duplicates_reported += u64::from(input.dsack.is_some());
        let by_probe = probing && !self.recovery.probe.is_unanswered();
        let widened = input.dsack.is_some()
            && !by_probe
            && self.recovery.widening.on_duplicate(self.stream.una(), self.stream.nxt());

        // A spurious reduction is undone before the controller receives the ACK, so that the window grows from the restored value (RFC
        // 3522, RFC 3708, RFC 5682). Evidence that is too old is not used. If this ACK echoes a mark, the window is not restored, because
        // the mark requires the reduction as well (RFC 3168 section 6.1.2).
        let settled = self.forget_old_undo();
        self.keep_reduction_for_mark(input.ece);
        self.undo_if_spurious(now, input, &progress);
        let counts = self.rules.dialect.counts_needless_recoveries() || !self.recovery.is_open();

        // The controller's event, loss detection and the response to marks follow in the stack's order.
        self.answer(now, &progress, input.ece);

        // Only now is it known whether a repair is over (RFC 8985 section 6.2 step 4 counts repairs) and how much of a window that PRR
        // reduces step by step may be used.
        if repairing && counts && !widened && self.recovery.is_open() {
            self.recovery.widening.on_recovered();
        }
        self.steer_to_reduction(&progress);

        // Timers come last, because they need the new RTT estimate and what is now outstanding and lost (RFC 6298 section 5, RFC 8985
        // section 7.2).
        self.restart_timers(now, &progress);

        self.scratch.put_away();
        if settled {
            self.give_room_back();
        }
    }

    /// Frees the memory that only a repair needs, once the repair is over and can no longer be undone. Most flows are between two repairs
    /// most of the time.
    fn give_room_back(&mut self) {
        if self.recovery.is_open() {
            self.scratch.shrink_after_repair();
            self.board.shrink();
        }
    }

    /// Marks the data that the ACK acknowledges, and takes the RTT and rate samples. Returns the results.
    pub(super) fn take_in(&mut self, now: Time, input: &AckInput<'_>) -> Progress {
        self.scratch.arrivals.clear();
        let advanced = input.ack - self.stream.una();
        let window_changed = self.changes_window(input);
        let (segments, trimmed) =
            self.board.acknowledge(input.ack, |arrival| self.scratch.arrivals.push(arrival));
        let cumulative = self.scratch.arrivals.len();
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
                    self.board.sack(start, end, |arrival| self.scratch.arrivals.push(arrival));
                }
            }
        }
        let (mut bytes, mut sacked) = (trimmed, 0);
        let mut newest: Option<usize> = None;
        let mut newest_clean: Option<Time> = None;
        let mut repaired = false;
        let min_rtt = self.rtt.min();
        self.note_reordering(cumulative);
        let processes_in_order = self.rules.dialect.processes_in_order();
        for (i, arrival) in self.scratch.arrivals.iter().enumerate() {
            let delivered = arrival.delivered;
            bytes += delivered.bytes.get();
            if i >= cumulative {
                sacked += delivered.bytes.get();
            }
            // The timestamp echo belongs to the transmission of the first of these segments that arrived. It gives no information about the
            // others.
            let first = i == 0 && cumulative > 0;
            let original = first && delivered.retransmitted && echoes_earlier(input, delivered.sent_at);
            if processes_in_order && !original {
                self.rack.delivered(now, min_rtt, arrival);
            }
            self.packets.approved.delivered(delivered.packet, self.packets.next(), self.stream.nxt());
            if newest.is_none_or(|n| self.scratch.arrivals[n].delivered.packet < delivered.packet) {
                newest = Some(i);
            }
            if !delivered.retransmitted {
                newest_clean = newest_clean.max(Some(delivered.sent_at));
            }
            repaired |= delivered.retransmitted;
        }
        if !processes_in_order {
            self.process_sacks_first(now, min_rtt, cumulative);
        }
        let bytes = self.not_reported_before(bytes, advanced);
        let newest = newest.map(|n| self.scratch.arrivals[n].flight());
        // Extends Karn's algorithm: an ACK that a retransmission triggers also acknowledges data that arrived long before. It gives an RTT
        // sample only through its timestamp echo.
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
            // RFC 6675 section 2: an ACK is a duplicate if it carries new SACK information.
            advanced == 0 && sacked > 0
        } else {
            // A duplicate ACK as RFC 5681 section 2 defines it.
            advanced == 0 && !input.carries_data && !window_changed && self.stream.nxt() > self.stream.una()
        };
        let reordering = self.recovery.reorder_at.is_some();
        Progress { advanced, segments, bytes, sacked, duplicate, window_changed, rtt, newest, reordering }
    }

    /// Lets RACK record whether a segment arrived late. The selectively acknowledged segments come first, then the others.
    fn note_reordering(&mut self, cumulative: usize) {
        if self.rules.method != Recovery::Rack {
            return;
        }
        let (whole, selective) = self.scratch.arrivals.split_at(cumulative);
        for group in [selective, whole] {
            let clean = group.iter().filter(|arrival| !arrival.delivered.retransmitted);
            if let Some(start) = clean.map(|arrival| arrival.end - arrival.delivered.bytes.get()).min() {
                self.rack.note_late(start, self.stream.mss());
            }
        }
    }

    pub(super) fn report_acked(&mut self, now: Time, progress: &Progress) {
        if progress.advanced == 0 && progress.bytes == 0 && !progress.duplicate {
            return;
        }
        let advanced = Bytes::new(self.counts(progress));
        if !self.report_fast(self.stream.una(), advanced, self.is_reducing()) {
            self.scratch.delivered.clear();
            self.scratch.delivered.extend(self.scratch.arrivals.iter().map(|arrival| arrival.delivered));
            self.report_acked_fully(now, *progress, advanced);
        }
    }

    /// Passes the ACK, including the list of delivered packets, to a controller that needs the list. `progress` is passed by value, because
    /// a reference would force it into memory on the other paths as well.
    #[inline(never)]
    pub(super) fn report_acked_fully(&mut self, now: Time, progress: Progress, advanced: Bytes) {
        let packets = core::mem::take(&mut self.scratch.delivered);
        let mut ack = Ack::of_stream(&[]);
        ack.packets = &packets;
        ack.bytes = Bytes::new(progress.bytes);
        ack.advanced = advanced;
        ack.sacked = Bytes::new(progress.sacked);
        ack.segments = progress.segments;
        ack.duplicate = progress.duplicate;
        ack.counts_bytes = self.rules.dialect.counts_bytes();
        ack.rtt = progress.rtt.map(|rtt| RttSample { rtt, handshake: false });
        ack.delivery_rate = progress.newest.and_then(|newest| self.packets.rate.sample(now, &newest));
        self.report(now, &Event::Acked(ack));
        self.scratch.delivered = packets;
    }
}
