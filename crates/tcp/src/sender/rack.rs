//! RACK-TLP (RFC 8985): losses by time, and a probe for a lost tail.

use firstflight::{Bytes, LostPacket, Span, Time};

use super::scoreboard::Arrival;

/// RFC 8985 section 6.2 step 4: the reordering window is a multiple of a quarter of the minimum RTT.
const REORDER_DIVISOR: u64 = 4;
/// RFC 8985 section 6.2 step 4: the number of recoveries for which a widened reordering window stays wide.
const RECOVERIES_WIDE: u8 = 16;
/// RFC 8985 section 7.2: the worst-case delayed-ACK timer, allowed for when a single segment is in flight.
pub(super) const WORST_CASE_DELAYED_ACK: Span = Span::from_millis(200);
/// RFC 8985 section 7.2: the probe timeout without any RTT sample.
const PROBE_WITHOUT_RTT: Span = Span::from_secs(1);

/// Linux `tcp_max_reordering`.
const MOST_REORDERING: u64 = 300;

/// RACK's state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// The most recently sent packet that was delivered, or 0. Packet numbers order transmissions exactly; the RFC, having
    /// none, orders by `RACK.xmit_ts` and breaks ties by `RACK.end_seq`.
    pub(crate) newest: u64,
    /// Whether anything was delivered since losses were looked for.
    pub(crate) advanced: bool,
    /// Whether the last ACK set the reordering timer.
    pub(crate) timed: bool,
    /// `RACK.rtt`: the round trip of what was delivered last, whenever it left (RFC 8985 section 5.3).
    pub(super) rtt: Span,
    /// The highest sequence delivered (`RACK.fack`).
    pub(super) fack: u64,
    /// `RACK.reordering_seen`.
    pub(crate) reordering_seen: bool,
    /// The greatest distance, in segments, by which a segment arrived late (Linux `tcpi_reordering`).
    pub(crate) reordering: u64,
    /// How often a segment arrived late (Linux `tcpi_reord_seen`).
    pub(crate) reorderings_seen: u64,
}

impl Rack {
    /// Before anything is delivered. Segments may arrive late by up to `reordering`.
    pub(crate) fn new(reordering: u64) -> Self {
        Self { reordering, ..Self::default() }
    }

    /// The most recently sent packet that was delivered, if any was.
    pub(crate) fn newest(&self) -> Option<u64> {
        (self.fack > 0).then_some(self.newest)
    }

    /// RFC 8985 section 6.2 steps 2 and 3: a segment was delivered at `now`.
    pub(crate) fn delivered(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        self.reordering_seen |= !arrival.delivered.retransmitted && arrival.end < self.fack;
        self.take(now, min_rtt, arrival);
    }

    /// A segment was delivered at `now`, with reordering as Linux sees it (`tcp_check_sack_reordering`): [`Rack::note_late`]
    /// counted it before, for segments that one ACK tells of are not late against each other.
    pub(crate) fn delivered_as_counted(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        self.reordering_seen |= self.reorderings_seen > 0;
        self.take(now, min_rtt, arrival);
    }

    #[inline]
    fn take(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        let rtt = now.since(arrival.delivered.sent_at);
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
        self.rtt = rtt;
    }

    /// How long after its transmission a segment is overdue, once a later one was delivered: `RACK.rtt` and the reordering
    /// window (RFC 8985 section 6.2 steps 4 and 5). An `eager` sender has no reordering window before reordering was seen.
    pub(crate) fn overdue_after(
        &self,
        srtt: Option<Span>,
        min_rtt: Option<Span>,
        widening: &Widening,
        eager: bool,
    ) -> Span {
        let window = if !self.reordering_seen && eager {
            Span::ZERO
        } else {
            let wide = min_rtt.map_or(Span::ZERO, |min| min * u64::from(widening.multiple) / REORDER_DIVISOR);
            wide.min(srtt.unwrap_or(Span::MAX))
        };
        self.rtt + window
    }
}

impl Rack {
    /// Segments of `mss` bytes that left once were delivered from `start` on. They are late if that is below what was delivered
    /// before (Linux `tcp_check_sack_reordering`).
    pub(crate) fn note_late(&mut self, start: u64, mss: Bytes) {
        if start < self.fack {
            self.note_degree(self.reordering.max((self.fack - start).div_ceil(mss.get())));
        }
    }

    /// A segment arrived late by `degree` segments.
    pub(crate) fn note_degree(&mut self, degree: u64) {
        self.reordering = degree.min(MOST_REORDERING);
        self.reorderings_seen += 1;
    }
}

