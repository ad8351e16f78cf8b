//! Draws all flows of a figure in one axis for their windows, and in one for their queues.

use super::canvas::{Anchor, Canvas, width_of};
use super::panel::{self, Panel, Scales};
use super::style::{CURVES, LEFT, RIGHT};
use super::text::clipped;

/// The line height of the legend, and the heights of the gap between the plots and of the values of the ticks.
const LINE: f64 = 16.0;
const GAP: f64 = 12.0;
const TICKS: f64 = 22.0;

/// The legend entries: position, row, and the flow's name as it fits.
fn legend(panels: &[Panel<'_>], width: f64) -> Vec<(f64, f64, String)> {
    let (mut x, mut row) = (LEFT, 0.0);
    let place = |panel: &Panel<'_>| {
        let name = clipped(&panel.run.label, 11.0, width - LEFT - RIGHT - 34.0);
        let needs = 34.0 + width_of(&name, 11.0) + 14.0;
        if x > LEFT && x + needs > width - RIGHT + 14.0 {
            (x, row) = (LEFT, row + 1.0);
        }
        let at = (x, row * LINE, name);
        x += needs;
        at
    };
    panels.iter().map(place).collect()
}

/// Returns the height of everything but the two plots.
pub(super) fn frame_height(panels: &[Panel<'_>], width: f64) -> f64 {
    let rows = legend(panels, width).last().map_or(0.0, |(_, y, _)| y + LINE);
    rows + LINE + GAP + TICKS
}

/// Draws the legend, the two plots and the ticks of time, from `top` on. A disc marks the exit of each flow's start-up.
pub(super) fn draw(canvas: &mut Canvas, top: f64, panels: &[Panel<'_>], scales: &Scales) {
    let entries = legend(panels, canvas.width());
    for ((x, y, name), (colour, dash)) in entries.iter().zip(CURVES) {
        let y = top + y + 2.0;
        canvas.line((*x, y - 4.0), (x + 28.0, y - 4.0), &stroke(colour, dash));
        canvas.text((x + 34.0, y), Anchor::Start, "font-size=\"11\"", name);
    }
    let rows = entries.last().map_or(0.0, |(_, y, _)| y + LINE);
    let window = (top + rows + LINE / 2.0, scales.plots.0);
    let queue = (window.0 + window.1 + GAP, scales.plots.1);
    let bottom = queue.0 + queue.1;
    panel::plot(canvas, window, &scales.window, "window, packets");
    panel::plot(canvas, queue, &scales.queue, "queue, packets");
    for value in scales.time.ticks() {
        let x = scales.x(value);
        canvas.line((x, window.0), (x, bottom), panel::GRID);
        canvas.text((x, bottom + 13.0), Anchor::Middle, panel::SMALL, &panel::plain(value));
    }
    for y in [window.0 + window.1, bottom] {
        canvas.line((LEFT, y), (canvas.width() - RIGHT, y), "stroke=\"#333333\" stroke-width=\"0.8\"");
    }
    for (panel, (colour, dash)) in panels.iter().zip(CURVES) {
        let style = format!("fill=\"none\" {}", stroke(colour, dash));
        canvas.path(&panel.queue_path(queue, scales), &style);
        canvas.path(&panel.window_path(window, scales), &style);
        if let Some((x, packets)) = panel.exit(scales) {
            let y = window.0 + window.1 * (1.0 - scales.window.share(packets).clamp(0.0, 1.0));
            canvas.disc((x, y), 3.6, colour);
        }
    }
}

fn stroke(colour: &str, dash: &str) -> String {
    format!("stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dash}\"")
}
