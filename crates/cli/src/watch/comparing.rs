//! `watch --compare`: compares the start-ups before a deployment with those after it, or those of two congestion controls.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight_export::{Record, json, parquet};
use firstflight_report::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_report::human::{self, significant};
use firstflight_report::prose;
use firstflight_trace::in_a_line;
use firstflight_watch::{Change, Comparison, Drawn, Outcome, Side, Unit, check};
use serde::Serialize;

use crate::failure::{Failure, Place};
use crate::output;

/// The column of numbers of values is left out before others if the terminal is narrow: measures of few values are not in the tables.
const COUNTS: u8 = 4;

/// The line of JSON for one change.
#[derive(Serialize)]
struct Line<'a, T: Serialize> {
    #[serde(flatten)]
    change: &'a T,
    first_group: &'a str,
    second_group: &'a str,
    first_starts: usize,
    second_starts: usize,
    first_matched: usize,
    second_matched: usize,
    matched_by_prefix: bool,
    drawn: Drawn,
    resamples: usize,
}

/// The rows of some files, and what they are.
struct Read {
    name: String,
    rows: Vec<Record>,
}

/// Compares the start-ups in two files, or those of two congestion controls in any number of files.
pub(super) fn compare(
    files: &[PathBuf],
    groups: Option<&str>,
    is_json: bool,
    arguments: &[String],
) -> Result<(), Failure> {
    let Some(groups) = groups else {
        let [first, second] = files else {
            let why = match files.len() {
                1 => {
                    "one file needs --groups CC,CC, the congestion controls to compare; or give a second file"
                }
                _ => "without --groups CC,CC it takes two files, before and after",
            };
            return Err(Failure::usage(format!("--compare: {why}")));
        };
        let (first, second) = (read(first, arguments)?, read(second, arguments)?);
        return show(
            [&first.name, &second.name],
            [&all(&first.rows), &all(&second.rows)],
            ["before", "after"],
            is_json,
        );
    };
    let refuse = |why: String| {
        Failure::usage(format!("--groups: {why}")).at(Place::value(arguments, "--groups", groups))
    };
    let names: Vec<&str> = groups.split(',').collect();
    let [first, second] = names[..] else {
        return Err(refuse(format!("`{groups}` is not two congestion controls, such as cubic,bbr")));
    };
    if first == second {
        return Err(refuse(format!("both groups are {first}")));
    }
    let read = files.iter().map(|file| read(file, arguments)).collect::<Result<Vec<_>, _>>()?;
    let of = |wanted: &str| -> Vec<&Record> {
        let is_it = |row: &&Record| law(row) == Some(wanted);
        read.iter().flat_map(|file| &file.rows).filter(is_it).collect()
    };
    let sides = [of(first), of(second)];
    for (side, name) in sides.iter().zip([first, second]) {
        if side.is_empty() {
            let mut present: Vec<&str> = read.iter().flat_map(|file| &file.rows).filter_map(law).collect();
            present.sort_unstable();
            present.dedup();
            let there = if present.is_empty() {
                "none is".to_owned()
            } else {
                format!("they have {}", present.join(", "))
            };
            return Err(refuse(format!("no start-up is under {}; {}", in_a_line(name), in_a_line(&there))));
        }
    }
    let files = read.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ");
    show([&files, &files], [&sides[0], &sides[1]], [first, second], is_json)
}

fn law(row: &Record) -> Option<&str> {
    row.get("congestion_control")?.as_str()
}

fn all(rows: &[Record]) -> Vec<&Record> {
    rows.iter().collect()
}

/// Reads the rows of a file, which is Parquet or has lines of JSON.
fn read(path: &Path, arguments: &[String]) -> Result<Read, Failure> {
    let name = in_a_line(&path.display().to_string());
    let bytes = std::fs::read(path).map_err(|error| refuse(path, &error, arguments))?;
    let rows = if bytes.starts_with(b"{") {
        let (rows, torn) = lines(&bytes);
        if torn > 0 {
            output::note(&[format!("{name}: {torn} lines are no whole rows, and are left out")]);
        }
        rows
    } else if bytes.is_empty() {
        Vec::new()
    } else {
        let (rows, is_partial) =
            parquet::read_so_far(bytes).map_err(|error| refuse(path, &error, arguments))?;
        if is_partial {
            output::note(&[format!(
                "{name} is partial: `watch` goes on, or was killed, and later start-ups are not in it"
            )]);
        }
        rows
    };
    check(&rows).map_err(|error| refuse(path, &error, arguments))?;
    Ok(Read { name, rows })
}

/// Returns the rows of lines of JSON, and the number of lines that are no whole rows: a watch was killed while it wrote them.
fn lines(bytes: &[u8]) -> (Vec<Record>, usize) {
    let (mut rows, mut torn) = (Vec::new(), 0);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Record>(line) {
            Ok(row) => rows.push(row),
            Err(_) => torn += 1,
        }
    }
    (rows, torn)
}

