//! Tables for a terminal: aligned columns. If there is no room for all, the columns are kept in order of importance.

use std::collections::BTreeSet;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::prose;

/// The columns that a table shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// The columns for which the terminal has room.
    #[default]
    Fitting,
    /// All columns, whatever the terminal's width.
    All,
    /// These fields after the name, whatever the terminal's width.
    Chosen(Vec<String>),
}

/// The contents of a column's cells, which determine how they are aligned and shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Numbers are aligned on the right and never shortened.
    Numbers,
    /// Words are aligned on the left and never shortened.
    Words,
    /// Names are aligned on the left. A long name is shortened, and written in full below the table.
    Names,
    /// Sentences are aligned on the left, in as many lines as they need.
    Sentences,
}

/// The rank of a column that is never left out.
pub const ALWAYS: u8 = 0;

/// Columns up to this rank are kept, and names are shortened to make room for them. A column of a higher rank is kept only if it fits next
/// to names that are wide enough to read easily.
const ESSENTIAL: u8 = 3;

/// The maximum width of a scheme name with its colon. If the text before a colon is longer, it is the name of a file or a host.
const LONGEST_SCHEME: usize = 18;

/// The gap between two columns.
const GAP: usize = 2;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the field. It chooses the column, and is listed if the column is left out.
    pub field: String,
    /// The lines of the column's head.
    pub head: Vec<String>,
    /// The kind of the column's cells.
    pub cells: Cells,
    /// The rank of the column: columns of the highest rank are left out first.
    pub rank: u8,
    /// The text of each row's cell.
    pub texts: Vec<String>,
}

/// A table that leaves out columns to fit the terminal.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    columns: Vec<Column>,
    widths: Vec<usize>,
    left_out: Vec<String>,
    /// The names that were shortened, each as (shown name, full name).
    shortened: Vec<(String, String)>,
}

impl Column {
    fn natural(&self) -> usize {
        self.head.iter().chain(&self.texts).map(|text| text.width()).max().unwrap_or(0)
    }

    /// Returns the minimum width, and the width at which the cells are easy to read. Both are the natural width if the cells are never
    /// shortened.
    fn bounds(&self) -> (usize, usize) {
        let natural = self.natural();
        let head = self.head.iter().map(|line| line.width()).max().unwrap_or(0);
        let (least, easy) = match self.cells {
            Cells::Names => (14, 28),
            Cells::Sentences => (18, 30),
            Cells::Numbers | Cells::Words => return (natural, natural),
        };
        (natural.min(least.max(head)), natural.min(easy.max(head)))
    }
}

impl Grid {
    /// Builds a table of these columns. With a `width`, leaves out columns that do not fit into a terminal of that width.
    pub fn new(columns: Vec<Column>, width: Option<usize>) -> Self {
        let widths = columns.iter().map(Column::natural).collect();
        let mut grid = Self { columns, widths, ..Self::default() };
        if let Some(width) = width {
            grid.fit(width);
        }
        grid
    }

    /// Returns the fields of the columns that are left out, in the order of the table.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Adds fields that were left out before the table was built.
    pub(crate) fn without(mut self, fields: &[String]) -> Self {
        self.left_out.splice(0..0, fields.iter().cloned());
        self
    }

    /// Returns the names that are shortened, each with its full text.
    pub fn shortened(&self) -> &[(String, String)] {
        &self.shortened
    }

    /// Returns the lines of the table's head.
    pub fn head(&self) -> Vec<String> {
        let lines = self.columns.iter().map(|column| column.head.len()).max().unwrap_or(0);
        let line = |at: usize| {
            self.columns.iter().map(|column| column.head.get(at).cloned().unwrap_or_default()).collect()
        };
        (0..lines).map(|at| self.line(line(at), &|_, cell| cell)).collect()
    }

    /// Returns the lines of a row. `paint` gets the field and the text of a cell, and may add escape sequences. The cell is as wide as its
    /// column.
    pub fn row(&self, row: usize, paint: &dyn Fn(&str, String) -> String) -> Vec<String> {
        let cells: Vec<Vec<String>> = self
            .columns
            .iter()
            .zip(&self.widths)
            .map(|(column, width)| {
                let text = column.texts.get(row).cloned().unwrap_or_default();
                match column.cells {
                    Cells::Sentences => prose::fold_line(&text, *width, 0),
                    _ => vec![text],
                }
            })
            .collect();
        let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| cells.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
        (0..lines).map(|at| self.line(line(at), paint)).collect()
    }

    /// Returns the whole table without colours, followed by notes on what was left out or shortened.
    pub fn plain(&self, width: Option<usize>) -> String {
        let rows = self.columns.iter().map(|column| column.texts.len()).max().unwrap_or(0);
        let rows = (0..rows).flat_map(|row| self.row(row, &|_, cell| cell));
        self.head().into_iter().chain(rows).chain(self.notes(width)).map(|line| line + "\n").collect()
    }

