//! The columns of the tables, in the terminal and in the report: heads, units, order, and which stay on a narrow terminal.

use std::fmt;

use serde_json::Value;

use crate::columns::{self, CI95, Kind, is_inspection};
use crate::grid::ALWAYS;
use crate::human::significant;
use crate::inspected;
use crate::population::{self, is_flows, is_population};
use crate::probed::{self, is_probing, is_trains};
use crate::record::{self, Record, number, text};

/// A column of the verdict table.
#[derive(Clone, Copy)]
pub(crate) struct ViewColumn<'a> {
    /// The two lines of its head; the second is its unit.
    pub(crate) head: [&'a str; 2],
    /// The field by which the table is sorted.
    pub(crate) field: &'a str,
    /// The form of the cell.
    pub(crate) show: Show,
    /// The rank: on a narrow terminal the highest is left out first.
    pub(crate) rank: u8,
    /// The races for which the column is shown.
    pub(crate) only: Only,
}

/// The races for which a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    /// All races.
    Always,
    /// Races whose transfers have a size.
    Sized,
    /// Races with rounds of replies.
    Rounds,
    /// Races without rounds.
    Single,
    /// Races in which a record has more than zero in the field.
    Any,
    /// Races in which a record has the field.
    Present,
}

/// How a cell is formed from its record.
#[derive(Clone, Copy)]
pub(crate) enum Show {
    /// The result's name.
    Name,
    /// Text.
    Text,
    /// The number divided by this unit, with three significant digits.
    Scaled(f64),
    /// A count, which is whole unless it is a mean of several runs.
    Count,
    /// A count, with `app` or `rwnd` if the application or the receiver bounded it and not the window.
    InitialWindow,
    /// Quick-Start requests approved, in full or reduced, of those received: `3/4`.
    Admitted,
    /// The exit's cause and time, with the number of runs that have it if not all.
    Exit,
}

pub(crate) const fn view<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Always }
}

const fn sized<'a>(head: [&'a str; 2], field: &'a str, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show: Show::Scaled(1.0), rank, only: Only::Sized }
}

const fn of_rounds<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Rounds }
}

const fn single<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Single }
}

/// All columns, in order.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["scheme", ""], "scheme", Show::Name, ALWAYS),
    view(["law", ""], "avoidance", Show::Text, 8),
    of_rounds(["restart", ""], "restart", Show::Text, 1),
    of_rounds(["elapsed", "s"], "elapsed_s", Show::Scaled(1.0), 1),
    of_rounds(["dropped", "p/reply"], "drops", Show::Scaled(1.0), 2),
    of_rounds(["burst", "p"], "burst_packets", Show::Scaled(1.0), 4),
    of_rounds(["ACK clock", "s"], "ack_clock_s", Show::Scaled(1.0), 5),
    sized(["FCT", "s"], "fct_s", 4),
    sized(["ideal", "s"], "ideal_fct_s", 7),
    sized(["cost", "×"], "cost", 1),
    single(["throughput", "Mbit/s"], "throughput_bps", Show::Scaled(1e6), 1),
    single(["su-time", "s"], "su_time_s", Show::Scaled(1.0), 4),
    single(["su-loss", "%"], "su_loss", Show::Scaled(0.01), 2),
    view(["time-", "outs"], "timeouts", Show::Count, 5),
    view(["exit cause", "@ s"], "exit_cause", Show::Exit, 3),
    single(["cwnd", "/BDP"], "exit_cwnd_over_bdp", Show::Scaled(1.0), 7),
    single(["found", "Mbit/s"], "exit_rate_bps", Show::Scaled(1e6), 9),
    single(["over-", "shot p"], "overshoot_lost_packets", Show::Count, 6),
    single(["to 90 %", "s"], "time_to_90pct_s", Show::Scaled(1.0), 6),
    ViewColumn {
        head: ["marked", "p"],
        field: "packets_marked",
        show: Show::Count,
        rank: 9,
        only: Only::Any,
    },
    // Reduced and refused requests are in the exports only: four columns would leave no room for names.
    ViewColumn {
        head: ["QS", "admitted"],
        field: "qs_asked",
        show: Show::Admitted,
        rank: 11,
        only: Only::Present,
    },
    view(["queue", "peak p"], "queue_peak_packets", Show::Count, 10),
    view(["cross", "lost p"], "cross_lost_packets", Show::Count, 10),
];