/// The reordering window grows where it was too narrow: with the round trips in which the receiver reports that data came
/// twice (RFC 8985 section 6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widening {
    /// `RACK.dsack_round`: reports of duplicates widen the window no more until this is acknowledged.
    round: Option<u64>,
    /// `RACK.reo_wnd_mult`: the window in quarters of the least round trip. The smoothed round trip bounds the window long
    /// before this overflows.
    multiple: u8,
    /// `RACK.reo_wnd_persist`: the number of further recoveries for which the reordering window stays wide.
    persist: u8,
}

impl Default for Widening {
    fn default() -> Self {
        Self { round: None, multiple: 1, persist: RECOVERIES_WIDE }
    }
}

impl Widening {
    /// A duplicate was reported while `una` to `nxt` is outstanding. Says whether the window grew.
    pub(crate) fn on_duplicate(&mut self, una: u64, nxt: u64) -> bool {
        let anew = self.round.is_none_or(|round| una >= round);
        if anew {
            self.round = Some(nxt);
            self.multiple = self.multiple.saturating_add(1);
            self.persist = RECOVERIES_WIDE;
        }
        anew
    }

    /// A recovery is over, and its last ACK did not widen the window.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }
}

/// A tail loss probe that left (RFC 8985 section 7.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// `TLP.end_seq`.
    pub(crate) end: u64,
    /// The packet that the probe sent again, if it did (`TLP.is_retrans`). It was lost if the probe repaired a loss.
    pub(crate) again: Option<LostPacket>,
}

/// The tail loss probe: one that is to leave, and one that left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// Whether a probe is to leave.
    due: bool,
    /// The probe that left and is not answered yet.
    unanswered: Option<Probe>,
}

impl TailProbe {
    /// Whether none is to leave and none is unanswered.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.due && self.unanswered.is_none()
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    #[inline]
    pub(super) fn unanswered(&self) -> Option<Probe> {
        self.unanswered
    }

    #[inline]
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered.is_some()
    }

    /// The timer fired: a probe leaves if there is anything `outstanding`.
    pub(super) fn call_for(&mut self, outstanding: bool) {
        self.due = outstanding;
    }

    /// Whether a probe is to leave; asking clears it.
    pub(super) fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.due)
    }

    /// A probe left.
    pub(super) fn left(&mut self, probe: Probe) {
        self.unanswered = Some(probe);
    }

    /// The probe that left needs no answer any more.
    pub(super) fn forget(&mut self) {
        self.unanswered = None;
    }
}

/// Linux `TCP_TIMEOUT_MIN`: two ticks of a millisecond, added to what is measured.
pub(crate) const LEAST_TIMEOUT: Span = Span::from_millis(2);

/// RFC 8985 section 7.2: twice the smoothed RTT, and an allowance.
pub(crate) fn probe_timeout(srtt: Option<Span>, allowance: Span) -> Span {
    srtt.map_or(PROBE_WITHOUT_RTT, |srtt| srtt * 2 + allowance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the window is worth, of a round trip of 40 ms at the least.
    fn window(widening: &Widening) -> Span {
        let rack = Rack { reordering_seen: true, ..Rack::default() };
        rack.overdue_after(Some(Span::from_millis(100)), Some(Span::from_millis(40)), widening, true)
    }

    #[test]
    fn the_reordering_window_grows_once_a_round_trip_up_to_the_smoothed_one() {
        let mut widening = Widening::default();
        assert_eq!(window(&widening), Span::from_millis(10));
        assert!(widening.on_duplicate(1_000, 9_000));
        assert!(!widening.on_duplicate(8_999, 12_000), "what was out then is not all acknowledged");
        assert_eq!(window(&widening), Span::from_millis(20));
        assert!(widening.on_duplicate(9_000, 20_000));
        assert_eq!(window(&widening), Span::from_millis(30));
        for round in 2..400 {
            widening.on_duplicate(round * 10_000, round * 10_000 + 10_000);
        }
        assert_eq!(window(&widening), Span::from_millis(100));
    }

    #[test]
    fn sixteen_recoveries_without_a_duplicate_narrow_it_again() {
        let mut widening = Widening::default();
        widening.on_duplicate(1_000, 9_000);
        for _ in 0..15 {
            widening.on_recovered();
        }
        assert_eq!(window(&widening), Span::from_millis(20));
        widening.on_recovered();
        assert_eq!(window(&widening), Span::from_millis(10));
    }
}
