//! A column of a table in the terminal and in the report: its head, and how the text of a cell is made from its record.

use std::fmt;

use serde_json::Value;

use crate::human::significant;
use firstflight_export::columns::CI95;
use firstflight_export::record::{self, Record, number, text};

/// A column of the verdict table.
#[derive(Clone, Copy)]
pub(crate) struct ViewColumn<'a> {
    /// The two lines of the head. The second is the unit.
    pub(crate) head: [&'a str; 2],
    /// The field by which the table is sorted.
    pub(crate) field: &'a str,
    /// The form of the cell.
    pub(crate) show: Show,
    /// The rank of the column. On a narrow terminal, columns of the highest rank are left out first.
    pub(crate) rank: u8,
    /// The races for which the column is shown.
    pub(crate) only: Only,
}

/// The races for which a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    /// The column is shown for all races.
    Always,
    /// The column is shown for races whose transfers have a size.
    Sized,
    /// The column is shown for races with rounds of replies.
    Rounds,
    /// The column is shown for races without rounds.
    Single,
    /// The column is shown if a record has more than zero in the field.
    Any,
    /// The column is shown if a record has the field.
    Present,
    /// The column is shown for races without the field `harm_per_byte`, which is more informative.
    WithoutHarm,
}

/// How the text of a cell is made from its record.
#[derive(Clone, Copy)]
pub(crate) enum Show {
    /// The result's name.
    Name,
    /// The field's text.
    Text,
    /// The number divided by this unit, with three significant digits.
    Scaled(f64),
    /// A count, which is whole unless it is a mean of several runs.
    Count,
    /// A difference of two counts, with its sign.
    Change,
    /// A count. `app` or `rwnd` follows if the application or the receiver limited the initial window.
    InitialWindow,
    /// The Quick-Start requests approved, in full or reduced, of those received: `3/4`.
    Admitted,
    /// The exit's cause and time. If only some runs have an exit, their number follows.
    Exit,
}

pub(crate) const fn view<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Always }
}

/// Returns the parts of a count's cell. A mean of counts is whole only if all counts are equal.
fn count(record: &Record, field: &str) -> Shown {
    match number(record, field) {
        Some(n) if spread(record, field) == 0.0 => marked(record, field, 1.0, format!("{n:.0}")),
        _ => measured(record, field, 1.0),
    }
}

impl ViewColumn<'_> {
    /// Checks whether the column's cells are aligned on the left.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self.show, Show::Name | Show::Text | Show::Exit)
    }

    /// Returns the text of the cell; `-` if the number is undefined.
    pub(crate) fn cell(&self, record: &Record) -> String {
        self.shown(record).to_string()
    }

    /// Returns the parts of the cell.
    pub(crate) fn shown(&self, record: &Record) -> Shown {
        match self.show {
            Show::Name => record::name(record).into(),
            Show::Text => or_dash(text(record, self.field)).into(),
            Show::Scaled(unit) => measured(record, self.field, unit),
            Show::Count => count(record, self.field),
            Show::Change => {
                let mut shown = count(record, self.field);
                if number(record, self.field).is_some_and(|change| change > 0.0) {
                    shown.value.insert(0, '+');
                }
                shown
            }
            Show::InitialWindow => {
                let count = number(record, self.field).map_or_else(|| "-".to_owned(), |n| format!("{n:.0}"));
                match text(record, "initial_window_limit") {
                    "application" => format!("{count} app").into(),
                    "receiver-window" => format!("{count} rwnd").into(),
                    _ => count.into(),
                }
            }
            Show::Admitted => {
                match ["qs_granted", "qs_reduced", "qs_asked"].map(|field| number(record, field)) {
                    [Some(granted), Some(reduced), Some(asked)] => {
                        let decimals = usize::from(is_mean(record));
                        format!("{:.decimals$}/{asked:.decimals$}", granted + reduced).into()
                    }
                    _ => "-".to_owned().into(),
                }
            }
            Show::Exit => {
                let cause = match exit_cause(record) {
                    (cause, Some((had, runs))) => format!("{cause} {had}/{runs}"),
                    (cause, None) => or_dash(cause),
                };
                match number(record, "exit_time_s").map(significant) {
                    Some(at) => {
                        let half = interval(record, "exit_time_s", 1.0, &at);
                        Shown { value: format!("{cause} @ {at}"), half, of: None }
                    }
                    None => cause.into(),
                }
            }
        }
    }

    /// Returns the number by which the cell is sorted; `None` if it is undefined.
    pub(crate) fn sort_key(&self, record: &Record) -> Option<f64> {
        match self.show {
            Show::Exit => number(record, "exit_time_s"),
            _ => number(record, self.field),
        }
    }
}

