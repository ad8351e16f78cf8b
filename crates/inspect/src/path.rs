//! What a sender's acknowledgements say of its path: the rate at which it delivers, the queue, the receiver's acknowledgements.
//! Kept only where time series are, in bounded space.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Segments over which a delivery rate is measured: enough that a delayed acknowledgement at its beginning or end is no more than
/// a twentieth of it.
const WINDOW: u64 = 20;

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
    /// The payload rate, bit/s, that nine tenths of the samples do not exceed; each is over 20 segments. `None` with fewer than
    /// ten samples.
    pub rate_bps: Option<f64>,
    /// The longest round trip that three in a row reached, s.
    pub most_rtt_s: Option<f64>,
    /// The same of the last before something was first sent again, s.
    pub rtt_at_loss_s: Option<f64>,
    /// How many of the first eight acknowledgements, without losses, told of one segment alone.
    pub quick_acks: u64,
    /// How many acknowledgements these were.
    pub first_acks: u64,
    /// Of the later ones: those of one segment, of two, and of more.
    pub later_acks: [u64; 3],
    /// Payload delivered in each busy period, in their order; the first 64.
    pub periods: Vec<u64>,
}

/// Samples of which every `stride`th is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Samples {
    kept: Vec<u64>,
    stride: u64,
    seen: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { kept: Vec::new(), stride: 1, seen: 0 }
    }
}

impl Samples {
    fn add(&mut self, sample: u64) {
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
    rates: Samples,
    /// The last few round trips.
    last: VecDeque<u64>,
    most: u64,
    at_loss: Option<u64>,
    first_acks: usize,
    quick_acks: u64,
    later: [u64; 3],
    /// Delivered by the beginning of each busy period but the first.
    begins: Vec<u64>,
    delivered: u64,
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
    }

    /// A round trip was measured.
    pub(crate) fn round_trip(&mut self, rtt: u64) {
        self.last.push_back(rtt);
        if self.last.len() > HELD {
            self.last.pop_front();
        }
        if let Some(held) = self.held() {
            self.most = self.most.max(held);
        }
    }

    fn held(&self) -> Option<u64> {
        self.last.iter().min().copied().filter(|_| self.last.len() == HELD)
    }

    /// Something was sent again.
    pub(crate) fn lost(&mut self) {
        if self.at_loss.is_none() {
            self.at_loss = self.held();
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
    pub(crate) fn again(&mut self) {
        self.steps.clear();
        self.last.clear();
        if self.begins.len() + 1 < MOST_PERIODS {
            self.begins.push(self.delivered);
        }
    }

    /// What was seen.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(crate) fn seen(&self, first: u64) -> PathSeen {
        let mut rates = self.rates.kept.clone();
        rates.sort_unstable();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let ends = self.begins.iter().copied().chain([self.delivered]);
        let mut before = first;
        let periods = ends.map(|end| end.saturating_sub(std::mem::replace(&mut before, end))).collect();
        PathSeen {
            rate_bps: (rates.len() >= 10).then(|| rates[rates.len() * 9 / 10] as f64),
            most_rtt_s: (self.most > 0).then(|| seconds(self.most)),
            rtt_at_loss_s: self.at_loss.map(seconds),
            quick_acks: self.quick_acks,
            first_acks: self.first_acks as u64,
            later_acks: self.later,
            periods,
        }
    }
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
            watch.round_trip(if at == 50 { 200 * MS } else { 40 * MS });
        }
        assert_eq!(watch.seen(0).most_rtt_s, Some(0.04));
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
    fn each_busy_period_has_its_bytes() {
        let mut watch = PathWatch::default();
        watch.delivered(1, 100, 10);
        watch.again();
        watch.delivered(2, 150, 10);
        assert_eq!(watch.seen(20).periods, [80, 50]);
    }
}
