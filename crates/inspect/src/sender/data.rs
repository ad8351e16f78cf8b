//! Packets with payload that pass: what each says of rounds, of the flight, and of what limits the sender.

use super::{FARTHEST, FIRST, Sender};
use crate::events::{Climb, Data};
use crate::rounds::Departure;

impl Sender {
    /// A packet with payload passed.
    pub(crate) fn data(&mut self, data: &Data) {
        let Data { at, start, end, origin, options_len, answers_echo } = *data;
        self.hear_until(at);
        let len = end - start;
        if end > self.board.una + FARTHEST || start + FARTHEST < self.board.una {
            self.counts.out_of_window += 1;
            return;
        }
        let is_probe = len == 1 && end <= self.board.una && self.board.flight() == 0;
        let flight_before = self.board.flight();
        let (una, next) = (self.board.una, self.board.next);
        let soon = self.soon();
        let seen = self.board.saw(at, start, end, &origin, soon);
        if seen.is_duplicate {
            self.counts.duplicates += 1;
            return;
        }
        self.largest = self.largest.max(len);
        self.least_options = Some(self.least_options.map_or(options_len, |least| least.min(options_len)));
        let segments = self.segments(len);
        self.counts.segments += segments;
        self.counts.packets += 1;
        self.counts.data_segments += segments;
        self.counts.bytes += len;
        if is_probe {
            return;
        }
        self.first_data = self.first_data.or(Some(at));
        let is_late = seen.again == 0 && seen.exposed.is_some_and(|exposed| !self.answers(at, exposed));
        if is_late {
            self.board.came_late(start, end, at);
            self.counts.reordered += 1;
        }
        let is_again = !is_late && seen.again + seen.filled > 0 && seen.new == 0;
        if seen.new > 0 && flight_before == 0 && self.last_data.is_some() {
            self.starts_again(at, start, seen.new);
        } else if self.rounds.current().is_none() {
            self.rounds.begin(at, start, false);
            self.period.began = at;
        }
        if is_again {
            self.sent_again(at, (start, end), una, flight_before, segments, &seen);
        }
        self.note_limits(at, flight_before);
        if answers_echo && let Some(mark) = self.marks.last_mut() {
            mark.flight_at_answer.get_or_insert(flight_before);
        }
        let flight = self.board.flight();
        self.watch_flight(at, flight);
        let is_probe = !is_again && self.is_probe_of_the_first_round(at, flight_before, segments);
        self.probed += if is_probe { seen.new } else { 0 };
        self.rounds.departed(&Departure {
            at,
            new_bytes: seen.new + if is_late { seen.filled } else { 0 },
            segments,
            is_new: !is_again,
            is_probe,
            since_ack: self.last_ack.map(|last| at.saturating_sub(last)),
            flight,
            held_at: self.held_at,
        });
        let mss = self.mss();
        // A sender sends in order: at its own end, a hole is what the capture missed.
        let (hole, is_away) = (start.saturating_sub(next), self.setting.shift > 0);
        let by_receiver = self.edge.is_some_and(|edge| self.board.next + mss > edge);
        self.is_beyond_edge |= self.edge.is_some_and(|edge| self.board.next > edge);
        if let Some(round) = self.rounds.current() {
            round.by_receiver |= by_receiver;
            round.has_gaps |= hole > 0 && !is_away;
            if is_away {
                // It was lost on its way here, or comes late: then it counts with its own packet.
                round.begins_behind_hole |= hole > 0 && round.bytes == seen.new;
                round.lost += hole;
            }
            if is_late {
                round.lost = round.lost.saturating_sub(seen.filled);
            }
        }
        self.last_peak = self.last_peak.max(flight);
        self.last_was_short = !len.is_multiple_of(mss);
        self.acked_since = 0;
        self.last_data = Some(at);
        if let Some(path) = &mut self.path {
            path.departed(at, start, len);
        }
        if let Some(trace) = &mut self.trace {
            trace.sends.push((at, start.saturating_sub(FIRST), len, is_again));
            trace.flight.push((at, flight));
        }
    }

