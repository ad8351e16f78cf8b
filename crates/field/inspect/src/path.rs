//! Measures path properties from a sender's acknowledgements: the delivery rate, the queue, and the receiver's acknowledgement policy. They
//! are kept in bounded space, and only if time series are kept.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Number of segments over which a delivery rate is measured. With this number, a delayed acknowledgement at the beginning or end changes
/// the rate by at most a twentieth.
const WINDOW: u64 = 20;

/// Number of segments in the trains that pass a short queue. The rate is also measured over this length.
const SHORT: u64 = 8;

/// Maximum number of transmission times whose RTTs are kept. They cover one window.
const MAX_SENT: usize = 4096;

/// Maximum number of samples kept. When it is reached, only every second sample is kept, then every fourth, and so on.
const MAX_SAMPLES: usize = 4096;

/// Number of acknowledgements at the beginning that may be quick ACKs. Linux sends 16 of them.
const FIRST_ACKS: usize = 8;

/// Number of consecutive RTT samples that must show a queue. A delayed acknowledgement affects only one sample.
const HELD: usize = 3;

/// Maximum number of busy periods whose delivered bytes are kept.
const MAX_PERIODS: usize = 64;

/// Number of first transmissions kept. If a start-up doubles its rate in each RTT, they have several rates.
const FIRST_SENDS: usize = 128;

/// Minimum number of gaps between transmissions that can show a rate.
const MINIMUM_GAPS: usize = 16;

/// Measurements of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathSeen {
    /// The 90th percentile of the payload rate samples, in bit/s. Each sample covers 20 segments. If trains are no longer than 8 segments
    /// and many samples over 8 segments agree, these are used instead. `None` with fewer than ten samples.
    pub rate_bps: Option<f64>,
    /// Number of segments per rate sample.
    pub rate_segments: u64,
    /// The largest RTT that three consecutive samples reached or exceeded.
    pub most: Option<Waited>,
    /// RTTs of the packets that were sent last before a retransmitted packet's first transmission: their median and 90th percentile.
    pub at_loss: Option<[Waited; 2]>,
    /// Number of the first eight acknowledgements that acknowledged a single segment. Only acknowledgements without losses count.
    pub quick_acks: u64,
    /// Number of acknowledgements among which `quick_acks` are counted; at most eight.
    pub first_acks: u64,
    /// Numbers of later acknowledgements that acknowledged one segment, two segments, and more.
    pub later_acks: [u64; 3],
    /// Minimum RTT of a full segment, in seconds.
    pub full_rtt_s: Option<f64>,
    /// Payload bytes delivered in each busy period, in order: the first 63 periods and the last. If there are more than 64, those after the
    /// 63rd are summed up.
    pub periods: Vec<u64>,
    /// Whether the first 128 packets were sent at the delivery rate, apart from bursts and pauses. If so, the bottleneck is the sender's
    /// own link, or a shaper at the sender. A sender that paces in start-up would have another rate in each RTT.
    pub is_shaped: bool,
    /// Whether the sender's SYN has the options of Linux, in Linux's order.
    pub is_linux: bool,
    /// Data on the end of each busy period except the last, in order. At most the first 63.
    pub pauses: Vec<Pause>,
}

/// The end of a busy period, with times measured back from the beginning of the next. The arrival of the last byte at the receiver is not
/// visible. It is not before the time that its packet needed to get there. It is not after its acknowledgement was sent, which may have
/// been delayed in the hope of more data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// Time since the last data was sent, in seconds.
    pub sent_s: f64,
    /// Payload bytes of this last data.
    pub sent_bytes: u64,
    /// Time since all data was acknowledged, in seconds.
    pub acked_s: f64,
    /// Time since the previous acknowledgement, in seconds, and the payload bytes that were outstanding after it.
    pub before: Option<(f64, u64)>,
}

/// RTT of a packet that may have been queued.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waited {
    /// The RTT in seconds.
    pub rtt_s: f64,
    /// Number of payload bytes sent at the same instant before the packet. The packet also waited for them at the sender's own link.
    pub ahead_bytes: u64,
}

