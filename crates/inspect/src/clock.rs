//! The capture's clock. Packets of several queues come out of order by little, and are sorted; a clock that is set back,
//! or a capture that has others appended, is told, and within a connection time goes on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// By no more than this do queues of one card, or interfaces of one host, hand packets over out of order; a clock that is
/// set and not slewed is moved by more (128 ms in NTP, RFC 5905 section 11.3).
pub(crate) const DISORDER: u64 = 10_000_000;

/// A minute: without a packet for so long, and with one that is so far ahead, no transfer goes on.
const FAR: u64 = 60_000_000_000;

/// The most packets that wait to be sorted: a packet between others costs no more than a pass over these.
const MOST_WAITING: usize = 1024;

/// What the times of the packets were like, in the order of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Packets that were put before others that the file has before them.
    pub sorted: u64,
    /// How often the clock went back by more than 10 ms.
    pub set_back: u64,
    /// By how much at most, in nanoseconds.
    pub farthest_back: u64,
}

/// Packets that wait for earlier ones, in the order of their times since the clock was last set back.
#[derive(Debug, Default)]
pub(crate) struct Order {
    waiting: VecDeque<Packet>,
    /// The first of them that wait no more, for the clock was set back behind them.
    due: usize,
    /// The time of the last one that left.
    left: Option<u64>,
    pub(crate) times: Times,
}

impl Order {
    /// Takes the next packet of the file; `next` gives those whose turn has come.
    #[expect(clippy::large_types_passed_by_value, reason = "the queue keeps it")]
    pub(crate) fn push(&mut self, packet: Packet) {
        let at = packet.at;
        let newest = self.waiting.back().map_or(at, |packet| packet.at);
        if newest.saturating_sub(at) > DISORDER {
            self.times.set_back += 1;
            self.times.farthest_back = self.times.farthest_back.max(newest - at);
            // One far ahead of both its neighbours had a wrong time.
            let is_between = self.left.is_some_and(|left| left <= at);
            if let [one] = self.waiting.make_contiguous()
                && is_between
                && one.at - at > FAR
            {
                one.at = at;
            }
            self.due = self.waiting.len();
            self.waiting.push_back(packet);
        } else {
            let place = self.waiting.partition_point(|one| one.at <= at);
            self.times.sorted += u64::from(place < self.waiting.len());
            self.waiting.insert(place, packet);
        }
    }

    /// The next packet whose turn has come; at the end of the file, all have theirs.
    pub(crate) fn next(&mut self, is_end: bool) -> Option<Packet> {
        let (first, newest) = (self.waiting.front()?.at, self.waiting.back()?.at);
        let is_late = newest.saturating_sub(first) > DISORDER || self.waiting.len() > MOST_WAITING;
        if !(is_end || self.due > 0 || is_late) {
            return None;
        }
        self.due = self.due.saturating_sub(1);
        self.left = Some(first);
        self.waiting.pop_front()
    }
}

/// The clock of one connection: it never goes back.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) last: u64,
    /// What packets' times lack since the capture's clock was set back.
    behind: u64,
    /// When that last was.
    pub(crate) set_back: Option<u64>,
}

impl Clock {
    pub(crate) fn new(at: u64) -> Self {
        Self { last: at, behind: 0, set_back: None }
    }

    /// Whether the packets' own times count.
    pub(crate) fn is_in_step(&self) -> bool {
        self.behind == 0
    }

    /// The time of a packet: its own, unless that lies before the last; then as long after the last as it is after
    /// the one that came with the step, until the clock has caught up. So an interval is told too short by no more
    /// than the step.
    pub(crate) fn read(&mut self, stamp: u64) -> u64 {
        if stamp.saturating_add(DISORDER) >= self.last {
            self.behind = 0;
        }
        let at = stamp.saturating_add(self.behind);
        if at.saturating_add(DISORDER) >= self.last {
            self.last = self.last.max(at);
        } else {
            // Later than what was sent before the step, so that this can be told from what was sent behind it.
            self.last = self.last.saturating_add(1);
            self.behind = self.last - stamp;
            self.set_back = Some(self.last);
        }
        self.last
    }
}