    /// Whether a segment of new data, before anything was acknowledged, is a timer's: a probe of the tail (RFC 8985 section 7.2), two
    /// round trips after the data before it, of which one is left for jitter by a sixteenth. Two segments are acknowledged sooner, if
    /// none waits in a queue.
    fn is_probe_of_the_first_round(&self, at: u64, flight_before: u64, segments: u64) -> bool {
        let Some((last, handshake)) = self.last_data.zip(self.setting.handshake) else { return false };
        let wait = 2 * handshake - handshake / 8;
        self.last_ack.is_none()
            && self.rounds.count == 0
            && segments == 1
            && flight_before >= 2 * self.mss()
            && at.saturating_sub(last) >= wait.max(1)
    }

    /// Whether the sender had had nothing to send before this packet. Then it had nothing in flight and was silent, or had sent
    /// its last packet short; or acknowledgements had come to which it did not answer: some while it repairs nothing and sent
    /// its last packet short, or those of half of its flight and more while it repairs nothing. Away from the sender a silence is
    /// counted from when it heard the acknowledgement at the latest.
    fn note_limits(&mut self, at: u64, flight_before: u64) {
        let silent = self.last_ack.max(self.last_data).map_or(0, |last| at.saturating_sub(last));
        let silent = silent.saturating_sub(self.setting.slack());
        let rest = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0) / 4;
        // Away from the sender what waits on its way, in a queue as long as the round trip, is no silence of the sender.
        let is_away = self.setting.shift > 0;
        let pause = if is_away { 4 * rest } else { rest / 8 };
        let mss = self.mss();
        let unanswered = |share: u64| {
            self.repairing.is_none()
                && self.acked_since > 4 * mss
                && self.acked_since * share >= flight_before
        };
        let had_nothing = (self.last_was_short && self.acked_since > 0 && silent > pause)
            || (self.last_was_short && unanswered(4))
            || (silent > pause && unanswered(1) && !self.was_marked(at))
            || (flight_before == 0
                && self.last_data.is_some()
                && (silent > pause.max(rest) || self.last_was_short));
        let may_have_paused = is_away && silent > rest / 8 && unanswered(1);
        if may_have_paused && let Some(round) = self.rounds.current() {
            round.begins_late |= round.first_sent.is_none();
        }
        if had_nothing && let Some(round) = self.rounds.current() {
            round.by_application = true;
            round.begins_starved |= round.first_sent.is_none();
        }
    }

    /// Whether a congestion mark was echoed in the last two round trips: a sender that heeds it may be silent for half of one.
    fn was_marked(&self, at: u64) -> bool {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        self.marks.last().is_some_and(|mark| at.saturating_sub(mark.at) <= 2 * round_trip)
    }

    fn watch_flight(&mut self, at: u64, flight: u64) {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        while let Some(resent) = self.resent.get_mut(self.awaited)
            && at.saturating_sub(resent.at) >= round_trip
        {
            resent.flight_later = Some(flight);
            resent.sent_later = self.counts.bytes - resent.sent_later;
            resent.delivered_later = self.board.delivered() - resent.delivered_later;
            self.awaited += 1;
        }
        while let Some(mark) = self.marks.get_mut(self.awaited_marks)
            && at.saturating_sub(mark.at) >= round_trip / 2
        {
            mark.flight_later = Some(flight);
            self.awaited_marks += 1;
        }
        if flight > self.greatest_flight + self.greatest_flight / 32 {
            self.greatest_flight = flight;
            self.climbs.push(Climb { at, flight, sent: self.new_bytes() - self.sent_before });
        }
        if flight >= self.greatest_flight - self.greatest_flight / 16 {
            self.held_at = at;
        }
    }
}
