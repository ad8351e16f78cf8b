//! Divides a connection into rounds. A round begins with an acknowledgement or with the first data, and ends with the first acknowledgement
//! of anything sent in it. Its mark is the end of the data sent when it began (`windowEnd` in RFC 9406 section 4.2, `end_seq` in Linux).
//! The first round therefore consists of the initial window.

use serde::{Deserialize, Serialize};

use crate::few::Few;

/// Maximum number of rounds kept. Later rounds are counted but not listed.
pub(crate) const MAX_ROUNDS: usize = 256;

/// Maximum number of transmissions per round whose gaps are measured. This is enough for 380 MB of full segments in an RTT, and takes 8 MB
/// of memory. A round that never ends, because the capture has no acknowledgements, may have more.
const MAX_GAPS: usize = 1 << 18;

/// Measurements of one round.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) began: u64,
    pub(crate) ended: Option<u64>,
    /// Number of new payload bytes sent. `segments` is the number of segments that carried them.
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
    /// Number of retransmitted segments.
    pub(crate) resent: u64,
    /// Number of acknowledgements of new data. `acked` is the number of bytes that they acknowledged.
    pub(crate) acks: u64,
    pub(crate) acked: u64,
    /// Number of bytes delivered after the acknowledgement that began the round, up to the acknowledgement that ended it.
    pub(crate) delivered: u64,
    /// Transmission time of the newest packet delivered by the acknowledgement that began the round, and of the newest one delivered by the
    /// acknowledgement that ended it.
    pub(crate) newest: [Option<u64>; 2],
    pub(crate) first_sent: Option<u64>,
    pub(crate) last_sent: Option<u64>,
    /// Maximum number of bytes in flight.
    pub(crate) peak: u64,
    /// Last time up to the end of the round at which the flight was within a sixteenth of the connection's maximum.
    pub(crate) held_at: u64,
    /// Longest time between two transmissions of the round.
    pub(crate) widest: u64,
    /// Number of transmissions after the first. `back_to_back` is the number of them that were back to back with the previous one.
    pub(crate) departures: u64,
    pub(crate) back_to_back: u64,
    /// Number of bursts after the first. `triggered` is the number of them that were sent when an acknowledgement arrived.
    pub(crate) bursts: u64,
    pub(crate) triggered: u64,
    /// Whether the application limited the sender. `by_receiver` says whether the receiver's window was full for more than half of the
    /// round.
    pub(crate) by_application: bool,
    pub(crate) by_receiver: bool,
    /// Whether packets waited at the sender's host after TCP had sent them, as behind a shaper.
    pub(crate) by_shaper: bool,
    /// Time for which the receiver's window had no room for a full segment.
    pub(crate) window_full: u64,
    /// Whether the capture lacks some of the round's data.
    pub(crate) has_gaps: bool,
    /// Only away from the sender: number of bytes of the holes before the round's packets, minus those that late packets filled in the
    /// round. `begins_behind_hole` says whether there was a hole before the round's first packet.
    pub(crate) lost: u64,
    pub(crate) begins_behind_hole: bool,
    /// Whether the round began with new data after an idle time.
    pub(crate) after_idle: bool,
    /// Whether the application limited the sender before the round's first packet.
    pub(crate) begins_starved: bool,
    /// Only away from the sender: whether the round's first packet came so late that either the application paused or the packet was
    /// queued.
    pub(crate) begins_late: bool,
}

/// Checks whether a queue at the sender's host, such as a shaper's, bounded half of the rounds or more.
pub(crate) fn are_shaped(rounds: &[Round]) -> bool {
    let shaped = rounds.iter().filter(|round| round.by_shaper).count();
    shaped > 0 && 2 * shaped >= rounds.len()
}

/// Times since the previous transmission and since the previous acknowledgement, for one transmission.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Gap {
    since_last: u64,
    since_ack: Option<u64>,
    segments: u64,
}