fn refuse(path: &Path, why: &dyn std::fmt::Display, arguments: &[String]) -> Failure {
    let place = Place::argument(arguments, &path.to_string_lossy());
    Failure::usage(format!("--compare: {}: {why}", path.display())).at(place)
}

fn show(files: [&str; 2], groups: [&[&Record]; 2], names: [&str; 2], is_json: bool) -> Result<(), Failure> {
    let told = Comparison::new(groups[0], groups[1]);
    if !is_json {
        return output::print(&render(&told, names, files, output::stdout_width()));
    }
    let mut out = Vec::new();
    let is_files = names == ["before", "after"];
    let [first_group, second_group] = if is_files { files } else { names };
    json::write_lines(
        &mut out,
        &told.outcomes.iter().map(|one| line(&told, one, [first_group, second_group])).collect::<Vec<_>>(),
    )
    .map_err(Failure::write)?;
    json::write_lines(
        &mut out,
        &told.changes.iter().map(|one| line(&told, one, [first_group, second_group])).collect::<Vec<_>>(),
    )
    .map_err(Failure::write)?;
    output::print_bytes(&out)
}

fn line<'a, T: Serialize>(told: &Comparison, change: &'a T, groups: [&'a str; 2]) -> Line<'a, T> {
    let [first, second] = &told.sides;
    Line {
        change,
        first_group: groups[0],
        second_group: groups[1],
        first_starts: first.starts,
        second_starts: second.starts,
        first_matched: first.matched,
        second_matched: second.matched,
        matched_by_prefix: told.matched_by_prefix,
        drawn: told.drawn,
        resamples: told.resamples,
    }
}

fn render(told: &Comparison, names: [&str; 2], files: [&str; 2], width: Option<usize>) -> String {
    let mut text = String::new();
    for sentence in &told.headline {
        text += &prose::fold(&format!("{sentence}\n"), width, 2);
    }
    text.push('\n');
    for ((name, side), file) in names.into_iter().zip(&told.sides).zip(files) {
        text += &prose::fold(&described(name, side, file), width, 2);
    }
    let by = if told.matched_by_prefix { "size, round trip and prefix" } else { "size and round trip" };
    let note = format!("Compared: those with a partner of the same {by} in the other group.\n");
    text += &prose::fold(&note, width, 2);
    text += "\n";
    let [first, second] = names;
    if !told.outcomes.is_empty() {
        text += &outcomes(&told.outcomes, [first, second], width);
        text.push('\n');
    }
    text += &changes(&told.changes, [first, second], width);
    let few: Vec<String> = told
        .changes
        .iter()
        .filter(|change| change.interval.is_none() && change.first_count + change.second_count > 0)
        .map(|change| format!("{} ({} and {})", change.measure, change.first_count, change.second_count))
        .collect();
    let mut note = String::from("\n");
    if !few.is_empty() {
        let few = few.join(", ");
        let _ = writeln!(
            note,
            "Fewer than ten {} of a group have these, so they are left out: {few}.",
            told.drawn.name()
        );
    }
    let _ = writeln!(
        note,
        "Intervals are of 95 %, by a bootstrap of {}. Those in the sentences above hold together; in the tables, about one difference in \
         twenty is by chance. Completion, throughput and times are geometric means.",
        told.drawn.name()
    );
    text + &prose::fold(&note, width, 0)
}

fn described(name: &str, side: &Side, file: &str) -> String {
    let laws = side.congestion_controls.iter().map(|(law, count)| format!("{count} by {}", in_a_line(law)));
    let laws = laws.collect::<Vec<_>>().join(", ");
    let by = if laws.is_empty() { laws } else { format!(": {laws}") };
    let doubtful = match side.doubtful {
        0 => String::new(),
        count => format!("; {count} more are left out, for facts of them were lost"),
    };
    let (starts, prefixes, matched) = (side.starts, side.prefixes, side.matched);
    format!(
        "{}: {starts} start-ups to {prefixes} prefixes{by}; {matched} compared ({file}{doubtful})\n",
        in_a_line(name)
    )
}

fn outcomes(outcomes: &[Outcome], [first, second]: [&str; 2], width: Option<usize>) -> String {
    let column = |field: &str, head: [&str; 2], cells, rank, text: &dyn Fn(&Outcome) -> String| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank,
        texts: outcomes.iter().map(text).collect(),
    };
    let columns = vec![
        column("transfer", ["transfer", ""], Cells::Names, ALWAYS, &|one| one.transfer.to_owned()),
        column("measure", ["", ""], Cells::Names, ALWAYS, &|one| one.measure.to_owned()),
        column("counts", ["of", ""], Cells::Numbers, COUNTS, &|one| {
            counts(one.first_count, one.second_count)
        }),
        column("first", [first, ""], Cells::Numbers, ALWAYS, &|one| number(one.first, one.unit)),
        column("second", [second, ""], Cells::Numbers, ALWAYS, &|one| number(one.second, one.unit)),
        column("interval", ["change,", "95 % interval"], Cells::Numbers, ALWAYS, &|one| {
            let text = |[low, high]: [f64; 2]| format!("{} to {} %", percent(low), percent(high));
            one.interval.map_or_else(|| "-".to_owned(), text)
        }),
        column("verdict", ["", ""], Cells::Words, ALWAYS, &|one| one.verdict.to_owned()),
    ];
    Grid::new(columns, width).plain(width)
}

