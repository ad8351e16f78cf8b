//! A plot: curves, steps, bars or points over two axes. Within a page it has the page's colours, light or dark; for print it is black on
//! white.

use std::fmt::Write;

use super::axis::{Axis, Fit, with_prefix};
use super::canvas::{coordinate, escaped};

/// The form of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Marked points, joined by lines, with their confidence intervals.
    Lines,
    /// A line without marks at its points.
    Trace,
    /// A step line: each value holds until the next point.
    Steps,
    /// Bars: one for each curve at each place of the horizontal axis.
    Bars,
    /// Marked points without lines.
    Points,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of the curve in the legend.
    pub name: String,
    /// The points of the curve, each as (x, y, half the confidence interval of y).
    pub points: Vec<(f64, f64, Option<f64>)>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The form of all curves.
    pub form: Form,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// The labels of the axes.
    pub labels: [String; 2],
    /// For each axis, whether it is logarithmic. It is linear nevertheless if a value is not positive.
    pub logarithmic: [bool; 2],
    /// The ends of each axis; `None` to fit the values.
    pub ranges: [Option<[f64; 2]>; 2],
    /// The names of places on the horizontal axis, if the places have names.
    pub places: Vec<(f64, String)>,
}

/// The size of the drawing of a plot in a page.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 46.0;

/// The names of the page's colours. A curve's index determines its colour and its dashes.
const COLOURS: [&str; 8] = ["blue", "vermillion", "green", "purple", "orange", "sky", "black", "earth"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// The colours of a page on white, for print.
const PRINTED: [&str; 8] =
    ["#0065a3", "#d55e00", "#00966d", "#b3568f", "#c08000", "#2b94d6", "#16191d", "#85552f"];

/// Where a plot is drawn. This determines its colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ink {
    /// In a page, whose style sheet has the colours.
    Page,
    /// In a file without a style sheet.
    Print,
}

impl Ink {
    /// Returns the style of the curve at this index of the legend, as CSS.
    pub(super) fn style(self, place: usize) -> String {
        let dash = DASHES[place / COLOURS.len() % DASHES.len()];
        format!("stroke:{};stroke-dasharray:{dash}", self.colour(place))
    }

    /// Returns the colour of the curve at this index of the legend.
    pub(super) fn colour(self, place: usize) -> String {
        match self {
            Self::Page => format!("var(--{})", COLOURS[place % COLOURS.len()]),
            Self::Print => PRINTED[place % PRINTED.len()].to_owned(),
        }
    }

    /// Returns the colour of text and frames.
    const fn text(self) -> &'static str {
        match self {
            Self::Page => "var(--ink)",
            Self::Print => "#333333",
        }
    }

    /// Returns the attributes of an element of a class of the page's style sheet.
    fn class(self, name: &str) -> String {
        match (self, name) {
            (Self::Page, _) => format!("class=\"{name}\""),
            (Self::Print, "grid") => "stroke=\"#dddddd\"".to_owned(),
            (Self::Print, "frame") => "stroke=\"#333333\"".to_owned(),
            (Self::Print, _) => "fill=\"none\" stroke-width=\"2\"".to_owned(),
        }
    }
}

/// Returns a short piece of a curve for its legend.
pub fn sample(plot: &Plot, place: usize) -> String {
    let fill = Ink::Page.colour(place);
    let mark = match plot.form {
        Form::Bars => format!("<rect x=\"6\" y=\"0\" width=\"12\" height=\"10\" style=\"fill:{fill}\"/>"),
        Form::Points => format!("<circle cx=\"12\" cy=\"5\" r=\"3.4\" style=\"fill:{fill}\"/>"),
        Form::Lines | Form::Trace | Form::Steps => {
            format!(
                "<line x1=\"0\" x2=\"24\" y1=\"5\" y2=\"5\" stroke-width=\"2.2\" style=\"{}\"/>",
                Ink::Page.style(place)
            )
        }
    };
    format!("<svg width=\"24\" height=\"10\" aria-hidden=\"true\">{mark}</svg>")
}

/// Returns the plot as an SVG element of a page.
pub fn render(plot: &Plot) -> String {
    let words = escaped(&format!("{} over {}", plot.labels[1], plot.labels[0]));
    let content = Drawing::new(plot, Ink::Page, (WIDTH, HEIGHT)).content();
    format!(
        "<svg class=\"drawn\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{words}\">{content}</svg>"
    )
}

