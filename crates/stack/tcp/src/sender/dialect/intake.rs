//! Decides how the data, the window and the samples of an ACK are used.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Dialect;
use crate::clock::TICK;
use crate::sender::Sender;
use crate::sender::echo::{age, echo_of};
use crate::sender::interface::AckInput;
use crate::sender::scoreboard::Arrival;

impl Dialect {
    /// Checks whether RACK receives delivered segments in stream order, each when it is marked. In Linux it receives the selectively
    /// acknowledged segments first (`tcp_sacktag_write_queue` before `tcp_clean_rtx_queue`).
    pub(in crate::sender) const fn processes_in_order(self) -> bool {
        !self.is_linux()
    }

    /// Checks whether an ACK's RTT sample is the RTT of the newest delivered segment that was sent only once (RFC 6298 section 3, Karn's
    /// algorithm). Linux takes two samples: see [`Sender::sample_as_linux`].
    pub(in crate::sender) const fn measures_the_newest(self) -> bool {
        !self.is_linux()
    }

    /// Checks whether, without SACK, each duplicate ACK is counted as the delivery of a segment (`tcp_add_reno_sack`). The pipe and PRR
    /// then include duplicates. RFC 6582 inflates the window instead.
    pub(in crate::sender) const fn counts_duplicates(self) -> bool {
        self.is_linux()
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Checks whether the SACK blocks of an ACK are used although a later ACK arrived before it. RFC 9293 section 3.10.7.4 ignores the old
    /// ACK. Linux still uses its blocks (`tcp_ack`, `old_ack`).
    pub(in crate::sender) fn processes_old_ack(&self, input: &AckInput<'_>) -> bool {
        self.rules.dialect.is_linux() && !input.blocks.is_empty()
    }

    /// Checks whether SACK blocks are skipped if they were reported before, because they carry nothing new. Linux processes all blocks and
    /// divides its queue at their ends.
    pub(crate) fn keeps_blocks(&self) -> bool {
        !self.rules.dialect.is_linux() && self.shaper.queue.is_none()
    }

    /// Checks whether an ACK offers another window than the last one. In Linux, a window that only shrinks is not an update
    /// (`tcp_may_update_window`).
    pub(in crate::sender) fn changes_window(&self, input: &AckInput<'_>) -> bool {
        if self.rules.dialect.is_linux() {
            input.window > self.peer_window.offered() || input.window == 0
        } else {
            input.window != self.peer_window.offered()
        }
    }

    /// Checks whether the window of an ACK replaces the previous one. It always does in RFC 9293 section 3.10.7.4. In Linux it does only if
    /// the window is an update or the ACK carries something else.
    pub(in crate::sender) fn takes_window(&self, input: &AckInput<'_>, changed: bool, advanced: u64) -> bool {
        changed || advanced > 0 || input.carries_data || !self.rules.dialect.is_linux()
    }

    /// Passes delivered segments to RACK in Linux's order, the selectively acknowledged ones first. The first `cumulative` segments of the
    /// list are acknowledged cumulatively.
    pub(in crate::sender) fn process_sacks_first(
        &mut self,
        now: Time,
        min_rtt: Option<Span>,
        cumulative: usize,
    ) {
        let (whole, selective) = self.scratch.arrivals.split_at(cumulative);
        for arrival in selective.iter().chain(whole) {
            self.rack.delivered_as_counted(now, min_rtt, arrival);
        }
    }

    /// Takes Linux's RTT samples (`tcp_clean_rtx_queue`, `tcp_sacktag_one`, `tcp_ack_update_rtt`). The estimator gets the RTT of the oldest
    /// segment that was acknowledged cumulatively, or else selectively. If neither gives a sample, it gets the RTT of the timestamp echo,
    /// provided that `acked` is not zero. Returns the RTT of the newest segment, preferably of a SACKed one.
    pub(in crate::sender) fn sample_as_linux(
        &mut self,
        now: Time,
        input: &AckInput<'_>,
        cumulative: usize,
        acked: u32,
    ) -> Option<Span> {
        let (whole, selective) = self.scratch.arrivals.split_at(cumulative);
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

    /// Returns how many of an ACK's delivered `bytes` are newly delivered; `advanced` says how many bytes it acknowledges cumulatively.
    /// Without SACK, Linux has counted all segments except one with the earlier duplicate ACKs (`tcp_remove_reno_sacks`).
    pub(in crate::sender) fn not_reported_before(&self, bytes: u64, advanced: u64) -> u64 {
        if self.rules.dialect.is_linux() && advanced > 0 && !self.rules.method.uses_sack() {
            let counted = (self.stream.mss() * self.recovery.dupacks).get();
            bytes.saturating_sub(counted).max(bytes.min(self.stream.mss().get()))
        } else {
            bytes
        }
    }
}

/// Returns the RTT that an ACK's timestamp echo shows, in whole ticks (`tcp_rtt_tsopt_us`). `None` without an echo, or if it is too old.
fn echoed(now: Time, input: &AckInput<'_>) -> Option<Span> {
    /// Maximum age of an echo, in ticks: `INT_MAX / (USEC_PER_SEC / TCP_TS_HZ)`.
    const OLDEST: u32 = i32::MAX as u32 / 1_000;
    let age = age(now, echo_of(input)?);
    (age < OLDEST).then(|| TICK * u64::from(age.max(1)))
}
