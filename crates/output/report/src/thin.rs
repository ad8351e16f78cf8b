//! Thins a trace to the resolution of the screen.
//!
//! A run is divided into regions: the first round trips, the rest of start-up, and the rest of the run. Each region has the same number of
//! buckets, so that the early part keeps its detail. The page's zoom levels are these regions. A region with few points is kept whole. In
//! the others, each bucket of a line keeps its first, minimum, maximum and last point, which draws the same picture as all points (Jugel et
//! al., "M4", VLDB 2014). A cloud of dots also keeps one dot of each small cell, which keeps its shape.
//!
//! The resolution of a page is known only after all of its runs have ended. Each run is first thinned to the finest resolution of any page,
//! and thinned again for the page.

/// A point: a time and a value.
pub(crate) type Point = (u64, i64);

/// The number of rows of cells into which the value range of a cloud of dots is divided.
const ROWS: usize = 96;

/// A region is kept whole if it has at most this number of points for each bucket.
const WHOLE: usize = 4;

/// The regions of a trace, and the resolution at which they are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// The length of a tick in units of the points' times. A bucket starts with a whole tick.
    pub(crate) tick: u64,
    /// The ends of the regions, in ticks, ascending. The last region includes everything after its end.
    pub(crate) ends: Vec<u64>,
    /// The number of buckets of a region.
    pub(crate) buckets: u64,
}

/// The shape in which points are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A line: each bucket keeps its first, minimum, maximum and last point.
    Line,
    /// A cloud of dots: each bucket keeps its minimum and maximum, and one dot of each cell.
    Dots,
}

/// A thinned trace. It can be thinned again to a coarser grid whose buckets are unions of this grid's buckets. The result is the same as
/// thinning all points to that grid, because the first, minimum, maximum and last points of the merged buckets are kept, as is the first
/// dot of each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thinned {
    shape: Shape,
    /// The points that are kept, in order of time.
    pub(crate) points: Vec<Point>,
    /// The regions of the full trace.
    regions: Vec<Region>,
}

impl Thinned {
    /// Thins points, which are in order of time.
    pub(crate) fn new(points: impl Iterator<Item = Point> + Clone, grid: &Grid, shape: Shape) -> Self {
        let regions = grid.regions(points.clone());
        Self { shape, points: thin(points, grid, &regions, shape), regions }
    }

    /// Returns the number of points of the full trace.
    pub(crate) fn of(&self) -> usize {
        self.regions.iter().map(|region| region.count).sum()
    }

    /// Returns the points that remain on a coarser grid of these regions.
    pub(crate) fn coarser(&self, grid: &Grid) -> Vec<Point> {
        thin(self.points.iter().copied(), grid, &self.regions, self.shape)
    }

    /// Returns, for each region, whether it is thinned on this grid.
    pub(crate) fn thinned(&self, grid: &Grid) -> Vec<bool> {
        self.regions.iter().map(|region| !grid.keeps(region)).collect()
    }
}

/// Thins a line of few points.
pub(crate) fn line(points: &[Point], grid: &Grid) -> Vec<Point> {
    Thinned::new(points.iter().copied(), grid, Shape::Line).points
}

/// A region of the full trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Region {
    count: usize,
    least: i64,
    greatest: i64,
}

impl Grid {
    fn regions(&self, points: impl Iterator<Item = Point>) -> Vec<Region> {
        let mut regions = vec![Region::default(); self.ends.len()];
        let (mut place, mut end) = (0, 0);
        for (at, value) in points {
            if at >= end {
                place = self.place(place, at);
                end = self.end(place);
            }
            let Some(region) = regions.get_mut(place) else { break };
            let first = region.count == 0;
            region.least = if first { value } else { region.least.min(value) };
            region.greatest = if first { value } else { region.greatest.max(value) };
            region.count += 1;
        }
        regions
    }

