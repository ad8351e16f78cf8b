//! Observes by how much each ACK widens the window in start-up.

use firstflight::Phase;
use firstflight_measure::SuCounts;
use firstflight_tcp::Snapshot;

/// Classifies the window growth of each ACK in a flow's start-up, from the start of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GrowthWatch {
    /// Bytes acknowledged and congestion window after the previous event; `None` if the sender was not in start-up then.
    before: Option<(u64, u64)>,
    /// The highest growth class of any ACK so far.
    counts: SuCounts,
}

impl GrowthWatch {
    /// Returns the highest growth class of any ACK of start-up.
    pub(crate) const fn counts(self) -> SuCounts {
        self.counts
    }

    /// Classifies the event that led to the state `now`. The event is an ACK, or it acknowledges nothing. `now` is called only if the event
    /// can still change the result: start-up was not `left`, and the highest growth class is not reached.
    #[inline]
    pub(crate) fn on_ack(&mut self, left: bool, mss: u32, now: impl FnOnce() -> Snapshot) {
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
