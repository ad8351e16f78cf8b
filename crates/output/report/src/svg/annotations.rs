//! The events of a flow in a figure: their numbers on the axis, and their descriptions below.

use firstflight_measure::Mark;

use super::canvas::{Anchor, Canvas};
use super::style::{LEFT, RIGHT};
use super::text::{float, folded, seconds};

/// The line height of the descriptions.
const WORDS: f64 = 14.0;

/// The maximum number of marks with a number. Any further mark is only a line.
const NUMBERED: usize = 6;

/// The marks of a flow, in order.
pub(super) struct Annotations<'a> {
    /// The marks, each with its position.
    pub(super) marks: Vec<(f64, &'a Mark)>,
    /// The time of the first data packet.
    pub(super) origin: u64,
    /// The width of the figure.
    pub(super) width: f64,
}

impl Annotations<'_> {
    /// Returns the height of the descriptions.
    pub(super) fn height(&self) -> f64 {
        let lines = self.words().map(|lines| lines.len()).sum::<usize>();
        let more = usize::from(self.marks.len() > NUMBERED);
        WORDS * float(u64::try_from(lines + more).unwrap_or(0))
    }

    /// Returns the description of each numbered mark, as lines of text.
    fn words(&self) -> impl Iterator<Item = Vec<String>> {
        self.marks.iter().take(NUMBERED).map(|(_, mark)| {
            let after = seconds(mark.at) - seconds(self.origin);
            let text = mark.text.replacen("start-up left by ", "exit by ", 1);
            folded(&format!("{after:.3} s: {text}"), " ", 11.0, self.width - LEFT - 24.0)
        })
    }

    /// Draws each mark as a line through the plots. The first marks have numbers above.
    pub(super) fn draw(&self, canvas: &mut Canvas, (flags, ribbon, bottom): (f64, f64, f64)) {
        let mut free = f64::NEG_INFINITY;
        for (at, (x, mark)) in self.marks.iter().enumerate() {
            let style = format!("stroke=\"{}\" stroke-width=\"1\" stroke-dasharray=\"4 2\"", colour(mark));
            canvas.line((*x, ribbon), (*x, bottom), &style);
            if at < NUMBERED {
                // Numbers that are too close together are moved to the right.
                let place = x.max(free).min(canvas.width() - RIGHT + 8.0);
                canvas.line((*x, ribbon), (place, flags + 6.0), &format!("stroke=\"{}\"", colour(mark)));
                canvas.disc((place, flags + 6.0), 6.0, colour(mark));
                let number = (at + 1).to_string();
                canvas.text(
                    (place, flags + 9.3),
                    Anchor::Middle,
                    "font-size=\"9\" fill=\"#ffffff\"",
                    &number,
                );
                free = place + 13.0;
            }
        }
    }

    /// Draws the descriptions of the marks.
    pub(super) fn list(&self, canvas: &mut Canvas, top: f64) {
        let mut y = top;
        for ((at, (_, mark)), lines) in self.marks.iter().enumerate().zip(self.words()) {
            canvas.disc((LEFT + 6.0, y - 4.0), 6.0, colour(mark));
            let number = (at + 1).to_string();
            canvas.text((LEFT + 6.0, y - 0.7), Anchor::Middle, "font-size=\"9\" fill=\"#ffffff\"", &number);
            for line in lines {
                canvas.text((LEFT + 18.0, y), Anchor::Start, "font-size=\"11\"", &line);
                y += WORDS;
            }
        }
        let more = self.marks.len().saturating_sub(NUMBERED);
        if more > 0 {
            let words = format!("and {more} more, without a number");
            canvas.text((LEFT + 18.0, y), Anchor::Start, "font-size=\"11\" fill=\"#444444\"", &words);
        }
    }
}

/// Checks whether the drops or the ribbon already show the mark.
pub(super) fn is_plain(mark: &Mark) -> bool {
    matches!(mark.kind.as_str(), "reduction" | "restart")
}

fn colour(mark: &Mark) -> &'static str {
    match mark.kind.as_str() {
        "exit" => "#00664d",
        "timeout" => "#b3001b",
        "quick-start" | "continued" => "#0072b2",
        "undo" => "#8a4a9e",
        _ => "#666666",
    }
}
