//! Draws the flows of a race over time, one above the other on a common time axis.
//!
//! Each flow has a panel with its phases as a ribbon, the window and the bytes in flight, the flow's dropped packets, and the queue at the
//! bottleneck. Events (exits, timeouts and so on) are numbered on the axis and described below. Time counts from the flow's first data
//! packet, as exit times and start-up times do. For flows of one run it counts from the start of the run. All panels have the same scales.
//! An overlay has the windows of all flows in one axis, and their queues in another.

use firstflight_measure::{PhaseKind, Recording};

use super::axis::{Axis, Fit};
use super::canvas::{Anchor, Canvas, width_of};
use super::overlay;
use super::panel::{Panel, Scales};
use super::style::{self, LEFT, RIGHT};
use super::text::{float, folded, seconds};
use crate::reference;
use crate::report::Report;

pub use super::frame::Frame;

#[cfg(test)]
use super::frame::Sheet;

/// The maximum number of flows in one figure.
pub const MOST: usize = 6;

/// The maximum size of a figure in bytes.
const LARGEST: usize = 150_000;

/// The initial and the minimum number of buckets of a line. A bucket has four points.
const FINEST: u64 = 1400;
const COARSEST: u64 = 100;

/// The reason why a race cannot be shown as a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// There are more flows than [`MOST`].
    #[error("{0} rows are too many for a figure; up to {MOST} fit: choose with --schemes")]
    TooMany(usize),
    /// The sheet is too low for its content. The value is the minimum height, in pixels.
    #[error("the height is too small for these rows; {0} is the minimum with this width and font")]
    TooLow(u32),
}

/// Checks that a figure can show this number of flows.
///
/// # Errors
/// Fails if there are too many flows.
pub fn check(flows: usize) -> Result<(), FigureError> {
    if flows > MOST { Err(FigureError::TooMany(flows)) } else { Ok(()) }
}

/// Returns the recordings as an SVG file, in the given order. The report has the name of the race.
///
/// # Errors
/// Fails if there are more than [`MOST`] recordings, or if the height of the sheet is too small.
pub fn render(report: &Report, recordings: &[Recording], frame: &Frame) -> Result<String, FigureError> {
    check(recordings.len())?;
    let mut buckets = FINEST;
    loop {
        let svg = draw(report, recordings, frame, buckets)?;
        if svg.len() <= LARGEST || buckets <= COARSEST {
            return Ok(svg);
        }
        buckets = (buckets * 3 / 4).max(COARSEST);
    }
}

fn draw(
    report: &Report,
    recordings: &[Recording],
    frame: &Frame,
    buckets: u64,
) -> Result<String, FigureError> {
    let runs: Vec<_> = recordings.iter().map(|run| Panel::new(report, run, frame)).collect();
    let mut scales = scales(&runs, frame, buckets);
    let width = scales.width;
    let legend = if frame.overlays { Vec::new() } else { legend(&runs, &scales) };
    let rows = usize::from(legend.last().is_some()) + legend.last().map_or(0, |entry| entry.row);
    let title = folded(&report.title, ", ", 12.0, width - LEFT - RIGHT);
    let legend_at = TITLE + line(title.len());
    let top = legend_at + line(rows);
    fit(&mut scales, top + FOOT, &runs, frame)?;
    let heights: Vec<f64> = if frame.overlays {
        vec![overlay::frame_height(&runs, width) + scales.plots.0 + scales.plots.1]
    } else {
        runs.iter().map(|run| run.height(&scales)).collect()
    };
    let mut canvas = Canvas::on(frame.sheet, top + heights.iter().sum::<f64>() + FOOT);
    for (at, words) in title.iter().enumerate() {
        canvas.text((LEFT, TITLE + line(at)), Anchor::Start, "", words);
    }
    for entry in &legend {
        entry.draw(&mut canvas, legend_at);
    }
    let mut y = top;
    if frame.overlays {
        overlay::draw(&mut canvas, top, &runs, &scales);
        y += heights.iter().sum::<f64>();
    } else {
        for (run, height) in runs.iter().zip(heights) {
            run.draw(&mut canvas, y, &scales);
            y += height;
        }
    }
    let middle = f64::midpoint(LEFT, width - RIGHT);
    canvas.text(
        (middle, y + 12.0),
        Anchor::Middle,
        "font-size=\"11\"",
        if frame.is_one_run {
            "seconds since the beginning of the run"
        } else {
            "seconds since the first data packet"
        },
    );
    let Report { command, version, seed, scenario_hash, .. } = report;
    Ok(canvas.finish(&format!("{command}\nfirstflight {version}, seed {seed}, scenario {scenario_hash}")))
}

/// The minimum height of the two plots of a panel together, and the share of the window.
const LOWEST: f64 = 60.0;
const WINDOWS: f64 = 0.73;

