//! A chart of cost against loss or harm, with a point for each scheme. The chart marks the Pareto front: the schemes that no other scheme
//! beats in both.

use std::fmt::Write;

use super::axis::Axis;
use super::canvas::{coordinate, escaped, width_of};

/// A scheme's two prices.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The text next to the point.
    pub(crate) name: String,
    /// The description of the point with its numbers.
    pub(crate) says: String,
    /// The name of the page's colour.
    pub(crate) colour: &'static str,
    /// The number of the mark's shape.
    pub(crate) shape: usize,
    /// The index of the scheme's panel; `None` without a panel.
    pub(crate) panel: Option<usize>,
    /// The two values.
    pub(crate) at: [f64; 2],
    /// Half the confidence interval of each value; 0 without an interval.
    pub(crate) half: [f64; 2],
}

/// A chart of two prices.
#[derive(Clone, Debug)]
pub(crate) struct Tradeoff {
    /// The labels of the axes.
    pub(crate) labels: [String; 2],
    /// Whether more is better on the horizontal axis.
    pub(crate) more_is_better: bool,
    /// The schemes, best first.
    pub(crate) points: Vec<Point>,
}

/// A drawn chart.
pub(crate) struct Drawn {
    /// The element.
    pub(crate) svg: String,
    /// The names of the schemes that none betters in both prices, from left to right.
    pub(crate) front: Vec<String>,
    /// The names of the points that have no room for their names.
    pub(crate) unnamed: Vec<String>,
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 10.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// The size of names, and half the size of a mark.
const SIZE: f64 = 11.5;
const MARK: f64 = 4.2;
/// The width of a bold name over that of a plain one.
const BOLD: f64 = 1.1;

/// Draws the chart as an SVG element in the page's colours.
pub(crate) fn render(chart: &Tradeoff) -> Drawn {
    let mut out = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" class=\"chart\" aria-hidden=\"true\">\n");
    let axes = [0, 1].map(|side| axis(chart, side));
    let at = |values: [f64; 2]| place(&axes, values);
    frame(&mut out, chart, &axes);
    let front = front(chart);
    staircase(&mut out, chart, &front, &at);
    let places: Vec<(f64, f64)> = chart.points.iter().map(|point| at(point.at)).collect();
    let order = || front.iter().copied().chain((0..places.len()).filter(|at| !front.contains(at)));
    let labels = labels(chart, &places, order(), front.len());
    // No interval covers a mark.
    chart.points.iter().for_each(|point| intervals(&mut out, point, &axes));
    for (at, (point, place)) in chart.points.iter().zip(&places).enumerate() {
        mark(&mut out, point, *place, front.contains(&at));
    }
    let mut unnamed = Vec::new();
    for (at, label) in order().zip(labels) {
        match label {
            Some(label) => label.draw(&mut out, &chart.points[at].name, places[at], front.contains(&at)),
            None => unnamed.push(chart.points[at].name.clone()),
        }
    }
    out.push_str("</svg>");
    Drawn { svg: out, front: front.iter().map(|&at| chart.points[at].name.clone()).collect(), unnamed }
}

/// Returns the axis over the values and their intervals, with some room at its ends. The vertical axis begins at zero, and the horizontal
/// one is logarithmic if the values span a factor of four.
fn axis(chart: &Tradeoff, side: usize) -> Axis {
    let values = || chart.points.iter().map(|point| point.at[side]);
    let ends = |sign: f64| chart.points.iter().map(move |point| point.at[side] + sign * point.half[side]);
    let lowest = values().fold(f64::INFINITY, f64::min);
    let highest = values().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = (ends(-1.0).fold(lowest, f64::min), ends(1.0).fold(highest, f64::max));
    if side == 0 && lowest > 0.0 && highest / lowest >= 4.0 {
        // An interval may reach zero, where a logarithmic axis has no place: it ends at the axis.
        let (low, high) = (low.max(lowest / 1.5), high.min(highest * 1.5));
        let room = libm::pow(high / low, 0.06);
        return Axis { least: low / room, most: high * room, logarithmic: true };
    }
    // No price is negative unless it was measured so, whatever the interval says.
    let low = if side == 1 { lowest.min(0.0) } else { low };
    let span = if high > low { high - low } else { high.abs().max(1.0) * 0.2 };
    let below = if side == 0 { low - span * 0.06 } else { low };
    Axis { least: below, most: high + span * 0.08, logarithmic: false }
}

fn place(axes: &[Axis; 2], values: [f64; 2]) -> (f64, f64) {
    let share = |side: usize| axes[side].share(values[side]).clamp(0.0, 1.0);
    (LEFT + share(0) * (RIGHT - LEFT), BOTTOM - share(1) * (BOTTOM - TOP))
}

