//! The terminal table: aligned, in the given order, as wide as the terminal, and coloured only on request.

use anstyle::{AnsiColor, Style};
use firstflight_export::columns::{self, COLUMNS, FOUND, POPULATION_COLUMNS, PROBE_COLUMNS};
use firstflight_export::record::{Record, number};

use crate::grid::{Cells, Column, Columns, Grid};
use crate::inspected;
use crate::markdown;
use crate::population;
use crate::probed;
use crate::prose;
use crate::undefined;
use crate::view::{Show, ViewColumn, skewed};
use crate::views;
use firstflight_trace::in_a_line;

/// The style of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableStyle {
    /// Whether to use escape sequences for colour. They are never used if the output is piped.
    pub colour: bool,
    /// The width of the terminal in columns; `None` leaves nothing out and breaks no line.
    pub width: Option<usize>,
    /// The columns that are shown.
    pub columns: Columns,
}

/// The subject of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The rows are schemes in a race.
    Race,
    /// The rows are schemes of a population.
    Population,
    /// The rows are flows of a population.
    Flows,
    /// The rows are probings.
    Probings,
    /// The rows are trains of probings.
    Trains,
    /// The rows are senders in captures.
    Captures,
}

impl Rows {
    /// Returns the fields that may be chosen as columns.
    pub fn fields(self) -> Vec<&'static str> {
        // The column with a sender's name combines several fields of a capture.
        let name = Some("label").filter(|_| self == Self::Captures);
        let columns = match self {
            Self::Race => vec![COLUMNS],
            Self::Population | Self::Flows => vec![COLUMNS, POPULATION_COLUMNS],
            Self::Probings | Self::Trains => vec![COLUMNS, PROBE_COLUMNS],
            Self::Captures => vec![FOUND],
        };
        let described = columns.into_iter().flatten().map(|column: &columns::Column| column.name);
        name.into_iter().chain(described).collect()
    }

    /// Returns the headings of the table's columns.
    pub fn headings(self) -> Headings {
        let views = match self {
            Self::Race => views::VIEW,
            Self::Population => population::VIEW,
            Self::Flows => population::FLOWS_VIEW,
            Self::Probings => probed::VIEW,
            Self::Trains => probed::TRAINS_VIEW,
            Self::Captures => inspected::VIEW,
        };
        let fields = self.fields();
        let is_field = |column: &&ViewColumn<'_>| fields.contains(&column.field);
        headings(views.iter().filter(is_field).map(|column| (column.head, column.field)))
    }
}

