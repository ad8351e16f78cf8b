//! Processes packets with payload: what they show about rounds, the flight, and the sender's limits.

use super::{FARTHEST, FIRST, Sender};
use crate::events::{Climb, Data};
use crate::rounds::Departure;
use crate::scoreboard::Sighting;

/// A packet with payload, placed in its sender's stream.
#[derive(Clone, Copy)]
struct Sent {
    at: u64,
    start: u64,
    end: u64,
    options_len: u8,
    /// How many of its bytes the scoreboard had seen.
    seen: Sighting,
    /// Number of segments on the wire.
    segments: u64,
    /// State before the packet: the first byte that is not acknowledged, the end of the data sent (`next`), and the bytes in flight
    /// (`flight_before`).
    una: u64,
    next: u64,
    flight_before: u64,
    /// Whether the packet fills a hole but comes too early to be a retransmission, so it was reordered.
    is_late: bool,
    /// Whether the packet is a retransmission.
    is_retransmission: bool,
}

impl Sender {
    /// Processes a packet with payload. The comments give the reasons for the order of the steps.
    pub(crate) fn on_data(&mut self, data: &Data) {
        let Data { at, start, end, answers_echo, .. } = *data;
        // Acknowledgements that the sender received before come first, because they may have released this packet.
        self.receive_until(at);
        if end > self.board.una + FARTHEST || start + FARTHEST < self.board.una {
            self.counts.out_of_window += 1;
            return;
        }

        // The scoreboard distinguishes new bytes, old bytes and captured copies. Copies are not packets of the sender.
        let Some(sent) = self.sighted(data) else {
            self.counts.duplicates += 1;
            return;
        };
        let is_keep_alive = end - start == 1 && end <= sent.una && sent.flight_before == 0;
        self.count(end - start, sent.segments);
        // A keep-alive does not show how the sender sends (RFC 9293 section 3.8.4).
        if is_keep_alive {
            return;
        }
        self.instants.first_data = self.instants.first_data.or(Some(at));
        if sent.is_late {
            self.board.came_late(start, end, at);
            self.counts.reordered += 1;
        }

        // New data with nothing in flight may begin a busy period and a round. All later steps belong to this round.
        if sent.seen.new > 0 && sent.flight_before == 0 && self.instants.last_data.is_some() {
            self.on_data_after_silence(at, start, sent.seen.new);
        } else if self.rounds.current().is_none() {
            self.rounds.begin(at, start, false);
            self.periods.current.began = at;
        }
        if self.board.una < self.board.next {
            self.transfer.sent(at);
        }

        // Whether a timer caused the retransmission depends on the time of the last packet or acknowledgement, so this comes before that
        // time is updated.
        if sent.is_retransmission {
            self.on_retransmission(at, (start, end), sent.una, sent.flight_before, sent.segments, &sent.seen);
        }

        // The silence before the packet shows what limited the sender until now.
        self.note_limits(at, sent.flight_before);
        if answers_echo && let Some(mark) = self.marks.kept.last_mut() {
            mark.flight_at_answer.get_or_insert(sent.flight_before);
        }

        // The flight including this packet shows growth, and the outcome of earlier losses and marks.
        let flight = self.board.flight();
        self.watch_flight(at, flight);
        let is_probe = !sent.is_retransmission && self.is_probe_of_the_first_round(&sent);
        self.enter_in_round(&sent, flight, is_probe);
        self.learn_size(&sent, is_probe);
        self.limits.pushes |= data.is_pushed;
        self.limits.last_was_pushed = data.is_pushed;
        self.fill_window(at);
        self.remember(&sent, flight);
    }

    /// Enters the packet into the scoreboard. Returns `None` if it is a captured copy of an earlier packet.
    fn sighted(&mut self, data: &Data) -> Option<Sent> {
        let Data { at, start, end, origin, options_len, .. } = *data;
        let (una, next, flight_before) = (self.board.una, self.board.next, self.board.flight());
        let soon = self.soon();
        let seen = self.board.saw(at, start, end, &origin, soon);
        if !data.is_timed {
            self.board.forget_time(start, end);
        }
        if seen.is_duplicate {
            return None;
        }
        self.segments.full.passed(end - start, options_len);
        let segments = self.segments.full.segments(end - start, options_len, &self.setting);
        let is_late = seen.again == 0 && seen.exposed.is_some_and(|exposed| !self.answers(at, exposed));
        let is_retransmission = !is_late && seen.again + seen.filled > 0 && seen.new == 0;
        Some(Sent {
            at,
            start,
            end,
            options_len,
            seen,
            segments,
            una,
            next,
            flight_before,
            is_late,
            is_retransmission,
        })
    }