fn frame(out: &mut String, chart: &Tradeoff, axes: &[Axis; 2]) {
    let text = |out: &mut String, at: (f64, f64), anchor: &str, words: &str| {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escaped(words));
    };
    for tick in axes[0].some_ticks(5.0) {
        let x = place(axes, [tick, axes[1].least]).0;
        line(out, (x, TOP), (x, BOTTOM), "grid");
        text(out, (x, BOTTOM + 14.0), "middle", &number(tick));
    }
    for tick in axes[1].some_ticks(4.0) {
        let y = place(axes, [axes[0].least, tick]).1;
        line(out, (LEFT, y), (RIGHT, y), "grid");
        text(out, (LEFT - 5.0, y + 4.0), "end", &number(tick));
    }
    line(out, (LEFT, BOTTOM), (RIGHT, BOTTOM), "frame");
    line(out, (LEFT, TOP), (LEFT, BOTTOM), "frame");
    let better = if chart.more_is_better { "better →" } else { "← better" };
    text(
        out,
        (f64::midpoint(LEFT, RIGHT), HEIGHT - 6.0),
        "middle",
        &format!("{}   {better}", chart.labels[0]),
    );
    text(out, (2.0, TOP - 5.0), "start", &format!("{}   ↓ better", chart.labels[1]));
}

fn number(value: f64) -> String {
    // Adding zero removes the sign of a negative zero.
    let text = format!("{:.3}", value + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), class: &str) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
    _ = writeln!(out, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
}

/// Returns the points that no other point betters: no other has a better value on one axis and one at least as good on the other. They are
/// in the order of the horizontal axis, best first.
fn front(chart: &Tradeoff) -> Vec<usize> {
    let key = |at: usize| {
        let [x, y] = chart.points[at].at;
        [if chart.more_is_better { -x } else { x }, y]
    };
    let betters = |one: usize, other: usize| {
        let ([a, b], [c, d]) = (key(one), key(other));
        a <= c && b <= d && (a < c || b < d)
    };
    let all = 0..chart.points.len();
    let mut front: Vec<usize> =
        all.clone().filter(|&at| !all.clone().any(|other| betters(other, at))).collect();
    front.sort_by(|&a, &b| key(a)[0].total_cmp(&key(b)[0]));
    front
}

/// Draws the front as a staircase: above it, some scheme is better in both prices.
fn staircase(out: &mut String, chart: &Tradeoff, front: &[usize], at: &impl Fn([f64; 2]) -> (f64, f64)) {
    let Some(&first) = front.first() else { return };
    let mut path = format!("M{} {}", coordinate(at(chart.points[first].at).0), coordinate(TOP));
    for &point in front {
        let (x, y) = at(chart.points[point].at);
        _ = write!(path, "H{}V{}", coordinate(x), coordinate(y));
    }
    _ = write!(path, "H{}", coordinate(if chart.more_is_better { LEFT } else { RIGHT }));
    _ = writeln!(out, "<path class=\"front\" d=\"{path}\"/>");
}

fn intervals(out: &mut String, point: &Point, axes: &[Axis; 2]) {
    let end = |side: usize, sign: f64| {
        let mut ends = point.at;
        ends[side] = (ends[side] + sign * point.half[side]).max(axes[side].least);
        place(axes, ends)
    };
    for side in [0, 1].into_iter().filter(|&side| point.half[side] > 0.0) {
        let class = format!("interval\" style=\"stroke: var(--{})", point.colour);
        line(out, end(side, -1.0), end(side, 1.0), &class);
    }
}

fn mark(out: &mut String, point: &Point, (x, y): (f64, f64), is_front: bool) {
    let panel = point.panel.map_or_else(String::new, |panel| format!(" data-panel=\"{panel}\""));
    let says = escaped(&point.says);
    _ = write!(out, "<g class=\"point{}\"{panel} data-says=\"{says}\"", if is_front { " best" } else { "" });
    _ = writeln!(out, " style=\"--own: var(--{})\"><title>{says}</title>", point.colour);
    let r = if is_front { MARK + 0.8 } else { MARK };
    let [left, right, top, bottom] = [x - r, x + r, y - r, y + r].map(coordinate);
    let (cx, cy) = (coordinate(x), coordinate(y));
    let shape = match point.shape {
        0 => format!("<circle class=\"mark\" cx=\"{cx}\" cy=\"{cy}\" r=\"{}\"/>", coordinate(r)),
        1 => format!("<path class=\"mark\" d=\"M{cx} {top}L{right} {cy}L{cx} {bottom}L{left} {cy}Z\"/>"),
        2 => format!("<path class=\"mark\" d=\"M{left} {top}H{right}V{bottom}H{left}Z\"/>"),
        _ => format!("<path class=\"mark\" d=\"M{cx} {top}L{right} {bottom}H{left}Z\"/>"),
    };
    _ = writeln!(out, "{shape}</g>");
}

/// The place of a name: its left end, its base line, and whether a line leads to it.
#[derive(Clone, Copy)]
struct Label {
    at: (f64, f64),
    width: f64,
    is_far: bool,
}

impl Label {
    /// Returns the box around the name, as left, top, right and bottom.
    fn area(self) -> [f64; 4] {
        [self.at.0 - 1.0, self.at.1 - SIZE + 2.0, self.at.0 + self.width + 1.0, self.at.1 + 2.5]
    }

