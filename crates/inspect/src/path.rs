//! What a sender's acknowledgements say of its path: the rate at which it delivers, the queue, the receiver's acknowledgements.
//! Kept only where time series are, in bounded space.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Segments over which a delivery rate is measured: enough that a delayed acknowledgement at its beginning or end is no more than
/// a twentieth of it.
const WINDOW: u64 = 20;

/// Segments of the trains that a short queue lets through, over which the rate is measured besides.
const SHORT: u64 = 8;

/// The most instants of departure whose round trips are kept: a window of them.
const MOST_SENT: usize = 4096;

/// The most samples kept; of more every second, every fourth and so on.
const MOST_SAMPLES: usize = 4096;

/// Acknowledgements at the beginning that may be quick: Linux has 16.
const FIRST_ACKS: usize = 8;

/// Round trips in a row that a queue must be seen in: a delayed acknowledgement is one alone.
const HELD: usize = 3;

/// The most busy periods whose bytes are kept.
const MOST_PERIODS: usize = 64;

/// What was seen of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathSeen {
    /// The payload rate, bit/s, that nine tenths of the samples do not exceed; each is over 20 segments, or over 8 where trains
    /// are no longer and many samples of these agree. `None` with fewer than ten samples.
    pub rate_bps: Option<f64>,
    /// Over how many segments.
    pub rate_segments: u64,
    /// The longest round trip that three in a row reached.
    pub most: Option<Waited>,
    /// The round trips of what left last before a packet that was sent again: their median, and what nine tenths do not exceed.
    pub at_loss: Option<[Waited; 2]>,
    /// How many of the first eight acknowledgements, without losses, told of one segment alone.
    pub quick_acks: u64,
    /// How many acknowledgements these were.
    pub first_acks: u64,
    /// Of the later ones: those of one segment, of two, and of more.
    pub later_acks: [u64; 3],
    /// The least round trip of a full segment, s.
    pub full_rtt_s: Option<f64>,
    /// Payload delivered in each busy period, in their order: 63 and the one that was the last. Where there were more, those
    /// after the 63rd count as one.
    pub periods: Vec<u64>,
    /// What was seen of the end of each busy period but the last, in their order; the first 63.
    pub pauses: Vec<Pause>,
}

/// The end of a busy period, as seen from the beginning of the next. When the last byte reached the receiver is not seen: it is not
/// before what its packet took there, not after its acknowledgement left, and the acknowledgement may have waited for more data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// Since the last data left, s.
    pub sent_s: f64,
    /// How much payload that was.
    pub sent_bytes: u64,
    /// Since all was acknowledged, s.
    pub acked_s: f64,
    /// Since the acknowledgement before that, s, and how much payload that left open.
    pub before: Option<(f64, u64)>,
}

/// A round trip of a packet that may have waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waited {
    /// The round trip, s.
    pub rtt_s: f64,
    /// Payload that left at the same instant before it: it waited at the sender's own link, too.
    pub ahead_bytes: u64,
}

impl Waited {
    fn of((rtt, ahead_bytes): Sample) -> Self {
        Self { rtt_s: seconds(rtt), ahead_bytes }
    }
}

/// A round trip, and the payload that left at the same instant before it.
type Sample = (u64, u64);

/// Samples of which every `stride`th is kept.
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
            if self.kept.len() == MOST_SAMPLES {
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

/// One look at a path while its connection lasts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PathWatch {
    /// When how much was delivered: the last window of it.
    steps: VecDeque<(u64, u64)>,
    rates: Samples<u64>,
    short_rates: Samples<u64>,
    /// The last few round trips.
    last: VecDeque<Sample>,
    most: Option<Sample>,
    /// The first byte of new data that left at an instant.
    bursts: VecDeque<(u64, u64)>,
    /// The longest round trip of what left at an instant.
    sent_rtts: VecDeque<(u64, Sample)>,
    at_losses: Samples<Sample>,
    first_acks: usize,
    quick_acks: u64,
    later: [u64; 3],
    /// The least round trip of a full segment.
    least_full: Option<u64>,
    /// Delivered by the beginning of each busy period but the first.
    begins: Vec<u64>,
    pauses: Vec<Pause>,
    delivered: u64,
    /// When and how much payload was sent last.
    sent: (u64, u64),
}