/// The rounds so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rounds {
    pub(crate) kept: Vec<Round>,
    pub(crate) count: u64,
    /// The rounds since the last idle time. Empty if there was no idle time.
    later: Few<Round>,
    /// Number of rounds that ended before the last idle time.
    pub(crate) before: u64,
    current: Option<Box<Round>>,
    /// Stream offset that ends the current round: an acknowledgement above it does.
    mark: u64,
    /// The transmissions of the current round.
    gaps: Vec<Gap>,
}

/// An acknowledgement that acknowledges something new, cumulatively or selectively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: u64,
    /// The stream offset after the highest acknowledged byte.
    pub(crate) highest: u64,
    /// Number of bytes acknowledged.
    pub(crate) acked: u64,
    /// Number of bytes delivered: bytes that no earlier acknowledgement reported, cumulatively or selectively.
    pub(crate) delivered: u64,
    /// Transmission time of the newest packet that this acknowledgement delivers.
    pub(crate) newest_sent: Option<u64>,
    /// End of the data sent so far, as a stream offset.
    pub(crate) next: u64,
}

/// A transmitted data packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: u64,
    pub(crate) new_bytes: u64,
    pub(crate) segments: u64,
    pub(crate) is_new: bool,
    /// Whether a timer sent the packet before any data was acknowledged.
    pub(crate) is_probe: bool,
    pub(crate) since_ack: Option<u64>,
    /// Bytes in flight, including this packet.
    pub(crate) flight: u64,
    pub(crate) held_at: u64,
}

/// Maximum time after an acknowledgement for a transmission to count as triggered by it, in nanoseconds. The limit is also half of the even
/// spacing of packets. Hosts take tens of microseconds.
const REACTION: u64 = 50_000;

impl Round {
    /// Returns the bytes delivered in the round and the time that this took. The time is the round's length, or the time in which the bytes
    /// were sent if that is longer. It avoids a rate that is too high because delayed acknowledgements arrive faster than the path
    /// delivered (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
    pub(crate) fn delivery(&self) -> Option<(u64, u64)> {
        let length = self.ended?.saturating_sub(self.began);
        let sent_in =
            self.newest[0].zip(self.newest[1]).map_or(0, |(first, last)| last.saturating_sub(first));
        Some((self.delivered, length.max(sent_in))).filter(|(_, time)| *time > 0)
    }
}

impl Rounds {
    /// Begins a round at new data: at the first data, or at the first data after an idle time. An acknowledgement above `mark` ends the
    /// round.
    pub(crate) fn begin(&mut self, at: u64, mark: u64, after_idle: bool) {
        self.finish(at);
        if after_idle {
            self.later.clear();
            self.before = self.count;
        }
        self.mark = mark;
        self.current = Some(Box::new(Round { began: at, after_idle, ..Round::default() }));
    }

    /// Returns the rounds since the last idle time or, without one, since the first data. At most the first 256.
    pub(crate) fn of_period(&self) -> &[Round] {
        if self.before == 0 { &self.kept } else { &self.later }
    }

    /// Returns the maximum number of bytes in flight in the last round in which something was sent.
    pub(crate) fn latest_peak(&self) -> u64 {
        let current = self.current.as_deref().filter(|round| round.peak > 0);
        let last = if self.before == 0 { self.kept.last() } else { self.later.last() };
        current.or(last).map_or(0, |round| round.peak)
    }

    pub(crate) fn current(&mut self) -> Option<&mut Round> {
        self.current.as_deref_mut()
    }

