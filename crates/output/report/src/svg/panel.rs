//! Draws one flow of a figure as a panel.

use std::fmt::Write;

use firstflight_measure::{Drop, Mark, Recording};

use super::annotations::{self, Annotations};
use super::axis::Axis;
use super::canvas::{Anchor, Canvas, coordinate, width_of};
use super::drops;
use super::frame::Frame;
use super::style::{CWND, FLIGHT_FILL, LEFT, PHASES, PRODUCT, QUEUE_FILL, RIGHT, SSTHRESH};
use super::text::{clipped, float, folded, seconds};
use crate::human;
use crate::report::Report;
use crate::thin::{self, Grid, Point};
use crate::view;
use firstflight_export::record::{self, Record, number, text};

/// Heights: the panel's name, the numbers of its marks, the ribbon, the drops, the values of the ticks, and the parts below.
const NAME: f64 = 24.0;
const FACTS: f64 = 14.0;
const FLAGS: f64 = 14.0;
const RIBBON: f64 = 13.0;
const DROPS: f64 = 11.0;
const TICKS: f64 = 16.0;
const BELOW: f64 = 10.0;

/// The scales that all panels of a figure share.
pub(super) struct Scales {
    /// Time in seconds since the first data packet.
    pub(super) time: Axis,
    /// Windows in packets.
    pub(super) window: Axis,
    /// Queue lengths in packets.
    pub(super) queue: Axis,
    /// The end of the figure, in nanoseconds after the first data packet.
    pub(super) until: u64,
    /// The resolution at which lines are drawn, in buckets.
    pub(super) buckets: u64,
    /// The number of panels.
    pub(super) many: usize,
    /// The width of the figure.
    pub(super) width: f64,
    /// The heights of the two plots of a panel.
    pub(super) plots: (f64, f64),
    /// Whether the bandwidth-delay product fits the scale of windows.
    pub(super) has_product: bool,
}

impl Scales {
    /// Returns the position of a time.
    pub(super) fn x(&self, seconds: f64) -> f64 {
        LEFT + self.time.share(seconds).clamp(0.0, 1.0) * (self.width - LEFT - RIGHT)
    }
}

/// The panel of one flow.
pub(super) struct Panel<'a> {
    pub(super) run: &'a Recording,
    /// Time zero of the panel: the first data packet, or the SYN if there was none. For flows of one run it is the start of the run.
    pub(super) origin: u64,
    row: Option<&'a Record>,
    frame: Frame,
}

impl<'a> Panel<'a> {
    pub(super) fn new(report: &'a Report, run: &'a Recording, frame: &Frame) -> Self {
        let is_its = |row: &&Record| {
            let label = text(row, "label");
            run.label == record::name(row)
                || run.label == if label.is_empty() { text(row, "scheme") } else { label }
        };
        let row = report.rows.iter().find(is_its).filter(|row| !view::is_mean(row));
        let origin = if frame.is_one_run { 0 } else { run.first_data_at.unwrap_or(run.syn_at) };
        Self { run, origin, row, frame: *frame }
    }

    pub(super) fn height(&self, scales: &Scales) -> f64 {
        let (window, queue) = scales.plots;
        self.head()
            + FLAGS
            + RIBBON
            + window
            + DROPS
            + queue
            + TICKS
            + self.annotations(scales).height()
            + BELOW
    }

    /// Returns the windows and the bytes in flight, in packets, up to `until`.
    pub(super) fn windows(&self, until: u64) -> impl Iterator<Item = f64> {
        let states =
            self.run.states.iter().take_while(move |state| state.at <= self.origin.saturating_add(until));
        states
            .flat_map(|state| [state.cwnd, state.in_flight])
            .map(|bytes| self.packets(bytes))
            .filter(|&n| n > 0.0)
    }

    /// Returns the queue's lengths in packets, up to `until`.
    pub(super) fn queues(&self, until: u64) -> impl Iterator<Item = f64> {
        let end = self.origin.saturating_add(until);
        self.run.queue.iter().take_while(move |(at, ..)| *at <= end).map(|&(_, packets)| f64::from(packets))
    }

    /// Returns the bandwidth-delay product of the available rate, in packets, as steps.
    pub(super) fn products(&self, until: u64) -> Vec<(u64, f64)> {
        self.frame.path.products(self.run, self.origin.saturating_add(until))
    }

    /// Checks whether the window is in the lowest twentieth of the scale for more than a third of the time. On a linear scale it could then
    /// not be read.
    pub(super) fn is_flat(&self, until: u64, top: f64) -> bool {
        let end = self.origin.saturating_add(until).min(self.run.ended_at);
        let next = self.run.states.iter().skip(1).map(|state| state.at).chain([end]);
        let low = self.run.states.iter().zip(next).filter(|(state, _)| state.at >= self.origin);
        let low = low.filter(|(state, _)| self.packets(state.cwnd) < top / 20.0);
        let time: u64 = low.map(|(state, next)| next.min(end).saturating_sub(state.at)).sum();
        time > end.saturating_sub(self.origin) / 3
    }