impl Waited {
    fn of((rtt, ahead_bytes): Sample) -> Self {
        Self { rtt_s: seconds(rtt), ahead_bytes }
    }
}

/// An RTT, and the number of payload bytes sent at the same instant before the packet.
type Sample = (u64, u64);

/// Samples, of which only every `stride`th is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Samples<T> {
    kept: Vec<T>,
    stride: u64,
    seen: u64,
}

impl<T> Default for Samples<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), stride: 1, seen: 0 }
    }
}

impl<T: Copy + Ord> Samples<T> {
    fn sorted(&self) -> Vec<T> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        sorted
    }

    fn add(&mut self, sample: T) {
        if self.seen.is_multiple_of(self.stride) {
            if self.kept.len() == MAX_SAMPLES {
                let mut at = 0;
                self.kept.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.kept.push(sample);
            }
        }
        self.seen += 1;
    }
}

/// Measures a path while its connection lasts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PathWatch {
    /// Times, each with the bytes delivered by this time. Covers the last window.
    steps: VecDeque<(u64, u64)>,
    rates: Samples<u64>,
    short_rates: Samples<u64>,
    /// The last few RTT samples.
    last: VecDeque<Sample>,
    most: Option<Sample>,
    /// Transmission times of new data, each with the offset of the first byte sent at this time.
    bursts: VecDeque<(u64, u64)>,
    /// Transmission times, each with the longest RTT of the packets sent at this time.
    sent_rtts: VecDeque<(u64, Sample)>,
    at_losses: Samples<Sample>,
    first_acks: usize,
    quick_acks: u64,
    later: [u64; 3],
    /// Minimum RTT of a full segment.
    least_full: Option<u64>,
    /// Number of bytes delivered by the beginning of each busy period except the first.
    begins: Vec<u64>,
    pauses: Vec<Pause>,
    delivered: u64,
    /// Time of the last transmission, and its payload bytes.
    sent: (u64, u64),
    /// Transmission times of the first packets with new data, each with its payload bytes.
    first_sends: Vec<(u64, u64)>,
    /// End of the data sent so far, as a stream offset.
    sent_to: u64,
}

impl PathWatch {
    /// Records that by the time `at` the receiver had acknowledged a total of `delivered` bytes, in order or selectively.
    pub(crate) fn delivered(&mut self, at: u64, delivered: u64, mss: u64) {
        self.delivered = delivered;
        if self.steps.back().is_some_and(|(last, _)| *last > at) {
            self.steps.clear();
        }
        self.steps.push_back((at, delivered));
        // Keeps one step that is at least a window ago.
        while self.steps.get(1).is_some_and(|(_, then)| delivered.saturating_sub(*then) >= WINDOW * mss) {
            self.steps.pop_front();
        }
        let Some(&(since, then)) = self.steps.front() else { return };
        let (bytes, nanos) = (delivered.saturating_sub(then), at - since);
        if bytes >= WINDOW * mss && nanos > 0 {
            let rate = u128::from(bytes) * 8_000_000_000 / u128::from(nanos);
            self.rates.add(u64::try_from(rate).unwrap_or(u64::MAX));
        }
        let is_long = |step: &&(u64, u64)| delivered.saturating_sub(step.1) >= SHORT * mss;
        if let Some((since, then)) = self.steps.iter().rev().find(is_long).filter(|(since, _)| *since < at) {
            let rate = u128::from(delivered - then) * 8_000_000_000 / u128::from(at - since);
            self.short_rates.add(u64::try_from(rate).unwrap_or(u64::MAX));
        }
    }

    /// Records that `bytes` of payload were sent, which begin at the stream offset `start`.
    pub(crate) fn departed(&mut self, at: u64, start: u64, bytes: u64) {
        self.sent = (at, bytes);
        if start >= self.sent_to {
            self.sent_to = start + bytes;
            if self.first_sends.len() < FIRST_SENDS {
                self.first_sends.push((at, bytes));
            }
        }
        if self.bursts.back().is_none_or(|(last, first)| *last < at && *first < start) {
            keep(&mut self.bursts, (at, start), MAX_SENT);
        }
    }

