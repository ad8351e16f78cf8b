//! The terminal table: aligned, in the order given, coloured only when asked, and narrow enough.

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::human::printable;
use crate::record::{Record, number};
use crate::view::{self, ViewColumn};

/// The style of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStyle {
    /// Whether to use escape sequences for colour; never when piped.
    pub colour: bool,
    /// The width of the terminal in columns; `None` leaves nothing out.
    pub width: Option<usize>,
}

/// The longest name or cause that is shown whole, in columns of the terminal.
const LONGEST_WORDS: usize = 28;

/// The longest pair of ends of a captured connection that is shown whole, in columns of the terminal.
const LONGEST_ENDS: usize = 100;

/// The gap between two columns.
const GAP: &str = "  ";

/// The records as a table, in the order given, with the verdict in a line below. The text ends with a newline.
///
/// If the terminal is too narrow, the least important columns are left out, and a line names them.
pub fn render(records: &[Record], verdict: &str, style: TableStyle) -> String {
    let mut columns: Vec<Printed> =
        view::columns_for(records).into_iter().map(|column| Printed::new(column, records)).collect();
    let reasons = footnotes(&mut columns, records);
    let left_out = fit(&mut columns, style.width);

    let mut out = String::new();
    let paint = Paint { on: style.colour };
    for at in 0..2 {
        let cells = columns.iter().map(|column| column.align(column.column.head[at]));
        line(&mut out, paint, Style::new().bold(), cells);
    }
    for (at, record) in records.iter().enumerate() {
        let cells = columns.iter().map(|column| {
            let cell = column.align(&column.cells[at]);
            paint.with(emphasis(column.column, record, at == 0), &cell)
        });
        line(&mut out, Paint { on: false }, Style::new(), cells);
    }
    for (number, reason) in reasons.iter().enumerate() {
        let mark = superscript(number + 1);
        let is_shown = |cell: &String| cell.strip_prefix('-') == Some(mark.as_str());
        if columns.iter().any(|column| column.cells.iter().any(is_shown)) {
            let note = format!("{mark} {}\n", printable(reason));
            out.push_str(&paint.with(Style::new().dimmed(), &note));
        }
    }
    if !left_out.is_empty() {
        let note = format!(
            "Left out for want of room: {}. A wider terminal or --json has all.",
            left_out.join(", ")
        );
        out.push_str(&paint.with(Style::new().dimmed(), &note));
        out.push('\n');
    }
    if !verdict.is_empty() {
        out.push('\n');
        out.push_str(&paint.with(Style::new().bold(), &printable(verdict)));
        out.push('\n');
    }
    out
}

/// Marks the cells that are undefined for a reason: the reasons, in order of their marks.
fn footnotes(columns: &mut [Printed], records: &[Record]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let Some(undefined) = record.get("undefined").and_then(Value::as_object) else { continue };
        for column in columns.iter_mut().filter(|column| column.cells[at] == "-") {
            let Some(reason) = undefined.get(column.column.field).and_then(Value::as_str) else { continue };
            let known = reasons.iter().position(|one| one == reason).unwrap_or_else(|| {
                reasons.push(reason.to_owned());
                reasons.len() - 1
            });
            column.cells[at].push_str(&superscript(known + 1));
            column.width = column.width.max(column.cells[at].width());
        }
    }
    reasons
}

fn superscript(number: usize) -> String {
    let digit = |digit: char| match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        other => char::from_u32(0x2070 + other.to_digit(10).unwrap_or(0)).unwrap_or(other),
    };
    number.to_string().chars().map(digit).collect()
}

/// A column with its cells, padded to the widest.
struct Printed {
    column: &'static ViewColumn,
    cells: Vec<String>,
    width: usize,
}

impl Printed {
    fn new(column: &'static ViewColumn, records: &[Record]) -> Self {
        let cells: Vec<String> =
            records.iter().map(|record| shorten(&printable(&column.cell(record)), longest(column))).collect();
        let heads = column.head.iter().map(|head| head.width());
        let width = cells.iter().map(|cell| cell.width()).chain(heads).max().unwrap_or(0);
        Self { column, cells, width }
    }

    fn align(&self, text: &str) -> String {
        let space = " ".repeat(self.width.saturating_sub(text.width()));
        if self.column.is_words() { format!("{text}{space}") } else { format!("{space}{text}") }
    }
}

fn longest(column: &ViewColumn) -> usize {
    if column.field == "label" { LONGEST_ENDS } else { LONGEST_WORDS }
}

/// Removes the most dispensable columns until the rest fits. Returns their names, in their order.
fn fit(columns: &mut Vec<Printed>, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return Vec::new() };
    let mut left_out = Vec::new();
    while columns.iter().map(|column| column.width + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
        > width
    {
        let Some(at) = (0..columns.len()).max_by_key(|&at| (columns[at].column.spare, at)) else { break };
        if columns[at].column.spare == 0 {
            break;
        }
        left_out.insert(0, columns.remove(at).column.field.to_owned());
    }
    left_out
}

/// The emphasis of a cell: the best name, timeouts, heavy loss.
fn emphasis(column: &ViewColumn, record: &Record, is_best: bool) -> Style {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match column.field {
        "scheme" if is_best => colour(AnsiColor::Green).bold(),
        "timeouts" if number(record, "timeouts").is_some_and(|n| n > 0.0) => colour(AnsiColor::Red),
        "su_loss" if number(record, "su_loss").is_some_and(|loss| loss >= 0.01) => colour(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

fn line(out: &mut String, paint: Paint, style: Style, cells: impl Iterator<Item = String>) {
    let joined = cells.collect::<Vec<_>>().join(GAP);
    out.push_str(&paint.with(style, joined.trim_end()));
    out.push('\n');
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        if self.on && style != Style::new() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }
}

/// The text within `most` columns of the terminal, with an ellipsis if it was shortened.
fn shorten(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 1;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width > most {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests;