    pub(super) fn has_threshold(&self, scales: &Scales) -> bool {
        self.threshold(scales).iter().any(|point| point.1 >= 0)
    }

    /// Returns the flow's dropped packets, up to the end of the figure.
    pub(super) fn drops(&self, scales: &Scales) -> impl Iterator<Item = &'a Drop> {
        let end = self.origin.saturating_add(scales.until);
        self.run.drops.iter().filter(move |drop| drop.at <= end)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64, scales: &Scales) {
        let (window, queue) = scales.plots;
        let name = self.head();
        let ribbon = top + name + FLAGS;
        let above = ribbon + RIBBON;
        let drops = above + window;
        let below = drops + DROPS;
        let bottom = below + queue;
        self.name(canvas, top + 15.0);
        self.phases(canvas, (ribbon, bottom), scales);
        let annotations = self.annotations(scales);
        plot(canvas, (above, window), &scales.window, "window, packets");
        plot(canvas, (below, queue), &scales.queue, "queue, packets");
        for value in scales.time.ticks() {
            let x = scales.x(value);
            canvas.line((x, above), (x, bottom), GRID);
            canvas.text((x, bottom + 13.0), Anchor::Middle, SMALL, &plain(value));
        }
        self.queue(canvas, (below, queue), scales);
        self.lines(canvas, (above, window), scales);
        for y in [drops, bottom] {
            canvas.line((LEFT, y), (canvas.width() - RIGHT, y), "stroke=\"#333333\" stroke-width=\"0.8\"");
        }
        annotations.draw(canvas, (top + name, ribbon, bottom));
        let dropped = self.drops(scales).filter(|drop| drop.len > 0);
        let dropped = dropped.map(|drop| (scales.x(self.time(drop.at)), drop.by_queue));
        drops::draw(canvas, drops, &dropped.collect::<Vec<_>>());
        annotations.list(canvas, bottom + TICKS + 11.0);
    }

    /// Draws the flow's name. The facts of the row are on the same line, or below it if there is no room.
    fn name(&self, canvas: &mut Canvas, y: f64) {
        let name = clipped(&self.run.label, 13.0, canvas.width() - LEFT - RIGHT);
        canvas.text((LEFT, y), Anchor::Start, "font-size=\"13\" font-weight=\"bold\"", &name);
        let grey = "font-size=\"11\" fill=\"#444444\"";
        let below = self.facts_below();
        if below.is_empty() {
            canvas.text((canvas.width() - RIGHT, y), Anchor::End, grey, &self.facts());
        }
        let mut y = y;
        for line in below {
            y += FACTS;
            canvas.text((LEFT, y), Anchor::Start, grey, &line);
        }
    }

    /// Returns the facts of the row as text.
    fn facts(&self) -> String {
        self.row.map(facts).unwrap_or_default().join(" · ")
    }

    /// Returns the facts as lines if they do not fit next to the name; empty if they do.
    fn facts_below(&self) -> Vec<String> {
        let facts = self.facts();
        let from = LEFT + width_of(&self.run.label, 13.0) * 1.08 + 14.0;
        let width = self.frame.sheet.drawn_width();
        if width_of(&facts, 11.0) <= width - RIGHT - from {
            return Vec::new();
        }
        folded(&facts, " · ", 11.0, width - LEFT - RIGHT)
    }

    /// Returns the height of the name with the facts.
    fn head(&self) -> f64 {
        NAME + FACTS * self.facts_below().iter().map(|_| 1.0).sum::<f64>()
    }

    /// Draws the ribbon of phases, with their names where there is room. Their shades extend through the plots.
    fn phases(&self, canvas: &mut Canvas, (ribbon, bottom): (f64, f64), scales: &Scales) {
        for span in &self.run.phases {
            let (from, to) = (scales.x(self.time(span.from)), scales.x(self.time(span.to)));
            let Some((_, name, fill)) = PHASES.iter().find(|(kind, ..)| *kind == span.kind) else { continue };
            if to <= from {
                continue;
            }
            canvas.area((from, ribbon), (to - from, RIBBON), fill);
            let style = format!("{fill}\" fill-opacity=\"0.45");
            canvas.area((from, ribbon + RIBBON), (to - from, bottom - ribbon - RIBBON), &style);
            if width_of(name, 10.0) + 6.0 < to - from {
                let middle = f64::midpoint(from, to);
                canvas.text((middle, ribbon + 10.0), Anchor::Middle, "font-size=\"10\"", name);
            }
        }
    }

    fn lines(&self, canvas: &mut Canvas, plot: (f64, f64), scales: &Scales) {
        let grid = self.grid(scales);
        let states = |value: fn(&firstflight_measure::State) -> u64| -> Vec<Point> {
            self.until(scales, self.run.states.iter().map(|state| (state.at, signed(value(state)))))
        };
        let flight = thin::line(&states(|state| state.in_flight), &grid);
        let path = self.steps(&flight, plot, scales);
        self.fill(
            canvas,
            &path,
            &flight,
            plot,
            &format!("fill=\"{FLIGHT_FILL}\" fill-opacity=\"0.8\""),
            scales,
        );
        let mut draw = |points: &[Point], style: &str| {
            let kept = thin::line(points, &grid);
            canvas.path(&self.steps(&kept, plot, scales), style);
        };
        draw(&self.threshold(scales), SSTHRESH);
        draw(&states(|state| state.cwnd), CWND);
        if scales.has_product {
            let points = self.products(scales.until);
            let place = |packets: f64| plot.0 + plot.1 * (1.0 - scales.window.share(packets));
            let path =
                stairs(points.iter().map(|&(at, packets)| (scales.x(self.time(at)), Some(place(packets)))));
            canvas.path(&path, PRODUCT);
        }
    }

    /// Returns the threshold in bytes. It is negative if it is beyond the scale.
    fn threshold(&self, scales: &Scales) -> Vec<Point> {
        let value = |ssthresh: Option<u64>| {
            let shown = ssthresh.filter(|&bytes| self.packets(bytes) <= scales.window.most);
            shown.map_or(-1, signed)
        };
        let points = self.run.states.iter().map(|state| (state.at, value(state.ssthresh)));
        self.until(scales, points)
    }

    /// Returns the window as the path of a step line.
    pub(super) fn window_path(&self, plot: (f64, f64), scales: &Scales) -> String {
        let points = self.run.states.iter().map(|state| (state.at, signed(state.cwnd)));
        let kept = thin::line(&self.until(scales, points), &self.grid(scales));
        self.steps(&kept, plot, scales)
    }

    /// Returns the queue as the path of a step line.
    pub(super) fn queue_path(&self, plot: (f64, f64), scales: &Scales) -> String {
        self.queue_line(plot, scales).0
    }

    fn queue_line(&self, (top, height): (f64, f64), scales: &Scales) -> (String, Vec<Point>) {
        let points = self.run.queue.iter().map(|&(at, packets)| (at, i64::from(packets)));
        let kept = thin::line(&self.until(scales, points), &self.grid(scales));
        let place = |packets: i64| top + height * (1.0 - scales.queue.share(float(packets.unsigned_abs())));
        let path = stairs(kept.iter().map(|&(at, n)| (scales.x(self.time(at)), Some(place(n)))));
        (path, kept)
    }

    /// Returns the position of the last exit of start-up up to the end of the figure, and the window there in packets.
    pub(super) fn exit(&self, scales: &Scales) -> Option<(f64, f64)> {
        let end = self.origin.saturating_add(scales.until);
        let mark = self.run.marks.iter().rfind(|mark| mark.kind == "exit" && mark.at <= end)?;
        let state = self.run.states.iter().take_while(|state| state.at <= mark.at).last()?;
        Some((scales.x(self.time(mark.at)), self.packets(state.cwnd)))
    }

    fn queue(&self, canvas: &mut Canvas, (top, height): (f64, f64), scales: &Scales) {
        let (path, kept) = self.queue_line((top, height), scales);
        let style = format!("fill=\"{QUEUE_FILL}\" stroke=\"#a8527e\" stroke-width=\"0.8\"");
        self.fill(canvas, &path, &kept, (top, height), &style, scales);
    }

    /// Fills the area below a step line.
    fn fill(
        &self,
        canvas: &mut Canvas,
        path: &str,
        points: &[Point],
        (top, height): (f64, f64),
        style: &str,
        scales: &Scales,
    ) {
        let Some(first) = points.first() else { return };
        let (left, bottom) = (scales.x(self.time(first.0)), top + height);
        canvas.path(&format!("{path}V{}H{}Z", coordinate(bottom), coordinate(left)), style);
    }

    /// Returns the marks up to the end of the figure.
    fn annotations(&self, scales: &Scales) -> Annotations<'a> {
        let end = self.origin.saturating_add(scales.until);
        let mut marks: Vec<(f64, &Mark)> = Vec::new();
        for mark in self.run.marks.iter().filter(|mark| mark.at <= end && !annotations::is_plain(mark)) {
            let x = scales.x(self.time(mark.at));
            // If avoidance starts just after an exit, it needs no separate number.
            let is_near = marks.last().is_some_and(|(last, _)| x - last < 2.0);
            if mark.kind != "su-end" || !is_near {
                marks.push((x, mark));
            }
        }
        Annotations { marks, origin: self.origin, width: scales.width }
    }

    /// Returns the points up to the end of the figure. The last value is repeated at that end.
    fn until(&self, scales: &Scales, points: impl Iterator<Item = Point>) -> Vec<Point> {
        let end = self.origin.saturating_add(scales.until).min(self.run.ended_at);
        let mut kept: Vec<Point> = thin::changes(points.take_while(|point| point.0 <= end)).collect();
        if let Some(&(at, value)) = kept.last()
            && at < end
        {
            kept.push((end, value));
        }
        kept
    }

    fn grid(&self, scales: &Scales) -> Grid {
        // The lines of all panels share the available buckets; each panel has three lines.
        let share = scales.buckets / u64::try_from(scales.many.max(1)).unwrap_or(1);
        Grid { tick: 1, ends: vec![self.origin.saturating_add(scales.until)], buckets: share.max(1) }
    }

    /// Returns the path of a step line of window bytes. A negative value is a gap.
    fn steps(&self, points: &[Point], (top, height): (f64, f64), scales: &Scales) -> String {
        let place = |bytes: i64| {
            let packets = self.packets(u64::try_from(bytes).ok()?);
            Some(top + height * (1.0 - scales.window.share(packets).clamp(0.0, 1.0)))
        };
        stairs(points.iter().map(|&(at, bytes)| (scales.x(self.time(at)), place(bytes))))
    }

    /// Returns the time in seconds since time zero of the panel.
    fn time(&self, at: u64) -> f64 {
        seconds(at) - seconds(self.origin)
    }

    fn packets(&self, bytes: u64) -> f64 {
        float(bytes) / f64::from(self.run.mss.max(1))
    }
}

