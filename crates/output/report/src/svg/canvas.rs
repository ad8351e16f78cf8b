//! The elements of drawings: text, lines, areas and paths. Each is on its own line of the file.

use std::fmt::Write;

use super::frame::Sheet;

/// The alignment of a text at its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in progress.
pub(super) struct Canvas {
    out: String,
    /// The size of the drawing before it is enlarged by the scale.
    width: f64,
    height: f64,
    scale: f64,
}

impl Canvas {
    /// Creates an empty drawing of this height, with the default width and text.
    pub(super) fn new(height: f64) -> Self {
        Self::on(Sheet::DEFAULT, height)
    }

    /// Creates an empty drawing on a sheet. `height` is that of the drawing before it is enlarged.
    pub(super) fn on(sheet: Sheet, height: f64) -> Self {
        Self { out: String::new(), width: sheet.drawn_width(), height, scale: sheet.scale() }
    }

    /// Returns the width of the drawing before it is enlarged.
    pub(super) const fn width(&self) -> f64 {
        self.width
    }

    /// Returns the drawing as an SVG file: on white, in a sans-serif font.
    pub(super) fn finish(self, description: &str) -> String {
        let [width, height] = [self.width, self.height].map(coordinate);
        let [wide, high] = [self.width, self.height].map(|side| coordinate(side * self.scale));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{wide}\" \
             height=\"{high}\" font-family=\"sans-serif\" font-size=\"{SIZE}\">\n<desc>{}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(description),
            self.out
        )
    }

    /// Draws text at a point. `style` has the attributes of the element.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, style: &str, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let space = if style.is_empty() { "" } else { " " };
        _ = writeln!(
            self.out,
            "<text x=\"{}\" y=\"{}\"{anchor}{space}{style}>{}</text>",
            coordinate(at.0),
            coordinate(at.1),
            escaped(words)
        );
    }

    /// Draws text that reads upwards.
    pub(super) fn upright(&mut self, at: (f64, f64), words: &str) {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        self.text(at, Anchor::Middle, &format!("font-size=\"10\" transform=\"rotate(-90 {x} {y})\""), words);
    }

    /// Draws a straight line. `style` has the attributes of the element.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        _ = writeln!(
            self.out,
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {style}/>",
            coordinate(from.0),
            coordinate(from.1),
            coordinate(to.0),
            coordinate(to.1)
        );
    }

    /// Draws a filled rectangle. `at` is its upper left corner.
    pub(super) fn area(&mut self, at: (f64, f64), size: (f64, f64), fill: &str) {
        _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
            coordinate(at.0),
            coordinate(at.1),
            coordinate(size.0),
            coordinate(size.1)
        );
    }

    /// Draws a filled circle.
    pub(super) fn disc(&mut self, at: (f64, f64), radius: f64, fill: &str) {
        _ = writeln!(
            self.out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\"/>",
            coordinate(at.0),
            coordinate(at.1),
            coordinate(radius)
        );
    }

    /// Draws straight lines between successive points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        let points: Vec<_> =
            points.iter().map(|(x, y)| format!("{},{}", coordinate(*x), coordinate(*y))).collect();
        _ = writeln!(self.out, "<polyline fill=\"none\" {style} points=\"{}\"/>", points.join(" "));
    }

    /// Adds an element as it is.
    pub(super) fn element(&mut self, svg: &str) {
        self.out.push_str(svg);
    }

    /// Draws a path in SVG's notation. An empty path is left out.
    pub(super) fn path(&mut self, words: &str, style: &str) {
        if !words.is_empty() {
            _ = writeln!(self.out, "<path {style} d=\"{words}\"/>");
        }
    }
}

/// The default size of text.
const SIZE: u32 = 12;

/// Returns the approximate width of text of this size, in the widest of the usual fonts (`DejaVu` Sans).
pub(super) fn width_of(words: &str, size: f64) -> f64 {
    let width = |c: char| match c {
        ' ' | ',' | '.' | ':' | ';' | '(' | ')' | '-' | '/' | 'i' | 'j' | 'l' | 't' | 'f' | 'r' => 0.38,
        'm' | 'w' | '%' => 0.92,
        'A'..='Z' => 0.72,
        _ => 0.63,
    };
    words.chars().map(|c| width(c) * size).sum()
}

/// Formats a coordinate to a tenth of a pixel, which is finer than a reader sees. Whole numbers have no decimals: `12`, not `12.0`.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Escapes text for the content of an element or the value of an attribute.
pub(super) fn escaped(words: &str) -> String {
    let printable = firstflight_trace::in_a_line(words);
    printable.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            ["12", "12.3", "-0.2", "0"].map(String::from),
            [12.0, 12.34, -0.16, -0.04].map(coordinate)
        );
    }

    #[test]
    fn words_cannot_end_the_element_they_stand_in() {
        let mut canvas = Canvas::new(10.0);
        canvas.text((0.0, 0.0), Anchor::Start, "", "a</text><script>\u{1b}");
        let svg = canvas.finish("<&>");
        assert!(svg.contains(">a&lt;/text&gt;&lt;script&gt;\\u{1b}</text>"), "{svg}");
        assert!(svg.contains("<desc>&lt;&amp;&gt;</desc>"), "{svg}");
    }
}
