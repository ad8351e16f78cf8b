//! The comparison as a table: for a terminal, and as Markdown.

use firstflight_measure::{Change, Scale};
use firstflight_report::TableStyle;
use firstflight_report::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_report::html::changed;
use firstflight_report::human::{rate, seconds, significant};
use firstflight_report::markdown;

use crate::comparison::{Changed, Comparison, Standing};
use crate::numbers::unit;

/// A column of the table: its field in the JSON, its head, its cells and its rank.
type View = (&'static str, &'static str, Cells, u8);

const VIEWS: [View; 9] = [
    ("scheme", "scheme", Cells::Names, ALWAYS),
    ("number", "number", Cells::Words, ALWAYS),
    ("before", "before", Cells::Numbers, 2),
    ("after", "after", Cells::Numbers, 1),
    ("change", "change", Cells::Numbers, ALWAYS),
    ("change_low", "95 % interval", Cells::Numbers, 1),
    ("up", "up", Cells::Numbers, 4),
    ("down", "down", Cells::Numbers, 4),
    ("standing", "", Cells::Words, ALWAYS),
];

/// Returns the fields that the table's columns have in the JSON, each with its heading.
pub fn headings() -> Vec<(String, &'static str)> {
    VIEWS.iter().map(|(field, head, _, _)| ((*head).to_owned(), *field)).collect()
}

/// Returns the table of the numbers that differ in some pair; with `all`, of all numbers. Empty if there is none.
pub fn render(comparison: &Comparison, all: bool, style: &TableStyle) -> String {
    let rows: Vec<[String; 9]> = shown(comparison, all);
    if rows.is_empty() {
        return String::new();
    }
    let columns = VIEWS.iter().enumerate().map(|(at, (field, head, cells, rank))| Column {
        field: (*field).to_owned(),
        head: vec![(*head).to_owned()],
        cells: *cells,
        rank: *rank,
        texts: rows.iter().map(|row| row[at].clone()).collect(),
    });
    let columns = match &style.columns {
        firstflight_report::Columns::Chosen(chosen) => {
            columns.filter(|column| column.field == "scheme" || chosen.contains(&column.field)).collect()
        }
        _ => columns.collect(),
    };
    let width = match style.columns {
        firstflight_report::Columns::Fitting => style.width,
        _ => None,
    };
    Grid::new(columns, width).plain(style.width)
}

/// Returns the table of [`render`] as Markdown.
pub fn markdown_table(comparison: &Comparison, all: bool) -> String {
    let heads = VIEWS.map(|(_, head, _, _)| head.to_owned());
    let is_numbers = VIEWS.map(|(_, _, cells, _)| cells == Cells::Numbers);
    let rows: Vec<Vec<String>> = shown(comparison, all).into_iter().map(Vec::from).collect();
    if rows.is_empty() { String::new() } else { markdown::table(&heads, &is_numbers, &rows) }
}

/// Returns the table of all numbers, for a page.
pub fn cells(comparison: &Comparison) -> changed::Cells {
    let rows = comparison
        .numbers
        .iter()
        .map(|number| (number.standing().word().replace(' ', "-"), Vec::from(of_number(number))));
    changed::Cells {
        heads: VIEWS
            .iter()
            .map(|(_, head, cells, _)| ((*head).to_owned(), *cells == Cells::Numbers))
            .collect(),
        rows: rows.collect(),
    }
}

fn shown(comparison: &Comparison, all: bool) -> Vec<[String; 9]> {
    let is_shown = |number: &&Changed| all || number.standing() != Standing::Equal;
    comparison.numbers.iter().filter(is_shown).map(of_number).collect()
}

fn of_number(number: &Changed) -> [String; 9] {
    let dash = || "-".to_owned();
    let [before, after, change, interval, up, down] = match &number.change {
        None => [dash(), dash(), dash(), dash(), dash(), dash()],
        Some(change) => {
            let counted = change.up + change.down > 0 || number.standing() == Standing::Equal;
            let count = |count: usize| if counted { count.to_string() } else { dash() };
            let (size, interval) = form(&number.field, change);
            [
                value(&number.field, change.before),
                value(&number.field, change.after),
                size,
                interval.unwrap_or_else(dash),
                count(change.up),
                count(change.down),
            ]
        }
    };
    let word = number.standing().word().to_owned();
    [number.scheme.clone(), number.field.clone(), before, after, change, interval, up, down, word]
}

impl Standing {
    /// Returns the word for it in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::PartlyEqual => "lost or gained",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Moved => "moved",
            Self::Unclear => "unclear",
            Self::OnePair => "one pair",
            Self::Undefined => "undefined",
        }
    }
}

/// Formats a value of a field with its unit.
pub(crate) fn value(field: &str, value: f64) -> String {
    match unit(field) {
        "s" => seconds(value),
        "bit/s" => rate(value),
        _ if is_share(field) => format!("{} %", significant(100.0 * value)),
        _ => significant(value),
    }
}

/// Formats the size of a change with its unit, and the ends of its interval, which are in the same unit.
pub(crate) fn form(field: &str, change: &Change) -> (String, Option<String>) {
    let ends = change.interval.map_or([change.size; 2], |(low, high)| [low, high]);
    let largest = ends.into_iter().chain([change.size]).map(f64::abs).fold(0.0, f64::max);
    let (factor, name) = match (change.scale, unit(field)) {
        (Scale::Ratio, _) => (100.0, "%"),
        (_, "s") if largest >= 1.0 => (1.0, "s"),
        (_, "s") => (1e3, "ms"),
        (_, "bit/s") => (1e-6, "Mbit/s"),
        _ if is_share(field) => (100.0, "points"),
        _ => (1.0, ""),
    };
    // With few pairs, the end of a ratio's interval may be astronomical.
    let signed = |value: f64| match factor * value {
        far if change.scale == Scale::Ratio && far > 99_999.0 => ">+99999".to_owned(),
        value => format!("{}{}", if value > 0.0 { "+" } else { "" }, significant(value)),
    };
    let size = format!("{} {name}", signed(change.size));
    (size.trim_end().to_owned(), change.interval.map(|_| ends.map(signed).join(" to ")))
}

/// Checks whether a field is a share that people read as a percentage.
fn is_share(field: &str) -> bool {
    unit(field) == "1" && (field.contains("loss") || field.contains("share"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_units_that_people_read() {
        assert_eq!(value("fct_s", 0.25), "250 ms");
        assert_eq!(value("su_loss", 0.021), "2.10 %");
        assert_eq!(value("cost", 1.5), "1.50");
        let change = Change::paired(&[(1.0, 1.03), (2.0, 2.1)], Scale::Ratio, 1).expect("pairs");
        assert_eq!(form("cost", &change).0, "+4.00 %");
        let change = Change::paired(&[(0.01, 0.03)], Scale::Difference, 1).expect("a pair");
        assert_eq!(form("su_loss", &change), ("+2.00 points".to_owned(), None));
        let change = Change::paired(&[(0.0, 0.2), (0.0, 0.3)], Scale::Ratio, 1).expect("pairs");
        assert_eq!(form("exit_time_s", &change), ("+250 ms".to_owned(), Some("-385 to +885".to_owned())));
    }
}
