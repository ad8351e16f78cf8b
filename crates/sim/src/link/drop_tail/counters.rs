//! What a drop-tail link has counted by an instant: what was let in early, or waits still, is not all in yet.

use firstflight::Time;

use super::super::queue_meter::QueueMeter;
use super::DropTail;
use crate::descriptor::{Descriptor, Transit};
use crate::stats::LinkStats;

impl DropTail {
    /// How many packets it let in by `now`, which it has caught up with.
    pub(crate) fn accepted_by(&self, now: Time) -> u64 {
        self.accepted() - self.early(now).count() as u64
    }

    /// The packets that were let in before they come.
    fn early(&self, now: Time) -> impl Iterator<Item = &Transit> {
        // What started without a wait came when it started.
        let started = (self.ring.head()..self.unstarted).rev();
        started.map_while(move |name| self.ring.get(name).filter(|transit| transit.starts > now))
    }

    /// The meter with all packets that were let in.
    fn counted(&self) -> QueueMeter {
        let mut meter = self.meter.clone();
        meter.stats.packets += self.uncounted;
        meter.stats.bytes += self.uncounted * u64::from(Descriptor::wire_of_kind(self.short));
        meter
    }

    /// Counters up to `now`, which the link has caught up with.
    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        let mut stats = self.counted().stats(now, 0, 0);
        for transit in self.early(now) {
            stats.packets -= 1;
            stats.bytes -= u64::from(transit.descriptor.wire());
        }
        // Of those that wait still, what of their wait is to come.
        for name in self.unstarted..self.ring.end() {
            let Some(transit) = self.ring.get(name) else { continue };
            let left = u128::from(transit.starts.since(now).nanos());
            stats.packet_nanos -= left;
            stats.byte_nanos -= left * u128::from(transit.descriptor.wire());
        }
        stats
    }
}
