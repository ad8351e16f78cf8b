//! Random early detection: arriving packets are dropped or marked with a probability that rises with the mean queue.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993, Figure 2; with the gentle slope above the maximum threshold (S. Floyd,
//! "Recommendation on using the gentle variant of RED", 2000). The queue is measured in the unit of its limit, which
//! is waiting packets or bytes. With bytes the probability grows with the packet's size (section IX of the paper).
//! The packet in transmission does not count, as in ns-2.

use firstflight::{Bytes, Span};

use super::queue::{Arrival, Fifo, Outbox, Waiting};
use crate::fault::DisciplineFault;
use crate::quantity::{Probability, QueueLimit};
use crate::random::Stream;

/// Parameters of RED. Thresholds are in packets or bytes, like the limit of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RedSpec {
    /// The mean queue below which nothing is dropped.
    pub min: u64,
    /// The mean queue at which the probability is `max_p`.
    pub max: u64,
    /// The probability at `max`.
    pub max_p: Probability,
    /// The weight of the present queue in the mean.
    pub weight: Probability,
    /// Whether the probability rises to one between `max` and twice `max`, rather than jumps to one at `max`.
    pub gentle: bool,
    /// IP bytes of a typical packet, used for the mean of an idle link and, if bytes are counted, for the probability
    /// of packets of other sizes.
    pub packet: u32,
    /// Whether to mark ECN-capable packets while the mean is below `max`, rather than drop them.
    pub ecn: bool,
}

impl RedSpec {
    /// Returns RED over a queue of this limit. The gentle slope ends at the queue's limit, so `max` is half of the
    /// limit. By Floyd's rules ("RED: Discussions of Setting Parameters", 1997) `min` is a third of `max`, the
    /// probability is a tenth and the weight 0.002.
    pub fn over(limit: QueueLimit, packet: u32) -> Self {
        let limit = match limit {
            QueueLimit::Packets(packets) => u64::from(packets),
            QueueLimit::Bytes(bytes) => bytes.get(),
            QueueLimit::Unlimited => u64::from(u32::MAX),
        };
        let max = (limit / 2).max(2);
        Self {
            min: (max / 3).max(1),
            max,
            max_p: Probability::ratio(1, 10),
            weight: Probability::ratio(2, 1_000),
            gentle: true,
            packet,
            ecn: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), DisciplineFault> {
        if self.min == 0 || self.min >= self.max {
            Err(DisciplineFault::Thresholds)
        } else if self.max_p.is_never() || self.weight.is_never() || self.packet == 0 {
            Err(DisciplineFault::Nought)
        } else {
            Ok(())
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    spec: RedSpec,
    /// Whether the queue is counted in bytes, not packets.
    by_bytes: bool,
    queue: Fifo,
    stream: Stream,
    mean: f64,
    /// Packets since the last drop or mark; `None` while the mean is below `min`.
    count: Option<u64>,
}

/// RED's decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Pass,
    Signal,
    Drop,
}

impl Red {
    pub(super) fn new(spec: RedSpec, by_bytes: bool, stream: Stream) -> Self {
        Self { spec, by_bytes, queue: Fifo::default(), stream, mean: 0.0, count: None }
    }

    pub(super) fn arrive(&mut self, arrival: Arrival, mut waiting: Waiting, out: &mut Outbox) -> bool {
        self.average(arrival);
        let fate = self.judge(waiting.wire());
        let passes = match fate {
            Fate::Pass => arrival.room,
            Fate::Signal => arrival.room && self.spec.ecn && out.mark(&mut waiting),
            Fate::Drop => false,
        };
        if passes {
            self.queue.push(waiting);
        } else if self.count.is_some() {
            self.count = Some(0);
        }
        passes
    }

    pub(super) fn depart(&mut self) -> Option<Waiting> {
        self.queue.pop()
    }

    pub(super) fn queue(&self) -> &Fifo {
        &self.queue
    }

    /// Moves the mean towards the present queue. After an idle time the mean is what it would be if typical packets had
    /// arrived at an empty queue, one after the other.
    #[expect(clippy::cast_precision_loss, reason = "a queue is far below 2^53")]
    fn average(&mut self, arrival: Arrival) {
        let weight = self.spec.weight.to_f64();
        if let Some(since) = arrival.idle_since {
            let idle = arrival.now.since(since);
            let packet = arrival
                .rate
                .map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(u64::from(self.spec.packet))));
            let missed = if packet.is_zero() { 1.0 } else { idle.nanos() as f64 / packet.nanos() as f64 };
            self.mean *= libm::pow(1.0 - weight, missed);
        } else {
            let queue = if self.by_bytes { self.queue.bytes } else { u64::from(self.queue.len()) };
            self.mean += weight * (queue as f64 - self.mean);
        }
    }

