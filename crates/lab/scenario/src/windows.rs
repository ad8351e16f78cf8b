//! Measuring windows: parts of a run whose utilisation, goodput and drops are measured.

use std::fmt;

use firstflight::Span;

use crate::quantity::{self, QuantityError, Why, refuse, show_span};

/// A part of a run. Its times count from the measured flow's SYN in a race, and from the beginning of the run with a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// When the window begins.
    pub from: Span,
    /// When it ends.
    pub until: Span,
}

impl Window {
    /// Returns the part of the fields' names that identifies the window: `10s_70s`.
    pub fn suffix(&self) -> String {
        format!("{}_{}", show_begin(self.from), show_span(self.until))
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", show_begin(self.from), show_span(self.until))
    }
}

fn show_begin(from: Span) -> String {
    if from.is_zero() { "0s".to_owned() } else { show_span(from) }
}

/// Returns the windows in the form that [`windows`] reads; `None` if there are none.
pub(crate) fn show_windows(windows: &[Window]) -> Option<String> {
    let texts: Vec<String> = windows.iter().map(Window::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

const ALLOWED: &str = "windows are written `10s..70s`, several with commas between, or `none`";

/// Reads windows: `10s..70s,0s..20s`, or `none`.
///
/// # Errors
/// A text of another form, a window that ends before it begins, a window given twice.
pub(crate) fn windows(text: &str) -> Result<Vec<Window>, QuantityError> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for part in text.split(',') {
        let window = window(part.trim())?;
        if found.contains(&window) {
            return Err(refuse(part.trim(), Why::Conflict, "each window once is allowed"));
        }
        found.push(window);
    }
    Ok(found)
}

fn window(text: &str) -> Result<Window, QuantityError> {
    let Some((from, until)) = text.split_once("..") else {
        return Err(refuse(text, Why::Part, ALLOWED));
    };
    let from = quantity::unless_zero(from.trim(), quantity::span)?.unwrap_or(Span::ZERO);
    let until = quantity::span(until.trim())?;
    if until <= from {
        return Err(refuse(text, Why::OutOfRange, "a window ends after it begins, as in `10s..70s`"));
    }
    Ok(Window { from, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_as_they_are_shown() {
        for text in ["10s..70s", "0s..20s,10s..70s", "500ms..1500ms"] {
            let read = windows(text).expect(text);
            assert_eq!(show_windows(&read).as_deref(), Some(text));
        }
        assert_eq!(windows(" 0 .. 1s , 1s..1.5s ").expect("spaces").len(), 2);
        assert_eq!(windows("none"), Ok(Vec::new()));
    }

    #[test]
    fn invalid_windows_are_refused() {
        for text in
            ["", "10s", "10s..", "..10s", "70s..10s", "10s..10s", "1s..2s,", "1s..2s,1s..2s", "10..70"]
        {
            assert!(windows(text).is_err(), "{text}");
        }
    }
}
