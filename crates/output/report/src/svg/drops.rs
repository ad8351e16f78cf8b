//! Draws the flow's dropped packets as ticks. Where several coincide, their number is written.

use std::fmt::Write;

use super::canvas::{Anchor, Canvas, coordinate, width_of};
use super::style::{DROPPED, LOST};

/// The width of a tick, including its margin.
const TICK: f64 = 3.0;

/// Draws a tick for each dropped packet. A drop is (position, whether a queue dropped the packet). Ticks within half a pixel are merged,
/// and their number is written if there is room.
pub(super) fn draw(canvas: &mut Canvas, top: f64, drops: &[(f64, bool)]) {
    for (by_queue, style) in [(true, DROPPED), (false, LOST)] {
        let mut path = String::new();
        let mut last = f64::NEG_INFINITY;
        for (x, _) in drops.iter().filter(|drop| drop.1 == by_queue) {
            if *x >= last + 0.5 {
                _ = write!(path, "M{} {}v7", coordinate(*x), coordinate(top + 2.0));
                last = *x;
            }
        }
        canvas.path(&path, style);
    }
    for group in together(drops.iter().map(|drop| drop.0)) {
        let words = format!("×{}", group.count);
        let at = group.to + 4.0;
        if group.count > 1 && at + width_of(&words, 9.0) < group.next.min(canvas.width()) {
            canvas.text((at, top + 9.0), Anchor::Start, "font-size=\"9\"", &words);
        }
    }
}

/// Ticks that coincide or touch.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Group {
    count: u32,
    to: f64,
    /// The start of the next group; infinity if there is none.
    next: f64,
}

/// Groups positions that coincide or touch. The positions must be in ascending order.
fn together(places: impl Iterator<Item = f64>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for x in places {
        match groups.last_mut() {
            Some(group) if x < group.to + TICK => (group.count, group.to) = (group.count + 1, x),
            last => {
                if let Some(group) = last {
                    group.next = x;
                }
                groups.push(Group { count: 1, to: x, next: f64::INFINITY });
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_whose_ticks_touch_are_counted_together() {
        let counted: Vec<_> = together([10.0, 10.0, 12.0, 14.5, 30.0].into_iter())
            .iter()
            .map(|group| (group.count, group.to, group.next))
            .collect();
        assert_eq!(counted, [(4, 14.5, 30.0), (1, 30.0, f64::INFINITY)]);
        assert!(together(std::iter::empty()).is_empty());
    }
}
