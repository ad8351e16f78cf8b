//! By how much each ACK widens the window in start-up.

use firstflight::Phase;
use firstflight_measure::SuCounts;
use firstflight_tcp::Snapshot;

/// What the events of a flow's start-up said, from the beginning of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GrowthWatch {
    /// The bytes acknowledged and the window after the event before, if the sender was in start-up then.
    before: Option<(u64, u64)>,
    /// The most that an ACK said.
    counts: SuCounts,
}

impl GrowthWatch {
    /// The most that an ACK of start-up said.
    pub(crate) const fn counts(self) -> SuCounts {
        self.counts
    }

    /// Hears of the state `now` after an event, which is an ACK or acknowledges nothing. Once start-up was `left`, events say
    /// nothing, and `now` is not asked for; nor is it once an ACK said all that one can.
    #[inline]
    pub(crate) fn hear(&mut self, left: bool, mss: u32, now: impl FnOnce() -> Snapshot) {
        if left || self.counts == SuCounts::Beyond {
            self.before = None;
            return;
        }
        let now = now();
        let grows = now.phase == Phase::Startup && !now.recovering;
        let after = grows.then_some((now.una, now.cwnd.get()));
        if let Some(((una, cwnd), (before_una, before_cwnd))) =
            after.zip(std::mem::replace(&mut self.before, after))
        {
            let acked = una.saturating_sub(before_una);
            let growth = if acked == 0 { 0 } else { cwnd.saturating_sub(before_cwnd) };
            self.counts = self.counts.max(SuCounts::said_by(acked, growth, mss.into()));
        }
    }
}