    /// Returns the notes below the table: the columns left out, and the shortened names in full.
    pub fn notes(&self, width: Option<usize>) -> Vec<String> {
        let whole = self.shortened.iter().map(|(shown, whole)| format!("{shown} is {whole}"));
        let left_out = (!self.left_out.is_empty()).then(|| {
            format!(
                "Not shown for want of width: {}; --wide shows all, --columns chooses.",
                self.left_out.join(", ")
            )
        });
        whole.chain(left_out).map(|note| prose::fold(&note, width, 2)).collect()
    }

    fn line(&self, cells: Vec<String>, paint: &dyn Fn(&str, String) -> String) -> String {
        let mut out = String::new();
        for ((cell, column), width) in cells.into_iter().zip(&self.columns).zip(&self.widths) {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let aligned = match column.cells {
                Cells::Numbers => format!("{space}{cell}"),
                _ => format!("{cell}{space}"),
            };
            out.push_str(&paint(&column.field, aligned));
            out.push_str(&" ".repeat(GAP));
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Leaves out columns and shortens names until the table fits into `width`.
    fn fit(&mut self, width: usize) {
        let bounds: Vec<(usize, usize)> = self.columns.iter().map(Column::bounds).collect();
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&at| (self.columns[at].rank, at));
        let mut kept = vec![false; self.columns.len()];
        let (mut least, mut easy) = (0, 0);
        for at in order {
            let rank = self.columns[at].rank;
            let (with_least, with_easy) = (least + bounds[at].0 + GAP, easy + bounds[at].1 + GAP);
            let fits = if rank <= ESSENTIAL { with_least } else { with_easy } <= width + GAP;
            if rank == ALWAYS || fits {
                (kept[at], least, easy) = (true, with_least, with_easy);
            }
        }
        let mut widths: Vec<usize> = bounds.iter().map(|(least, _)| *least).collect();
        let mut room = (width + GAP).saturating_sub(least);
        // The remaining room goes to names and sentences, one terminal column at a time, until none is shortened.
        loop {
            let mut is_over = true;
            for at in (0..widths.len()).filter(|&at| kept[at]) {
                if room > 0 && widths[at] < self.columns[at].natural() {
                    widths[at] += 1;
                    room -= 1;
                    is_over = false;
                }
            }
            if is_over {
                break;
            }
        }
        let columns = std::mem::take(&mut self.columns);
        self.widths.clear();
        for ((mut column, width), is_kept) in columns.into_iter().zip(widths).zip(kept) {
            if !is_kept {
                self.left_out.push(column.field);
                continue;
            }
            if column.cells == Cells::Names {
                let short = shortened(&column.texts, width);
                let pairs = short.iter().cloned().zip(column.texts);
                self.shortened.extend(pairs.filter(|(short, whole)| short != whole));
                column.texts = short;
            }
            self.widths.push(width);
            self.columns.push(column);
        }
        let mut seen = BTreeSet::new();
        self.shortened.retain(|pair| seen.insert(pair.clone()));
    }
}

/// Shortens names to at most `most` terminal columns. An ellipsis replaces the middle of a long name. Different names stay different: if
/// two would look alike, the ellipsis has a number in it.
fn shortened(names: &[String], most: usize) -> Vec<String> {
    let mut short: Vec<String> = names.iter().map(|name| shorten(name, most, "…")).collect();
    for at in 0..names.len() {
        let is_twin = |other: usize| names[other] != names[at] && short[other] == short[at];
        if (0..at).any(is_twin) {
            let first = names.iter().position(|name| *name == names[at]).unwrap_or(at);
            short[at] = if first < at {
                short[first].clone()
            } else {
                shorten(&names[at], most, &format!("…{}…", at + 1))
            };
        }
    }
    short
}

/// Shortens a name to at most `most` terminal columns, with `mark` in place of its middle. If there is room, the scheme at the start is
/// kept whole.
fn shorten(name: &str, most: usize, mark: &str) -> String {
    if name.width() <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(mark.width());
    let scheme = name.find(':').map_or(0, |colon| name[..=colon].width());
    let half = room.div_ceil(2);
    let before = if scheme <= LONGEST_SCHEME && scheme + 3 <= room { scheme.max(half) } else { half };
    let start = within(name.chars(), before);
    let end: String = within(name.chars().rev(), room - start.width()).chars().rev().collect();
    format!("{start}{mark}{end}")
}

/// Returns the first characters, as many as fit into `most` terminal columns.
fn within(characters: impl Iterator<Item = char>, most: usize) -> String {
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= most
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests;