/// Returns the plot as an SVG element for print, at this place and of this size.
pub(super) fn printed(plot: &Plot, (x, y): (f64, f64), size: (f64, f64)) -> String {
    let content = Drawing::new(plot, Ink::Print, size).content();
    let [x, y, width, height] = [x, y, size.0, size.1].map(coordinate);
    format!("<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">{content}</svg>\n")
}

struct Drawing<'a> {
    plot: &'a Plot,
    x: Axis,
    y: Axis,
    ink: Ink,
    /// The size of the drawing.
    width: f64,
    height: f64,
    out: String,
}

impl<'a> Drawing<'a> {
    fn new(plot: &'a Plot, ink: Ink, (width, height): (f64, f64)) -> Self {
        let points = || plot.curves.iter().flat_map(|curve| &curve.points);
        let is_bars = plot.form == Form::Bars;
        let xs = points().map(|(x, ..)| *x);
        let mut x = axis(xs, plot.logarithmic[0] && !is_bars, plot.ranges[0], Fit::Tight);
        if is_bars {
            // Groups of bars are equally far apart, whatever their values of x.
            let groups = u32::try_from(groups(plot).len()).unwrap_or(u32::MAX);
            x = Axis { least: -0.5, most: f64::from(groups.max(1)) - 0.5, logarithmic: false };
        } else if !plot.places.is_empty() {
            (x.least, x.most) = (x.least - 0.3, x.most + 0.3);
        }
        let ends = points().flat_map(|(_, y, half)| {
            let half = half.unwrap_or(0.0);
            [*y - half, *y + half]
        });
        let is_log = plot.logarithmic[1];
        let ends = ends.filter(move |end| !is_log || *end > 0.0);
        let y = axis(ends, is_log, plot.ranges[1], Fit::Round);
        Self { plot, x, y, ink, width, height, out: String::new() }
    }

    /// Draws the axes, and the curves within them.
    fn content(mut self) -> String {
        self.axes();
        let clip = format!(
            "<svg x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{LEFT} {} {} {}\">",
            TOP - 4.0,
            self.width - LEFT - RIGHT + 4.0,
            self.height - TOP - BOTTOM + 4.0,
            TOP - 4.0,
            self.width - LEFT - RIGHT + 4.0,
            self.height - TOP - BOTTOM + 4.0
        );
        self.out += &clip;
        if self.plot.form == Form::Bars {
            self.bars();
        } else {
            for (place, curve) in self.plot.curves.iter().enumerate() {
                self.curve(place, curve);
            }
        }
        self.out + "</svg>"
    }