    fn count(&mut self, len: u64, segments: u64) {
        self.counts.segments += segments;
        self.counts.packets += 1;
        self.counts.data_segments += segments;
        self.counts.bytes += len;
    }

    /// Enters the packet into the current round.
    fn enter_in_round(&mut self, sent: &Sent, flight: u64, is_probe: bool) {
        let Sent { at, start, seen, segments, is_late, is_retransmission, .. } = *sent;
        self.segments.probed += if is_probe { seen.new } else { 0 };
        self.rounds.departed(&Departure {
            at,
            new_bytes: seen.new + if is_late { seen.filled } else { 0 },
            segments,
            is_new: !is_retransmission,
            is_probe,
            since_ack: self.instants.last_progress.map(|last| at.saturating_sub(last)),
            flight,
            held_at: self.flight.held_at,
        });
        // A sender sends its data in order. In a capture at the sender, a hole therefore is data that the capture missed.
        let (hole, is_away) = (start.saturating_sub(sent.next), self.setting.shift > 0);
        if let Some(round) = self.rounds.current() {
            round.has_gaps |= hole > 0 && !is_away;
            if is_away {
                // Data in the hole was lost before the capture point, or is late. Late data is counted with its own packet.
                round.begins_behind_hole |= hole > 0 && round.bytes == seen.new;
                round.lost += hole;
            }
            if is_late {
                round.lost = round.lost.saturating_sub(seen.filled);
            }
        }
    }

    /// Updates the estimated size of a full segment, and whether this packet was full.
    fn learn_size(&mut self, sent: &Sent, is_probe: bool) {
        let Sent { start, end, options_len, .. } = *sent;
        let len = self.segments.full.with_options(end - start, options_len, &self.setting);
        if sent.seen.new > 0 {
            let silent = self
                .instants
                .last_progress
                .max(self.instants.last_data)
                .map_or(0, |last| sent.at.saturating_sub(last));
            let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
            let follows = start == sent.next && sent.flight_before > 0 && silent <= round_trip / 8;
            self.segments.full.sent(len, follows, &self.setting);
            if self.rounds.count > 0 {
                self.segments.first.sent_later(
                    len,
                    self.instants.last_progress > self.instants.last_data && silent <= round_trip / 32,
                );
            } else if !is_probe {
                let since = self
                    .instants
                    .last_data
                    .filter(|_| self.limits.last_was_short && silent > round_trip / 32);
                self.segments.first.sent(len, since.map_or(0, |last| sent.at.saturating_sub(last)));
            }
        }
        self.limits.last_was_short = !self.segments.full.is_full(len, &self.setting);
    }

    /// Stores the values that later packets need.
    fn remember(&mut self, sent: &Sent, flight: u64) {
        let Sent { at, start, end, is_retransmission, .. } = *sent;
        self.periods.last_peak = self.periods.last_peak.max(flight);
        self.limits.acked_since = 0;
        self.limits.window.was_full = false;
        self.limits.last_gap = self.instants.last_data.map_or(0, |last| at.saturating_sub(last));
        self.instants.last_data = Some(at);
        if let Some(path) = &mut self.drawn.path {
            path.departed(at, start, end - start);
        }
        if let Some(trace) = &mut self.drawn.trace {
            trace.sends.push((at, start.saturating_sub(FIRST), end - start, is_retransmission));
            trace.flight.push((at, flight));
        }
    }

    /// Checks whether a timer sent this segment of new data before any data was acknowledged, as a tail loss probe (RFC 8985 section 7.2).
    /// A probe comes two RTTs after the previous data; an eighth of an RTT is subtracted for jitter. Two segments in flight are
    /// acknowledged sooner, unless they wait in a queue.
    fn is_probe_of_the_first_round(&self, sent: &Sent) -> bool {
        let Some((last, handshake)) = self.instants.last_data.zip(self.setting.handshake) else {
            return false;
        };
        let wait = 2 * handshake - handshake / 8;
        self.instants.last_progress.is_none()
            && self.rounds.count == 0
            && sent.segments == 1
            && sent.flight_before >= 2 * self.mss()
            && sent.at.saturating_sub(last) >= wait.max(1)
    }

