//! A small plot of one scheme's window. All small plots of a page have the same axes.

use std::fmt::Write;

use super::axis::Axis;
use super::canvas::coordinate;

/// The axes that all small plots of a page share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    /// The time at which the plots begin and end, in seconds.
    pub(crate) span: [f64; 2],
    /// The window at the upper end, in packets.
    pub(crate) most: f64,
}

/// The lines of a small plot, as steps of (seconds, packets).
#[derive(Clone, Debug)]
pub(crate) struct Small {
    /// The name of the page's colour.
    pub(crate) colour: &'static str,
    pub(crate) window: Vec<(f64, f64)>,
    /// The lowest and the highest window over several runs, as (seconds, lowest, highest); empty with one run.
    pub(crate) band: Vec<(f64, f64, f64)>,
    /// The bandwidth-delay product.
    pub(crate) product: Vec<(f64, f64)>,
    /// The packets that the queue holds; `None` without a limit.
    pub(crate) queue: Option<f64>,
    /// The time at which start-up ended, in seconds; `None` if it did not.
    pub(crate) exit: Option<f64>,
}

const WIDTH: f64 = 210.0;
const HEIGHT: f64 = 118.0;
const LEFT: f64 = 32.0;
const RIGHT: f64 = WIDTH - 6.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = HEIGHT - 17.0;

/// Draws the plot as an SVG element in the page's colours.
pub(crate) fn render(small: &Small, shared: &Shared) -> String {
    let mut out = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" class=\"chart\" aria-hidden=\"true\">\n");
    let [from, to] = shared.span;
    let across = Axis { least: from, most: if to > from { to } else { from + 1.0 }, logarithmic: false };
    let up = Axis { least: 0.0, most: shared.most.max(1.0), logarithmic: false };
    let x = |t: f64| LEFT + across.share(t).clamp(0.0, 1.0) * (RIGHT - LEFT);
    let y = |packets: f64| BOTTOM - up.share(packets).clamp(0.0, 1.0) * (BOTTOM - TOP);
    for tick in up.some_ticks(3.0) {
        let at = coordinate(y(tick));
        _ = writeln!(out, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at}\" x2=\"{RIGHT}\" y2=\"{at}\"/>");
        let text = coordinate(y(tick) + 3.5);
        _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text>",
            LEFT - 3.0,
            short(tick)
        );
    }
    for tick in across.some_ticks(4.0) {
        let anchor = if x(tick) > RIGHT - 8.0 { "end" } else { "middle" };
        let at = coordinate(x(tick).min(RIGHT));
        _ = writeln!(
            out,
            "<text x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT - 5.0,
            short(tick)
        );
    }
    _ = writeln!(out, "<line class=\"frame\" x1=\"{LEFT}\" y1=\"{BOTTOM}\" x2=\"{RIGHT}\" y2=\"{BOTTOM}\"/>");
    if let Some(&(start, lowest, _)) = small.band.first() {
        let mut area = format!("M{} {}", coordinate(x(start)), coordinate(y(lowest)));
        let edge = |&(t, packets): &(f64, f64)| format!("L{} {}", coordinate(x(t)), coordinate(y(packets)));
        let highest = small.band.iter().map(|&(t, _, high)| (t, high));
        let lowest = small.band.iter().rev().map(|&(t, low, _)| (t, low));
        highest.chain(lowest).for_each(|point| area += &edge(&point));
        _ = writeln!(out, "<path class=\"band\" style=\"fill: var(--{})\" d=\"{area}Z\"/>", small.colour);
    }
    // A line above the plot would be drawn along its upper edge.
    let level = |extra: f64| {
        let steps = small.product.iter().map(|&(t, packets)| (t, packets + extra));
        let is_inside = small.product.iter().all(|point| point.1 + extra <= up.most);
        if is_inside { steps.collect() } else { Vec::new() }
    };
    let mut line = |points: &[(f64, f64)], attributes: &str| {
        let path = path(points, shared.span, &x, &y);
        if !path.is_empty() {
            _ = writeln!(out, "<path {attributes} d=\"{path}\"/>");
        }
    };
    line(&level(0.0), "class=\"product\"");
    line(&small.queue.map_or_else(Vec::new, level), "class=\"limit\"");
    line(&small.window, &format!("class=\"window\" style=\"stroke: var(--{})\"", small.colour));
    if let Some(exit) = small.exit.filter(|exit| (from..=to).contains(exit)) {
        let at = small.window.partition_point(|point| point.0 < exit);
        let packets = small.window.get(at.saturating_sub(1)).map_or(0.0, |point| point.1);
        let (cx, cy) = (coordinate(x(exit)), coordinate(y(packets)));
        _ = writeln!(out, "<circle class=\"exit\" cx=\"{cx}\" cy=\"{cy}\" r=\"2.6\"/>");
    }
    out.push_str("</svg>");
    out
}

