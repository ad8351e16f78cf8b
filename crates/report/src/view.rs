//! The columns people see, in the terminal and in the report: heads, units, order, and what may go first
//! when there is no room.

use serde_json::Value;

use crate::columns::{CI95, is_inspection};
use crate::human::significant;
use crate::inspected;
use crate::population::{self, is_flows, is_population};
use crate::record::{self, Record, number, text};

/// A column of the verdict table.
pub(crate) struct ViewColumn {
    /// The two lines of its head; the second is its unit.
    pub(crate) head: [&'static str; 2],
    /// The field it is sorted by.
    pub(crate) field: &'static str,
    /// What the cell says.
    pub(crate) show: Show,
    /// On a narrow terminal the column of the highest number goes first; 0 stays always.
    pub(crate) spare: u8,
    /// Where it belongs.
    pub(crate) only: Only,
}

/// Which races a column belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    /// All.
    Always,
    /// Those where transfers have a size.
    Sized,
    /// Those with rounds of replies.
    Rounds,
    /// Those without.
    Single,
    /// Those in which a record has more than nought of it.
    Any,
    /// Those in which a record has the field.
    Present,
}

/// How a cell is made of its record.
#[derive(Clone, Copy)]
pub(crate) enum Show {
    /// The name of the result.
    Name,
    /// Words.
    Text,
    /// The number over this, with three significant digits.
    Scaled(f64),
    /// A count: whole, unless it is a mean of several runs.
    Count,
    /// The requests that a router admitted, whole or reduced, of those asked: `3/4`.
    Admitted,
    /// The exit's cause, in how many runs if not in all of them, and when.
    Exit,
}

