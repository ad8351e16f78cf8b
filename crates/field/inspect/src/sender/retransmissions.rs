//! Detects retransmissions by a timer or in a recovery, and captured copies.

use super::{FIRST, Sender};
use crate::events::Resent;
use crate::scoreboard::Sighting;
use crate::timer::Fired;
use crate::trace::Trace;

/// Maximum number of retransmissions kept individually. They are kept to mark those that turn out to be spurious.
const MAX_RESENT: usize = 512;

impl Sender {
    pub(super) fn on_retransmission(
        &mut self,
        at: u64,
        (start, end): (u64, u64),
        una: u64,
        flight: u64,
        segments: u64,
        seen: &Sighting,
    ) {
        self.counts.resent_segments += segments;
        if let Some(path) = &mut self.drawn.path
            && let Some(sent) = seen.first_seen.filter(|_| seen.before == 0)
        {
            path.lost(sent);
        }
        let is_too_soon = seen.last_seen.is_some_and(|last| at.saturating_sub(last) < self.soon());
        self.counts.too_soon += if is_too_soon { segments } else { 0 };
        self.counts.resent_bytes += end - start;
        let is_first = start <= una && end > una;
        let last = self.instants.last_ack.max(self.instants.last_data).unwrap_or(at);
        let is_last = segments == 1 && end == self.board.next;
        // A tail loss probe requires selective acknowledgements (RFC 8985 section 4).
        let alone = is_last && !self.setting.no_sack;
        let fired = self.timer.fired(at, last, (seen.before, alone), &self.rtt, self.setting.handshake);
        let fired = fired.filter(|_| is_first);
        let by_timer = fired.is_some();
        if is_first {
            self.timer.start(at);
        }
        if let Some(fired) = fired {
            self.counts.timeouts += 1;
            let text = match fired {
                Fired::Silent => "retransmitted after a silence: a timeout, as it seems",
                Fired::Late => "sent for the third time, and late: a timeout, as it seems",
            };
            self.mark(at, Trace::TIMEOUT, text.to_owned());
        }
        if self.recovery.resent.len() < MAX_RESENT {
            let flight_before = self.rounds.latest_peak().max(flight);
            self.recovery.resent.push(Resent {
                at,
                start,
                end,
                known: self.recovery.hole_since.unwrap_or(at),
                flight,
                flight_before,
                flight_later: None,
                sent_later: self.counts.bytes - (end - start),
                delivered_later: self.board.delivered(),
                by_timer,
                is_tail: alone && seen.before == 0 && self.board.highest <= start,
                is_spurious: false,
            });
        }
        if self.recovery.until.is_none() && end > una {
            self.recovery.until = Some(self.board.next);
            self.counts.episodes += 1;
            if let Some(trace) = &mut self.drawn.trace {
                trace.begin_recovery(at);
            }
        }
        // Segments that the recovery itself lost belong to it.
        let within = |end: u64| seen.first_seen.is_some_and(|seen| seen <= end);
        if self.counts.episodes > 0 && self.recovery.first_end.is_none_or(within) {
            self.counts.first_episode_segments += segments;
        }
    }

    /// Checks whether a packet that passes at `at` can be a response to what the sender learned at `since`. A response takes an RTT; nine
    /// tenths of an RTT suffice here, to allow for jitter.
    pub(super) fn answers(&self, at: u64, since: u64) -> bool {
        let round_trip = self.rtt.least().into_iter().chain(self.setting.handshake).min().unwrap_or(0);
        at.saturating_sub(since) >= round_trip - round_trip / 10
    }

    /// Returns the minimum time from a packet to its retransmission. A retransmission takes at least an RTT; the result is seven eighths of
    /// an RTT, to allow for jitter.
    pub(super) fn soon(&self) -> u64 {
        let round_trip = self.rtt.least().into_iter().chain(self.setting.handshake).min().unwrap_or(0);
        round_trip - round_trip / 8
    }

    /// Checks whether the capture has copies of packets. In this case most repeated segments passed sooner than a retransmission can
    /// ([`Self::soon`]), and copies cannot be distinguished from retransmissions.
    pub(crate) fn has_copies(&self) -> bool {
        self.counts.too_soon >= 4 && 2 * self.counts.too_soon >= self.counts.resent_segments
            || self.is_all_twice()
    }

    /// Checks whether the capture has nearly every data segment twice. In this case no RTT of data can be measured although
    /// acknowledgements passed. A host that only retransmits also has segments that passed once, which give RTTs.
    pub(crate) fn is_all_twice(&self) -> bool {
        let counts = &self.counts;
        let first = counts.data_segments.saturating_sub(counts.resent_segments);
        let is_unknown = self.rtt.least().is_none() && self.board.una > FIRST;
        is_unknown && counts.resent_segments >= 4 && 8 * counts.resent_segments >= 7 * first
    }
}