    /// Records the application as the limit if the sender had no data to send before this packet. There are two cases. First, nothing was
    /// in flight, and the sender was silent or its last packet was not full. Second, acknowledgements had arrived to which the sender did
    /// not respond: some of them after a last packet that was not full, or acknowledgements of at least the whole flight during a silence
    /// without a recovery or a mark. Away from the sender, a silence begins at the latest time at which the sender can have received the
    /// acknowledgement.
    ///
    /// A full packet without PSH shows that the application had written more, unless the sender never sets PSH or the socket is corked. If
    /// packets also leave at an even rate and the receiver's window has room, a queue at the sender's host delays them, for example a
    /// shaper's.
    fn note_limits(&mut self, at: u64, flight_before: u64) {
        let silent = self
            .instants
            .last_progress
            .max(self.instants.last_data)
            .map_or(0, |last| at.saturating_sub(last));
        let silent = silent.saturating_sub(self.setting.slack());
        let rest = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0) / 4;
        // Away from the sender, a packet may wait in a queue for as long as an RTT. This wait is not a silence of the sender.
        let is_away = self.setting.shift > 0;
        let pause = if is_away { 4 * rest } else { rest / 8 };
        let mss = self.mss();
        let unanswered = |share: u64| {
            self.recovery.until.is_none()
                && self.limits.acked_since > 4 * mss
                && self.limits.acked_since * share >= flight_before
        };
        let had_nothing = (self.limits.last_was_short && self.limits.acked_since > 0 && silent > pause)
            || (self.limits.last_was_short && unanswered(4))
            || (silent > pause && unanswered(1) && !self.was_marked(at))
            || (flight_before == 0
                && self.instants.last_data.is_some()
                && (silent > pause.max(rest) || self.limits.last_was_short));
        let may_have_paused = is_away && silent > rest / 8 && unanswered(1);
        if may_have_paused && let Some(round) = self.rounds.current() {
            round.begins_late |= round.first_sent.is_none();
        }
        let had_more = self.limits.pushes && !self.limits.last_was_pushed && !self.limits.last_was_short;
        let (gap, before) =
            (self.instants.last_data.map_or(0, |last| at.saturating_sub(last)), self.limits.last_gap);
        let is_even = gap / 2 <= before && before / 2 <= gap;
        let window = &self.limits.window;
        let is_shaped = had_more && is_even && window.full_since.is_none() && !window.was_full;
        if had_nothing && let Some(round) = self.rounds.current() {
            if is_shaped {
                round.by_shaper = true;
                return;
            }
            round.by_application = true;
            round.begins_starved |= round.first_sent.is_none();
        }
    }

    /// Checks whether a congestion mark was echoed in the last two RTTs. A sender that heeds it may be silent for half an RTT.
    fn was_marked(&self, at: u64) -> bool {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        self.marks.kept.last().is_some_and(|mark| at.saturating_sub(mark.at) <= 2 * round_trip)
    }

    fn watch_flight(&mut self, at: u64, flight: u64) {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        while let Some(resent) = self.recovery.resent.get_mut(self.recovery.awaited)
            && at.saturating_sub(resent.at) >= round_trip
        {
            resent.flight_later = Some(flight);
            resent.sent_later = self.counts.bytes - resent.sent_later;
            resent.delivered_later = self.board.delivered() - resent.delivered_later;
            self.recovery.awaited += 1;
        }
        while let Some(mark) = self.marks.kept.get_mut(self.marks.awaited)
            && at.saturating_sub(mark.at) >= round_trip / 2
        {
            mark.flight_later = Some(flight);
            self.marks.awaited += 1;
        }
        if flight > self.flight.greatest + self.flight.greatest / 32 {
            self.flight.greatest = flight;
            self.flight.climbs.push(Climb { at, flight, sent: self.new_bytes() - self.periods.sent_before });
        }
        if flight >= self.flight.greatest - self.flight.greatest / 16 {
            self.flight.held_at = at;
        }
    }
}