    /// Decides about a packet of `wire` bytes as in Figure 2 of the paper, with the gentle slope.
    #[expect(clippy::cast_precision_loss, reason = "thresholds and counts are far below 2^53")]
    fn judge(&mut self, wire: u32) -> Fate {
        let (min, max) = (self.spec.min as f64, self.spec.max as f64);
        if self.mean < min {
            self.count = None;
            return Fate::Pass;
        }
        // The number of packets accepted since the last drop or mark.
        let passed = self.count.map_or(0, |count| count);
        self.count = Some(passed + 1);
        let max_p = self.spec.max_p.to_f64();
        let base = if self.mean < max {
            max_p * (self.mean - min) / (max - min)
        } else if self.spec.gentle {
            max_p + (1.0 - max_p) * (self.mean - max) / max
        } else {
            1.0
        };
        let size = if self.by_bytes { f64::from(wire) / f64::from(self.spec.packet) } else { 1.0 };
        let base = base * size;
        // Drops and marks are spread evenly: the gaps are uniform over 1 to 1 / base packets.
        let spread = 1.0 - passed as f64 * base;
        let chance = if base >= 1.0 || spread <= base { 1.0 } else { base / spread };
        if self.stream.unit() >= chance {
            return Fate::Pass;
        }
        self.count = Some(0);
        if self.mean < max { Fate::Signal } else { Fate::Drop }
    }
}

#[cfg(test)]
mod tests {
    use firstflight::{Rate, Time};
    use firstflight_tcp::Ecn;

    use super::super::tests::{ect, plain, stream};
    use super::*;

    fn spec() -> RedSpec {
        RedSpec { min: 5, max: 15, ..RedSpec::over(QueueLimit::Packets(100), 1_000) }
    }

    fn busy(now: Time) -> Arrival {
        Arrival { now, room: true, idle_since: None, rate: Some(Rate::from_bps(8_000_000)) }
    }

    fn with_mean(mean: f64, spec: RedSpec) -> Red {
        Red { mean, ..Red::new(spec, false, stream()) }
    }

    #[test]
    fn default_red_thresholds_are_half_the_limit_and_a_third_of_that() {
        let spec = RedSpec::over(QueueLimit::Packets(100), 1_000);
        assert_eq!((spec.min, spec.max), (16, 50));
        for packets in 1..20 {
            assert_eq!(RedSpec::over(QueueLimit::Packets(packets), 1_000).check(), Ok(()));
        }
    }

    #[test]
    fn the_mean_is_an_exponential_average_of_the_queue_found() {
        let mut red = Red::new(RedSpec { weight: Probability::ratio(1, 4), ..spec() }, false, stream());
        for number in 0..4 {
            assert!(red.arrive(busy(Time::ZERO), plain(number), &mut Outbox::default()));
        }
        // The packets find queues of 0, 1, 2 and 3.
        let expected = [0.0, 1.0, 2.0, 3.0].iter().fold(0.0, |mean, queue| mean + 0.25 * (queue - mean));
        assert!((red.mean - expected).abs() < 1e-12);
    }

