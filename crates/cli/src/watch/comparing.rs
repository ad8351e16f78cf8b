//! `watch --compare`: compares the start-ups before a deployment with those after it.

use std::path::Path;

use firstflight_export::{Record, json, parquet};
use firstflight_report::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_report::human::{self, significant};
use firstflight_report::prose;
use firstflight_trace::in_a_line;
use firstflight_watch::{BeforeAfter, Change, Side, Unit};
use serde::Serialize;

use crate::failure::{Failure, Place};
use crate::output;

/// The line of JSON for one number, with its values in the two collections.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    change: &'a Change,
    before_file: String,
    after_file: String,
    before_starts: usize,
    after_starts: usize,
    /// The unit that is resampled for the confidence interval: `prefixes` or `connections`.
    drawn: &'static str,
    resamples: usize,
}

/// Compares the start-ups in two files.
pub(super) fn compare(
    before: &Path,
    after: &Path,
    is_json: bool,
    arguments: &[String],
) -> Result<(), Failure> {
    let rows = [before, after].map(|path| read(path, arguments));
    let [before_rows, after_rows] = rows;
    let (before_rows, after_rows) = (before_rows?, after_rows?);
    let told = BeforeAfter::new(&before_rows, &after_rows).map_err(|error| {
        let is_before = BeforeAfter::new(&before_rows, &[]).is_err();
        refuse(if is_before { before } else { after }, &error, arguments)
    })?;
    if is_json {
        let line = |change| Line {
            change,
            before_file: before.display().to_string(),
            after_file: after.display().to_string(),
            before_starts: told.before.starts,
            after_starts: told.after.starts,
            drawn: drawn(&told),
            resamples: told.resamples,
        };
        let lines: Vec<Line<'_>> = told.changes.iter().map(line).collect();
        let mut out = Vec::new();
        json::write_lines(&mut out, &lines).map_err(Failure::write)?;
        return output::print_bytes(&out);
    }
    output::print(&render(&told, [before, after], output::stdout_width()))
}

fn read(path: &Path, arguments: &[String]) -> Result<Vec<Record>, Failure> {
    let bytes = std::fs::read(path).map_err(|error| refuse(path, &error, arguments))?;
    let (rows, is_partial) = parquet::read_so_far(bytes).map_err(|error| refuse(path, &error, arguments))?;
    if is_partial {
        let name = in_a_line(&path.display().to_string());
        output::note(&[format!(
            "{name} is partial: `watch` goes on, or was killed, and later start-ups are not in it"
        )]);
    }
    Ok(rows)
}

fn refuse(path: &Path, why: &dyn std::fmt::Display, arguments: &[String]) -> Failure {
    let place = Place::argument(arguments, &path.to_string_lossy());
    Failure::usage(format!("--compare: {}: {why}", path.display())).at(place)
}

/// Returns the unit that is resampled for the confidence intervals.
fn drawn(told: &BeforeAfter) -> &'static str {
    if told.by_prefix { "prefixes" } else { "connections" }
}

fn render(told: &BeforeAfter, paths: [&Path; 2], width: Option<usize>) -> String {
    let side = |name: &str, side: &Side, path: &Path| {
        let laws =
            side.congestion_controls.iter().map(|(law, count)| format!("{count} by {}", in_a_line(law)));
        let laws = laws.collect::<Vec<_>>().join(", ");
        let by = if laws.is_empty() { laws } else { format!(": {laws}") };
        let doubtful = match side.doubtful {
            0 => String::new(),
            count => format!("; {count} more are left out, for facts of them were lost"),
        };
        let path = in_a_line(&path.display().to_string());
        format!("{name}: {} start-ups to {} prefixes{by} ({path}{doubtful})\n", side.starts, side.prefixes)
    };
    let [before, after] = paths;
    let mut text = side("before", &told.before, before) + &side("after", &told.after, after);
    text = prose::fold(&text, width, 2) + "\n";
    let changes: Vec<&Change> =
        told.changes.iter().filter(|change| change.before.or(change.after).is_some()).collect();
    let column = |field: &str, head: [&str; 2], cells, rank, text: &dyn Fn(&Change) -> String| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank,
        texts: changes.iter().map(|change| text(change)).collect(),
    };
    let number = |value: Option<f64>, unit| value.map_or_else(|| "-".to_owned(), |value| shown(value, unit));
    let columns = vec![
        column("measure", ["", ""], Cells::Names, ALWAYS, &|change| change.measure.to_owned()),
        column("before", ["before", ""], Cells::Numbers, ALWAYS, &|change| {
            number(change.before, change.unit)
        }),
        column("before_count", ["of", ""], Cells::Numbers, 4, &|change| change.before_count.to_string()),
        column("after", ["after", ""], Cells::Numbers, ALWAYS, &|change| number(change.after, change.unit)),
        column("after_count", ["of", ""], Cells::Numbers, 4, &|change| change.after_count.to_string()),
        column("interval", ["difference,", "95 % interval"], Cells::Numbers, ALWAYS, &|change| {
            change
                .interval
                .map_or_else(|| "-".to_owned(), |ends| ends.map(|end| signed(end, change.unit)).join(" to "))
        }),
        column("verdict", ["", ""], Cells::Words, ALWAYS, &|change| change.verdict.to_owned()),
    ];
    text += &Grid::new(columns, width).plain(width);
    let note = format!(
        "\nIntervals are of {} bootstrap samples of the {}, each by itself; with 15 numbers about one in twenty differs by chance. RTT and bytes \
         acknowledged show whether paths and transfers were alike.\n",
        told.resamples,
        drawn(told)
    );
    text + &prose::fold(&note, width, 0)
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Segments => format!("{} p", significant(value)),
        Unit::BitsPerSecond => human::rate(value),
        Unit::Seconds => human::seconds(value),
        Unit::Share => format!("{} %", significant(value * 100.0)),
        Unit::Bytes => format!("{} kB", significant(value / 1e3)),
        Unit::Count => significant(value),
    }
}

fn signed(value: f64, unit: Unit) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    if value == 0.0 { "0".to_owned() } else { sign.to_owned() + &shown(value.abs(), unit) }
}