    /// Records an RTT sample of a packet that was sent at `sent` and ends at the stream offset `end`. `is_full` says whether the packet was
    /// a full segment.
    pub(crate) fn round_trip(&mut self, (sent, end): (u64, u64), rtt: u64, is_full: bool, mss: u64) {
        let burst = self.bursts.binary_search_by_key(&sent, |(at, _)| *at).ok();
        let first = burst.and_then(|at| self.bursts.get(at)).map_or(end, |(_, first)| *first);
        let sample = (rtt, end.saturating_sub(first).saturating_sub(mss));
        match self.sent_rtts.back_mut() {
            Some((last, most)) if *last == sent => *most = sample.max(*most),
            Some((last, _)) if *last > sent => {}
            _ => keep(&mut self.sent_rtts, (sent, sample), MAX_SENT),
        }
        if is_full {
            self.least_full = Some(self.least_full.map_or(rtt, |least| least.min(rtt)));
        }
        keep(&mut self.last, sample, HELD);
        self.most = self.most.max(self.held());
    }

    fn held(&self) -> Option<Sample> {
        self.last.iter().min().copied().filter(|_| self.last.len() == HELD)
    }

    /// Records the retransmission of a packet first sent at `sent`.
    pub(crate) fn lost(&mut self, sent: u64) {
        let behind = self.sent_rtts.partition_point(|(at, _)| *at <= sent);
        let before = behind.checked_sub(1).and_then(|at| self.sent_rtts.get(at));
        if let Some((at, sample)) = before
            && sent - at <= sample.0
        {
            self.at_losses.add(*sample);
        }
    }

    /// Records an acknowledgement of `bytes` new bytes in order, with no data missing.
    pub(crate) fn acknowledged(&mut self, bytes: u64, mss: u64) {
        let segments = (bytes * 2 / mss.max(1)).div_ceil(2);
        if self.first_acks < FIRST_ACKS {
            self.first_acks += 1;
            self.quick_acks += u64::from(segments <= 1);
        } else {
            let kind = usize::try_from(segments.clamp(1, 3) - 1).unwrap_or(2);
            self.later[kind] += 1;
        }
    }

    /// Records that a new busy period begins.
    pub(crate) fn begin_period(&mut self, at: u64) {
        if self.begins.len() + 1 < MAX_PERIODS {
            self.begins.push(self.delivered);
            self.pauses.push(self.pause(at));
        }
        self.steps.clear();
        self.last.clear();
    }

    fn pause(&self, at: u64) -> Pause {
        let since = |then: u64| seconds(at.saturating_sub(then));
        let mut steps = self.steps.iter().rev();
        let (sent, sent_bytes) = self.sent;
        let acked = steps.next().map_or(sent, |(last, _)| *last);
        let before = steps.next().map(|(then, bytes)| (since(*then), self.delivered.saturating_sub(*bytes)));
        Pause { sent_s: since(sent), sent_bytes, acked_s: since(acked), before }
    }

    /// Returns the number of segments per rate sample, and the rate if there are enough samples.
    fn rate(&self) -> (u64, Option<u64>) {
        let of_ten = |samples: &[u64], tenths| quantile(samples, tenths).filter(|_| samples.len() >= 10);
        let (long, short) = (self.rates.sorted(), self.short_rates.sorted());
        let (long, many, short) = (of_ten(&long, 9), of_ten(&short, 7), of_ten(&short, 9));
        match (long, many.zip(short)) {
            // If acknowledgements arrive in bunches, few of these samples are high.
            (long, Some((many, short)))
                if short - many <= short / 50 && long.is_none_or(|long| short > long + long / 30) =>
            {
                (SHORT, Some(short))
            }
            (long, _) => (WINDOW, long),
        }
    }

