//! Points over time, in bounded space. The first points are all kept, later ones are thinned.

use serde::{Deserialize, Serialize};

/// Number of points at the beginning of a series that are all kept. They cover the start-up of most transfers.
const WHOLE: usize = 16_384;

/// Maximum number of later points kept. When it is reached, the time buckets become twice as long.
const MAX_THINNED: usize = 16_384;

/// Number of points that a bucket collects before it is thinned.
const WAITING: usize = 64;

/// A point of a series.
pub(crate) trait Point: Copy {
    /// Returns the point's time.
    fn at(&self) -> u64;
    /// Returns the point's value on the vertical axis.
    fn value(&self) -> u64;
    /// Checks whether the point is of a rare kind. Each bucket keeps one rare point.
    fn is_rare(&self) -> bool {
        false
    }
}

impl Point for (u64, u64) {
    fn at(&self) -> u64 {
        self.0
    }

    fn value(&self) -> u64 {
        self.1
    }
}

/// A packet: time, first byte, number of bytes, and whether it is a retransmission. Retransmissions are rare points.
impl Point for (u64, u64, u64, bool) {
    fn at(&self) -> u64 {
        self.0
    }

    fn value(&self) -> u64 {
        self.1
    }

    fn is_rare(&self) -> bool {
        self.3
    }
}

/// Points in the order of their times. After the first [`WHOLE`] points, each time bucket keeps its first, minimum, maximum and last point
/// (Jugel et al., "M4", VLDB 2014) and its first rare point. A plot of these looks like a plot of all points if a bucket is narrower than a
/// pixel. Buckets are at most a four-thousandth of the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series<T> {
    kept: Vec<T>,
    /// Length of a bucket in nanoseconds; 0 while all points are kept.
    grain: u64,
    /// The points of the last bucket, not yet thinned.
    bucket: Vec<T>,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), grain: 0, bucket: Vec::new() }
    }
}

impl<T: Point> Series<T> {
    pub(crate) fn push(&mut self, point: T) {
        if self.grain == 0 {
            self.kept.push(point);
            if self.kept.len() == WHOLE {
                let length = point.at().saturating_sub(self.kept[0].at());
                self.grain = (length / WHOLE as u64).max(1);
            }
            return;
        }
        if self.bucket.last().is_some_and(|last| last.at() / self.grain != point.at() / self.grain) {
            self.close();
        } else if self.bucket.len() == WAITING {
            self.bucket = thinned(&self.bucket).collect();
        }
        self.bucket.push(point);
    }

    /// Returns all points that are kept.
    pub(crate) fn into_points(mut self) -> Vec<T> {
        self.kept.extend(thinned(&self.bucket));
        self.kept
    }

    /// Thins the last bucket and begins a new one.
    fn close(&mut self) {
        self.kept.extend(thinned(&self.bucket));
        self.bucket.clear();
        while self.kept.len() > WHOLE + MAX_THINNED / 2 && self.must_coarsen() {
            self.grain *= 2;
            let behind = self.kept.split_off(WHOLE);
            let same = |one: &T, other: &T| one.at() / self.grain == other.at() / self.grain;
            self.kept.extend(behind.chunk_by(same).flat_map(thinned));
        }
    }

    /// Checks whether too many points are kept and longer buckets would reduce their number.
    fn must_coarsen(&self) -> bool {
        self.kept.len() > WHOLE + MAX_THINNED && self.grain <= u64::MAX / 2
    }
}

/// Returns the first, minimum, maximum and last point and the first rare point, in the order of their times.
fn thinned<T: Point>(points: &[T]) -> impl Iterator<Item = T> {
    let by_value = |one: &&usize, other: &&usize| points[**one].value().cmp(&points[**other].value());
    let all: Vec<usize> = (0..points.len()).collect();
    let rare = points.iter().position(Point::is_rare);
    // Chooses the first of several equal points.
    let greatest = all.iter().rev().max_by(by_value).copied();
    let ends = [all.first().copied(), all.last().copied()];
    let mut kept: Vec<usize> =
        ends.into_iter().chain([all.iter().min_by(by_value).copied(), greatest, rare]).flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|place| points[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series<T: Point>(points: impl Iterator<Item = T>) -> Vec<T> {
        let mut series = Series::default();
        for point in points {
            series.push(point);
            assert!(series.kept.len() <= WHOLE + MAX_THINNED + 5 && series.bucket.len() <= WAITING);
        }
        series.into_points()
    }

    #[test]
    fn a_series_is_complete_when_short_and_thinned_after_its_beginning() {
        let point = |at: u64| (at * 1_000, at % 977);
        let short: Vec<_> = (0..WHOLE as u64).map(point).collect();
        assert_eq!(series(short.iter().copied()), short);
        let long = series((0..1_000_000).map(point));
        assert_eq!(long[..WHOLE], short);
        assert!(long.len() > WHOLE + MAX_THINNED / 4, "{}", long.len());
        assert_eq!(long.last(), Some(&point(999_999)));
    }

    #[test]
    fn points_at_one_instant_are_one_bucket() {
        assert!(series((0..100_000).map(|value| (7, value))).len() <= WHOLE + 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn extremes_and_retransmissions_are_kept_in_a_thinned_series(peak in 20_000_u64..150_000, trough in 20_000_u64..150_000, again in 20_000_u64..150_000) {
            let flight = series((0..150_000).map(|at| {
                (at * 1_000, if at == peak { 9_000 } else if at == trough { 1 } else { 5_000 + at % 7 })
            }));
            prop_assert!(peak == trough || flight.contains(&(trough * 1_000, 1)));
            prop_assert!(flight.contains(&(peak * 1_000, 9_000)));
            prop_assert!(flight.is_sorted_by_key(|point| point.0));
            let sends = series((0..150_000).map(|at| (at * 1_000, at * 1_460, 1_460, at == again)));
            prop_assert!(sends.contains(&(again * 1_000, again * 1_460, 1_460, true)));
        }
    }
}