/// Draws the vertical axis of a plot.
pub(super) fn plot(canvas: &mut Canvas, (top, height): (f64, f64), axis: &Axis, name: &str) {
    let ticks = axis.some_ticks(libm::floor(height / 22.0).max(1.0));
    for value in ticks {
        let y = top + height * (1.0 - axis.share(value));
        canvas.line((LEFT, y), (canvas.width() - RIGHT, y), GRID);
        canvas.text((LEFT - 5.0, y + 3.5), Anchor::End, SMALL, &plain(value));
    }
    canvas.line((LEFT, top), (LEFT, top + height), "stroke=\"#333333\" stroke-width=\"0.8\"");
    canvas.upright((13.0, top + height / 2.0), name);
}

pub(super) const GRID: &str = "stroke=\"#000000\" stroke-opacity=\"0.09\"";
pub(super) const SMALL: &str = "font-size=\"10\"";

/// Returns the facts of the row, in a few words each.
fn facts(row: &Record) -> Vec<String> {
    let mut facts = vec![text(row, "avoidance").to_owned()];
    let mut say = |name: &str, field: &str, show: &dyn Fn(f64) -> String| {
        if let Some(value) = number(row, field) {
            facts.push(format!("{name} {}", show(value)));
        }
    };
    let packets = |packets: f64| format!("{packets:.0} packets");
    say("completed in", "fct_s", &human::seconds);
    say("throughput", "throughput_bps", &human::rate);
    say("su-time", "su_time_s", &human::seconds);
    say("su-loss", "su_loss", &|loss| format!("{} %", human::significant(loss * 100.0)));
    say("queue peak", "queue_peak_packets", &packets);
    facts.retain(|fact| !fact.is_empty());
    facts
}

/// Returns the path of a step line through the points. The path has a gap at a point without a height. Points with equal printed
/// coordinates are merged.
fn stairs(points: impl Iterator<Item = (f64, Option<f64>)>) -> String {
    let mut path = String::new();
    let (mut last_x, mut last_y): (String, Option<String>) = (String::new(), None);
    for (x, y) in points {
        let (x, y) = (coordinate(x), y.map(coordinate));
        let is_new_x = x != last_x;
        if last_y.is_some() && is_new_x {
            _ = write!(path, "H{x}");
        }
        match (&last_y, &y) {
            (None, Some(y)) => _ = write!(path, "M{x} {y}"),
            (Some(last), Some(y)) if last != y => _ = write!(path, "V{y}"),
            _ => {}
        }
        (last_x, last_y) = (x, y);
    }
    path
}

pub(super) fn plain(value: f64) -> String {
    // Ticks are multiples of a round step. With nine decimals the rounding error of their sum does not show.
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
