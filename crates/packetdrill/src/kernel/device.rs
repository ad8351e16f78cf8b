//! The device's queue: when what TCP hands down leaves. With `fq` TCP gives each burst the instant at which it may leave
//! (Linux `tcp_update_skb_after_send`).

use std::collections::VecDeque;

use firstflight::{Bytes, Rate};
use firstflight_tcp::{Flags, Segment};

/// Linux does not pace the first ten segments.
const UNPACED: u64 = 10;

/// What waits to leave.
#[derive(Debug, Default)]
pub(super) struct Device {
    /// A burst that is being handed down.
    burst: Vec<Segment>,
    bursts: VecDeque<Vec<Segment>>,
    /// Segments and the microsecond at which each leaves.
    waiting: VecDeque<(i64, Segment)>,
    /// `tcp_wstamp_ns`, in microseconds: when the newest burst may leave, and what it adds to that for the next.
    stamp: i64,
    next: i64,
}

impl Device {
    /// A segment is handed down. A burst ends with PSH, or where the next segment does not follow it.
    pub(super) fn take(&mut self, segment: Segment) {
        let follows = |last: &Segment| {
            last.len > 0
                && !last.flags.has(Flags::PSH)
                && last.seq.wrapping_add(u32::from(last.len)) == segment.seq
                && segment.len > 0
        };
        if !self.burst.last().is_none_or(follows) {
            self.bursts.push_back(std::mem::take(&mut self.burst));
        }
        self.burst.push(segment);
    }

    /// All that was handed down is queued; `rate` is the pace, and `data_segments` how many were sent in all.
    pub(super) fn flush(&mut self, now: i64, rate: Option<Rate>, data_segments: u64) {
        let last = std::mem::take(&mut self.burst);
        self.bursts.extend((!last.is_empty()).then_some(last));
        let new: u64 = self.bursts.iter().flatten().filter(|segment| segment.len > 0).count() as u64;
        let mut sent = data_segments.saturating_sub(new);
        for burst in self.bursts.drain(..) {
            let bytes: u64 = burst.iter().map(|segment| u64::from(segment.len)).sum();
            let mut at = now;
            if let Some(rate) = rate.filter(|_| bytes > 0) {
                sent += burst.len() as u64;
                at = now.max(self.next);
                let credit = at - self.stamp;
                self.stamp = at;
                self.next = at;
                if sent >= UNPACED {
                    let nanos = rate.time_for(Bytes::new(bytes)).nanos();
                    let span = i64::try_from(nanos / 1_000).unwrap_or(i64::MAX);
                    self.next = at.saturating_add(span - (span / 2).min(credit));
                }
            }
            self.waiting.extend(burst.into_iter().map(|segment| (at, segment)));
        }
    }

    /// When the next segment leaves.
    pub(super) fn next_departure(&self) -> Option<i64> {
        self.waiting.front().map(|(at, _)| *at)
    }

    /// What has left by `now`.
    pub(super) fn departed(&mut self, now: i64) -> Vec<(i64, Segment)> {
        let gone = self.waiting.iter().take_while(|(at, _)| *at <= now).count();
        self.waiting.drain(..gone).collect()
    }
}
