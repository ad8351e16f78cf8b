//! By how much each ACK widens the window in start-up.

use firstflight::Phase;
use firstflight_measure::SuCounts;
use firstflight_tcp::Snapshot;

/// The sender's state after the event before, if it was in start-up then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GrowthWatch(Option<(u64, u64)>);

impl GrowthWatch {
    /// What the event that led to `now` says. Events are an ACK each, or acknowledge nothing.
    pub(super) fn hear(&mut self, now: &Snapshot, mss: u32) -> SuCounts {
        let grows = now.phase == Phase::Startup && !now.recovering;
        let after = grows.then_some((now.una, now.cwnd.get()));
        let before = std::mem::replace(&mut self.0, after);
        let Some(((una, cwnd), (before_una, before_cwnd))) = after.zip(before) else {
            return SuCounts::Either;
        };
        let acked = una.saturating_sub(before_una);
        let growth = if acked == 0 { 0 } else { cwnd.saturating_sub(before_cwnd) };
        SuCounts::said_by(acked, growth, mss.into())
    }
}