/// The rank of the throughput beside a cost, which says more.
const BESIDE_COST: u8 = 5;

/// The columns for which these records have values.
pub(crate) fn columns_for(records: &[Record]) -> Vec<ViewColumn<'static>> {
    if is_inspection(records) {
        return inspected::VIEW.to_vec();
    }
    let all = match records {
        _ if is_probing(records) => probed::VIEW,
        _ if is_trains(records) => probed::TRAINS_VIEW,
        _ if is_population(records) => population::VIEW,
        _ if is_flows(records) => population::FLOWS_VIEW,
        _ => VIEW,
    };
    let has = |field: &str| records.iter().any(|record| record.contains_key(field));
    let (sized, rounds) = (has("fct_s"), has("elapsed_s"));
    let belongs = |column: &&ViewColumn<'static>| match column.only {
        Only::Always => true,
        Only::Sized => sized,
        Only::Rounds => rounds,
        Only::Single => !rounds,
        Only::Any => records.iter().any(|record| number(record, column.field).is_some_and(|n| n > 0.0)),
        Only::Present => has(column.field),
    };
    let ranked = |column: &ViewColumn<'static>| match column.field {
        "throughput_bps" if sized && !is_flows(records) => ViewColumn { rank: BESIDE_COST, ..*column },
        _ => *column,
    };
    all.iter().filter(belongs).map(ranked).collect()
}

/// The column with the name of the records, and behind it those of these fields, in this order. The terminal leaves none out. A
/// field that no table has by itself, such as that of a window, is shown in its own unit; one that is no field has no column.
pub(crate) fn chosen<'a>(records: &[Record], fields: &'a [String]) -> Vec<ViewColumn<'a>> {
    let own = columns_for(records);
    let views = || {
        own.iter().chain(VIEW).chain(population::VIEW).chain(population::FLOWS_VIEW).chain(inspected::VIEW)
    };
    let name = own.iter().find(|column| matches!(column.show, Show::Name)).copied();
    let behind = fields.iter().filter(|field| name.is_none_or(|name| name.field != field.as_str()));
    let found = behind.filter_map(|field| {
        let seen = views().find(|column| column.field == field).copied();
        seen.or_else(|| columns::described_field(field).map(|column| plain(field, column)))
            .map(|column| ViewColumn { rank: ALWAYS, ..column })
    });
    name.into_iter().chain(found).collect()
}

/// A field in its own unit.
fn plain<'a>(field: &'a str, column: &columns::Column) -> ViewColumn<'a> {
    let show = match column.kind {
        Kind::Text => Show::Text,
        Kind::Unsigned | Kind::Signed => Show::Count,
        Kind::Real => Show::Scaled(1.0),
    };
    let unit = if column.unit == "1" { "" } else { column.unit };
    view([field, unit], field, show, ALWAYS)
}