fn changes(changes: &[Change], [first, second]: [&str; 2], width: Option<usize>) -> String {
    let shown: Vec<&Change> = changes.iter().filter(|change| change.interval.is_some()).collect();
    let column = |field: &str, head: [&str; 2], cells, rank, text: &dyn Fn(&Change) -> String| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank,
        texts: shown.iter().map(|change| text(change)).collect(),
    };
    let columns = vec![
        column("measure", ["measure", ""], Cells::Names, ALWAYS, &|one| one.measure.to_owned()),
        column("counts", ["of", ""], Cells::Numbers, COUNTS, &|one| {
            counts(one.first_count, one.second_count)
        }),
        column("first", [first, ""], Cells::Numbers, ALWAYS, &|one| number(one.first, one.unit)),
        column("second", [second, ""], Cells::Numbers, ALWAYS, &|one| number(one.second, one.unit)),
        column("interval", ["difference,", "95 % interval"], Cells::Numbers, ALWAYS, &|one| {
            one.interval.map_or_else(|| "-".to_owned(), |ends| range(ends, one.unit))
        }),
        column("verdict", ["", ""], Cells::Words, ALWAYS, &|one| one.verdict.to_owned()),
    ];
    if shown.is_empty() { String::new() } else { Grid::new(columns, width).plain(width) }
}

/// Returns the number of values of both groups.
fn counts(first: usize, second: usize) -> String {
    format!("{first}+{second}")
}

fn number(value: Option<f64>, unit: Unit) -> String {
    value.map_or_else(|| "-".to_owned(), |value| shown(value, unit))
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

/// Returns the ends of an interval with their signs, and their unit once.
fn range(ends: [f64; 2], unit: Unit) -> String {
    let size = ends[0].abs().max(ends[1].abs());
    let (scale, name) = match unit {
        Unit::Segments => (1.0, " p"),
        Unit::Count => (1.0, ""),
        Unit::Share => (0.01, " %"),
        Unit::Bytes => (1e3, " kB"),
        Unit::Seconds if size < 1e-3 => (1e-6, " µs"),
        Unit::Seconds if size < 1.0 => (1e-3, " ms"),
        Unit::Seconds => (1.0, " s"),
        Unit::BitsPerSecond if size < 1e6 => (1e3, " kbit/s"),
        Unit::BitsPerSecond => (1e6, " Mbit/s"),
    };
    let [low, high] = ends.map(|end| {
        let value = significant(end.abs() / scale);
        if end == 0.0 { value } else { format!("{}{value}", if end < 0.0 { '-' } else { '+' }) }
    });
    if size == 0.0 { "0".to_owned() } else { format!("{low} to {high}{name}") }
}

/// Returns a relative change in percent, with its sign.
fn percent(change: f64) -> String {
    let value = change * 100.0;
    if value.abs() < 9.95 { format!("{value:+.1}") } else { format!("{value:+.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn eighty_columns_hold_the_verdict_on_long_names() {
        let row = |at: u64, time: f64| -> Record {
            let value = json!({
                "exit_cause": "loss", "exit_flight_bytes": 100_000, "mss_bytes": 1_000, "bytes_acked": 2_000_000,
                "overshoot_segments": at % 5, "transfer_bytes": 2_000_000, "handshake_rtt_s": 0.04, "exit_rate_bps": 12_345_678 + at,
                "transfer_s": time + 0.005 * f64::from(u32::try_from(at % 7).unwrap_or(0)), "time_to_90pct_s": 0.2 * time,
                "time_to_100kb_s": 0.1 * time, "retransmitted_segments": at % 9, "data_segments_sent": 1_400,
            });
            value.as_object().expect("an object").clone()
        };
        let rows = [1.0, 0.9].map(|time| (0..200).map(|at| row(at, time)).collect::<Vec<_>>());
        let told = Comparison::new(&all(&rows[0]), &all(&rows[1]));
        let text = render(&told, ["ff_hystart_lnx", "ff_hystart_pp"], ["rows.jsonl"; 2], Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.starts_with("Transfers of 1 to 10 MB end ") && text.contains(" % sooner.\n"), "{text}");
        for name in
            ["completion", "first 100 kB", "retransmitted, share", "overshoot, mean", "rate at exit, median"]
        {
            assert!(text.contains(name), "{name}: {text}");
        }
    }

    #[test]
    fn the_ends_of_an_interval_have_one_unit() {
        assert_eq!(range([-0.000_214, 0.000_329], Unit::Seconds), "-214 to +329 µs");
        assert_eq!(range([-9.46e6, 5.51e6], Unit::BitsPerSecond), "-9.46 to +5.51 Mbit/s");
        assert_eq!(range([-0.018, -0.0058], Unit::Share), "-1.80 to -0.580 %");
        assert_eq!(range([0.0, 0.0], Unit::Count), "0");
    }
}