pub(crate) const fn view(head: [&'static str; 2], field: &'static str, show: Show, spare: u8) -> ViewColumn {
    ViewColumn { head, field, show, spare, only: Only::Always }
}

const fn sized(head: [&'static str; 2], field: &'static str, show: Show) -> ViewColumn {
    ViewColumn { head, field, show, spare: 0, only: Only::Sized }
}

const fn of_rounds(head: [&'static str; 2], field: &'static str, show: Show) -> ViewColumn {
    ViewColumn { head, field, show, spare: 0, only: Only::Rounds }
}

const fn single(head: [&'static str; 2], field: &'static str, show: Show, spare: u8) -> ViewColumn {
    ViewColumn { head, field, show, spare, only: Only::Single }
}

/// All columns, in order.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["scheme", ""], "scheme", Show::Name, 0),
    view(["law", ""], "avoidance", Show::Text, 4),
    of_rounds(["restart", ""], "restart", Show::Text),
    of_rounds(["elapsed", "s"], "elapsed_s", Show::Scaled(1.0)),
    of_rounds(["dropped", "p/reply"], "drops", Show::Scaled(1.0)),
    of_rounds(["burst", "p"], "burst_packets", Show::Scaled(1.0)),
    of_rounds(["ACK clock", "s"], "ack_clock_s", Show::Scaled(1.0)),
    sized(["FCT", "s"], "fct_s", Show::Scaled(1.0)),
    sized(["ideal", "s"], "ideal_fct_s", Show::Scaled(1.0)),
    sized(["cost", "×"], "cost", Show::Scaled(1.0)),
    single(["throughput", "Mbit/s"], "throughput_bps", Show::Scaled(1e6), 0),
    single(["su-time", "s"], "su_time_s", Show::Scaled(1.0), 0),
    single(["su-loss", "%"], "su_loss", Show::Scaled(0.01), 0),
    view(["time-", "outs"], "timeouts", Show::Count, 1),
    view(["exit cause", "@ s"], "exit_cause", Show::Exit, 0),
    single(["cwnd", "/BDP"], "exit_cwnd_over_bdp", Show::Scaled(1.0), 2),
    single(["found", "Mbit/s"], "exit_rate_bps", Show::Scaled(1e6), 3),
    single(["over-", "shot p"], "overshoot_lost_packets", Show::Count, 2),
    single(["to 90 %", "s"], "time_to_90pct_s", Show::Scaled(1.0), 3),
    ViewColumn {
        head: ["marked", "p"],
        field: "packets_marked",
        show: Show::Count,
        spare: 4,
        only: Only::Any,
    },
    // What was reduced and what refused is in the exports: four columns would leave no room for names.
    ViewColumn {
        head: ["QS", "admitted"],
        field: "qs_asked",
        show: Show::Admitted,
        spare: 6,
        only: Only::Present,
    },
    view(["queue", "peak p"], "queue_peak_packets", Show::Count, 5),
    view(["cross", "lost p"], "cross_lost_packets", Show::Count, 5),
];

/// The columns that these records can fill.
pub(crate) fn columns_for(records: &[Record]) -> Vec<&'static ViewColumn> {
    if is_inspection(records) {
        return inspected::VIEW.iter().collect();
    }
    if is_population(records) {
        return population::VIEW.iter().collect();
    }
    if is_flows(records) {
        return population::FLOWS_VIEW.iter().collect();
    }
    let has = |field: &str| records.iter().any(|record| record.contains_key(field));
    let (sized, rounds) = (has("fct_s"), has("elapsed_s"));
    let belongs = |column: &&ViewColumn| match column.only {
        Only::Always => true,
        Only::Sized => sized,
        Only::Rounds => rounds,
        Only::Single => !rounds,
        Only::Any => records.iter().any(|record| number(record, column.field).is_some_and(|n| n > 0.0)),
        Only::Present => has(column.field),
    };
    VIEW.iter().filter(belongs).collect()
}

impl ViewColumn {
    /// Whether its cells line up on the left.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self.show, Show::Name | Show::Text | Show::Exit)
    }

    /// What the cell says; `-` where the number is undefined.
    pub(crate) fn cell(&self, record: &Record) -> String {
        match self.show {
            Show::Name => record::name(record),
            Show::Text => or_dash(text(record, self.field)),
            Show::Scaled(unit) => measured(record, self.field, unit),
            // A mean of counts is whole only if all agree.
            Show::Count => match number(record, self.field) {
                Some(n) if spread(record, self.field) == 0.0 => {
                    marked(record, self.field, 1.0, format!("{n:.0}"))
                }
                _ => measured(record, self.field, 1.0),
            },
            Show::Admitted => {
                match ["qs_granted", "qs_reduced", "qs_asked"].map(|field| number(record, field)) {
                    [Some(granted), Some(reduced), Some(asked)] => {
                        let decimals = usize::from(is_mean(record));
                        format!("{:.decimals$}/{asked:.decimals$}", granted + reduced)
                    }
                    _ => "-".to_owned(),
                }
            }
            Show::Exit => {
                let cause = match exit_cause(record) {
                    (cause, Some((had, runs))) => format!("{cause} {had}/{runs}"),
                    (cause, None) => or_dash(cause),
                };
                match number(record, "exit_time_s").map(significant) {
                    Some(at) => format!("{cause} @ {}", with_interval(record, "exit_time_s", 1.0, at)),
                    None => cause,
                }
            }
        }
    }

    /// What the cell is sorted by: a number, or nothing where it is undefined.
    pub(crate) fn sort_key(&self, record: &Record) -> Option<f64> {
        match self.show {
            Show::Exit => number(record, "exit_time_s"),
            _ => number(record, self.field),
        }
    }
}

/// Why start-up was left and, where some runs left it and others did not, in how many of how many it was: without
/// these numbers an exit of one run in twenty reads as that of all.
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

/// The half-width of the field's confidence interval; one value only has none.
fn spread(record: &Record, field: &str) -> f64 {
    number(record, &format!("{field}{CI95}")).unwrap_or_default()
}

/// In how many of how many runs the field is defined, where that is not in all.
pub(crate) fn some_runs(record: &Record, field: &str) -> Option<(f64, f64)> {
    number(record, &format!("{field}_runs")).zip(number(record, "runs")).filter(|(had, runs)| had < runs)
}

/// Whether the record is a mean of several runs.
pub(crate) fn is_mean(record: &Record) -> bool {
    number(record, "runs").is_some_and(|runs| runs > 1.0)
}

/// The field over the unit, with what is to be said of a mean.
pub(crate) fn measured(record: &Record, field: &str, unit: f64) -> String {
    match number(record, field) {
        Some(value) => marked(record, field, unit, significant(value / unit)),
        None => "-".to_owned(),
    }
}

/// What is shown of the field, with the half-width of its confidence interval and, where not all runs have it, in how
/// many of how many it is defined: the mean over those says nothing of the others.
fn marked(record: &Record, field: &str, unit: f64, shown: String) -> String {
    let shown = with_interval(record, field, unit, shown);
    match some_runs(record, field) {
        Some((had, runs)) => format!("{shown} {had:.0}/{runs:.0}"),
        None => shown,
    }
}

/// What is shown of the field over the unit, with the half-width of its confidence interval where it has one.
fn with_interval(record: &Record, field: &str, unit: f64, shown: String) -> String {
    // Smaller than the last digit shown says no more than that digit; nought says that all runs gave the same.
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_seen = |half: f64| {
        half == 0.0 || format!("{:.decimals$}", half / unit).contains(|c: char| ('1'..='9').contains(&c))
    };
    match number(record, &format!("{field}{CI95}")).filter(|half| is_seen(*half)) {
        Some(half) => format!("{shown}±{}", two_digits(half / unit)),
        None => shown,
    }
}

/// An uncertainty needs no third digit.
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