/// Sets the heights of the plots so that the figure has the height of the sheet. `around` is the height outside the panels.
fn fit(scales: &mut Scales, around: f64, runs: &[Panel<'_>], frame: &Frame) -> Result<(), FigureError> {
    let Some(height) = frame.sheet.drawn_height() else { return Ok(()) };
    scales.plots = (0.0, 0.0);
    let (fixed, panels) = if frame.overlays {
        (around + overlay::frame_height(runs, scales.width), 1)
    } else {
        (around + runs.iter().map(|run| run.height(scales)).sum::<f64>(), runs.len().max(1))
    };
    let panels = float(u64::try_from(panels).unwrap_or(u64::MAX));
    let room = (height - fixed) / panels;
    if room < LOWEST {
        let minimum = (fixed + LOWEST * panels) * frame.sheet.scale();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousand pixels")]
        return Err(FigureError::TooLow(libm::ceil(minimum) as u32));
    }
    scales.plots = (room * WINDOWS, room * (1.0 - WINDOWS));
    Ok(())
}

/// The position of the title, the line heights of title and legend, and the space below the last panel.
const TITLE: f64 = 20.0;
const LINE: f64 = 16.0;
const FOOT: f64 = 20.0;

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn line(row: usize) -> f64 {
    LINE * row as f64
}

fn scales(runs: &[Panel<'_>], frame: &Frame, buckets: u64) -> Scales {
    let longest = runs.iter().map(|run| run.run.ended_at.saturating_sub(run.origin)).max().unwrap_or(1);
    let until = frame.until.map_or(longest, |until| until.min(longest)).max(1);
    let handshake = runs.iter().map(|run| run.origin.saturating_sub(run.run.syn_at)).max().unwrap_or(0);
    let windows = || runs.iter().flat_map(|run| run.windows(until));
    let peak = windows().fold(1.0, f64::max);
    let products = runs.iter().flat_map(|run| run.products(until)).map(|(_, packets)| packets);
    let product = products.fold(0.0, f64::max);
    let top = if product <= reference::ROOM * peak { product.max(peak) } else { peak };
    let queue = runs.iter().flat_map(|run| run.queues(until)).fold(1.0, f64::max);
    let is_flat = runs.iter().any(|run| run.is_flat(until, top));
    let least = windows().fold(top, f64::min).max(1.0);
    let first = -seconds(handshake);
    Scales {
        time: Axis { least: first, most: seconds(until), logarithmic: false },
        window: Axis::over([if is_flat { least } else { 0.0 }, top * 1.02].into_iter(), is_flat, Fit::Round),
        queue: Axis::over([0.0, queue * 1.02].into_iter(), false, Fit::Round),
        until,
        buckets,
        many: runs.len(),
        width: frame.sheet.drawn_width(),
        // With fewer panels the plots are larger.
        plots: match runs.len() {
            0 | 1 => (230.0, 80.0),
            _ if frame.overlays => (280.0, 100.0),
            2 | 3 => (150.0, 60.0),
            _ => (110.0, 46.0),
        },
        has_product: product <= top && product > 0.0,
    }
}

/// A legend entry: a line, a patch or a mark, with its meaning in words.
struct Entry {
    x: f64,
    row: usize,
    what: &'static str,
    sign: Sign,
}

enum Sign {
    Line(&'static str),
    Patch(&'static str),
    Tick(&'static str),
}

/// Returns the legend entries for the elements that are drawn.
fn legend(runs: &[Panel<'_>], scales: &Scales) -> Vec<Entry> {
    let recordings = || runs.iter().map(|run| run.run);
    let has = |test: &dyn Fn(&Recording) -> bool| recordings().any(test);
    let drops = |by_queue: bool| {
        runs.iter().any(|run| run.drops(scales).any(|drop| drop.len > 0 && drop.by_queue == by_queue))
    };
    let mut entries = vec![("cwnd", Sign::Line(style::CWND)), ("in flight", Sign::Patch(style::FLIGHT_FILL))];
    if runs.iter().any(|run| run.has_threshold(scales)) {
        entries.push(("ssthresh", Sign::Line(style::SSTHRESH)));
    }
    if scales.has_product {
        entries.push((reference::NAME, Sign::Line(style::PRODUCT)));
    }
    if drops(true) {
        entries.push(("dropped by a queue", Sign::Tick(style::DROPPED)));
    }
    if drops(false) {
        entries.push(("lost at random", Sign::Tick(style::LOST)));
    }
    entries.push(("queue at the bottleneck", Sign::Patch(style::QUEUE_FILL)));
    let drawn = |run: &Recording, kind: PhaseKind| {
        let end = runs
            .first()
            .map_or(u64::MAX, |_| run.first_data_at.unwrap_or(run.syn_at).saturating_add(scales.until));
        run.phases.iter().any(|span| span.kind == kind && span.from < end)
    };
    for (kind, what, fill) in style::PHASES {
        if has(&|run| drawn(run, kind)) {
            entries.push((what, Sign::Patch(fill)));
        }
    }
    let (mut x, mut row) = (LEFT, 0);
    let place = |(what, sign): (&'static str, Sign)| {
        let width = 26.0 + width_of(what, 11.0) + 14.0;
        if x + width > scales.width - RIGHT + 14.0 {
            (x, row) = (LEFT, row + 1);
        }
        let entry = Entry { x, row, what, sign };
        x += width;
        entry
    };
    entries.into_iter().map(place).collect()
}

impl Entry {
    fn draw(&self, canvas: &mut Canvas, top: f64) {
        let y = top + 2.0 + line(self.row);
        match self.sign {
            Sign::Line(style) => canvas.line((self.x, y - 4.0), (self.x + 20.0, y - 4.0), style),
            Sign::Patch(fill) => canvas.area((self.x, y - 9.0), (20.0, 10.0), fill),
            Sign::Tick(style) => {
                for at in [4.0, 8.0, 12.0, 16.0] {
                    canvas.line((self.x + at, y - 8.0), (self.x + at, y), style);
                }
            }
        }
        canvas.text((self.x + 26.0, y), Anchor::Start, "font-size=\"11\"", self.what);
    }
}

#[cfg(test)]
mod tests;
