//! What an ACK delivers, offers and measures.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Dialect;
use crate::clock::TICK;
use crate::sender::Sender;
use crate::sender::echo::{age, echo_of};
use crate::sender::interface::AckInput;
use crate::sender::scoreboard::Arrival;

impl Dialect {
    /// Whether RACK hears of segments in the stream's order, of each when it is marked. Linux hears of what was selectively
    /// acknowledged first (`tcp_sacktag_write_queue` before `tcp_clean_rtx_queue`).
    pub(in crate::sender) const fn hears_in_order(self) -> bool {
        !self.is_linux()
    }

    /// Whether an ACK's round trip is that of the newest segment, sent once, that the ACK delivers (RFC 6298 section 3, Karn's
    /// algorithm). Linux takes two: see [`Sender::sample_as_linux`].
    pub(in crate::sender) const fn measures_the_newest(self) -> bool {
        !self.is_linux()
    }

    /// Whether without SACK each duplicate ACK says that some segment was delivered (`tcp_add_reno_sack`), so that the pipe and PRR
    /// count with duplicates. RFC 6582 inflates the window instead.
    pub(in crate::sender) const fn counts_duplicates(self) -> bool {
        self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Whether an ACK that an ACK of later data overtook is heard for its SACK blocks. RFC 9293 section 3.10.7.4 ignores such an
    /// ACK; to Linux its blocks are news all the same (`tcp_ack`, `old_ack`).
    pub(in crate::sender) fn hears_old(&self, input: &AckInput<'_>) -> bool {
        self.rules.dialect.is_linux() && !input.blocks.is_empty()
    }

    /// Whether SACK blocks that were told of before are left out, for they say nothing new. Linux looks at all of them, and its
    /// queue is cut where they end.
    pub(crate) fn keeps_blocks(&self) -> bool {
        !self.rules.dialect.is_linux() && self.shaper.queue.is_none()
    }

    /// Whether an ACK offers another window than the last one. To Linux a window that only shrinks is no news
    /// (`tcp_may_update_window`).
    pub(in crate::sender) fn changes_window(&self, input: &AckInput<'_>) -> bool {
        if self.rules.dialect.is_linux() {
            input.window > self.peer_window.offered() || input.window == 0
        } else {
            input.window != self.peer_window.offered()
        }
    }

    /// Whether the window of an ACK is taken over: always (RFC 9293 section 3.10.7.4), or by Linux if it is news or the ACK brings
    /// something else.
    pub(in crate::sender) fn takes_window(&self, input: &AckInput<'_>, changed: bool, advanced: u64) -> bool {
        changed || advanced > 0 || input.carries_data || !self.rules.dialect.is_linux()
    }

    /// RACK hears of what an ACK delivers, the first `cumulative` of the list being acknowledged cumulatively, in Linux's order.
    pub(in crate::sender) fn hear_sacks_first(
        &mut self,
        now: Time,
        min_rtt: Option<Span>,
        cumulative: usize,
    ) {
        let (whole, selective) = self.lists.arrivals.split_at(cumulative);
        for arrival in selective.iter().chain(whole) {
            self.rack.delivered_as_counted(now, min_rtt, arrival);
        }
    }

    /// Linux's round-trip samples (`tcp_clean_rtx_queue`, `tcp_sacktag_one`, `tcp_ack_update_rtt`): the estimate hears of the
    /// oldest segment acknowledged cumulatively, or else selectively, or else of the timestamp that the ACK of `acked` segments
    /// echoes; what is given is of the newest, of those SACKed first.
    pub(in crate::sender) fn sample_as_linux(
        &mut self,
        now: Time,
        input: &AckInput<'_>,
        cumulative: usize,
        acked: u32,
    ) -> Option<Span> {
        let (whole, selective) = self.lists.arrivals.split_at(cumulative);
        let whole = if whole.iter().any(|arrival| arrival.delivered.retransmitted) { &[] } else { whole };
        let clean = |group: &[Arrival]| {
            let mut clean = group.iter().filter(|arrival| !arrival.delivered.retransmitted);
            let first = clean.next()?;
            Some((first.delivered.sent_at, clean.next_back().unwrap_or(first).delivered.sent_at))
        };
        let (whole, selective) = (clean(whole), clean(selective));
        let (oldest, newest) = match (whole.or(selective), selective.or(whole)) {
            (Some((oldest, _)), Some((_, newest))) => (now.since(oldest), now.since(newest)),
            _ => echoed(now, input).filter(|_| acked > 0).map(|rtt| (rtt, rtt))?,
        };
        self.rtt.sample_as_linux(oldest, newest, self.stream.una(), self.stream.nxt());
        Some(newest)
    }

    /// Bytes that an ACK delivers which acknowledges `bytes`, `advanced` of them cumulatively: without SACK the duplicates before
    /// told Linux of all but one segment (`tcp_remove_reno_sacks`).
    pub(in crate::sender) fn not_told_of_before(&self, bytes: u64, advanced: u64) -> u64 {
        if self.rules.dialect.is_linux() && advanced > 0 && !self.rules.method.uses_sack() {
            let told = (self.stream.mss() * self.recovery.dupacks).get();
            bytes.saturating_sub(told).max(bytes.min(self.stream.mss().get()))
        } else {
            bytes
        }
    }
}

/// The round trip of the timestamp that an ACK echoes, to a tick (`tcp_rtt_tsopt_us`).
fn echoed(now: Time, input: &AckInput<'_>) -> Option<Span> {
    /// `INT_MAX / (USEC_PER_SEC / TCP_TS_HZ)`.
    const OLDEST: u32 = i32::MAX as u32 / 1_000;
    let age = age(now, echo_of(input)?);
    (age < OLDEST).then(|| TICK * u64::from(age.max(1)))
}
