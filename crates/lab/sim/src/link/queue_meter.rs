//! The counters of a link and its queue.

use firstflight::Time;

use crate::stats::LinkStats;

/// The counters of a link, with time integrals of its queue.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueMeter {
    /// The instant up to which the integrals are complete.
    counted_to: Time,
    pub(super) stats: LinkStats,
}

impl QueueMeter {
    /// Extends the integrals to `at`, up to which `packets` and `bytes` waited. Called before the queue changes.
    #[inline]
    pub(super) fn count_to(&mut self, at: Time, packets: u32, bytes: u64) {
        if packets > 0 {
            let nanos = u128::from(at.since(self.counted_to).nanos());
            self.stats.packet_nanos += nanos * u128::from(packets);
            self.stats.byte_nanos += nanos * u128::from(bytes);
        }
        self.counted_to = at;
    }

    /// Returns the counters up to `now`, if `packets` and `bytes` are waiting.
    pub(super) fn stats(&self, now: Time, packets: u32, bytes: u64) -> LinkStats {
        let mut copy = self.clone();
        copy.count_to(now.max(self.counted_to), packets, bytes);
        copy.stats
    }

    /// Counts the whole wait of one packet in advance; `nanos` is its length in nanoseconds.
    #[inline]
    pub(super) fn wait(&mut self, nanos: u64, bytes: u64) {
        self.stats.packet_nanos += u128::from(nanos);
        self.stats.byte_nanos += u128::from(nanos) * u128::from(bytes);
    }

    /// Counts an accepted packet.
    pub(super) fn accept(&mut self, wire: u32) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(wire);
    }

    /// Records the present queue, which may be a new peak.
    #[inline]
    pub(super) fn peak(&mut self, packets: u64, bytes: u64) {
        if packets > u64::from(self.stats.peak_packets) {
            self.stats.peak_packets = u32::try_from(packets).unwrap_or(u32::MAX);
        }
        if bytes > self.stats.peak_bytes {
            self.stats.peak_bytes = bytes;
        }
    }
}
