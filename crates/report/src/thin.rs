//! Thinning a trace to what the screen shows.
//!
//! A run is cut into regions (the first round trips, the rest of start-up, the rest), each with the same
//! number of buckets, so that the early part keeps its detail: these are the zoom levels. A region with few
//! points is kept whole. In the others each bucket of a line keeps its first, least, greatest and last
//! point, which draws the same picture as all of them (Jugel et al., "M4", VLDB 2014); dots keep one of each
//! small cell as well, so that a cloud keeps its shape.

/// A point: ticks of the report's time unit, and a value.
pub(crate) type Point = (u64, i64);

/// Rows of cells over the range of the values of a cloud of dots.
const ROWS: usize = 96;

/// Points a bucket may have before a region is thinned.
const WHOLE: usize = 4;

/// The regions and how finely each is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Ends of the regions, in ticks, ascending; the last region takes whatever comes after.
    pub(crate) ends: Vec<u64>,
    /// Buckets a region.
    pub(crate) buckets: u64,
}

impl Grid {
    /// Which regions are thinned of these points.
    pub(crate) fn thinned(&self, points: &[Point]) -> Vec<bool> {
        let mut thinned = vec![false; self.ends.len()];
        for region in self.regions(points) {
            if let Some(flag) = thinned.get_mut(region.place) {
                *flag = !region.is_whole;
            }
        }
        thinned
    }

    /// The points of each region that has any.
    fn regions<'a>(&'a self, points: &'a [Point]) -> impl Iterator<Item = Region<'a>> {
        let few = usize::try_from(self.buckets).unwrap_or(usize::MAX).saturating_mul(WHOLE);
        let last = self.ends.len().saturating_sub(1);
        let (mut rest, mut start) = (points, 0);
        self.ends.iter().enumerate().filter_map(move |(place, &end)| {
            let many = if place == last { rest.len() } else { rest.partition_point(|point| point.0 < end) };
            let (points, after) = rest.split_at(many);
            rest = after;
            let length = end.saturating_sub(start).max(1);
            let region = Region { place, start, length, points, is_whole: points.len() <= few };
            start = end;
            (!points.is_empty()).then_some(region)
        })
    }
}

/// The points of a region.
struct Region<'a> {
    place: usize,
    /// In ticks.
    start: u64,
    length: u64,
    points: &'a [Point],
    /// Whether they may all be kept.
    is_whole: bool,
}

impl<'a> Region<'a> {
    /// The points of each of `buckets` buckets that has any; the last has what comes after the region too.
    fn buckets(&self, buckets: u64) -> impl Iterator<Item = &'a [Point]> {
        let (start, length, mut rest) = (self.start, u128::from(self.length), self.points);
        let buckets = u128::from(buckets.max(1));
        std::iter::from_fn(move || {
            let first = rest.first()?.0.saturating_sub(start);
            let bucket = u128::from(first).min(length - 1) * buckets / length;
            // The first tick of the next bucket.
            let next = ((bucket + 1) * length).div_ceil(buckets);
            let many = match u64::try_from(next) {
                Ok(next) if u128::from(next) < length => {
                    rest.partition_point(|point| point.0.saturating_sub(start) < next)
                }
                _ => rest.len(),
            };
            // At least the one that the bucket is of, in whatever order they are.
            let (points, after) = rest.split_at(many.max(1));
            rest = after;
            Some(points)
        })
    }
}

/// A line of steps without the points that change nothing; the last point stays, to say how long it held.
pub(crate) fn changes(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let mut last = None;
    for point in points {
        if kept.last().is_none_or(|&(_, value)| value != point.1) {
            kept.push(point);
        }
        last = Some(point);
    }
    if let Some(last) = last
        && kept.last() != Some(&last)
    {
        kept.push(last);
    }
    kept
}

/// A line: each bucket keeps its first, least, greatest and last point. Points are in order of time.
pub(crate) fn line(points: &[Point], grid: &Grid) -> Vec<Point> {
    let mut kept = Vec::new();
    for region in grid.regions(points) {
        if region.is_whole {
            kept.extend_from_slice(region.points);
            continue;
        }
        for bucket in region.buckets(grid.buckets) {
            let keep = extremes(bucket);
            kept.extend(keep.into_iter().flatten().map(|at| bucket[at]));
        }
    }
    kept
}