    fn axes(&mut self) {
        let bottom = self.height - BOTTOM;
        let right = self.width - RIGHT;
        let grid = |from: (f64, f64), to: (f64, f64), class: &str| {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
            format!("<line {} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>", self.ink.class(class))
        };
        let words = |x: f64, y: f64, anchor: &str, text: &str| {
            let (x, y) = (coordinate(x), coordinate(y));
            format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escaped(text))
        };
        let mut out = String::new();
        let ticks: Vec<(f64, String)> = if self.plot.form == Form::Bars {
            groups(self.plot).iter().zip(0u32..).map(|(x, at)| (f64::from(at), self.place_name(*x))).collect()
        } else if self.plot.places.is_empty() {
            self.x.some_ticks(7.0).into_iter().map(|tick| (tick, with_prefix(tick, ""))).collect()
        } else {
            self.plot.places.clone()
        };
        let every = ticks.len().div_ceil(12).max(1);
        for (at, text) in ticks.iter().step_by(every) {
            let x = self.place_x(*at);
            if self.plot.form != Form::Bars {
                out += &grid((x, TOP), (x, bottom), "grid");
            }
            out += &words(x, bottom + 16.0, "middle", text);
        }
        for tick in self.y.some_ticks(7.0) {
            let y = self.place_y(tick);
            out += &grid((LEFT, y), (right, y), "grid");
            out += &words(LEFT - 6.0, y + 4.0, "end", &with_prefix(tick, ""));
        }
        out += &grid((LEFT, bottom), (right, bottom), "frame");
        out += &grid((LEFT, TOP), (LEFT, bottom), "frame");
        out += &words(f64::midpoint(LEFT, right), self.height - 8.0, "middle", &self.plot.labels[0]);
        let middle = coordinate(f64::midpoint(TOP, bottom));
        let label = escaped(&self.plot.labels[1]);
        _ = write!(
            out,
            "<text x=\"13\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 13 {middle})\">{label}</text>"
        );
        self.out += &out;
    }

    fn curve(&mut self, place: usize, curve: &Curve) {
        let visible = |(x, y, _): &&(f64, f64, Option<f64>)| {
            x.is_finite()
                && y.is_finite()
                && (!self.x.logarithmic || *x > 0.0)
                && (!self.y.logarithmic || *y > 0.0)
        };
        let placed: Vec<(f64, f64, Option<f64>)> = curve.points.iter().filter(visible).copied().collect();
        let points: Vec<(f64, f64)> =
            placed.iter().map(|(x, y, _)| (self.place_x(*x), self.place_y(*y))).collect();
        let mut path = String::new();
        match self.plot.form {
            Form::Lines | Form::Trace => {
                for (at, (x, y)) in thinned(&points).iter().enumerate() {
                    let letter = if at == 0 { 'M' } else { 'L' };
                    _ = write!(path, "{letter}{} {}", coordinate(*x), coordinate(*y));
                }
            }
            Form::Steps => {
                for (at, (x, y)) in thinned(&points).iter().enumerate() {
                    let (x, y) = (coordinate(*x), coordinate(*y));
                    _ = if at == 0 { write!(path, "M{x} {y}") } else { write!(path, "H{x}V{y}") };
                }
            }
            Form::Bars | Form::Points => {}
        }
        if !path.is_empty() {
            _ = write!(
                self.out,
                "<path {} style=\"{}\" d=\"{path}\"/>",
                self.ink.class("step"),
                self.ink.style(place)
            );
        }
        if !matches!(self.plot.form, Form::Lines | Form::Points) {
            return;
        }
        let fill = self.ink.colour(place);
        for ((x, y), (_, value, half)) in points.iter().zip(&placed) {
            let (x, y) = (coordinate(*x), coordinate(*y));
            if let Some(half) = half.filter(|half| *half > 0.0) {
                let (low, high) = (self.place_y(value - half), self.place_y(value + half));
                self.out += &interval(&x, low, high, &fill);
            }
            _ = write!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.6\" style=\"fill:{fill}\"/>");
        }
    }

    fn bars(&mut self) {
        let groups = groups(self.plot);
        let wide = self.place_x(1.0) - self.place_x(0.0);
        let curves = f64::from(u32::try_from(self.plot.curves.len().max(1)).unwrap_or(u32::MAX));
        let bar = wide * 0.8 / curves;
        let ground = self.place_y(if self.y.logarithmic { self.y.least } else { 0.0 });
        for ((group, curves), left) in groups.iter().zip(std::iter::repeat(&self.plot.curves)).zip(0u32..) {
            let left = self.place_x(f64::from(left)) - wide * 0.4;
            for ((place, curve), at) in curves.iter().enumerate().zip(0u32..) {
                let found = curve.points.iter().find(|(x, ..)| x.total_cmp(group).is_eq());
                let Some((_, value, half)) = found.filter(|(_, value, _)| value.is_finite()) else {
                    continue;
                };
                let top = self.place_y(*value);
                let x = left + bar * f64::from(at);
                let [rx, ry, rw, rh] =
                    [x + bar * 0.08, top.min(ground), bar * 0.84, (ground - top).abs()].map(coordinate);
                let fill = self.ink.colour(place);
                _ = write!(
                    self.out,
                    "<rect x=\"{rx}\" y=\"{ry}\" width=\"{rw}\" height=\"{rh}\" style=\"fill:{fill}\"/>"
                );
                if let Some(half) = half.filter(|half| *half > 0.0) {
                    let (low, high) = (self.place_y(value - half), self.place_y(value + half));
                    self.out += &interval(&coordinate(x + bar / 2.0), low, high, self.ink.text());
                }
            }
        }
    }

    fn place_name(&self, x: f64) -> String {
        let named = self.plot.places.iter().find(|(at, _)| at.total_cmp(&x).is_eq());
        named.map_or_else(|| with_prefix(x, ""), |(_, name)| name.clone())
    }

    fn place_x(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (self.width - LEFT - RIGHT)
    }

    fn place_y(&self, value: f64) -> f64 {
        let value = if self.y.logarithmic { value.max(self.y.least) } else { value };
        self.height - BOTTOM - self.y.share(value) * (self.height - TOP - BOTTOM)
    }
}