    /// Returns the index of the region that contains a time. The time is not before the region `from`.
    fn place(&self, from: usize, at: u64) -> usize {
        let mut place = from;
        while place + 1 < self.ends.len() && at >= self.end(place) {
            place += 1;
        }
        place
    }

    /// Returns the first time after a region.
    fn end(&self, place: usize) -> u64 {
        match self.ends.get(place) {
            Some(end) if place + 1 < self.ends.len() => end.saturating_mul(self.tick),
            _ => u64::MAX,
        }
    }

    /// Returns the first time after the bucket that contains a time. The last bucket ends with the region.
    fn bucket_end(&self, place: usize, at: u64) -> u64 {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        let length = u128::from(self.ends[place].saturating_sub(start).max(1));
        let buckets = u128::from(self.buckets.max(1));
        let after = u128::from((at / self.tick).saturating_sub(start));
        let bucket = after.min(length - 1) * buckets / length;
        let next = ((bucket + 1) * length).div_ceil(buckets);
        match u64::try_from(next) {
            Ok(next) if u128::from(next) < length => start.saturating_add(next).saturating_mul(self.tick),
            _ => self.end(place),
        }
    }

    /// Checks whether all points of the region are kept.
    fn keeps(&self, region: &Region) -> bool {
        let few = usize::try_from(self.buckets).unwrap_or(usize::MAX).saturating_mul(WHOLE);
        region.count <= few
    }
}

fn thin(points: impl Iterator<Item = Point>, grid: &Grid, regions: &[Region], shape: Shape) -> Vec<Point> {
    let mut kept = Vec::new();
    if regions.is_empty() {
        return kept;
    }
    let mut bucket: Vec<Point> = Vec::new();
    let (mut place, mut end, mut is_whole) = (0, 0, false);
    for point in points {
        if point.0 >= end {
            regions[place].close(&mut bucket, shape, &mut kept);
            place = grid.place(place, point.0);
            is_whole = grid.keeps(&regions[place]);
            end = if is_whole { grid.end(place) } else { grid.bucket_end(place, point.0) };
        }
        if is_whole {
            kept.push(point);
        } else {
            bucket.push(point);
        }
    }
    regions[place].close(&mut bucket, shape, &mut kept);
    kept
}

impl Region {
    /// Adds the points of a finished bucket that are kept.
    fn close(&self, bucket: &mut Vec<Point>, shape: Shape, kept: &mut Vec<Point>) {
        let extremes = extremes(bucket);
        match shape {
            Shape::Line => kept.extend(extremes.into_iter().flatten().map(|at| bucket[at])),
            Shape::Dots => {
                let rows = Rows { least: self.least, height: self.greatest.abs_diff(self.least) };
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
        bucket.clear();
    }
}

/// An iterator that leaves out the points of a step line that do not change its value. The last point is kept, because it ends the last
/// step.
#[derive(Clone, Debug)]
pub(crate) struct Changes<I> {
    points: I,
    kept: Option<Point>,
    /// The newest point, if it did not change the value.
    held: Option<Point>,
}

/// Returns the points of a step line that change its value, and the last point ([`Changes`]).
pub(crate) fn changes<I: Iterator<Item = Point>>(points: I) -> Changes<I> {
    Changes { points, kept: None, held: None }
}

impl<I: Iterator<Item = Point>> Iterator for Changes<I> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        for point in self.points.by_ref() {
            if self.kept.is_none_or(|kept| kept.1 != point.1) {
                (self.kept, self.held) = (Some(point), None);
                return self.kept;
            }
            self.held = Some(point);
        }
        self.held.take().filter(|held| self.kept != Some(*held))
    }
}

/// Rows of cells of equal height.
struct Rows {
    least: i64,
    /// The height of all rows together, minus one.
    height: u64,
}

impl Rows {
    fn row(&self, value: i64) -> usize {
        let above = value.abs_diff(self.least);
        // For bytes or nanoseconds of a run, the product fits 64 bits, whose division is faster.
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

/// Returns the indices of the first, minimum, maximum and last point, in ascending order, each once.
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
mod tests;