/// A cloud of dots: each bucket keeps its extremes, and one dot of each cell. Points are in order of time.
pub(crate) fn dots(points: &[Point], grid: &Grid) -> Vec<Point> {
    let mut kept = Vec::new();
    for region in grid.regions(points) {
        if region.is_whole {
            kept.extend_from_slice(region.points);
            continue;
        }
        let rows = Rows::of(region.points);
        for bucket in region.buckets(grid.buckets) {
            let extremes = extremes(bucket);
            let mut seen = [false; ROWS];
            for (at, &point) in bucket.iter().enumerate() {
                let cell = rows.row(point.1);
                if !seen[cell] || extremes.contains(&Some(at)) {
                    kept.push(point);
                }
                seen[cell] = true;
            }
        }
    }
    kept
}

/// Rows of cells of equal height.
struct Rows {
    least: i64,
    /// Of all rows together, less one.
    height: u64,
}

impl Rows {
    fn of(points: &[Point]) -> Self {
        let least = points.iter().map(|point| point.1).min().unwrap_or(0);
        let greatest = points.iter().map(|point| point.1).max().unwrap_or(0);
        Self { least, height: greatest.abs_diff(least) }
    }

    fn row(&self, value: i64) -> usize {
        let above = value.abs_diff(self.least);
        // Values that are bytes or nanoseconds of a run fit the short division.
        let short = above.checked_mul(ROWS as u64).zip(self.height.checked_add(1));
        let row = short.map_or_else(
            || {
                let row = u128::from(above) * ROWS as u128 / (u128::from(self.height) + 1);
                u64::try_from(row).unwrap_or(0)
            },
            |(scaled, height)| scaled / height,
        );
        usize::try_from(row).unwrap_or(0).min(ROWS - 1)
    }
}

