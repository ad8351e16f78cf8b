//! Acknowledgements, on their way to the sender and as it hears them.

use super::{FARTHEST, FIRST, Sender};
use crate::events::{Ack, Mark, Resent};
use crate::scoreboard::Heard;

/// Congestion marks remembered.
const MOST_MARKS: usize = 64;

impl Sender {
    /// An acknowledgement passed at `at`; it reaches the sender later where the capture is not at the sender.
    pub(crate) fn ack(&mut self, at: u64, ack: Ack) {
        // Those that are due are heard now: a host that sends no data must not pile them up.
        self.hear_until(at);
        if self.setting.shift == 0 {
            self.hear(at, &ack);
        } else {
            self.coming.push_back((at.saturating_add(self.setting.shift - self.setting.slack()), ack));
        }
    }

    pub(super) fn hear_until(&mut self, at: u64) {
        while let Some((when, ack)) = self.coming.front().copied().filter(|(when, _)| *when <= at) {
            self.coming.pop_front();
            self.hear(when, &ack);
        }
    }

    fn hear(&mut self, at: u64, ack: &Ack) {
        if ack.to > self.board.next.saturating_add(FARTHEST) {
            self.counts.out_of_window += 1;
            return;
        }
        self.last_heard = Some(at);
        let blocks = &ack.blocks[..ack.block_count];
        let before = self.board.highest;
        let (una_before, flight_before) = (self.board.una, self.board.flight());
        let delivered_before = self.board.delivered();
        let mut sample = None;
        let mut newly = 0;
        if ack.to > self.board.una {
            newly = ack.to - self.board.una;
            self.timer.start(at);
            let Heard { newest_sent, unseen } = self.board.acknowledge(ack.to);
            sample = newest_sent.map(|sent| (sent, ack.to));
            if unseen > 0 {
                self.counts.unseen_bytes += unseen;
                if let Some(round) = self.rounds.current() {
                    round.has_gaps = true;
                }
            }
            if let Some(trace) = &mut self.trace {
                trace.acks.push((at, ack.to.saturating_sub(FIRST)));
            }
        }
        for (place, &(start, end)) in blocks.iter().enumerate() {
            if start >= end {
                continue;
            }
            // RFC 2883 section 4: the first block tells of a duplicate if it lies below the acknowledgement or
            // within the second block.
            let within_next = blocks.get(1).is_some_and(|&(from, to)| from <= start && end <= to);
            if place == 0 && (end <= ack.to || within_next) {
                self.came_twice(start, end);
                continue;
            }
            sample = sample.max(self.board.sack(start, end).newest_sent.map(|sent| (sent, end)));
        }
        if self.board.delivered() > delivered_before {
            self.period.curve.step(at, self.board.delivered().saturating_sub(FIRST));
            let (delivered, mss) = (self.board.delivered().saturating_sub(FIRST), self.mss());
            let is_whole = blocks.is_empty() && self.repairing.is_none();
            if let Some(path) = &mut self.path {
                path.delivered(at, delivered, mss);
                if newly > 0 && is_whole {
                    path.acknowledged(newly, mss);
                }
            }
        }
        let is_full = blocks.is_empty() && newly > 0 && newly.is_multiple_of(self.mss().max(1));
        self.counts_of_time(at, sample, is_full);
        let edge = ack.to.saturating_add(ack.window);
        if self.edge != Some(edge)
            && ack.is_scaled
            && let Some(trace) = &mut self.trace
        {
            trace.window.push((at, ack.window));
        }
        self.edge = Some(self.edge.map_or(edge, |last| last.max(edge)));
        self.edge_is_raw |= !ack.is_scaled;
        let sacked =
            flight_before.saturating_sub(newly.min(flight_before)).saturating_sub(self.board.flight());
        let acked = newly + sacked;
        if acked > 0 {
            self.acked_since += acked;
            self.rounds.acknowledged(at, self.board.highest, acked, self.board.next);
            self.last_ack = Some(at);
        }
        let apart = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        if ack.echo
            && self.marks.len() < MOST_MARKS
            && self.marks.last().is_none_or(|last| at.saturating_sub(last.at) >= apart)
        {
            let flight = flight_before;
            self.marks.push(Mark { at, flight, flight_later: None, flight_at_answer: None });
        }
        if self.repairing.is_some_and(|until| self.board.una >= until) {
            self.repairing = None;
            self.first_episode_end = self.first_episode_end.or(Some(at));
            if let Some(trace) = &mut self.trace {
                trace.end_recovery(at);
            }
        }
        if (self.board.highest > before || self.board.una > una_before)
            && let Some(trace) = &mut self.trace
        {
            trace.flight.push((at, self.board.flight()));
        }
    }

    /// A round-trip sample, of a full segment or another, whole: where the capture is not at the sender, the other part comes with
    /// the shift.
    fn counts_of_time(&mut self, at: u64, newest: Option<(u64, u64)>, is_full: bool) {
        let mss = self.mss();
        if let Some((sent, end)) = newest.filter(|(sent, _)| *sent >= self.times_since) {
            let rtt = at.saturating_sub(sent) + self.setting.slack();
            self.rtt.sample(rtt);
            if let Some(trace) = &mut self.trace {
                trace.rtts.push((at, rtt));
            }
            if let Some(path) = &mut self.path {
                path.round_trip((sent, end), rtt, is_full, mss);
            }
        }
    }

    /// The receiver says that it got these bytes twice.
    fn came_twice(&mut self, start: u64, end: u64) {
        self.counts.spurious_segments += self.segments(end - start);
        let is_it = |resent: &&mut Resent| !resent.is_spurious && resent.start < end && start < resent.end;
        // Of several copies the last one was for nothing, as far as one knows.
        if let Some(resent) = self.resent.iter_mut().rev().find(is_it) {
            resent.is_spurious = true;
        }
    }
}
