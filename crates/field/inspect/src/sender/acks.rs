//! Processes acknowledgements: when they pass the capture point, and when they reach the sender.

use super::{FARTHEST, FIRST, Sender};
use crate::events::{Ack, Mark, Resent};
use crate::rounds::Arrival;
use crate::scoreboard::Acknowledged;

/// The maximum number of congestion marks kept.
const MAX_MARKS: usize = 64;

/// State of the sender before an acknowledgement.
#[derive(Clone, Copy)]
struct Before {
    una: u64,
    highest: u64,
    flight: u64,
    delivered: u64,
}

/// Result of an acknowledgement.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Number of bytes newly acknowledged in order.
    in_order: u64,
    /// Transmission time of the newest packet that was newly acknowledged and sent only once, and the offset of its end.
    newest: Option<(u64, u64)>,
    /// Whether the acknowledgement covers whole segments in order and nothing selectively.
    is_of_full_segments: bool,
}

impl Sender {
    /// Processes an acknowledgement that passed at `at`. If the capture is not at the sender, it reaches the sender later.
    pub(crate) fn on_ack(&mut self, at: u64, ack: Ack) {
        // Delivers the acknowledgements that are due. Otherwise they would accumulate for a host that sends no data.
        self.receive_until(at);
        if self.setting.shift == 0 {
            self.on_received_ack(at, &ack);
        } else {
            self.coming.push_back((at.saturating_add(self.setting.shift - self.setting.slack()), ack));
        }
    }

    /// Delivers the acknowledgements that reach the sender by `at`.
    pub(super) fn receive_until(&mut self, at: u64) {
        while let Some((when, ack)) = self.coming.front().copied().filter(|(when, _)| *when <= at) {
            self.coming.pop_front();
            self.on_received_ack(when, &ack);
        }
    }

    /// Processes an acknowledgement that reaches the sender. The comments give the reasons for the order of the steps.
    fn on_received_ack(&mut self, at: u64, ack: &Ack) {
        // An acknowledgement number above any window belongs to another stream.
        if ack.to > self.board.next.saturating_add(FARTHEST) {
            self.counts.out_of_window += 1;
            return;
        }
        self.instants.last_ack = Some(at);

        // Marks and rounds need the state before the acknowledgement.
        let before = self.outstanding();

        // The scoreboard is updated first, because all later steps use it. The cumulative part comes before the SACK blocks, because a
        // block below it reports a duplicate (RFC 2883 section 4).
        let progress = self.deliver(at, ack);

        // The delivery rate counts the bytes of both parts, each byte once.
        self.note_delivery(at, ack, before, progress);

        // The RTT sample comes before rounds and marks, which measure time in RTTs.
        if ack.is_timed {
            self.measure_round_trip(at, progress);
        }

        // The offered window comes after the RTT sample and before the round's end, because the previous window limited the sender until
        // now.
        self.take_window(at, ack);

        // A round ends with the first acknowledgement of anything sent in it (RFC 9406 section 4.2).
        self.enter_ack_in_round(at, before, progress);

        // From here on the sender may respond to a mark. Its flight is compared with the flight before this acknowledgement.
        self.note_mark(at, ack, before);

        // A recovery ends when all data sent before its beginning is acknowledged (RFC 6675 section 5).
        self.end_repair(at);
        self.draw_flight(at, before);
    }

    fn outstanding(&self) -> Before {
        let board = &self.board;
        Before {
            una: board.una,
            highest: board.highest,
            flight: board.flight(),
            delivered: board.delivered(),
        }
    }

    /// Enters the acknowledgement into the scoreboard.
    fn deliver(&mut self, at: u64, ack: &Ack) -> Progress {
        let blocks = &ack.blocks[..ack.block_count];
        let mut progress = Progress::default();
        if ack.to > self.board.una {
            progress.in_order = ack.to - self.board.una;
            self.timer.start(at);
            let Acknowledged { newest_sent, unseen } = self.board.acknowledge(ack.to);
            progress.newest = newest_sent.map(|sent| (sent, ack.to));
            self.note_unseen(unseen);
            let (una, next) = (self.board.una, self.board.next);
            self.transfer.acknowledged(at, una.saturating_sub(FIRST), una >= next);
            if let Some(trace) = &mut self.drawn.trace {
                trace.acks.push((at, ack.to.saturating_sub(FIRST)));
            }
        }
        for (place, &(start, end)) in blocks.iter().enumerate().filter(|(_, (start, end))| start < end) {
            // RFC 2883 section 4: the first block reports a duplicate if it lies below the acknowledgement or within the second block.
            let within_next = blocks.get(1).is_some_and(|&(from, to)| from <= start && end <= to);
            if place == 0 && (end <= ack.to || within_next) {
                self.on_duplicate_report(start, end);
            } else {
                let newest = self.board.sack(start, end).newest_sent.map(|sent| (sent, end));
                progress.newest = progress.newest.max(newest);
            }
        }
        let has_hole = self.board.delivered() > self.board.una;
        self.recovery.hole_since = if has_hole { self.recovery.hole_since.or(Some(at)) } else { None };
        let is_whole = progress.in_order > 0 && progress.in_order.is_multiple_of(self.mss().max(1));
        progress.is_of_full_segments = blocks.is_empty() && is_whole;
        progress
    }