    #[test]
    fn an_idle_link_lets_the_mean_fall_as_if_packets_had_come() {
        // A packet of 1000 bytes takes a millisecond; ten of them fit the idle time.
        let mut red = with_mean(4.0, RedSpec { weight: Probability::ratio(1, 10), ..spec() });
        let now = Time::from_nanos(30_000_000);
        let idle = Arrival { idle_since: Some(Time::from_nanos(20_000_000)), ..busy(now) };
        red.average(idle);
        assert!((red.mean - 4.0 * libm::pow(0.9, 10.0)).abs() < 1e-12);
    }

    #[test]
    fn red_drops_nothing_below_the_minimum_and_everything_above_twice_maximum() {
        for (mean, fate) in [(4.99, Fate::Pass), (30.0, Fate::Drop)] {
            let mut red = with_mean(mean, spec());
            assert!((0..1_000).all(|_| red.judge(1_000) == fate), "{mean}");
        }
        let mut abrupt = with_mean(15.0, RedSpec { gentle: false, ..spec() });
        assert!((0..1_000).all(|_| abrupt.judge(1_000) == Fate::Drop));
    }

    #[test]
    fn signals_are_one_to_one_over_p_packets_apart_and_uniform() {
        // Half way between the thresholds p is 0.05: gaps from 1 to 20, mean 10.5.
        let mut red = with_mean(10.0, spec());
        let (mut gaps, mut gap) = ([0u32; 21], 0);
        for _ in 0..210_000 {
            gap += 1;
            if red.judge(1_000) == Fate::Signal {
                gaps[gap] += 1;
                gap = 0;
            }
        }
        // There are 20 000 gaps, 1000 of each length. The standard deviation is 31; the test allows five of them.
        assert!(gaps[1..].iter().all(|count| count.abs_diff(1_000) < 155), "{gaps:?}");
    }

    #[test]
    fn in_the_gentle_range_the_probability_rises_to_one() {
        // A third of the way from `max` to twice `max`: 0.1 + 0.9 / 3 = 0.4, so gaps are 1 or 2 (1 / p = 2.5).
        let mut red = with_mean(20.0, spec());
        let dropped = (0..100_000).filter(|_| red.judge(1_000) == Fate::Drop).count();
        // The gap is 1 with probability 0.4, 2 with 0.6 × 2/3 = 0.4, and 3 with the rest: mean 1.8.
        assert!(dropped.abs_diff(55_556) < 500, "{dropped}");
    }

    #[test]
    fn larger_packets_are_dropped_more_often_if_bytes_are_counted() {
        let spec = RedSpec { min: 5_000, max: 15_000, ..spec() };
        let signals = |wire| {
            let mut red = Red { mean: 10_000.0, ..Red::new(spec, true, stream()) };
            (0..105_000).filter(|_| red.judge(wire) == Fate::Signal).count()
        };
        // p = 0.05 at 1000 bytes, 0.025 at 500: mean gaps of 10.5 and 20.5.
        assert!(signals(1_000).abs_diff(10_000) < 300);
        assert!(signals(500).abs_diff(5_122) < 250);
    }

    #[test]
    fn red_marks_ecn_packets_below_the_maximum_threshold_and_drops_above() {
        let marking = RedSpec { ecn: true, weight: Probability::ratio(1, 1_000_000), ..spec() };
        let mut red = with_mean(14.9, marking);
        let mut out = Outbox::default();
        let accepted = (0..100).filter(|n| red.arrive(busy(Time::ZERO), ect(*n), &mut out)).count();
        assert_eq!(accepted, 100);
        assert!(out.marked.len() > 10 && out.dropped.is_empty());
        let marks = red.queue.packets.iter().filter(|waiting| waiting.ecn == Ecn::Ce);
        assert_eq!(marks.count(), out.marked.len());
        let mut out = Outbox::default();
        let mut red = with_mean(14.9, marking);
        let accepted = (0..100).filter(|n| red.arrive(busy(Time::ZERO), plain(*n), &mut out)).count();
        assert!(accepted < 90 && out.marked.is_empty());
        let mut red = with_mean(16.0, marking);
        assert!((0..100).any(|n| !red.arrive(busy(Time::ZERO), ect(n), &mut out)));
    }
}