    /// Checks whether the first packets were sent at a payload rate of `bps`, as [`PathSeen::is_shaped`] defines. A gap of less than an
    /// eighth of a packet time belongs to a burst, and a gap of more than four packet times is a pause.
    fn is_shaped(&self, bps: u64) -> bool {
        let gaps = self.first_sends.windows(2).filter_map(|pair| {
            let nanos = u128::from(pair[1].0.saturating_sub(pair[0].0)) * u128::from(bps);
            let packet = u128::from(pair[1].1) * 8_000_000_000;
            (8 * nanos >= packet && nanos <= 4 * packet).then_some((nanos, packet))
        });
        let (count, alike) = gaps.fold((0, 0), |(count, alike), (nanos, packet)| {
            (count + 1, alike + usize::from(8 * nanos.abs_diff(packet) <= packet))
        });
        count >= MINIMUM_GAPS && 4 * alike >= 3 * count
    }

    /// Returns the measurements so far.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(crate) fn seen(&self, first: u64, is_linux: bool) -> PathSeen {
        let (rate_segments, rate) = self.rate();
        let at_losses = self.at_losses.sorted();
        let ends = self.begins.iter().copied().chain([self.delivered]);
        let mut before = first;
        let periods = ends.map(|end| end.saturating_sub(std::mem::replace(&mut before, end))).collect();
        PathSeen {
            is_shaped: rate.is_some_and(|rate| self.is_shaped(rate)),
            is_linux,
            rate_bps: rate.map(|rate| rate as f64),
            rate_segments,
            most: self.most.map(Waited::of),
            at_loss: quantile(&at_losses, 5)
                .zip(quantile(&at_losses, 9))
                .map(|(a, b)| [Waited::of(a), Waited::of(b)]),
            quick_acks: self.quick_acks,
            first_acks: self.first_acks as u64,
            later_acks: self.later,
            full_rtt_s: self.least_full.map(seconds),
            periods,
            pauses: self.pauses.clone(),
        }
    }
}

/// Appends an element to the queue, and removes the oldest if there are more than `most`.
fn keep<T>(queue: &mut VecDeque<T>, one: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(one);
}

