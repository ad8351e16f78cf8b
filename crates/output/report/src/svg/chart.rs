//! Draws curves over two axes. An axis is logarithmic if its values span decades.

use super::axis::{Axis, Fit, with_prefix};
use super::canvas::{Anchor, Canvas};
use super::frame::Sheet;
use super::style::CURVES;

const WIDTH: f64 = Sheet::DEFAULT.width;
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 60.0;

/// The distance from the top of the drawing to the first line of the legend.
const LEGEND: f64 = 46.0;
const LINE: f64 = 18.0;

/// The maximum number of curves that can be distinguished.
pub const MOST: usize = CURVES.len();

/// A curve with its name.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The curve's name in the legend.
    pub name: String,
    /// The points of the curve. It has a gap where `y` is `None`.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A drawing of curves, with its title and labels.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title above the curves.
    pub title: String,
    /// How the values were computed, as a description in the file.
    pub description: String,
    /// The curves. Those beyond [`MOST`] are not drawn.
    pub curves: Vec<Curve>,
    /// The label of the horizontal axis.
    pub label: String,
    /// The units of the two axes, such as `s` or `bit/s`; empty if there is none.
    pub units: [&'static str; 2],
    /// Which of the two axes may be logarithmic.
    pub may_be_log: [bool; 2],
}

/// Returns the chart as an SVG file.
pub fn render(chart: &Chart) -> String {
    let xs = chart.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let ys = chart.curves.iter().flat_map(|curve| curve.points.iter().filter_map(|point| point.1));
    let drawing = Drawing {
        x: Axis::over(xs, chart.may_be_log[0], Fit::Tight),
        y: Axis::over(ys, chart.may_be_log[1], Fit::Round),
        chart,
    };
    let mut canvas = Canvas::new(HEIGHT);
    canvas.text((LEFT, 24.0), Anchor::Start, "font-size=\"14\"", &chart.title);
    drawing.axes(&mut canvas);
    for (curve, style) in chart.curves.iter().zip(CURVES) {
        drawing.curve(&mut canvas, curve, style);
    }
    drawing.legend(&mut canvas);
    canvas.finish(&chart.description)
}

struct Drawing<'a> {
    chart: &'a Chart,
    x: Axis,
    y: Axis,
}

impl Drawing<'_> {
    fn axes(&self, canvas: &mut Canvas) {
        const GRID: &str = "stroke=\"#dddddd\"";
        const FRAME: &str = "stroke=\"#333333\"";
        let bottom = HEIGHT - BOTTOM;
        for value in self.x.ticks() {
            let x = self.place_x(value);
            canvas.line((x, self.top()), (x, bottom), GRID);
            canvas.text((x, bottom + 18.0), Anchor::Middle, "", &with_prefix(value, self.chart.units[0]));
        }
        for value in self.y.ticks() {
            let y = self.place_y(value);
            canvas.line((LEFT, y), (WIDTH - RIGHT, y), GRID);
            canvas.text((LEFT - 8.0, y + 4.0), Anchor::End, "", &with_prefix(value, self.chart.units[1]));
        }
        canvas.line((LEFT, bottom), (WIDTH - RIGHT, bottom), FRAME);
        canvas.line((LEFT, self.top()), (LEFT, bottom), FRAME);
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        canvas.text((middle, HEIGHT - 16.0), Anchor::Middle, "", &self.chart.label);
    }

    fn curve(&self, canvas: &mut Canvas, curve: &Curve, (colour, dash): (&str, &str)) {
        // The curve has a gap where it is undefined.
        for run in curve.points.split(|(_, y)| y.is_none()).filter(|run| !run.is_empty()) {
            let points: Vec<_> =
                run.iter().filter_map(|(x, y)| Some((self.place_x(*x), self.place_y((*y)?)))).collect();
            canvas.polyline(&points, &stroke(colour, dash));
        }
    }

    fn legend(&self, canvas: &mut Canvas) {
        let mut y = LEGEND;
        for (curve, (colour, dash)) in self.chart.curves.iter().zip(CURVES) {
            canvas.line((LEFT, y - 4.0), (LEFT + 36.0, y - 4.0), &stroke(colour, dash));
            canvas.text((LEFT + 44.0, y), Anchor::Start, "", &curve.name);
            y += LINE;
        }
    }

    /// Returns the top of the plot, which is below the legend.
    fn top(&self) -> f64 {
        self.chart.curves.iter().take(MOST).fold(LEGEND, |y, _| y + LINE)
    }

    fn place_x(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn place_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - BOTTOM - self.top())
    }
}

fn stroke(colour: &str, dash: &str) -> String {
    format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"")
}
