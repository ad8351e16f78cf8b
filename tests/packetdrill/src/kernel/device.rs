//! The queue of the simulated device. It determines when TCP's segments are sent. With `fq`, TCP sets the departure time of each burst
//! (`tcp_update_skb_after_send` in Linux).

use std::collections::VecDeque;

use firstflight::{Bytes, Rate};
use firstflight_tcp::Segment;

/// The number of segments that Linux sends before it paces.
const UNPACED: u64 = 10;

/// A segment that the device sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The time at which the segment was sent, in microseconds.
    pub(crate) at: i64,
    pub(crate) segment: Segment,
    /// Whether more segments of the same burst followed.
    pub(crate) more: bool,
}

/// The segments that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Device {
    /// The segments of the burst that TCP is passing to the device.
    burst: Vec<Segment>,
    bursts: VecDeque<Vec<Segment>>,
    waiting: VecDeque<Left>,
    /// The departure time of the newest burst, as `tcp_wstamp_ns` but in microseconds. The increment for the next burst follows.
    stamp: i64,
    next: i64,
}

impl Device {
    /// Accepts a segment from TCP. `more` is whether its burst continues.
    pub(super) fn take(&mut self, segment: Segment, more: bool) {
        self.burst.push(segment);
        if !more {
            self.bursts.push_back(std::mem::take(&mut self.burst));
        }
    }

    /// Queues the burst. `rate` is the pacing rate, and `data_segments` is the number of data segments sent so far.
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
            let last = burst.len().saturating_sub(1);
            let left = burst.into_iter().enumerate();
            self.waiting.extend(left.map(|(place, segment)| Left { at, segment, more: place < last }));
        }
    }

    /// Returns the time at which the next segment is sent.
    pub(super) fn next_departure(&self) -> Option<i64> {
        self.waiting.front().map(|left| left.at)
    }

    /// Removes and returns the segments that have been sent by `now`.
    pub(super) fn departed(&mut self, now: i64) -> Vec<Left> {
        let gone = self.waiting.iter().take_while(|left| left.at <= now).count();
        self.waiting.drain(..gone).collect()
    }
}