/// Formats a tick: thousands as `2k`.
fn short(value: f64) -> String {
    // Adding zero removes the sign of a negative zero.
    let value = value + 0.0;
    let (value, unit) = if value.abs() >= 1000.0 { (value / 1000.0, "k") } else { (value, "") };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns the path of steps within the span. Each pixel column has its first, lowest, highest and last value.
fn path(
    points: &[(f64, f64)],
    [from, to]: [f64; 2],
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) -> String {
    let before = points.partition_point(|point| point.0 <= from).saturating_sub(1);
    let within = &points[before..points.partition_point(|point| point.0 <= to)];
    let mut path = String::new();
    let column = |point: &(f64, f64)| libm::floor(x(point.0));
    let mut last = None;
    for group in within.chunk_by(|a, b| column(a).to_bits() == column(b).to_bits()) {
        let lowest = group.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let highest = group.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        let ends = [group[0].1, lowest, highest, group[group.len() - 1].1];
        let at = coordinate(x(group[0].0));
        let start = if path.is_empty() { "M" } else { "H" };
        let mut levels: Vec<String> = ends.map(|packets| coordinate(y(packets))).into();
        levels.dedup();
        if last.as_ref() == Some(&levels[0]) && levels.len() == 1 {
            continue;
        }
        if path.is_empty() {
            path = format!("{start}{at} {}", levels[0]);
        } else {
            _ = write!(path, "{start}{at}V{}", levels[0]);
        }
        levels[1..].iter().for_each(|level| _ = write!(path, "V{level}"));
        last = levels.pop();
    }
    if let Some(point) = within.last() {
        // The last value holds to the end of the series.
        let end = points.last().map_or(point.0, |point| point.0).min(to);
        _ = write!(path, "H{}", coordinate(x(end)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(window: Vec<(f64, f64)>) -> Small {
        let product = vec![(0.0, 50.0), (9.0, 50.0)];
        let band = vec![(0.0, 1.0, 2.0), (1.0, 1.0, 4.0)];
        Small { colour: "blue", window, band, product, queue: Some(30.0), exit: Some(2.0) }
    }

    #[test]
    fn a_plot_has_its_window_the_product_and_the_limit_of_the_queue() {
        let window = (0..1000).map(|at| (f64::from(at) / 100.0, f64::from(at % 90))).collect();
        let shared = Shared { span: [0.0, 10.0], most: 100.0 };
        let svg = render(&small(window), &shared);
        for class in ["band", "window", "product", "limit", "exit"] {
            assert_eq!(svg.matches(&format!("class=\"{class}\"")).count(), 1, "{class}");
        }
        assert!(svg.len() < 6000 && !svg.contains("NaN"), "{} bytes", svg.len());
    }

    #[test]
    fn lines_beyond_the_scale_and_empty_windows_are_left_out() {
        let shared = Shared { span: [0.0, 0.0], most: 60.0 };
        let svg = render(&small(Vec::new()), &shared);
        assert!(!svg.contains("class=\"window\"") && !svg.contains("class=\"limit\""), "{svg}");
        assert!(svg.contains("class=\"product\"") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_step_keeps_the_extremes_of_a_pixel_column() {
        let points = [(0.0, 1.0), (1.0, 5.0), (1.1, 9.0), (1.2, 2.0), (8.0, 3.0)];
        let path = path(&points, [0.0, 8.0], &|t| t * 1.0, &|packets| packets);
        assert_eq!(path, "M0 1H1V5V2V9V2H8V3H8");
    }
}
