//! The results of a run.

use firstflight::{Bytes, Span, Time};
use firstflight_sim::{DropCause, LinkStats, QuickStartStats};
use serde::Serialize;

use crate::lateness::LatenessReport;

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The time for which the path was emulated.
    pub duration: Span,
    /// The direction that crosses the bottlenecks.
    pub forward: DirectionReport,
    /// The return path.
    pub reverse: DirectionReport,
    /// The lateness of packets.
    pub lateness: LatenessReport,
    /// The time for which a direction's first bottleneck was idle although packets waited for the relay: the maximum of the two directions.
    pub behind: Span,
    /// Whether the run is invalid because packets were too late.
    pub is_late: bool,
    /// Whether the run is invalid because the relay was behind for too long.
    pub is_behind: bool,
}

impl Report {
    /// Returns whether the run is invalid.
    pub const fn is_void(&self) -> bool {
        self.is_late || self.is_behind
    }
}

/// The results of one direction. Bytes are IP bytes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DirectionReport {
    /// The number of packets that entered the path.
    pub packets_in: u64,
    /// The bytes of the packets that entered the path.
    pub bytes_in: u64,
    /// The number of packets that were delivered.
    pub packets_out: u64,
    /// The bytes of the delivered packets.
    pub bytes_out: u64,
    /// Packets that were dropped, by cause.
    pub dropped: Dropped,
    /// Delivered packets that a queue marked as having met congestion.
    pub marked: u64,
    /// Packets that entered and were neither delivered nor dropped when the run ended.
    pub inside: u64,
    /// Packets that did not enter the path, because their destination was not the other host.
    pub astray: u64,
    /// The delivery rate in bits per second. It counts the bits delivered after the first packet, divided by the time from the first to the
    /// last packet. `None` with fewer than two packets.
    pub rate_bps: Option<f64>,
    /// The maximum number of bits delivered within one second, at a resolution of 0.1 s. `None` if the first and the last packet are less
    /// than one second apart.
    pub busiest_second_bps: Option<f64>,
    /// The minimum delay of a packet from host to host, in milliseconds; `None` if none was delivered.
    pub base_delay_ms: Option<f64>,
    /// The maximum delay of a packet from host to host, in milliseconds; `None` if none was delivered.
    pub peak_delay_ms: Option<f64>,
    /// The maximum number of packets in a queue, cross traffic included, without the packet in transmission.
    pub peak_queue_packets: u32,
    /// The maximum number of bytes in a queue, cross traffic included.
    pub peak_queue_bytes: u64,
    /// Packets of cross traffic that were dropped.
    pub cross_dropped: u64,
    /// Quick-Start requests that routers received. A request that passes several routers counts once for each.
    pub quick_start_asked: u64,
    /// Quick-Start requests that routers approved unchanged.
    pub quick_start_granted: u64,
    /// Quick-Start requests that routers approved at a lower rate.
    pub quick_start_reduced: u64,
    /// Quick-Start requests that routers denied.
    pub quick_start_refused: u64,
}

/// Packets that were dropped, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Dropped {
    /// Dropped by a full queue, or by the queue's discipline.
    pub queue: u64,
    /// Dropped by the policer.
    pub policer: u64,
    /// Dropped by random loss.
    pub random: u64,
    /// Delivered by the path, but rejected by the host.
    pub host: u64,
}

impl Dropped {
    /// Returns the number of packets dropped for any cause.
    pub const fn all(&self) -> u64 {
        self.queue + self.policer + self.random + self.host
    }
}

/// The counters of one direction.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    packets_in: u64,
    bytes_in: u64,
    packets_out: u64,
    bytes_out: u64,
    dropped: Dropped,
    marked: u64,
    pub(crate) astray: u64,
    /// The time at which the first packet was delivered, and its bytes.
    first: Option<(Time, u64)>,
    last: Time,
    /// The bytes delivered in each of the last ten tenths of a second, counted from the first packet. The number of complete tenths
    /// follows.
    tenths: [u64; 10],
    tenth: u64,
    /// The maximum number of bytes delivered within ten consecutive tenths.
    busiest: Option<u64>,
    least: Option<Span>,
    most: Span,
}

impl Counts {
    pub(crate) fn enters(&mut self, bytes: u64) {
        self.packets_in += 1;
        self.bytes_in += bytes;
    }

    /// Records that a packet was delivered at `at`, `took` after it had entered the path.
    pub(crate) fn delivers(&mut self, bytes: u64, at: Time, took: Span, marked: bool) {
        self.packets_out += 1;
        self.bytes_out += bytes;
        self.marked += u64::from(marked);
        let (first, _) = *self.first.get_or_insert((at, bytes));
        self.last = self.last.max(at);
        self.pass_tenths(at.nanos_since(first) / TENTH);
        self.tenths[(self.tenth % 10) as usize] += bytes;
        self.least = Some(self.least.map_or(took, |least| least.min(took)));
        self.most = self.most.max(took);
    }

    /// Advances to the tenth of a second with the number `tenth`. Updates `busiest` for each tenth that ends.
    fn pass_tenths(&mut self, tenth: u64) {
        while self.tenth < tenth {
            if self.tenth >= 9 {
                let bytes = self.tenths.iter().sum();
                self.busiest = Some(self.busiest.map_or(bytes, |most| most.max(bytes)));
            }
            self.tenth += 1;
            self.tenths[(self.tenth % 10) as usize] = 0;
        }
    }

