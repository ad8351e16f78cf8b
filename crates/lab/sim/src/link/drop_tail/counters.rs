//! The counters of a drop-tail link at an instant. Packets admitted before their arrival are excluded, and so is the
//! time that packets will still wait.

use firstflight::Time;

use super::super::queue_meter::QueueMeter;
use super::DropTail;
use crate::descriptor::{Descriptor, Transit};
use crate::stats::LinkStats;

impl DropTail {
    /// Returns the number of packets that entered by `now`. The link has caught up with `now`.
    pub(crate) fn accepted_by(&self, now: Time) -> u64 {
        self.accepted() - self.early(now).count() as u64
    }

    /// Returns the packets that were admitted before their arrival, and arrive after `now`.
    fn early(&self, now: Time) -> impl Iterator<Item = &Transit> {
        // A packet that started without a wait entered when it started.
        let started = (self.ring.head()..self.unstarted).rev();
        started.map_while(move |name| self.ring.get(name).filter(|transit| transit.starts > now))
    }

    /// Returns the counters including the packets of the fast paths.
    fn counted(&self) -> QueueMeter {
        let mut meter = self.meter.clone();
        meter.stats.packets += self.uncounted;
        meter.stats.bytes += self.uncounted * u64::from(Descriptor::wire_of_kind(self.short));
        meter
    }

    /// Returns the counters up to `now`. The link has caught up with `now`.
    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        let mut stats = self.counted().stats(now, 0, 0);
        for transit in self.early(now) {
            stats.packets -= 1;
            stats.bytes -= u64::from(transit.descriptor.wire());
        }
        // The counters have the whole wait of packets that still wait: the remaining wait is subtracted.
        for name in self.unstarted..self.ring.end() {
            let Some(transit) = self.ring.get(name) else { continue };
            let left = u128::from(transit.starts.since(now).nanos());
            stats.packet_nanos -= left;
            stats.byte_nanos -= left * u128::from(transit.descriptor.wire());
        }
        let unsent = self.transmitter.bits_between(now, self.busy_until(now));
        stats.sent_bits = (stats.bytes.saturating_sub(self.waiting_bytes) * 8).saturating_sub(unsent);
        stats
    }

    /// Returns when the transmission ends that is in progress at `now`; an earlier instant if there is none. The link
    /// has caught up with `now`.
    fn busy_until(&self, now: Time) -> Time {
        if let Some(next) = self.ring.get(self.unstarted) {
            return next.starts;
        }
        // A packet that was admitted before its arrival finds the transmitter free.
        let early = self.early(now).count() as u64;
        if early == 0 {
            return self.transmitter.free_at();
        }
        let before = self.ring.end().checked_sub(early + 1).filter(|name| *name >= self.ring.head());
        let before = before.and_then(|name| self.ring.get(name));
        before.map_or(now, |last| self.transmitter.end_of(last.starts, last.descriptor.wire()))
    }
}
