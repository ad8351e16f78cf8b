//! RACK-TLP (RFC 8985): losses by time, and a probe for a lost tail.

use firstflight::{Bytes, Span, Time};

use super::scoreboard::Arrival;

/// RFC 8985 section 6.2 step 4: the reordering window is a multiple of a quarter of the minimum RTT.
const REORDER_DIVISOR: u64 = 4;
/// RFC 8985 section 7.2: the worst-case delayed-ACK timer, allowed for when a single segment is in flight.
const WORST_CASE_DELAYED_ACK: Span = Span::from_millis(200);
/// RFC 8985 section 7.2: the probe timeout without any RTT sample.
const PROBE_WITHOUT_RTT: Span = Span::from_secs(1);

/// Linux `tcp_max_reordering`.
const MOST_REORDERING: u64 = 300;

/// RACK's state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// The most recently sent packet that was delivered, or nought. Packet numbers order transmissions exactly, where
    /// the RFC, having none, orders by `RACK.xmit_ts` and breaks ties by `RACK.end_seq`.
    pub(crate) newest: u64,
    /// Whether anything was delivered since losses were looked for.
    pub(crate) advanced: bool,
    /// Whether the last ACK set the reordering timer.
    pub(crate) timed: bool,
    /// `RACK.rtt`: its round trip.
    pub(super) rtt: Span,
    /// The highest sequence delivered (`RACK.fack`).
    pub(super) fack: u64,
    /// `RACK.reordering_seen`.
    pub(crate) reordering_seen: bool,
    /// The greatest distance seen, in segments, by which one arrived late (Linux `tcpi_reordering`).
    pub(crate) reordering: u64,
    /// How often one did (Linux `tcpi_reord_seen`).
    pub(crate) reorderings_seen: u64,
}

impl Rack {
    /// Segments are taken to arrive late by up to `reordering`.
    pub(crate) fn new(reordering: u64) -> Self {
        Self { reordering, ..Self::default() }
    }

    /// The most recently sent packet that was delivered, if any was.
    pub(crate) fn newest(&self) -> Option<u64> {
        (self.fack > 0).then_some(self.newest)
    }

    /// RFC 8985 section 6.2 steps 2 and 3: a segment was delivered at `now`.
    pub(crate) fn delivered(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival, as_linux: bool) {
        let rtt = now.since(arrival.delivered.sent_at);
        self.reordering_seen |= if as_linux {
            // `tcp_check_sack_reordering`: what one ACK tells of is not late against the rest of it.
            self.reorderings_seen > 0
        } else {
            !arrival.delivered.retransmitted && arrival.end < self.fack
        };
        let newer = self.newest().is_none_or(|newest| arrival.delivered.packet > newest);
        self.fack = self.fack.max(arrival.end);
        // A retransmission answered faster than any round trip was answered by its original.
        if arrival.delivered.retransmitted && min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.advanced = true;
        if newer {
            self.newest = arrival.delivered.packet;
        }
        // `tcp_rack_advance` takes the round trip of whatever it sees last.
        if newer || as_linux {
            self.rtt = rtt;
        }
    }

    /// How long after its transmission a segment is overdue, once a later one was delivered: RACK.rtt and the
    /// reordering window (RFC 8985 section 6.2 steps 4 and 5).
    pub(crate) fn patience(&self, srtt: Option<Span>, min_rtt: Option<Span>, eager: bool) -> Span {
        let window = if !self.reordering_seen && eager {
            Span::ZERO
        } else {
            min_rtt.map_or(Span::ZERO, |min| min / REORDER_DIVISOR).min(srtt.unwrap_or(Span::MAX))
        };
        self.rtt + window
    }
}

impl Rack {
    /// Segments of `mss` bytes, never sent again, were delivered from `start` on, below what was delivered before
    /// (Linux `tcp_check_sack_reordering`).
    pub(crate) fn note_late(&mut self, start: u64, mss: Bytes) {
        if start < self.fack {
            self.note_degree(self.reordering.max((self.fack - start).div_ceil(mss.get())));
        }
    }

    /// Something arrived late by `degree` segments.
    pub(crate) fn note_degree(&mut self, degree: u64) {
        self.reordering = degree.min(MOST_REORDERING);
        self.reorderings_seen += 1;
    }
}

/// A tail loss probe that is not answered yet (RFC 8985 section 7.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// `TLP.end_seq`.
    pub(crate) end: u64,
    /// `TLP.is_retrans`.
    pub(crate) retransmission: bool,
}

/// Linux `TCP_TIMEOUT_MIN`: two ticks of a millisecond, added to what is measured.
pub(crate) const LEAST_TIMEOUT: Span = Span::from_millis(2);

/// RFC 8985 section 7.2: twice the smoothed RTT, and the worst-case delayed ACK if a single segment is in flight.
pub(crate) fn probe_timeout(srtt: Option<Span>, single: bool) -> Span {
    match srtt {
        Some(srtt) if single => srtt * 2 + WORST_CASE_DELAYED_ACK,
        Some(srtt) => srtt * 2,
        None => PROBE_WITHOUT_RTT,
    }
}