/// Returns an axis over the values, or between the ends `range` if given.
fn axis(values: impl Iterator<Item = f64>, is_log: bool, range: Option<[f64; 2]>, fit: Fit) -> Axis {
    let axis = Axis::over(values.filter(|value| !is_log || *value > 0.0), is_log, fit);
    match range {
        Some([least, most]) if least < most && (!is_log || least > 0.0) => {
            Axis { least, most, logarithmic: is_log }
        }
        _ if axis.least.is_finite() && axis.most.is_finite() => axis,
        _ => Axis { least: 0.0, most: 1.0, logarithmic: false },
    }
}

/// Returns the places of bars on the horizontal axis, in order.
fn groups(plot: &Plot) -> Vec<f64> {
    let mut groups: Vec<f64> = plot
        .curves
        .iter()
        .flat_map(|curve| &curve.points)
        .map(|(x, ..)| *x)
        .filter(|x| x.is_finite())
        .collect();
    groups.sort_by(f64::total_cmp);
    groups.dedup();
    groups
}

fn interval(x: &str, low: f64, high: f64, stroke: &str) -> String {
    let (low, high) = (coordinate(low), coordinate(high));
    format!(
        "<line x1=\"{x}\" x2=\"{x}\" y1=\"{low}\" y2=\"{high}\" style=\"stroke:{stroke};stroke-width:1.2\"/>"
    )
}

/// Leaves out points that make no visible difference. In each half pixel it keeps the first, the lowest, the highest and the last point.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const FEW: usize = 400;
    if points.len() <= FEW {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    let same = |a: &(f64, f64), b: &(f64, f64)| (a.0 * 2.0).floor().total_cmp(&(b.0 * 2.0).floor()).is_eq();
    for group in points.chunk_by(same) {
        let place = |of: fn(&f64, &f64) -> std::cmp::Ordering| {
            group.iter().enumerate().max_by(|(_, a), (_, b)| of(&a.1, &b.1)).map(|(at, _)| at)
        };
        let (high, low) = (place(f64::total_cmp), place(|a, b| b.total_cmp(a)));
        let mut places: Vec<usize> =
            [Some(0), high, low, Some(group.len() - 1)].into_iter().flatten().collect();
        places.sort_unstable();
        places.dedup();
        kept.extend(places.into_iter().map(|at| group[at]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(form: Form, points: Vec<(f64, f64, Option<f64>)>) -> Plot {
        Plot {
            form,
            curves: vec![Curve { name: "a".into(), points }],
            labels: ["x <b>".into(), "y".into()],
            logarithmic: [false, false],
            ranges: [None, None],
            places: Vec::new(),
        }
    }

    #[test]
    fn every_form_draws_its_marks_and_its_intervals() {
        let points = vec![(1.0, 2.0, Some(0.5)), (2.0, 3.0, None)];
        let count = |form, mark: &str| render(&plot(form, points.clone())).matches(mark).count();
        assert_eq!(count(Form::Lines, "<circle"), 2);
        assert_eq!(count(Form::Lines, "stroke-width:1.2"), 1, "one point has an interval");
        assert_eq!(count(Form::Lines, "<path"), 1);
        assert_eq!(count(Form::Points, "<path"), 0);
        assert_eq!(count(Form::Bars, "<rect"), 2);
        assert_eq!(count(Form::Steps, "<circle"), 0);
    }

    #[test]
    fn nothing_and_words_that_look_like_elements_are_drawn_safely() {
        for form in [Form::Lines, Form::Trace, Form::Steps, Form::Bars, Form::Points] {
            let svg = render(&plot(form, Vec::new()));
            assert!(svg.contains("x &lt;b&gt;") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let mut log = plot(form, vec![(0.0, 0.0, Some(1.0)), (1.0, -1.0, None), (f64::NAN, 1.0, None)]);
            log.logarithmic = [true, true];
            let svg = render(&log);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn many_points_are_drawn_by_their_extremes() {
        let points: Vec<(f64, f64)> =
            (0..10_000u32).map(|at| (f64::from(at) / 50.0, f64::from(at * 7 % 100))).collect();
        let kept = thinned(&points);
        assert!(kept.len() < 2000, "{}", kept.len());
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        assert!(kept.iter().any(|(_, y)| *y > 98.5) && kept.iter().any(|(_, y)| *y < 0.5));
    }
}