/// Returns the quantile `tenths`/10 of the sorted samples; `None` without samples.
fn quantile<T: Copy>(sorted: &[T], tenths: usize) -> Option<T> {
    sorted.get(sorted.len() * tenths / 10).copied()
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_path_rate_is_the_rate_within_trains_without_gaps() {
        let mut watch = PathWatch::default();
        let (mut at, mut bytes) = (0, 0);
        for _ in 0..10 {
            for _ in 0..200 {
                (at, bytes) = (at + MS, bytes + 1000);
                watch.delivered(at, bytes, 1000);
            }
            at += 300 * MS;
        }
        let rate = watch.seen(0, false).rate_bps.unwrap();
        assert!((rate / 8e6 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn one_late_acknowledgement_is_no_queue() {
        let mut watch = PathWatch::default();
        for at in 0..100 {
            watch.round_trip((at * MS, at), if at == 50 { 200 * MS } else { 40 * MS }, true, 1);
        }
        assert_eq!(watch.seen(0, false).most.map(|most| most.rtt_s), Some(0.04));
    }

    #[test]
    fn a_loss_has_the_round_trip_of_the_last_departure_before_it() {
        let mut watch = PathWatch::default();
        (0..5).for_each(|place| watch.departed(if place < 3 { 0 } else { 50 * MS }, place * 10, 10));
        for (sent, end, rtt) in [(0, 10, 40), (0, 20, 70), (0, 30, 100), (50, 40, 60), (60, 50, 50)] {
            watch.round_trip((sent * MS, end), rtt * MS, true, 10);
        }
        (0..9).for_each(|_| watch.lost(0));
        watch.lost(55 * MS);
        watch.lost(1_000 * MS);
        // Two packets were sent at the same instant before the sampled packet.
        assert_eq!(watch.seen(0, false).at_loss, Some([Waited { rtt_s: 0.1, ahead_bytes: 20 }; 2]));
    }

    #[test]
    fn short_trains_tell_the_rate_if_many_of_them_agree() {
        let seen = |length: u64| {
            let mut watch = PathWatch::default();
            let (mut at, mut bytes) = (0, 0);
            for _ in 0..20 {
                for _ in 0..length {
                    (at, bytes) = (at + MS, bytes + 1000);
                    watch.delivered(at, bytes, 1000);
                }
                at += 30 * MS;
            }
            watch.seen(0, false)
        };
        let seen_in_trains = seen(14);
        assert_eq!((seen_in_trains.rate_segments, seen_in_trains.rate_bps), (8, Some(8e6)));
        assert_eq!(seen(100).rate_segments, 20);
        // Acknowledgements arrive in bunches, so two thirds of the samples over 8 segments span a pause.
        assert_eq!(seen(10).rate_segments, 20);
    }

    #[test]
    fn quick_acknowledgements_at_first_are_told_from_later_ones() {
        let mut watch = PathWatch::default();
        (0..16).for_each(|_| watch.acknowledged(1000, 1000));
        (0..50).for_each(|_| watch.acknowledged(2000, 1000));
        watch.acknowledged(9000, 1000);
        let seen = watch.seen(0, false);
        assert_eq!((seen.quick_acks, seen.first_acks, seen.later_acks), (8, 8, [8, 50, 1]));
    }

    #[test]
    fn samples_are_thinned_evenly() {
        let mut samples = Samples::default();
        (0..100_000).for_each(|at| samples.add(at));
        assert!(samples.kept.len() <= MAX_SAMPLES && samples.kept.len() > MAX_SAMPLES / 4);
        let steps = samples.kept.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.into_iter().all(|step| step == samples.stride));
    }

    #[test]
    fn each_busy_period_has_its_bytes_and_its_end() {
        let mut watch = PathWatch::default();
        watch.departed(50 * MS, 90, 10);
        watch.delivered(90 * MS, 80, 10);
        watch.delivered(100 * MS, 100, 10);
        watch.begin_period(1_100 * MS);
        watch.delivered(1_200 * MS, 150, 10);
        let seen = watch.seen(20, false);
        assert_eq!(seen.periods, [80, 50]);
        let pause = Pause { sent_s: 1.05, sent_bytes: 10, acked_s: 1.0, before: Some((1.01, 20)) };
        assert_eq!(seen.pauses, [pause]);
    }

    #[test]
    fn the_least_round_trip_of_full_segments_is_known_apart() {
        let mut watch = PathWatch::default();
        watch.round_trip((0, 1), 40 * MS, false, 1);
        watch.round_trip((0, 2), 52 * MS, true, 1);
        watch.round_trip((0, 3), 51 * MS, true, 1);
        assert_eq!(watch.seen(0, false).full_rtt_s, Some(0.051));
    }

    /// Returns the measurements of a sender whose rounds have 10, 20 and so on packets of 1000 bytes. They are sent at `rates` in bytes per
    /// millisecond, one rate per round, and delivered at 2000.
    fn sent_at(rates: &[u64], burst: u64) -> PathSeen {
        let mut watch = PathWatch::default();
        let (mut at, mut place, mut delivered) = (0, 0, 0);
        for (round, rate) in (0_u32..).zip(rates) {
            let began = at;
            for packet in 0..10 << round {
                at += if packet < burst { 0 } else { 1000 * MS / rate };
                watch.departed(at, place, 1000);
                place += 1000;
            }
            for packet in 1..=10 << round {
                delivered += 1000;
                watch.delivered(began + 100 * MS + packet * MS / 2, delivered, 1000);
            }
            at = began + 100 * MS;
        }
        watch.seen(0, false)
    }

    #[test]
    fn departures_at_the_delivery_rate_from_the_start_indicate_a_shaper() {
        for burst in [0, 3, 20] {
            assert!(sent_at(&[2000; 4], burst).is_shaped, "{burst}");
        }
        assert!(!sent_at(&[200, 400, 800, 1600], 0).is_shaped, "paced over the round trip");
        assert!(!sent_at(&[1_000_000; 4], 0).is_shaped, "behind a faster link");
    }
}