/// Returns the cause of the exit from start-up. If only some runs exited, the number of these runs and the number of all runs follow.
/// Otherwise an exit in one run of twenty would look like an exit in all.
pub(crate) fn exit_cause(record: &Record) -> (&str, Option<(u64, u64)>) {
    let cause = text(record, "exit_cause");
    let Some(counts) = record.get("exit_causes").and_then(Value::as_object) else { return (cause, None) };
    let count = |(cause, count): (_, &Value)| (cause, count.as_u64().unwrap_or_default());
    let counts: Vec<(&String, u64)> = counts.iter().map(count).collect();
    let runs = counts.iter().map(|(_, count)| count).sum();
    let exits: Vec<&(&String, u64)> = counts.iter().filter(|(cause, _)| *cause != "none").collect();
    let had = exits.iter().map(|(_, count)| count).sum();
    if had == 0 || had == runs {
        return (cause, None);
    }
    let only = match exits.as_slice() {
        [(only, _)] => only,
        _ => cause,
    };
    (only, Some((had, runs)))
}

/// Returns half the width of the field's confidence interval; zero for a single value.
fn spread(record: &Record, field: &str) -> f64 {
    number(record, &format!("{field}{CI95}")).unwrap_or_default()
}

/// Returns the number of runs in which the field is defined, and the number of all runs, if they differ.
pub(crate) fn some_runs(record: &Record, field: &str) -> Option<(f64, f64)> {
    number(record, &format!("{field}_runs")).zip(number(record, "runs")).filter(|(had, runs)| had < runs)
}

/// Checks whether the record is a mean of several runs.
pub(crate) fn is_mean(record: &Record) -> bool {
    number(record, "runs").is_some_and(|runs| runs > 1.0)
}

/// Formats the field in this unit. A mean also has its interval and its number of runs.
pub(crate) fn measured(record: &Record, field: &str, unit: f64) -> Shown {
    match number(record, field) {
        Some(value) => marked(record, field, unit, significant(value / unit)),
        None => "-".to_owned().into(),
    }
}

/// The parts of a cell. A mean's interval and its number of runs are separate from the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The text of the value.
    pub(crate) value: String,
    /// Half the width of the mean's confidence interval: `±0.055`.
    pub(crate) half: Option<String>,
    /// The number of runs that have a value, and the number of all runs: `7/10`. `None` if all have one. A mean over some runs does not
    /// describe the others.
    pub(crate) of: Option<String>,
}

impl Shown {
    /// Returns the texts that follow the value. Each starts with its separator.
    pub(crate) fn beside(&self) -> Vec<String> {
        match (&self.half, &self.of) {
            (Some(half), Some(of)) => vec![format!("{half}, "), of.clone()],
            (one, other) => one.iter().chain(other).cloned().collect(),
        }
    }
}

impl From<String> for Shown {
    fn from(value: String) -> Self {
        Self { value, half: None, of: None }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, half, of } = self;
        write!(f, "{value}{}", half.as_deref().unwrap_or_default())?;
        of.as_ref().map_or(Ok(()), |of| write!(f, ", {of}"))
    }
}

/// Returns the parts of a cell with the text `value`. Adds half the width of the field's confidence interval, and the number of runs in
/// which the field is defined.
fn marked(record: &Record, field: &str, unit: f64, value: String) -> Shown {
    let of = some_runs(record, field).map(|(had, runs)| format!("{had:.0}/{runs:.0}"));
    if let Some([median, min, max]) = skewed(record, field) {
        let [value, min, max] = [median, min, max].map(|value| two_digits(value / unit));
        return Shown { value, half: Some(format!("({min}–{max})")), of };
    }
    Shown { half: interval(record, field, unit, &value), value, of }
}

/// Returns the median, the minimum and the maximum of a field that is never negative, but whose mean has an interval that reaches below
/// zero; `None` for other fields. The mean and the interval would misrepresent its distribution.
pub(crate) fn skewed(record: &Record, field: &str) -> Option<[f64; 3]> {
    let [mean, median, min, max] =
        ["", "_median", "_min", "_max"].map(|suffix| number(record, &format!("{field}{suffix}")));
    let is_skewed = min? >= 0.0 && spread(record, field) > mean?;
    is_skewed.then_some([median?, min?, max?])
}

/// Returns half the width of a mean's confidence interval, as text; `None` if there is none to show. `shown` is the text of the mean.
fn interval(record: &Record, field: &str, unit: f64, shown: &str) -> Option<String> {
    // An interval smaller than the last digit shown is left out. An interval of zero means that all runs had the same value.
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_seen = |half: f64| {
        half == 0.0 || format!("{:.decimals$}", half / unit).contains(|c: char| ('1'..='9').contains(&c))
    };
    let half = number(record, &format!("{field}{CI95}")).filter(|half| is_seen(*half))?;
    Some(format!("±{}", two_digits(half / unit)))
}

/// Formats an uncertainty with two significant digits, which are enough.
fn two_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        size if size >= 0.0995 => 2,
        size if size >= 0.00995 => 3,
        _ => return significant(value),
    };
    format!("{value:.decimals$}")
}

fn or_dash(words: &str) -> String {
    if words.is_empty() { "-".to_owned() } else { words.to_owned() }
}
