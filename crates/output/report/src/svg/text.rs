//! Text that fits into a figure, and times as numbers.

use super::canvas::width_of;

/// Breaks text into lines of the width `room`, after any of the characters `after`. A word that is too long for a line is cut.
pub(super) fn folded(words: &str, after: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in words.split_inclusive(after) {
        match lines.last_mut() {
            Some(line) if width_of(line, size) + width_of(part.trim_end(), size) <= room => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| clipped(line.trim_end(), size, room)).collect()
}

/// Returns the first part of the text, as much as fits into `room`.
pub(super) fn clipped(words: &str, size: f64, room: f64) -> String {
    if width_of(words, size) <= room {
        return words.to_owned();
    }
    let mut kept = words.to_owned();
    while kept.pop().is_some() && width_of(&kept, size) + size > room {}
    kept + "…"
}

/// Returns nanoseconds as seconds.
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    float(nanoseconds) / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "to draw, 53 bits are plenty")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}
