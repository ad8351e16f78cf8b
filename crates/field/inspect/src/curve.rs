//! Delivered bytes as a function of time, stored in bounded space.

use serde::{Deserialize, Serialize};

/// A new point is kept if it is later than the previous one by at least this share (1/4096) of the time since the first point. A curve of
/// any length then has about ten thousand points, and times are exact to a fortieth of a per cent.
const FINENESS: u64 = 4096;

/// Delivered bytes as a step function of time, as far as acknowledgements show them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Curve {
    /// Times, each with the bytes delivered by this time.
    points: Vec<(u64, u64)>,
}

impl Curve {
    /// Records that `bytes` were delivered by the time `at`.
    pub(crate) fn step(&mut self, at: u64, bytes: u64) {
        let Some(&(first, _)) = self.points.first() else {
            self.points.push((at, bytes));
            return;
        };
        let grain = at.saturating_sub(first) / FINENESS;
        let count = self.points.len();
        // The last point is replaced until it is far enough from the previous one.
        if count > 1 && at.saturating_sub(self.points[count - 2].0) < grain {
            self.points[count - 1] = (at, bytes);
        } else {
            self.points.push((at, bytes));
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.points.shrink_to_fit();
    }

    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.points.last().copied()
    }

    /// Returns the time of the first step after `at`.
    fn after(&self, at: u64) -> Option<u64> {
        let next = self.points.partition_point(|point| point.0 <= at);
        self.points.get(next).map(|point| point.0)
    }

    /// Returns the bytes delivered by the time `at`.
    pub(crate) fn at(&self, at: u64) -> u64 {
        let next = self.points.partition_point(|point| point.0 <= at);
        next.checked_sub(1).map_or(0, |last| self.points[last].1)
    }
}

/// A busy period: the time between two restarts after idle times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Period {
    /// Time of the period's first data.
    pub(crate) began: u64,
    /// Bytes delivered, including those before the period.
    pub(crate) curve: Curve,
}

impl Period {
    /// Returns the bytes delivered in the period.
    pub(crate) fn bytes(&self) -> u64 {
        let before = if self.is_first() { 0 } else { self.curve.points.first().map_or(0, |point| point.1) };
        self.curve.last().map_or(0, |(_, bytes)| bytes.saturating_sub(before))
    }

    /// Checks whether this is the connection's first period. The curve of a later period has a point at the period's beginning; the curve
    /// of the first period has its first point at the first delivery.
    fn is_first(&self) -> bool {
        self.curve.points.first().is_none_or(|point| point.0 != self.began)
    }
}

/// The later rate of a connection, and the time until it reached nine tenths of this rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Later {
    pub(crate) bps: f64,
    /// Time from the first data until nine tenths of the rate were reached; `None` if they were not.
    pub(crate) reached: Option<u64>,
}

/// Number of consecutive intervals that must deliver nine tenths of the rate, as in the simulator's results.
const SUSTAINED: u64 = 4;

/// Maximum number of intervals per connection.
const MAX_INTERVALS: u64 = 1_000_000;

/// Returns the later rate. It is the number of bytes acknowledged for the first time, in order or selectively, in the second half of the
/// time from the first data to the last acknowledgement of new data, divided by the length of this half. An interval is max(minimum RTT, 20
/// packet times at that rate). The rate is reached at the end of the first of four consecutive intervals that each deliver nine tenths of
/// it. Returns `None` if the second half is shorter than four intervals.
pub(crate) fn later(curve: &Curve, first_data: u64, min_rtt: u64, mss: u64) -> Option<Later> {
    let (end, total) = curve.last()?;
    let middle = first_data + end.checked_sub(first_data)? / 2;
    let (bytes, nanos) = (total.saturating_sub(curve.at(middle)), end - middle);
    if bytes == 0 || nanos == 0 {
        return None;
    }
    let twenty = u128::from(20 * mss) * u128::from(nanos) / u128::from(bytes);
    let interval = min_rtt.max(u64::try_from(twenty).ok()?).max((end - first_data) / MAX_INTERVALS).max(1);
    if nanos / interval < SUSTAINED {
        return None;
    }
    let mut run = 0;
    let mut reached = None;
    let mut index = 0;
    while index < (end - first_data) / interval {
        let from = first_data + index * interval;
        let brought = u128::from(curve.at(from + interval).saturating_sub(curve.at(from)));
        let enough = brought * u128::from(nanos) * 10 >= u128::from(bytes) * u128::from(interval) * 9;
        run = if enough { run + 1 } else { 0 };
        if run == SUSTAINED {
            reached = Some((index + 2 - SUSTAINED) * interval);
            break;
        }
        index += 1;
        if brought == 0 {
            // Intervals before the next step deliver nothing.
            let Some(next) = curve.after(from + interval) else { break };
            index = index.max((next - first_data - 1) / interval);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let bps = bytes as f64 * 8e9 / nanos as f64;
    Some(Later { bps, reached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_long_curve_keeps_few_points_and_close_ones() {
        let mut curve = Curve::default();
        for at in 0..2_000_000_u64 {
            curve.step(at * 1000, at);
        }
        assert!(curve.points.len() < 60_000, "{}", curve.points.len());
        for at in [10_u64, 5_000, 777_777, 1_999_999] {
            let off = at - curve.at(at * 1000);
            assert!(off <= 1 + at / 2000, "{at}: {off}");
        }
    }

    #[test]
    fn nine_tenths_are_reached_when_four_intervals_in_a_row_bring_them() {
        // 1000 bytes per millisecond from 500 ms on, a tenth of this rate before.
        let mut curve = Curve::default();
        for ms in 0..=4000_u64 {
            curve.step(ms * MS, if ms <= 500 { ms * 100 } else { 50_000 + (ms - 500) * 1000 });
        }
        let found = later(&curve, 0, 50 * MS, 1000).unwrap();
        assert!((found.bps - 8e6).abs() < 8e3, "{}", found.bps);
        assert_eq!(found.reached, Some(550 * MS));
    }

    proptest! {
        #[test]
        fn intervals_that_bring_nothing_are_passed_over_and_nothing_else_is(
            steps in prop::collection::vec((1_u64..40_000, 1_u64..5_000), 1..60),
            interval in 1_u64..3_000,
        ) {
            let mut curve = Curve::default();
            let (mut at, mut bytes) = (0, 0);
            for (wait, more) in steps {
                (at, bytes) = (at + wait, bytes + more);
                curve.step(at, bytes);
            }
            let Some(found) = later(&curve, 0, interval, 1) else { return Ok(()) };
            let (middle, nanos) = (at / 2, at - at / 2);
            let later_bytes = bytes - curve.at(middle);
            let interval = interval.max(20 * nanos / later_bytes);
            let brings = |from: u64| (curve.at(from + interval) - curve.at(from)) * nanos * 10 >= later_bytes * interval * 9;
            let is_first = |index: &u64| (0..4).all(|more| brings((index + more) * interval));
            let first = (0..(at / interval).saturating_sub(3)).find(is_first);
            prop_assert_eq!(found.reached, first.map(|index| (index + 1) * interval));
        }
    }

    #[test]
    fn without_four_intervals_there_is_no_later() {
        let mut curve = Curve::default();
        (0..=300_u64).for_each(|ms| curve.step(ms * MS, ms * 1000));
        assert_eq!(later(&curve, 0, 50 * MS, 100), None);
        assert_eq!(later(&Curve::default(), 0, 50 * MS, 100), None);
    }
}
