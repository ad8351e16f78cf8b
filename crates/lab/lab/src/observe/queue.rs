//! Observes the queue of one link over the flow's life.

use firstflight::Time;
use firstflight_sim::LinkId;

/// The queue of one bottleneck.
#[derive(Clone, Debug)]
pub(super) struct QueueWatch {
    pub(super) link: LinkId,
    /// When the flow starts.
    start: u64,
    /// Whether the series for figures is recorded.
    pub(super) full: bool,
    /// The number of waiting packets.
    pub(super) packets: u32,
    since: u64,
    /// Peak number of waiting packets.
    pub(super) peak: u32,
    /// The time integral of the packets waiting.
    pub(super) packet_nanos: u128,
    /// The number of waiting packets whenever it changed, as (when, packets).
    pub(super) series: Vec<(u64, u32)>,
}

impl QueueWatch {
    pub(super) fn new(link: LinkId, start: u64) -> Self {
        Self {
            link,
            start,
            full: false,
            packets: 0,
            since: start,
            peak: 0,
            packet_nanos: 0,
            series: Vec::new(),
        }
    }

    /// Returns a copy of the queue in its present state, for a flow that starts at `start`.
    pub(super) fn begun_at(&self, start: u64) -> Self {
        Self { packets: self.packets, ..Self::new(self.link, start) }
    }

    /// Records that the number of waiting packets changed at `at`.
    #[inline]
    pub(super) fn changed(&mut self, at: Time, packets: u32) {
        let at = at.nanos();
        self.until(at);
        if self.full && at >= self.start {
            self.draw(at, packets);
        }
        self.packets = packets;
    }

    #[inline(never)]
    fn draw(&mut self, at: u64, packets: u32) {
        if self.series.is_empty() {
            self.series.push((self.start, self.packets));
        }
        self.series.push((at, packets));
    }

    /// Adds to the integral up to `at`. Time before the flow's start is not counted.
    #[inline]
    pub(super) fn until(&mut self, at: u64) {
        if at > self.since {
            self.packet_nanos += u128::from(at - self.since) * u128::from(self.packets);
            self.peak = self.peak.max(self.packets);
            self.since = at;
        }
    }
}