    pub(crate) fn drops(&mut self, cause: Option<DropCause>) {
        let count = match cause {
            Some(DropCause::Queue) => &mut self.dropped.queue,
            Some(DropCause::Policer) => &mut self.dropped.policer,
            Some(DropCause::Random) => &mut self.dropped.random,
            None => &mut self.dropped.host,
        };
        *count += 1;
    }

    /// Returns the report of the direction. `links` are the counters of its links, and `queues` are the indices of the links that have
    /// queues.
    pub(crate) fn report(&self, links: &[LinkStats], queues: &[usize]) -> DirectionReport {
        let queues = || queues.iter().filter_map(|place| links.get(*place));
        let quick_start = links.iter().fold(QuickStartStats::default(), |sum, link| QuickStartStats {
            asked: sum.asked + link.quick_start.asked,
            granted: sum.granted + link.quick_start.granted,
            reduced: sum.reduced + link.quick_start.reduced,
            refused: sum.refused + link.quick_start.refused,
        });
        let rate = self.first.and_then(|(at, bytes)| {
            let rate = Bytes::new(self.bytes_out - bytes).per(self.last.since(at))?;
            (self.packets_out > 1).then(|| as_f64(rate.bps()))
        });
        let dropped = self.dropped;
        let at_links: u64 = links
            .iter()
            .map(|link| link.dropped_by_queue + link.dropped_by_policer + link.dropped_at_random)
            .sum();
        DirectionReport {
            packets_in: self.packets_in,
            bytes_in: self.bytes_in,
            packets_out: self.packets_out,
            bytes_out: self.bytes_out,
            dropped,
            marked: self.marked,
            inside: self.packets_in.saturating_sub(self.packets_out + dropped.all()),
            astray: self.astray,
            rate_bps: rate,
            busiest_second_bps: self.busiest.map(|bytes| as_f64(8 * bytes)),
            base_delay_ms: self.least.map(millis),
            peak_delay_ms: self.least.map(|_| millis(self.most)),
            peak_queue_packets: queues().map(|link| link.peak_packets).max().unwrap_or(0),
            peak_queue_bytes: queues().map(|link| link.peak_bytes).max().unwrap_or(0),
            cross_dropped: at_links.saturating_sub(dropped.queue + dropped.policer + dropped.random),
            quick_start_asked: quick_start.asked,
            quick_start_granted: quick_start.granted,
            quick_start_reduced: quick_start.reduced,
            quick_start_refused: quick_start.refused,
        }
    }
}

/// Nanoseconds of a tenth of a second.
const TENTH: u64 = 100_000_000;

/// Converts a span to milliseconds with three decimals.
fn millis(span: Span) -> f64 {
    (as_f64(span.nanos()) / 1_000.0).round() / 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "a few bits of a number to read")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Returns the report of a direction that a packet of 1000 bytes enters every `gap` milliseconds.
    fn every(gap: u64, count: u64) -> DirectionReport {
        let mut counts = Counts::default();
        for number in 0..count {
            counts.enters(1_000);
            counts.delivers(1_000, at(5_000 + number * gap), Span::from_millis(7 + number), false);
        }
        counts.report(&[], &[])
    }

    #[test]
    fn rates_are_of_the_time_from_the_first_packet_on() {
        let report = every(10, 301);
        assert_eq!(report.rate_bps, Some(800_000.0));
        assert_eq!(report.busiest_second_bps, Some(800_000.0));
        assert_eq!((report.base_delay_ms, report.peak_delay_ms), (Some(7.0), Some(307.0)));
    }

    #[test]
    fn a_rate_needs_two_packets_and_a_busiest_second_needs_a_second() {
        assert_eq!((every(10, 0).rate_bps, every(10, 1).rate_bps), (None, None));
        assert_eq!((every(10, 0).base_delay_ms, every(10, 99).busiest_second_bps), (None, None));
        assert!(every(10, 120).busiest_second_bps.is_some());
    }

    #[test]
    fn the_busiest_second_is_found_between_silences() {
        let mut counts = Counts::default();
        let burst = (0..200u64).map(|number| 20_000 + 5 * number);
        for millis in [0].into_iter().chain(burst).chain([60_000]) {
            counts.delivers(1_000, at(millis), Span::ZERO, false);
        }
        assert_eq!(counts.report(&[], &[]).busiest_second_bps, Some(1_600_000.0));
    }

    #[test]
    fn packets_neither_delivered_nor_dropped_are_counted_inside() {
        let mut counts = Counts::default();
        (0..10).for_each(|_| counts.enters(100));
        counts.delivers(100, at(1), Span::ZERO, true);
        for cause in [Some(DropCause::Queue), Some(DropCause::Policer), Some(DropCause::Random), None] {
            counts.drops(cause);
        }
        let report = counts.report(&[], &[]);
        assert_eq!((report.inside, report.marked), (5, 1));
        assert_eq!(report.dropped, Dropped { queue: 1, policer: 1, random: 1, host: 1 });
    }
}
