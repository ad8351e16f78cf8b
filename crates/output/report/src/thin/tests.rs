use super::*;
use proptest::prelude::*;

fn grid(ends: Vec<u64>, buckets: u64) -> Grid {
    Grid { tick: 1, ends, buckets }
}

fn dots(points: &[Point], grid: &Grid) -> Vec<Point> {
    Thinned::new(points.iter().copied(), grid, Shape::Dots).points
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    prop::collection::vec((0_u64..5000, -1000_i64..1000), 0..2000).prop_map(|mut points| {
        points.sort_by_key(|point| point.0);
        points
    })
}

fn grids() -> impl Strategy<Value = Grid> {
    (1_u64..400, 1_u64..2000, 1_u64..3000, 1_u64..60)
        .prop_map(|(a, b, c, buckets)| grid(vec![a, a + b, a + b + c], buckets))
}

/// Returns the region of a tick and the tick's bucket within the region.
fn bucket(grid: &Grid, tick: u64) -> (usize, u64) {
    let region = grid.ends.iter().position(|&end| tick < end).unwrap_or(grid.ends.len() - 1);
    let start = if region == 0 { 0 } else { grid.ends[region - 1] };
    let length = grid.ends[region] - start;
    (region, (tick - start).min(length - 1) * grid.buckets / length)
}

/// Checks whether `part` is `whole` without some of its points.
fn is_subsequence(part: &[Point], whole: &[Point]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|point| rest.any(|other| other == point))
}

/// Returns the maximum number of points of a line after thinning.
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
        for region in points.chunk_by(|a, b| bucket(&grid, a.0).0 == bucket(&grid, b.0).0) {
            if region.len() <= usize::try_from(grid.buckets).unwrap() * WHOLE {
                prop_assert!(is_subsequence(region, &kept));
                continue;
            }
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
    fn repeated_thinning_equals_direct_thinning(
        points in points(), fine in grids(), parts in 1_u64..20, tick in 1_u64..50,
    ) {
        // This also holds for dense points: hundreds in a bucket.
        let ends = fine.ends.iter().map(|end| end.div_ceil(tick)).collect();
        let fine = Grid { tick, ends, buckets: fine.buckets * parts };
        let coarse = Grid { buckets: fine.buckets / parts, ..fine.clone() };
        for shape in [Shape::Line, Shape::Dots] {
            let once = Thinned::new(points.iter().copied(), &coarse, shape);
            let twice = Thinned::new(points.iter().copied(), &fine, shape);
            prop_assert_eq!(&once.points, &twice.coarser(&coarse));
            prop_assert_eq!(once.thinned(&coarse), twice.thinned(&coarse));
        }
    }

    #[test]
    fn thinning_with_multi_unit_ticks_equals_thinning_in_ticks(points in points(), grid in grids()) {
        let tick = 7;
        let units: Vec<Point> = points.iter().map(|&(at, value)| (at * tick + at % tick, value)).collect();
        let grids = [Grid { tick, ..grid.clone() }, grid];
        for shape in [Shape::Line, Shape::Dots] {
            let kept = Thinned::new(units.iter().copied(), &grids[0], shape).points;
            let kept: Vec<Point> = kept.into_iter().map(|(at, value)| (at / tick, value)).collect();
            prop_assert_eq!(kept, Thinned::new(points.iter().copied(), &grids[1], shape).points);
        }
    }

    #[test]
    fn changes_draw_the_same_steps(points in points()) {
        let kept: Vec<Point> = changes(points.iter().copied()).collect();
        prop_assert!(is_subsequence(&kept, &points));
        prop_assert_eq!(kept.first().map(|p| p.0), points.first().map(|p| p.0));
        prop_assert_eq!(kept.last(), points.last());
        for (at, point) in points.iter().enumerate() {
            // Several points may have the same time. The value of the last one holds.
            if points.get(at + 1).is_some_and(|next| next.0 == point.0) {
                continue;
            }
            let shown = kept.iter().rev().find(|kept| kept.0 <= point.0);
            prop_assert_eq!(shown.map(|p| p.1), Some(point.1));
        }
    }
}

#[test]
fn sparse_regions_are_kept_complete_and_crowded_ones_thinned() {
    let grid = grid(vec![100, 10_000], 10);
    let few: Vec<Point> = (0..40).map(|t| (t, i64::from(t % 3 == 0))).collect();
    let many: Vec<Point> = (100..10_000).map(|t| (t, i64::try_from(t % 7).unwrap())).collect();
    let points = [few.clone(), many].concat();
    let thinned = Thinned::new(points.iter().copied(), &grid, Shape::Line);
    let kept = &thinned.points;
    assert!(kept.starts_with(&few));
    assert_eq!(thinned.thinned(&grid), [false, true]);
    assert!(kept.len() <= few.len() + 40 && kept.len() > few.len() + 20, "{}", kept.len());
}

#[test]
fn points_past_the_last_region_belong_to_it() {
    let few = grid(vec![10, 20], 2);
    let points: Vec<Point> = (10..40).map(|tick| (tick, i64::try_from(tick).unwrap())).collect();
    // The last bucket starts at 15 and has all later points.
    assert_eq!(line(&points, &few), [(10, 10), (14, 14), (15, 15), (39, 39)]);
    assert_eq!(line(&points, &grid(vec![], 2)), []);
}