/// Where the first, least, greatest and last of the points are: in order, each once.
fn extremes(points: &[Point]) -> [Option<usize>; 4] {
    let Some(end) = points.len().checked_sub(1) else { return [None; 4] };
    let (mut least, mut greatest) = (0, 0);
    for (at, point) in points.iter().enumerate() {
        if point.1 < points[least].1 {
            least = at;
        }
        if point.1 > points[greatest].1 {
            greatest = at;
        }
    }
    let mut found = [0, least, greatest, end];
    found.sort_unstable();
    let mut kept = [None; 4];
    for (at, place) in found.into_iter().enumerate() {
        if at == 0 || found[at - 1] != place {
            kept[at] = Some(place);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points() -> impl Strategy<Value = Vec<Point>> {
        prop::collection::vec((0_u64..5000, -1000_i64..1000), 0..2000).prop_map(|mut points| {
            points.sort_by_key(|point| point.0);
            points
        })
    }

    fn grids() -> impl Strategy<Value = Grid> {
        (1_u64..400, 1_u64..2000, 1_u64..3000, 1_u64..60)
            .prop_map(|(a, b, c, buckets)| Grid { ends: vec![a, a + b, a + b + c], buckets })
    }

    /// The region and the bucket within it, of one tick.
    fn bucket(grid: &Grid, tick: u64) -> (usize, u64) {
        let region = grid.ends.iter().position(|&end| tick < end).unwrap_or(grid.ends.len() - 1);
        let start = if region == 0 { 0 } else { grid.ends[region - 1] };
        let length = grid.ends[region] - start;
        (region, (tick - start).min(length - 1) * grid.buckets / length)
    }

    /// Whether the one is the other with points left out.
    fn is_subsequence(part: &[Point], whole: &[Point]) -> bool {
        let mut rest = whole.iter();
        part.iter().all(|point| rest.any(|other| other == point))
    }

    /// The most points that a line may have after thinning.
    fn bound(grid: &Grid) -> usize {
        grid.ends.len() * usize::try_from(grid.buckets).unwrap() * WHOLE
    }

    fn per_bucket(points: &[Point], grid: &Grid) -> Vec<Vec<Point>> {
        points.chunk_by(|a, b| bucket(grid, a.0) == bucket(grid, b.0)).map(<[Point]>::to_vec).collect()
    }

    proptest! {
        #[test]
        fn a_thinned_line_keeps_order_and_every_buckets_four_extremes(points in points(), grid in grids()) {
            let kept = line(&points, &grid);
            prop_assert!(is_subsequence(&kept, &points));
            prop_assert!(kept.len() <= bound(&grid));
            let (all, thin) = (per_bucket(&points, &grid), per_bucket(&kept, &grid));
            prop_assert_eq!(all.len(), thin.len(), "no bucket may vanish");
            for (all, thin) in all.iter().zip(&thin) {
                let range = |points: &[Point]| {
                    let values = || points.iter().map(|point| point.1);
                    (values().min(), values().max())
                };
                prop_assert_eq!(range(all), range(thin));
                prop_assert_eq!(all.first(), thin.first());
                prop_assert_eq!(all.last(), thin.last());
            }
        }

        #[test]
        fn a_thinned_cloud_keeps_order_extremes_and_a_dot_of_every_cell(points in points(), grid in grids()) {
            let kept = dots(&points, &grid);
            prop_assert!(is_subsequence(&kept, &points));
            prop_assert!(is_subsequence(&line(&points, &grid), &kept));
            for region in grid.regions(&points) {
                if region.is_whole {
                    prop_assert!(is_subsequence(region.points, &kept));
                    continue;
                }
                let region = region.points;
                let least = region.iter().map(|p| p.1).min().unwrap();
                let greatest = region.iter().map(|p| p.1).max().unwrap();
                for point in region {
                    let near = kept.iter().any(|other| {
                        bucket(&grid, other.0) == bucket(&grid, point.0)
                            && (other.1 - point.1).abs() <= (greatest - least) / i64::try_from(ROWS).unwrap() + 1
                    });
                    prop_assert!(near, "{:?} lost with all around it", point);
                }
            }
        }

        #[test]
        fn changes_draw_the_same_steps(points in points()) {
            let kept = changes(points.iter().copied());
            prop_assert!(is_subsequence(&kept, &points));
            prop_assert_eq!(kept.first().map(|p| p.0), points.first().map(|p| p.0));
            prop_assert_eq!(kept.last(), points.last());
            for (at, point) in points.iter().enumerate() {
                // Several points may share an instant: the last of them holds.
                if points.get(at + 1).is_some_and(|next| next.0 == point.0) {
                    continue;
                }
                let shown = kept.iter().rev().find(|kept| kept.0 <= point.0);
                prop_assert_eq!(shown.map(|p| p.1), Some(point.1));
            }
        }
    }

    #[test]
    fn a_region_with_few_points_is_whole_and_a_crowded_one_is_thinned() {
        let grid = Grid { ends: vec![100, 10_000], buckets: 10 };
        let few: Vec<Point> = (0..40).map(|t| (t, i64::from(t % 3 == 0))).collect();
        let many: Vec<Point> = (100..10_000).map(|t| (t, i64::try_from(t % 7).unwrap())).collect();
        let points = [few.clone(), many].concat();
        let kept = line(&points, &grid);
        assert!(kept.starts_with(&few));
        assert_eq!(grid.thinned(&points), [false, true]);
        assert!(kept.len() <= few.len() + 40 && kept.len() > few.len() + 20, "{}", kept.len());
    }

    #[test]
    fn points_past_the_last_region_belong_to_it() {
        let grid = Grid { ends: vec![10, 20], buckets: 2 };
        let points: Vec<Point> = (10..40).map(|tick| (tick, i64::try_from(tick).unwrap())).collect();
        // Its last bucket, from 15 on, has all that comes after.
        assert_eq!(line(&points, &grid), [(10, 10), (14, 14), (15, 15), (39, 39)]);
        assert_eq!(line(&points, &Grid { ends: vec![], buckets: 2 }), []);
    }
}