impl ViewColumn<'_> {
    /// Whether the column's cells are aligned on the left.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self.show, Show::Name | Show::Text | Show::Exit)
    }

    /// The text of the cell; `-` if the number is undefined.
    pub(crate) fn cell(&self, record: &Record) -> String {
        self.told(record).to_string()
    }

    /// The parts of the cell.
    pub(crate) fn told(&self, record: &Record) -> Told {
        match self.show {
            Show::Name => record::name(record).into(),
            Show::Text => or_dash(text(record, self.field)).into(),
            Show::Scaled(unit) => measured(record, self.field, unit),
            // A mean of counts is whole only if all counts are equal.
            Show::Count => match number(record, self.field) {
                Some(n) if spread(record, self.field) == 0.0 => {
                    marked(record, self.field, 1.0, format!("{n:.0}"))
                }
                _ => measured(record, self.field, 1.0),
            },
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
                        Told { value: format!("{cause} @ {at}"), half, of: None }
                    }
                    None => cause.into(),
                }
            }
        }
    }

    /// The number by which the cell is sorted; `None` if it is undefined.
    pub(crate) fn sort_key(&self, record: &Record) -> Option<f64> {
        match self.show {
            Show::Exit => number(record, "exit_time_s"),
            _ => number(record, self.field),
        }
    }
}

/// The cause of the exit from start-up. If only some runs exited, the number of those runs and of all runs follow. Without
/// these numbers an exit in one run of twenty would read as an exit in all.
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

/// The half-width of the field's confidence interval; zero for a single value.
fn spread(record: &Record, field: &str) -> f64 {
    number(record, &format!("{field}{CI95}")).unwrap_or_default()
}

/// The number of runs in which the field is defined, and the number of all runs, if they differ.
pub(crate) fn some_runs(record: &Record, field: &str) -> Option<(f64, f64)> {
    number(record, &format!("{field}_runs")).zip(number(record, "runs")).filter(|(had, runs)| had < runs)
}

/// Whether the record is a mean of several runs.
pub(crate) fn is_mean(record: &Record) -> bool {
    number(record, "runs").is_some_and(|runs| runs > 1.0)
}

/// The field in the unit, with the interval and the number of runs of a mean.
pub(crate) fn measured(record: &Record, field: &str, unit: f64) -> Told {
    match number(record, field) {
        Some(value) => marked(record, field, unit, significant(value / unit)),
        None => "-".to_owned().into(),
    }
}

/// A cell in its parts: what is shown of a mean beside it is apart from it in every table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The value, or the words.
    pub(crate) value: String,
    /// Half of the mean's confidence interval: `±0.055`.
    pub(crate) half: Option<String>,
    /// The runs that have the number, of all: `7/10`. `None` if all have it, because only of some the mean does not describe
    /// the others.
    pub(crate) of: Option<String>,
}

impl Told {
    /// What stands beside the value, with what sets one from the other.
    pub(crate) fn beside(&self) -> Vec<String> {
        match (&self.half, &self.of) {
            (Some(half), Some(of)) => vec![format!("{half}, "), of.clone()],
            (one, other) => one.iter().chain(other).cloned().collect(),
        }
    }
}

impl From<String> for Told {
    fn from(value: String) -> Self {
        Self { value, half: None, of: None }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, half, of } = self;
        write!(f, "{value}{}", half.as_deref().unwrap_or_default())?;
        of.as_ref().map_or(Ok(()), |of| write!(f, ", {of}"))
    }
}

/// The text `value` with the half-width of its confidence interval, and with the number of runs in which the field is
/// defined.
fn marked(record: &Record, field: &str, unit: f64, value: String) -> Told {
    let of = some_runs(record, field).map(|(had, runs)| format!("{had:.0}/{runs:.0}"));
    Told { half: interval(record, field, unit, &value), value, of }
}

/// The half-width of the confidence interval of the mean that is shown as `shown`, if it has one.
fn interval(record: &Record, field: &str, unit: f64, shown: &str) -> Option<String> {
    // An interval smaller than the last digit shown is left out; zero means that all runs gave one value.
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_seen = |half: f64| {
        half == 0.0 || format!("{:.decimals$}", half / unit).contains(|c: char| ('1'..='9').contains(&c))
    };
    let half = number(record, &format!("{field}{CI95}")).filter(|half| is_seen(*half))?;
    Some(format!("±{}", two_digits(half / unit)))
}

/// An uncertainty with two digits; it needs no third.
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