    fn draw(self, out: &mut String, name: &str, (x, y): (f64, f64), is_front: bool) {
        let [left, top, right, bottom] = self.area();
        if self.is_far {
            line(out, (x, y), (x.clamp(left, right), y.clamp(top, bottom)), "leader");
        }
        let (at, up) = (coordinate(self.at.0), coordinate(self.at.1));
        let class = if is_front { " class=\"best\"" } else { "" };
        _ = writeln!(out, "<text x=\"{at}\" y=\"{up}\"{class}>{}</text>", escaped(name));
    }
}

/// Finds places for the names, in this order of points, of which the first ones are bold: next to their points, or a little away. A name covers no other name and no point.
fn labels(
    chart: &Tradeoff,
    places: &[(f64, f64)],
    order: impl Iterator<Item = usize>,
    bold: usize,
) -> Vec<Option<Label>> {
    let around = |&(x, y): &(f64, f64)| [x - MARK - 1.0, y - MARK - 1.0, x + MARK + 1.0, y + MARK + 1.0];
    let mut taken: Vec<[f64; 4]> = places.iter().map(around).collect();
    let overlap = |a: &[f64; 4], b: &[f64; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    let mut found = Vec::new();
    for (at, point) in order.enumerate() {
        let (x, y) = places[point];
        let width = width_of(&chart.points[point].name, SIZE) * if at < bold { BOLD } else { 1.0 };
        let is_inside = |area: &[f64; 4]| {
            area[0] >= LEFT + 2.0 && area[2] <= WIDTH && area[1] >= TOP - 4.0 && area[3] <= BOTTOM - 1.0
        };
        let candidates = candidates((x, y), width);
        let label = candidates.into_iter().find(|label| {
            let area = label.area();
            is_inside(&area) && !taken.iter().any(|other| overlap(&area, other))
        });
        taken.extend(label.map(Label::area));
        found.push(label);
    }
    found
}

/// Returns the places around a point that are tried for its name, nearest first.
fn candidates((x, y): (f64, f64), width: f64) -> Vec<Label> {
    let gap = MARK + 3.0;
    let near = [
        (x + gap, y + 4.0),
        (x - gap - width, y + 4.0),
        (x - width / 2.0, y - gap - 1.0),
        (x - width / 2.0, y + gap + SIZE - 2.0),
    ];
    let mut all: Vec<Label> = near.into_iter().map(|at| Label { at, width, is_far: false }).collect();
    let far = [14.0, 26.0, 38.0, 52.0, 68.0, 86.0, 106.0, 128.0].into_iter().flat_map(|away| {
        let beside = [(x + 8.0, -1.0), (x - 8.0 - width, -1.0), (x + 8.0, 1.0), (x - 8.0 - width, 1.0)];
        let above = [(x - width / 2.0, -1.0), (x - width / 2.0, 1.0)];
        beside.into_iter().chain(above).map(move |(left, sign)| (left, y + sign * away + 4.0))
    });
    all.extend(far.map(|at| Label { at, width, is_far: true }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[[f64; 2]], more_is_better: bool) -> Tradeoff {
        let point = |(place, at): (usize, &[f64; 2])| Point {
            name: format!("<{place}>"),
            says: format!("\"{place}\""),
            colour: "blue",
            shape: place,
            panel: Some(place),
            at: *at,
            half: [0.1, 0.05],
        };
        let points = points.iter().enumerate().map(point).collect();
        Tradeoff { labels: ["cost".into(), "loss".into()], more_is_better, points }
    }

    #[test]
    fn the_front_has_the_points_that_none_betters() {
        let points = [[3.0, 0.0], [1.0, 5.0], [2.0, 5.0], [2.0, 1.0], [3.0, 2.0]];
        assert_eq!(front(&chart(&points, false)), [1, 3, 0]);
        assert_eq!(front(&chart(&points, true)), [0]);
        assert_eq!(front(&chart(&[[1.0, 1.0], [1.0, 1.0]], false)), [0, 1], "equal points are both on it");
    }

    #[test]
    fn every_point_has_a_mark_a_title_and_a_name_that_covers_no_other() {
        let points: Vec<[f64; 2]> =
            (0..18).map(|at| [1.0 + f64::from(at % 3) * 0.01, f64::from(at)]).collect();
        let drawn = render(&chart(&points, false));
        assert_eq!(drawn.svg.matches("class=\"mark\"").count(), 18);
        assert_eq!(drawn.svg.matches("<title>&quot;").count(), 18);
        assert_eq!(drawn.unnamed, Vec::<String>::new());
        assert!(drawn.svg.contains(">&lt;3&gt;</text>") && !drawn.svg.contains("NaN"), "{}", drawn.svg);
    }

    #[test]
    fn values_without_a_spread_and_wide_intervals_are_drawn_inside() {
        let mut one = chart(&[[0.5, 0.0]], false);
        one.points[0].half = [9.0, 9.0];
        let mut wide = chart(&[[0.5, 0.0], [50.0, 3.0]], false);
        wide.points[0].half = [9.0, 9.0];
        for chart in [&one, &wide, &chart(&[[0.0, 0.0], [0.0, 0.0]], true), &chart(&[], false)] {
            let svg = render(chart).svg;
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
