//! RACK-TLP (RFC 8985): loss detection by time, and a probe for a lost tail.

use firstflight::{Bytes, LostPacket, Span, Time};

use super::scoreboard::Arrival;

/// The reordering window is a multiple of the minimum RTT divided by this number (RFC 8985 section 6.2 step 4).
const REORDER_DIVISOR: u64 = 4;
/// Number of recoveries for which an enlarged reordering window is kept (RFC 8985 section 6.2 step 4).
const RECOVERIES_WIDE: u8 = 16;
/// Worst-case delay of a delayed ACK, which the probe timeout allows for if a single segment is in flight (RFC 8985 section 7.2).
pub(super) const WORST_CASE_DELAYED_ACK: Span = Span::from_millis(200);
/// The probe timeout if there is no RTT sample (RFC 8985 section 7.2).
const PROBE_WITHOUT_RTT: Span = Span::from_secs(1);

/// Maximum of the degree of reordering, in segments (Linux `tcp_max_reordering`).
const MAX_REORDERING: u64 = 300;

/// The state of RACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// Number of the last sent packet among those delivered; 0 if none was. Packet numbers give the exact order of transmissions. The RFC
    /// has no packet numbers; it uses the order of `RACK.xmit_ts`, and of `RACK.end_seq` if times are equal.
    pub(crate) newest: u64,
    /// Whether a segment was delivered since the last loss detection.
    pub(crate) advanced: bool,
    /// Whether the last ACK started the reordering timer.
    pub(crate) timed: bool,
    /// `RACK.rtt`: the RTT of the segment that was delivered last, whenever it was sent (RFC 8985 section 5.3).
    pub(super) rtt: Span,
    /// The highest stream offset delivered (`RACK.fack`).
    pub(super) fack: u64,
    /// Whether reordering was seen (`RACK.reordering_seen`).
    pub(crate) reordering_seen: bool,
    /// The greatest distance, in segments, by which a segment arrived late (Linux `tcpi_reordering`).
    pub(crate) reordering: u64,
    /// Number of segments that arrived late (Linux `tcpi_reord_seen`).
    pub(crate) reorderings_seen: u64,
}

impl Rack {
    /// Creates the state before anything is delivered. Segments may arrive late by up to `reordering` segments.
    pub(crate) fn new(reordering: u64) -> Self {
        Self { reordering, ..Self::default() }
    }

    /// Returns the number of the last sent packet among those delivered; `None` if none was.
    pub(crate) fn newest(&self) -> Option<u64> {
        (self.fack > 0).then_some(self.newest)
    }

    /// Processes a segment delivered at `now` (RFC 8985 section 6.2 steps 2 and 3).
    pub(crate) fn delivered(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        self.reordering_seen |= !arrival.delivered.retransmitted && arrival.end < self.fack;
        self.take(now, min_rtt, arrival);
    }

    /// Processes a segment delivered at `now` with Linux's definition of reordering (`tcp_check_sack_reordering`). [`Rack::note_late`] must
    /// have been called before, because segments reported by the same ACK are not late relative to each other.
    pub(crate) fn delivered_as_counted(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        self.reordering_seen |= self.reorderings_seen > 0;
        self.take(now, min_rtt, arrival);
    }

    #[inline]
    fn take(&mut self, now: Time, min_rtt: Option<Span>, arrival: &Arrival) {
        let rtt = now.since(arrival.delivered.sent_at);
        let newer = self.newest().is_none_or(|newest| arrival.delivered.packet > newest);
        self.fack = self.fack.max(arrival.end);
        // If a retransmission seems to be acknowledged faster than the minimum RTT, its original was acknowledged.
        if arrival.delivered.retransmitted && min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.advanced = true;
        if newer {
            self.newest = arrival.delivered.packet;
        }
        self.rtt = rtt;
    }

