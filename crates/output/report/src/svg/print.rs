//! Draws plots with their legends for print, one below the other, and lines of text below them.

use super::canvas::{Anchor, Canvas, width_of};
use super::frame::Sheet;
use super::plot::{self, Form, Ink, Plot};
use super::style::RIGHT;
use super::text::{clipped, folded};

/// A figure of plots.
#[derive(Clone, Debug)]
pub struct Print {
    /// The title above the plots.
    pub title: String,
    /// The plots, each with its title; the title may be empty.
    pub plots: Vec<(String, Plot)>,
    /// Text below the plots.
    pub notes: Vec<String>,
    /// How the values were computed, as a description in the file.
    pub description: String,
}

const LEFT: f64 = 14.0;
const LINE: f64 = 16.0;
const TITLE: f64 = 22.0;
/// The height of a plot: its share of the width if the height is free, and the minimum.
const NATURAL: f64 = 0.5;
const LOWEST: f64 = 120.0;
/// The size of legends and notes.
const SMALL: f64 = 11.0;

/// Returns the figure as an SVG file on this sheet, or the minimum height, if the sheet is lower.
///
/// # Errors
/// The minimum height of the sheet.
pub fn render(print: &Print, sheet: Sheet) -> Result<String, f64> {
    let width = sheet.drawn_width();
    let room = width - LEFT - RIGHT;
    let title = folded(&print.title, " ", 13.0, room);
    let notes: Vec<String> = print.notes.iter().flat_map(|note| folded(note, " ", SMALL, room)).collect();
    let legends: Vec<Vec<Entry>> = print.plots.iter().map(|(_, plot)| legend(plot, width)).collect();
    let around = |(plot, legend): (&(String, Plot), &Vec<Entry>)| {
        let rows = legend.last().map_or(0.0, |entry| entry.y + LINE);
        rows + if plot.0.is_empty() { 0.0 } else { LINE } + 8.0
    };
    let fixed: f64 = print.plots.iter().zip(&legends).map(around).sum::<f64>()
        + TITLE
        + count(title.len()) * LINE
        + count(notes.len()) * LINE
        + LINE;
    let plots = count(print.plots.len().max(1));
    let high = sheet.drawn_height().map_or(room * NATURAL, |height| (height - fixed) / plots);
    if high < LOWEST {
        return Err((fixed + LOWEST * plots) * sheet.scale());
    }
    let content = fixed + high * count(print.plots.len());
    let mut canvas = Canvas::on(sheet, sheet.drawn_height().map_or(content, |height| height.max(content)));
    let mut y = TITLE;
    for words in &title {
        canvas.text((LEFT, y), Anchor::Start, "font-size=\"13\" font-weight=\"bold\"", words);
        y += LINE;
    }
    for ((name, plot), legend) in print.plots.iter().zip(&legends) {
        if !name.is_empty() {
            canvas.text((LEFT, y), Anchor::Start, "", &clipped(name, 12.0, room));
            y += LINE;
        }
        for entry in legend {
            entry.draw(&mut canvas, y, plot.form);
        }
        y += legend.last().map_or(0.0, |entry| entry.y + LINE) - LINE / 2.0;
        canvas.element(&plot::printed(plot, (LEFT, y), (room, high)));
        y += high + 8.0 + LINE / 2.0;
    }
    for words in &notes {
        canvas.text((LEFT, y), Anchor::Start, "font-size=\"11\"", words);
        y += LINE;
    }
    Ok(canvas.finish(&print.description))
}

/// A legend entry.
struct Entry {
    x: f64,
    y: f64,
    /// The index of the curve.
    place: usize,
    name: String,
}

fn legend(plot: &Plot, width: f64) -> Vec<Entry> {
    let (mut x, mut y) = (LEFT, 0.0);
    let entry = |(place, curve): (usize, &plot::Curve)| {
        let name = clipped(&curve.name, SMALL, width - LEFT - RIGHT - 34.0);
        let needs = 32.0 + width_of(&name, SMALL) + 16.0;
        if x > LEFT && x + needs > width - RIGHT {
            (x, y) = (LEFT, y + LINE);
        }
        let entry = Entry { x, y, place, name };
        x += needs;
        entry
    };
    plot.curves.iter().enumerate().filter(|(_, curve)| !curve.name.is_empty()).map(entry).collect()
}

impl Entry {
    fn draw(&self, canvas: &mut Canvas, top: f64, form: Form) {
        let y = top + self.y;
        let colour = Ink::Print.colour(self.place);
        match form {
            Form::Bars => canvas.area((self.x + 8.0, y - 9.0), (12.0, 10.0), &colour),
            Form::Points => canvas.disc((self.x + 14.0, y - 4.0), 3.4, &colour),
            Form::Lines | Form::Trace | Form::Steps => {
                let style = format!("stroke-width=\"2.2\" style=\"{}\"", Ink::Print.style(self.place));
                canvas.line((self.x, y - 4.0), (self.x + 26.0, y - 4.0), &style);
            }
        }
        canvas.text((self.x + 32.0, y), Anchor::Start, "font-size=\"11\"", &self.name);
    }
}

#[expect(clippy::cast_precision_loss, reason = "some lines")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print() -> Print {
        let curve = plot::Curve { name: "a<b".to_owned(), points: vec![(0.0, 1.0, None), (1.0, 2.0, None)] };
        let plot = Plot {
            form: Form::Lines,
            curves: vec![curve.clone(), curve],
            labels: ["x".to_owned(), "y".to_owned()],
            logarithmic: [false, false],
            ranges: [None, None],
            places: Vec::new(),
        };
        Print {
            title: "A title".to_owned(),
            plots: vec![(String::new(), plot)],
            notes: vec!["a note".to_owned()],
            description: "how".to_owned(),
        }
    }

    #[test]
    fn a_print_has_no_style_sheet_and_needs_none() {
        let svg = render(&print(), Sheet::DEFAULT).expect("a figure");
        assert!(!svg.contains("var(") && !svg.contains("class="), "{svg}");
        for words in ["A title", "a note", "a&lt;b", "<desc>how</desc>", "#0065a3", "#d55e00"] {
            assert!(svg.contains(words), "{words} in {svg}");
        }
    }

    #[test]
    fn a_print_has_the_size_of_its_sheet_or_says_what_it_needs() {
        let sheet = |height| Sheet { width: 600.0, height: Some(height), font: 18.0 };
        let svg = render(&print(), sheet(400.0)).expect("a figure");
        assert!(svg.contains("width=\"600\" height=\"400\""), "{svg}");
        let needed = render(&print(), sheet(100.0)).expect_err("too low");
        assert!(render(&print(), sheet(needed)).is_ok() && render(&print(), sheet(needed - 1.0)).is_err());
    }
}
