//! What an earlier connection saves: what its sender sent and measured around its last round trip.

use std::collections::VecDeque;

use firstflight::Span;

/// The last round trips of a flow. It is bounded by the window, since what left long before is forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// When data left, and payload bytes of it that were not dropped.
    sends: VecDeque<(u64, u64)>,
    /// When the newest send that is forgotten left.
    forgotten: Option<u64>,
    /// Only what left after this instant is kept, and all of that; `None` keeps what is recent.
    from: Option<u64>,
    /// When an ACK last advanced, and to where.
    acked: Option<(u64, u64)>,
    /// The round-trip time then, in nanoseconds.
    rtt_then: Option<u64>,
    latest: Option<u64>,
    least: Option<u64>,
    most: u64,
}

/// What the last round trip of a flow says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Last {
    /// Nothing was acknowledged.
    Nothing,
    /// The payload bytes acknowledged in the last round trip, and the least round-trip time.
    Acked(u64, Span),
    /// Some of the data acknowledged in the last round trip was forgotten. The data began to leave at this instant, in nanoseconds.
    Forgotten(u64),
}

/// How many of the longest round trips so far are remembered. Two are wanted; a round trip may yet be longer.
const REMEMBERED: u64 = 4;

impl Recent {
    /// Nothing yet, of a flow of which all that leaves after `from` is to be kept.
    pub(crate) fn all_from(from: u64) -> Self {
        Self { from: Some(from), ..Self::default() }
    }

    /// Data left.
    pub(crate) fn sent(&mut self, at: u64, len: u32) {
        if self.from.is_none_or(|from| at > from) {
            self.sends.push_back((at, u64::from(len)));
        }
    }

    /// The network dropped data that left at `sent_at`.
    pub(crate) fn dropped(&mut self, sent_at: u64, len: u32) {
        let from = self.sends.partition_point(|(at, _)| *at < sent_at);
        let mut left = u64::from(len);
        for (_, bytes) in self.sends.range_mut(from..).take_while(|(at, _)| *at == sent_at) {
            let taken = left.min(*bytes);
            (*bytes, left) = (*bytes - taken, left - taken);
        }
    }

    /// A cumulative ACK arrived.
    pub(crate) fn acked(&mut self, at: u64, offset: u64) {
        if offset == 0 || self.acked.is_some_and(|(_, before)| offset <= before) {
            return;
        }
        (self.acked, self.rtt_then) = (Some((at, offset)), self.latest);
        if self.from.is_some() || self.most == 0 {
            return;
        }
        let until = at.saturating_sub(self.most.saturating_mul(REMEMBERED));
        while let Some((sent_at, _)) = self.sends.front().filter(|(sent_at, _)| *sent_at <= until) {
            self.forgotten = Some(*sent_at);
            self.sends.pop_front();
        }
    }

    /// A round trip was measured.
    pub(crate) fn measured(&mut self, at: u64, rtt: Span) {
        let rtt = rtt.nanos();
        self.latest = Some(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.most = self.most.max(rtt);
        if self.acked.is_some_and(|(acked_at, _)| acked_at == at) {
            self.rtt_then = Some(rtt);
        }
    }

    /// What the last round trip says, by RFC 9959 section 3.1: the data acknowledged in it, cumulatively or selectively, is what
    /// left in the round trip before and was not dropped.
    pub(crate) fn last(&self) -> Last {
        let Some(((end, _), (rtt, least))) = self.acked.zip(self.rtt_then.zip(self.least)) else {
            return Last::Nothing;
        };
        let until = end.saturating_sub(rtt);
        let from = until.saturating_sub(rtt);
        if self.forgotten.is_some_and(|forgotten| forgotten > from) {
            return Last::Forgotten(from);
        }
        let in_time = self.sends.iter().filter(|(at, _)| from < *at && *at <= until);
        Last::Acked(in_time.map(|(_, bytes)| bytes).sum(), Span::from_nanos(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_in_the_last_round_trip_is_saved_with_the_least_round_trip_time() {
        // The last ACK that advances arrives at 200 and the round-trip time is 50: the data that left after 100 and up to 150,
        // less the losses.
        let mut recent = Recent::default();
        assert_eq!(recent.last(), Last::Nothing);
        recent.measured(90, Span::from_nanos(40));
        for at in [100, 101, 120] {
            recent.sent(at, 1_000);
        }
        recent.acked(130, 1_000);
        recent.dropped(120, 1_000);
        for at in [150, 151] {
            recent.sent(at, 1_000);
        }
        recent.measured(160, Span::from_nanos(50));
        recent.dropped(151, 1_000);
        recent.acked(200, 9_000);
        recent.acked(205, 9_000);
        recent.measured(210, Span::from_nanos(99));
        assert_eq!(recent.last(), Last::Acked(2_000, Span::from_nanos(40)));
    }

    #[test]
    fn what_left_long_before_is_forgotten_and_when_it_is_wanted_after_all_that_is_known() {
        let flow = |mut recent: Recent, last_rtt: u64| {
            for at in 1..=10_000 {
                recent.sent(at, 10);
                recent.measured(at, Span::from_nanos(20));
                recent.acked(at, at);
            }
            recent.acked(10_020, 10_001);
            recent.measured(10_020, Span::from_nanos(last_rtt));
            recent
        };
        let recent = flow(Recent::default(), 20);
        assert!(recent.sends.len() < 100, "{} sends", recent.sends.len());
        assert_eq!(recent.last(), Last::Acked(200, Span::from_nanos(20)));
        // After a silence the round trip is far longer than any before.
        let Last::Forgotten(from) = flow(Recent::default(), 3_000).last() else { panic!("it was kept") };
        assert_eq!(from, 4_020);
        let again = flow(Recent::all_from(from), 3_000).last();
        assert_eq!(again, Last::Acked(30_000, Span::from_nanos(20)));
    }
}