    /// Returns how long after its transmission a segment is overdue if a later one was delivered. It is `RACK.rtt` plus the reordering
    /// window (RFC 8985 section 6.2 steps 4 and 5). With `eager`, the reordering window is zero until reordering is seen.
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
    /// Records the delivery of segments of `mss` bytes that were sent once, of which the lowest begins at `start`. They are late if `start`
    /// is below data delivered before (Linux `tcp_check_sack_reordering`).
    pub(crate) fn note_late(&mut self, start: u64, mss: Bytes) {
        if start < self.fack {
            self.note_degree(self.reordering.max((self.fack - start).div_ceil(mss.get())));
        }
    }

    /// Records that a segment arrived late by `degree` segments.
    pub(crate) fn note_degree(&mut self, degree: u64) {
        self.reordering = degree.min(MAX_REORDERING);
        self.reorderings_seen += 1;
    }
}

/// The adaptation of the reordering window. The window grows once per RTT if the receiver reports duplicates (RFC 8985 section 6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widening {
    /// `RACK.dsack_round`: the stream offset that must be acknowledged before a DSACK enlarges the window again.
    round: Option<u64>,
    /// `RACK.reo_wnd_mult`: the reordering window in quarters of the minimum RTT. The window is limited to the smoothed RTT long before
    /// this number overflows.
    multiple: u8,
    /// `RACK.reo_wnd_persist`: the number of recoveries for which the enlarged window is still kept.
    persist: u8,
}

impl Default for Widening {
    fn default() -> Self {
        Self { round: None, multiple: 1, persist: RECOVERIES_WIDE }
    }
}

impl Widening {
    /// Processes a DSACK while the data from `una` to `nxt` is outstanding. Returns whether the window grew.
    pub(crate) fn on_duplicate(&mut self, una: u64, nxt: u64) -> bool {
        let anew = self.round.is_none_or(|round| una >= round);
        if anew {
            self.round = Some(nxt);
            self.multiple = self.multiple.saturating_add(1);
            self.persist = RECOVERIES_WIDE;
        }
        anew
    }

    /// Records the end of a recovery whose last ACK did not enlarge the window.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }
}

/// A tail loss probe that was sent (RFC 8985 section 7.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// `TLP.end_seq`: the end of the data sent, as a stream offset.
    pub(crate) end: u64,
    /// The packet that the probe retransmitted, if it was a retransmission (`TLP.is_retrans`). This packet was lost if the probe repaired a
    /// loss.
    pub(crate) again: Option<LostPacket>,
}

/// The state of tail loss probes: whether one is due, and the one that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// Whether a probe is due.
    due: bool,
    /// The probe that was sent and is not yet answered.
    unanswered: Option<Probe>,
}

impl TailProbe {
    /// Checks whether no probe is due and none is unanswered.
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

    /// Makes a probe due, because its timer fired, if data is `outstanding`.
    pub(super) fn call_for(&mut self, outstanding: bool) {
        self.due = outstanding;
    }

    /// Returns whether a probe is due, and clears this request.
    pub(super) fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.due)
    }

    /// Records that a probe was sent.
    pub(super) fn left(&mut self, probe: Probe) {
        self.unanswered = Some(probe);
    }

    /// Forgets the probe that was sent, because it no longer needs an answer.
    pub(super) fn forget(&mut self) {
        self.unanswered = None;
    }
}

/// Minimum that is added to a measured time: two ticks of a millisecond (Linux `TCP_TIMEOUT_MIN`).
pub(crate) const MIN_TIMEOUT: Span = Span::from_millis(2);

/// Returns the probe timeout (RFC 8985 section 7.2): twice the smoothed RTT plus the allowance. Without an RTT it is a second.
pub(crate) fn probe_timeout(srtt: Option<Span>, allowance: Span) -> Span {
    srtt.map_or(PROBE_WITHOUT_RTT, |srtt| srtt * 2 + allowance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reordering window for a minimum RTT of 40 ms.
    fn window(widening: &Widening) -> Span {
        let rack = Rack { reordering_seen: true, ..Rack::default() };
        rack.overdue_after(Some(Span::from_millis(100)), Some(Span::from_millis(40)), widening, true)
    }

    #[test]
    fn the_reordering_window_grows_once_per_rtt_up_to_the_smoothed_rtt() {
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