    /// Counts acknowledged bytes that no packet of the capture has.
    fn note_unseen(&mut self, bytes: u64) {
        self.counts.unseen_bytes += bytes;
        if bytes > 0
            && let Some(round) = self.rounds.current()
        {
            round.has_gaps = true;
        }
    }

    /// Records the number of bytes delivered so far, for the later rate and for the path's rate.
    fn note_delivery(&mut self, at: u64, ack: &Ack, before: Before, progress: Progress) {
        if self.board.delivered() <= before.delivered {
            return;
        }
        let (delivered, mss) = (self.board.delivered().saturating_sub(FIRST), self.mss());
        self.periods.current.curve.step(at, delivered);
        let nothing_missing = ack.block_count == 0 && self.recovery.until.is_none();
        if let Some(path) = &mut self.drawn.path {
            path.delivered(at, delivered, mss);
            if progress.in_order > 0 && nothing_missing {
                path.acknowledged(progress.in_order, mss);
            }
        }
    }

    /// Records an RTT sample. If the capture is not at the sender, adds the time from the capture point to the sender and back.
    fn measure_round_trip(&mut self, at: u64, progress: Progress) {
        let Some((sent, end)) = progress.newest.filter(|(sent, _)| *sent >= self.instants.timed_since) else {
            return;
        };
        let mss = self.mss();
        let rtt = at.saturating_sub(sent) + self.setting.slack();
        self.rtt.sample(rtt);
        if let Some(trace) = &mut self.drawn.trace {
            trace.rtts.push((at, rtt));
        }
        if let Some(path) = &mut self.drawn.path {
            path.round_trip((sent, end), rtt, progress.is_of_full_segments, mss);
        }
    }

    fn enter_ack_in_round(&mut self, at: u64, before: Before, progress: Progress) {
        let in_flight = before.flight.saturating_sub(progress.in_order.min(before.flight));
        let acked = progress.in_order + in_flight.saturating_sub(self.board.flight());
        if acked > 0 {
            self.limits.acked_since += acked;
            self.rounds.acknowledged(&Arrival {
                at,
                highest: self.board.highest,
                acked,
                delivered: self.board.delivered().saturating_sub(before.delivered),
                newest_sent: progress.newest.map(|(sent, _)| sent),
                next: self.board.next,
            });
            self.instants.last_progress = Some(at);
        }
    }

    /// Records a congestion mark, at most one per RTT, because a sender responds only once per RTT (RFC 3168 section 6.1.2).
    fn note_mark(&mut self, at: u64, ack: &Ack, before: Before) {
        let apart = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        if ack.echo
            && self.marks.kept.len() < MAX_MARKS
            && self.marks.kept.last().is_none_or(|last| at.saturating_sub(last.at) >= apart)
        {
            let flight = before.flight;
            self.marks.kept.push(Mark { at, flight, flight_later: None, flight_at_answer: None });
        }
    }

    fn end_repair(&mut self, at: u64) {
        if self.recovery.until.is_some_and(|until| self.board.una >= until) {
            self.recovery.until = None;
            self.recovery.first_end = self.recovery.first_end.or(Some(at));
            if let Some(trace) = &mut self.drawn.trace {
                trace.end_recovery(at);
            }
        }
    }

    fn draw_flight(&mut self, at: u64, before: Before) {
        if (self.board.highest > before.highest || self.board.una > before.una)
            && let Some(trace) = &mut self.drawn.trace
        {
            trace.flight.push((at, self.board.flight()));
        }
    }

    /// Counts bytes that the receiver reports as received twice.
    fn on_duplicate_report(&mut self, start: u64, end: u64) {
        self.counts.spurious_segments += self.segments.full.segments(end - start, 0, &self.setting);
        let is_it = |resent: &&mut Resent| !resent.is_spurious && resent.start < end && start < resent.end;
        // If there are several retransmissions, the last one is assumed to be the unnecessary one.
        if let Some(resent) = self.recovery.resent.iter_mut().rev().find(is_it) {
            resent.is_spurious = true;
        }
    }
}
