//! The values that an earlier connection saves: the data it sent and the RTT it measured around its last round trip.

use std::collections::VecDeque;

use firstflight::Span;

/// The last round trips of a flow. Its size is bounded by the congestion window, because old transmissions are forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// For each send time, the payload bytes that were not dropped.
    sends: VecDeque<(u64, u64)>,
    /// Send time of the newest forgotten transmission.
    forgotten: Option<u64>,
    /// If set, keeps all transmissions after this instant and no others. `None` keeps recent transmissions.
    from: Option<u64>,
    /// The arrival time and the offset of the last ACK that advanced the cumulative acknowledgement.
    acked: Option<(u64, u64)>,
    /// The round-trip time when that ACK arrived, in nanoseconds.
    rtt_then: Option<u64>,
    latest: Option<u64>,
    least: Option<u64>,
    most: u64,
}

/// The values of a flow's last round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Last {
    /// Nothing was acknowledged.
    Nothing,
    /// Payload bytes acknowledged in the last round trip, and the minimum RTT.
    Acked(u64, Span),
    /// Some data acknowledged in the last round trip was forgotten. All of it was sent after this instant, in nanoseconds.
    Forgotten(u64),
}

/// How long transmissions are remembered, in multiples of the longest RTT so far. Two would suffice, but the RTT may still grow.
const REMEMBERED: u64 = 4;

impl Recent {
    /// Creates an empty history that keeps all data sent after `from`.
    pub(crate) fn all_from(from: u64) -> Self {
        Self { from: Some(from), ..Self::default() }
    }

    /// Records that data was sent.
    pub(crate) fn sent(&mut self, at: u64, len: u32) {
        if self.from.is_none_or(|from| at > from) {
            self.sends.push_back((at, u64::from(len)));
        }
    }

    /// Records that the network dropped data sent at `sent_at`.
    pub(crate) fn dropped(&mut self, sent_at: u64, len: u32) {
        let from = self.sends.partition_point(|(at, _)| *at < sent_at);
        let mut left = u64::from(len);
        for (_, bytes) in self.sends.range_mut(from..).take_while(|(at, _)| *at == sent_at) {
            let taken = left.min(*bytes);
            (*bytes, left) = (*bytes - taken, left - taken);
        }
    }

    /// Records a cumulative ACK.
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

    /// Records a measurement of the round-trip time.
    pub(crate) fn measured(&mut self, at: u64, rtt: Span) {
        let rtt = rtt.nanos();
        self.latest = Some(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.most = self.most.max(rtt);
        if self.acked.is_some_and(|(acked_at, _)| acked_at == at) {
            self.rtt_then = Some(rtt);
        }
    }

    /// Returns the values of the last round trip (RFC 9959 section 3.1). The data acknowledged in it, cumulatively or selectively, is the
    /// data that was sent one RTT earlier and not dropped.
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
    fn saved_state_holds_last_round_trips_acked_data_and_minimum_rtt() {
        // The last ACK that advances arrives at 200, and the RTT is 50. So the data sent after 100 and up to 150 is counted, without the
        // losses.
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
    fn old_sends_are_forgotten_and_a_second_pass_keeps_them() {
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
        // After a long pause the RTT is far longer than any before.
        let Last::Forgotten(from) = flow(Recent::default(), 3_000).last() else { panic!("it was kept") };
        assert_eq!(from, 4_020);
        let again = flow(Recent::all_from(from), 3_000).last();
        assert_eq!(again, Last::Acked(30_000, Span::from_nanos(20)));
    }
}