impl PathWatch {
    /// By the time `at` the receiver had acknowledged `delivered` bytes in all, in order or selectively.
    pub(crate) fn delivered(&mut self, at: u64, delivered: u64, mss: u64) {
        self.delivered = delivered;
        if self.steps.back().is_some_and(|(last, _)| *last > at) {
            self.steps.clear();
        }
        self.steps.push_back((at, delivered));
        // The oldest step that is a window ago.
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

    /// Payload was sent, which begins at the place `start`.
    pub(crate) fn departed(&mut self, at: u64, start: u64, bytes: u64) {
        self.sent = (at, bytes);
        if self.bursts.back().is_none_or(|(last, first)| *last < at && *first < start) {
            keep(&mut self.bursts, (at, start), MOST_SENT);
        }
    }

    /// A round trip was measured, of a full segment or another, that was sent at `sent` and ends at the place `end`.
    pub(crate) fn round_trip(&mut self, (sent, end): (u64, u64), rtt: u64, is_full: bool, mss: u64) {
        let burst = self.bursts.binary_search_by_key(&sent, |(at, _)| *at).ok();
        let first = burst.and_then(|at| self.bursts.get(at)).map_or(end, |(_, first)| *first);
        let sample = (rtt, end.saturating_sub(first).saturating_sub(mss));
        match self.sent_rtts.back_mut() {
            Some((last, most)) if *last == sent => *most = sample.max(*most),
            Some((last, _)) if *last > sent => {}
            _ => keep(&mut self.sent_rtts, (sent, sample), MOST_SENT),
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

    /// What was first sent at `sent` is sent again.
    pub(crate) fn lost(&mut self, sent: u64) {
        let behind = self.sent_rtts.partition_point(|(at, _)| *at <= sent);
        let before = behind.checked_sub(1).and_then(|at| self.sent_rtts.get(at));
        if let Some((at, sample)) = before
            && sent - at <= sample.0
        {
            self.at_losses.add(*sample);
        }
    }

    /// An acknowledgement told of so many new bytes in order, with nothing missing.
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

    /// Another busy period begins.
    pub(crate) fn again(&mut self, at: u64) {
        if self.begins.len() + 1 < MOST_PERIODS {
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

    /// Over how many segments the rate is measured, and the rate.
    fn rate(&self) -> (u64, Option<u64>) {
        let of_ten = |samples: &[u64], tenths| quantile(samples, tenths).filter(|_| samples.len() >= 10);
        let (long, short) = (self.rates.sorted(), self.short_rates.sorted());
        let (long, many, short) = (of_ten(&long, 9), of_ten(&short, 7), of_ten(&short, 9));
        match (long, many.zip(short)) {
            // Acknowledgements that come in bunches make few of these high.
            (long, Some((many, short)))
                if short - many <= short / 50 && long.is_none_or(|long| short > long + long / 30) =>
            {
                (SHORT, Some(short))
            }
            (long, _) => (WINDOW, long),
        }
    }

    /// What was seen.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(crate) fn seen(&self, first: u64) -> PathSeen {
        let (rate_segments, rate) = self.rate();
        let at_losses = self.at_losses.sorted();
        let ends = self.begins.iter().copied().chain([self.delivered]);
        let mut before = first;
        let periods = ends.map(|end| end.saturating_sub(std::mem::replace(&mut before, end))).collect();
        PathSeen {
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

/// Keeps the newest.
fn keep<T>(queue: &mut VecDeque<T>, one: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(one);
}

/// What so many tenths of the sorted samples do not exceed.
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
    fn the_rate_is_that_of_trains_and_not_of_the_gaps_between_them() {
        let mut watch = PathWatch::default();
        let (mut at, mut bytes) = (0, 0);
        for _ in 0..10 {
            for _ in 0..200 {
                (at, bytes) = (at + MS, bytes + 1000);
                watch.delivered(at, bytes, 1000);
            }
            at += 300 * MS;
        }
        let rate = watch.seen(0).rate_bps.unwrap();
        assert!((rate / 8e6 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn one_late_acknowledgement_is_no_queue() {
        let mut watch = PathWatch::default();
        for at in 0..100 {
            watch.round_trip((at * MS, at), if at == 50 { 200 * MS } else { 40 * MS }, true, 1);
        }
        assert_eq!(watch.seen(0).most.map(|most| most.rtt_s), Some(0.04));
    }

    #[test]
    fn a_loss_has_the_round_trip_of_what_left_last_before_it_and_not_of_what_came_back_last() {
        let mut watch = PathWatch::default();
        (0..5).for_each(|place| watch.departed(if place < 3 { 0 } else { 50 * MS }, place * 10, 10));
        for (sent, end, rtt) in [(0, 10, 40), (0, 20, 70), (0, 30, 100), (50, 40, 60), (60, 50, 50)] {
            watch.round_trip((sent * MS, end), rtt * MS, true, 10);
        }
        (0..9).for_each(|_| watch.lost(0));
        watch.lost(55 * MS);
        watch.lost(1_000 * MS);
        // Two had left at the same instant before it.
        assert_eq!(watch.seen(0).at_loss, Some([Waited { rtt_s: 0.1, ahead_bytes: 20 }; 2]));
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
            watch.seen(0)
        };
        let seen_in_trains = seen(14);
        assert_eq!((seen_in_trains.rate_segments, seen_in_trains.rate_bps), (8, Some(8e6)));
        assert_eq!(seen(100).rate_segments, 20);
        // Acknowledgements in bunches: two thirds of the short stretches span a pause.
        assert_eq!(seen(10).rate_segments, 20);
    }

    #[test]
    fn quick_acknowledgements_at_first_are_told_from_later_ones() {
        let mut watch = PathWatch::default();
        (0..16).for_each(|_| watch.acknowledged(1000, 1000));
        (0..50).for_each(|_| watch.acknowledged(2000, 1000));
        watch.acknowledged(9000, 1000);
        let seen = watch.seen(0);
        assert_eq!((seen.quick_acks, seen.first_acks, seen.later_acks), (8, 8, [8, 50, 1]));
    }

    #[test]
    fn samples_are_thinned_evenly() {
        let mut samples = Samples::default();
        (0..100_000).for_each(|at| samples.add(at));
        assert!(samples.kept.len() <= MOST_SAMPLES && samples.kept.len() > MOST_SAMPLES / 4);
        let steps = samples.kept.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.into_iter().all(|step| step == samples.stride));
    }

    #[test]
    fn each_busy_period_has_its_bytes_and_its_end() {
        let mut watch = PathWatch::default();
        watch.departed(50 * MS, 90, 10);
        watch.delivered(90 * MS, 80, 10);
        watch.delivered(100 * MS, 100, 10);
        watch.again(1_100 * MS);
        watch.delivered(1_200 * MS, 150, 10);
        let seen = watch.seen(20);
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
        assert_eq!(watch.seen(0).full_rtt_s, Some(0.051));
    }
}