    pub(crate) fn departed(&mut self, departure: &Departure) {
        let Some(round) = &mut self.current else { return };
        let Departure { at, new_bytes, segments, is_new, is_probe, since_ack, flight, held_at } = *departure;
        if is_new {
            round.bytes += new_bytes;
            round.segments += segments;
        } else {
            round.resent += segments;
        }
        round.peak = round.peak.max(flight);
        round.held_at = held_at;
        // A packet that a timer sent does not show how the other packets were sent.
        if is_probe {
            return;
        }
        let gap = match round.last_sent {
            Some(last) => Gap { since_last: at.saturating_sub(last), since_ack, segments },
            // The first packet has several segments. The segments after its first were sent back to back.
            None => Gap { since_last: u64::MAX, since_ack: None, segments },
        };
        if self.gaps.len() < MAX_GAPS {
            self.gaps.push(gap);
        }
        round.first_sent = round.first_sent.or(Some(at));
        round.last_sent = Some(at);
    }

    /// Removes the receiver as the limit of all rounds, because the meaning of its window was misread.
    pub(crate) fn forget_receiver(&mut self) {
        self.kept.iter_mut().chain(self.later.iter_mut()).for_each(|round| round.by_receiver = false);
    }

    /// Adds an acknowledgement to the current round. Returns whether a round ended.
    pub(crate) fn acknowledged(&mut self, arrival: &Arrival) -> bool {
        let Arrival { at, highest, acked, delivered, newest_sent, next } = *arrival;
        let Some(round) = &mut self.current else { return false };
        round.delivered += delivered;
        if highest <= self.mark {
            round.acks += 1;
            round.acked += acked;
            return false;
        }
        round.newest[1] = newest_sent;
        self.finish(at);
        self.mark = next;
        let newest = [newest_sent, None];
        self.current = Some(Box::new(Round { began: at, acks: 1, acked, newest, ..Round::default() }));
        true
    }

    /// Ends the current round at the time `at`, if there is one.
    pub(crate) fn finish(&mut self, at: u64) {
        if let Some(mut round) = self.current.take() {
            round.ended = Some(at);
            self.keep(*round);
        }
    }

    /// Releases memory that a closed connection does not need.
    pub(crate) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
        self.later.shrink_to_fit();
        self.gaps = Vec::new();
        // Drops a round that has sent nothing yet.
        self.current = self.current.take().filter(|round| round.bytes + round.resent > 0);
    }

    /// Keeps the last round, without an end time, when the connection is over.
    pub(crate) fn close(&mut self) {
        if let Some(round) = self.current.take() {
            self.keep(*round);
        }
    }

    /// Measures the round and keeps it. Drops a round that sent nothing: it began with the last acknowledgement before a pause.
    fn keep(&mut self, mut round: Round) {
        if round.bytes + round.resent == 0 {
            return;
        }
        measure(&mut round, &self.gaps);
        self.gaps.clear();
        self.count += 1;
        if self.kept.len() < MAX_ROUNDS {
            self.kept.push(round);
        }
        if self.before > 0 && self.later.len() < MAX_ROUNDS {
            self.later.push(round);
        }
    }
}

/// Determines whether the receiver limited the sender in the round, and how the round's packets were sent. Two packets are back to back if
/// the gap between them is at most an eighth of the even spacing of the round's segments. A packet is triggered by an acknowledgement if it
/// follows within this eighth, or within 50 microseconds but at most half of the even spacing.
fn measure(round: &mut Round, gaps: &[Gap]) {
    let end = round.ended.or(round.last_sent).unwrap_or(round.began);
    round.by_receiver = round.window_full > end.saturating_sub(round.began) / 2;
    let segments = round.segments + round.resent;
    let even = end.saturating_sub(round.began) / segments.max(1);
    let close = even / 8;
    let prompt = close.max(REACTION.min(even / 2));
    for gap in gaps {
        let inside = gap.segments.saturating_sub(1);
        round.departures += inside;
        round.back_to_back += inside;
        if gap.since_last == u64::MAX {
            continue;
        }
        round.departures += 1;
        round.widest = round.widest.max(gap.since_last);
        if gap.since_last <= close {
            round.back_to_back += 1;
        } else {
            round.bursts += 1;
            round.triggered += u64::from(gap.since_ack.is_some_and(|since| since <= prompt));
        }
    }
}