/// The headings of a table as users write them, each with the field of its column.
pub type Headings = Vec<(String, &'static str)>;

/// Returns the headings of columns. A head has two lines, of which the second often ends with a unit. Users may write the first line, both
/// lines, or both without the last word.
pub fn headings(columns: impl Iterator<Item = ([&'static str; 2], &'static str)>) -> Headings {
    let mut found = Headings::new();
    for ([first, second], field) in columns {
        let whole = match first.strip_suffix('-') {
            Some(broken) => format!("{broken}{second}"),
            None => format!("{first} {second}").trim_end().to_owned(),
        };
        let without_last = whole.rsplit_once(' ').map(|(most, _)| most.to_owned());
        let first = Some(first.to_owned()).filter(|first| !first.ends_with('-'));
        for heading in [first, without_last, Some(whole)].into_iter().flatten() {
            if !found.contains(&(heading.clone(), field)) {
                found.push((heading, field));
            }
        }
    }
    found
}

/// Renders the records as a table, in the given order, with the lines of the verdict below. The text ends with a newline.
///
/// If the terminal is too narrow, the columns of the highest rank are left out, and a line lists them. A shortened name is written in full
/// below the table.
pub fn render(records: &[Record], verdict: &str, style: &TableStyle) -> String {
    let views = match &style.columns {
        Columns::Chosen(fields) => views::chosen(records, fields),
        Columns::Fitting | Columns::All => views::columns_for(records),
    };
    let width = style.width.filter(|_| style.columns != Columns::All);
    let columns: Vec<Column> = views.iter().map(|view| column(view, records)).collect();
    // Only columns that are shown have footnotes. Their marks make cells wider.
    let mut marked = columns.clone();
    footnotes(&mut marked, records);
    let fitted = Grid::new(marked, width);
    let is_shown = |column: &Column| !fitted.left_out().contains(&column.field);
    let mut columns: Vec<Column> = columns.into_iter().filter(is_shown).collect();
    let reasons = footnotes(&mut columns, records);
    let grid = Grid::new(columns, width).without(fitted.left_out());

    let paint = Paint { on: style.colour };
    let mut out = String::new();
    for head in grid.head() {
        line(&mut out, &paint.with(Style::new().bold(), &head));
    }
    for (at, record) in records.iter().enumerate() {
        for row in grid.row(at, &|field, cell| paint.with(emphasis(field, record, at == 0), &cell)) {
            line(&mut out, &row);
        }
    }
    let mut notes = grid.notes(style.width);
    let is_skewed = |view: &ViewColumn<'_>| {
        let is_shown = !fitted.left_out().iter().any(|field| field == view.field);
        is_shown && records.iter().any(|record| skewed(record, view.field).is_some())
    };
    if views.iter().any(is_skewed) {
        let note = "a(b–c): the median, minimum and maximum of the runs, where the interval of the mean would reach below zero";
        notes.push(prose::fold(note, style.width, 2));
    }
    for (number, reason) in reasons.iter().enumerate() {
        let note = format!("{} {}", superscript(number + 1), in_a_line(reason));
        notes.push(prose::fold(&note, style.width, 2));
    }
    for note in notes {
        line(&mut out, &paint.with(Style::new().dimmed(), &note));
    }
    if !verdict.is_empty() {
        out.push('\n');
        out.push_str(&in_lines(verdict, style));
    }
    out
}

/// The width of the terminal whose columns a Markdown table has.
const MARKDOWN_WIDTH: usize = 130;

/// Renders the records as a table in Markdown, in the given order, with the lines of the verdict above. It has the columns of a wide
/// terminal, or those that the style chooses.
pub fn markdown(records: &[Record], verdict: &str, style: &TableStyle) -> String {
    let Selected { heads, is_numbers, rows } = selected(records, style);
    let lines: Vec<String> = verdict.lines().map(|line| markdown::text(&in_a_line(line)) + "\n\n").collect();
    lines.concat() + &markdown::table(&heads, &is_numbers, &rows)
}

/// A table as text: the columns that fit a wide terminal, or those that a style chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The head of each column: its name and its unit.
    pub heads: Vec<String>,
    /// Whether each column has numbers, and not words.
    pub is_numbers: Vec<bool>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// Returns the cells of the records' table, in the given order.
pub fn selected(records: &[Record], style: &TableStyle) -> Selected {
    let (views, width) = match &style.columns {
        Columns::Chosen(fields) => (views::chosen(records, fields), None),
        Columns::All => (views::columns_for(records), None),
        Columns::Fitting => (views::columns_for(records), Some(MARKDOWN_WIDTH)),
    };
    let columns: Vec<Column> = views.iter().map(|view| column(view, records)).collect();
    let fitted = Grid::new(columns.clone(), width);
    let columns: Vec<Column> =
        columns.into_iter().filter(|column| !fitted.left_out().contains(&column.field)).collect();
    let heads: Vec<String> =
        columns.iter().map(|column| column.head.join(" ").trim_end().to_owned()).collect();
    let is_numbers: Vec<bool> = columns.iter().map(|column| column.cells == Cells::Numbers).collect();
    let row = |at: usize| columns.iter().map(|column| column.texts[at].clone()).collect();
    let rows = (0..records.len()).map(row).collect();
    Selected { heads, is_numbers, rows }
}

/// Renders a verdict: its first line in bold, and its notes. Continuation lines of a note are indented.
pub fn in_lines(verdict: &str, style: &TableStyle) -> String {
    let paint = Paint { on: style.colour };
    let mut out = String::new();
    for (place, text) in verdict.lines().enumerate() {
        let (hang, style_of) = if place == 0 { (0, Style::new().bold()) } else { (2, Style::new()) };
        let text = prose::fold(&in_a_line(text), style.width, hang);
        line(&mut out, &paint.with(style_of, &text));
    }
    out
}

fn column(view: &ViewColumn<'_>, records: &[Record]) -> Column {
    Column {
        field: view.field.to_owned(),
        head: view.head.map(str::to_owned).to_vec(),
        cells: match view.show {
            Show::Name | Show::Text => Cells::Names,
            Show::Exit => Cells::Words,
            _ => Cells::Numbers,
        },
        rank: view.rank,
        texts: records.iter().map(|record| in_a_line(&view.cell(record))).collect(),
    }
}

/// Adds marks to the cells that are undefined for a reason, and returns the reasons in the order of their marks.
fn footnotes(columns: &mut [Column], records: &[Record]) -> Vec<String> {
    let fields: Vec<&str> = columns.iter().map(|column| column.field.as_str()).collect();
    let notes = undefined::footnotes(&fields, records, |at, column| columns[column].texts[at] == "-");
    for (at, marks) in notes.marks.iter().enumerate() {
        for (column, mark) in columns.iter_mut().zip(marks) {
            let Some(mark) = mark else { continue };
            column.texts[at].push_str(&superscript(*mark));
        }
    }
    notes.reasons
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

/// Returns the emphasis of a field's cell. The best name, timeouts and heavy loss are emphasised.
fn emphasis(field: &str, record: &Record, is_best: bool) -> Style {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match field {
        "scheme" if is_best => colour(AnsiColor::Green).bold(),
        "timeouts" if number(record, "timeouts").is_some_and(|n| n > 0.0) => colour(AnsiColor::Red),
        "su_loss" if number(record, "su_loss").is_some_and(|loss| loss >= 0.01) => colour(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
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

#[cfg(test)]
mod tests;
