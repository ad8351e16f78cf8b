//! Rounds: a round begins with an acknowledgement, or with the first data, and ends with the first acknowledgement
//! of anything sent in it. Its mark is what had been sent when it began (RFC 9406 section 4.2's `windowEnd`;
//! Linux's `end_seq`). So the first round sends the initial window.

use serde::{Deserialize, Serialize};

use crate::few::Few;

/// The rounds kept; a start-up that takes more is counted on, but not listed.
pub(crate) const MOST_ROUNDS: usize = 256;

/// The departures of a round whose gaps are measured: 380 MB of full segments in a round trip, and 8 MB of memory. A
/// round that nothing ends, for the capture has no acknowledgements, may have any number.
const MOST_GAPS: usize = 1 << 18;

/// One round, as it went.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) began: u64,
    pub(crate) ended: Option<u64>,
    /// New payload sent, and in how many segments.
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
    /// Segments sent again.
    pub(crate) resent: u64,
    /// Acknowledgements of something new, and how much they acknowledged.
    pub(crate) acks: u64,
    pub(crate) acked: u64,
    pub(crate) first_sent: Option<u64>,
    pub(crate) last_sent: Option<u64>,
    /// The most in flight.
    pub(crate) peak: u64,
    /// When, by the end of the round, the connection's flight was last within a sixteenth of its greatest.
    pub(crate) held_at: u64,
    /// The longest time between two departures.
    pub(crate) widest: u64,
    /// Departures after the first, and how many of them were back to back.
    pub(crate) departures: u64,
    pub(crate) back_to_back: u64,
    /// Bursts after the first, and how many of them left as an acknowledgement came.
    pub(crate) bursts: u64,
    pub(crate) triggered: u64,
    /// What held the sender back.
    pub(crate) by_application: bool,
    pub(crate) by_receiver: bool,
    /// Whether some of its data was not in the capture.
    pub(crate) has_gaps: bool,
    /// Away from the sender: bytes of holes before its packets that no packet filled in it but a late one, and whether
    /// its first packet had such a hole before it.
    pub(crate) lost: u64,
    pub(crate) begins_behind_hole: bool,
    /// Whether it began with new data after an idle time.
    pub(crate) after_idle: bool,
    /// Whether the application was the limit before its first packet.
    pub(crate) begins_starved: bool,
    /// Away from the sender: whether its first packet came so late that the application paused, or the packet waited on its way.
    pub(crate) begins_late: bool,
}

/// A departure: since the one before it, and since the acknowledgement before it.
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
    /// The rounds since the last idle time, once there was one.
    later: Few<Round>,
    /// How many rounds ended before the last idle time.
    pub(crate) before: u64,
    current: Option<Box<Round>>,
    /// Acknowledging beyond this ends the current round.
    mark: u64,
    /// Departures of the current round.
    gaps: Vec<Gap>,
}

/// A packet of data that left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: u64,
    pub(crate) new_bytes: u64,
    pub(crate) segments: u64,
    pub(crate) is_new: bool,
    /// Whether a timer sent it before anything was acknowledged.
    pub(crate) is_probe: bool,
    pub(crate) since_ack: Option<u64>,
    /// In flight with it.
    pub(crate) flight: u64,
    pub(crate) held_at: u64,
}

/// The shortest span that can tell a departure caused by an acknowledgement from a paced one: hosts take tens of
/// microseconds.
const REACTION: u64 = 50_000;

impl Rounds {
    /// Begins a round at new data: the first, or the first after an idle time. What is acknowledged beyond `mark`
    /// ends it.
    pub(crate) fn begin(&mut self, at: u64, mark: u64, after_idle: bool) {
        self.finish(at);
        if after_idle {
            self.later.clear();
            self.before = self.count;
        }
        self.mark = mark;
        self.current = Some(Box::new(Round { began: at, after_idle, ..Round::default() }));
    }

    /// The rounds since the last idle time, or since the first data; the first 256 of them.
    pub(crate) fn of_period(&self) -> &[Round] {
        if self.before == 0 { &self.kept } else { &self.later }
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
        // A timer's has nothing to do with how the others left.
        if is_probe {
            return;
        }
        let gap = match round.last_sent {
            Some(last) => Gap { since_last: at.saturating_sub(last), since_ack, segments },
            // The rest of a first packet of several segments left back to back with it.
            None => Gap { since_last: u64::MAX, since_ack: None, segments },
        };
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(gap);
        }
        round.first_sent = round.first_sent.or(Some(at));
        round.last_sent = Some(at);
    }

    /// What is known of the receiver's window was wrong: it held nothing back.
    pub(crate) fn forget_receiver(&mut self) {
        self.kept.iter_mut().chain(self.later.iter_mut()).for_each(|round| round.by_receiver = false);
    }

    /// An acknowledgement, cumulative or selective, up to `highest`, of `acked` new bytes; `next` had been sent by
    /// then. Says whether a round ended.
    pub(crate) fn acknowledged(&mut self, at: u64, highest: u64, acked: u64, next: u64) -> bool {
        let Some(round) = &mut self.current else { return false };
        let ends = highest > self.mark;
        if !ends {
            round.acks += 1;
            round.acked += acked;
            return false;
        }
        self.finish(at);
        self.mark = next;
        self.current = Some(Box::new(Round { began: at, acks: 1, acked, ..Round::default() }));
        true
    }

    /// Ends the current round, if there is one.
    pub(crate) fn finish(&mut self, at: u64) {
        if let Some(mut round) = self.current.take() {
            round.ended = Some(at);
            self.keep(*round);
        }
    }

    /// Gives back memory that a connection that is closed does not need.
    pub(crate) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
        self.later.shrink_to_fit();
        self.gaps = Vec::new();
        // One that sent nothing yet is none.
        self.current = self.current.take().filter(|round| round.bytes + round.resent > 0);
    }

    /// The connection is over: the last round stays open.
    pub(crate) fn close(&mut self) {
        if let Some(round) = self.current.take() {
            self.keep(*round);
        }
    }

    /// A round that began with the last acknowledgement before a pause sent nothing, and is none.
    fn keep(&mut self, mut round: Round) {
        if round.bytes + round.resent == 0 {
            return;
        }
        measure(&mut round, &self.gaps);
        self.gaps.clear();
        self.count += 1;
        if self.kept.len() < MOST_ROUNDS {
            self.kept.push(round);
        }
        if self.before > 0 && self.later.len() < MOST_ROUNDS {
            self.later.push(round);
        }
    }
}

/// How the round's packets left. Two are back to back if the second comes within an eighth of the spacing that
/// would spread the round's segments evenly over it; one is triggered by an acknowledgement if it leaves within
/// that span of it, or within 50 microseconds, but never within more than half of the even spacing.
fn measure(round: &mut Round, gaps: &[Gap]) {
    let end = round.ended.or(round.last_sent).unwrap_or(round.began);
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
