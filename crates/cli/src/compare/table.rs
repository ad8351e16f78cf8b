//! A comparison as text for a terminal: a sentence about the largest difference, and a table of the rows.

use firstflight_habitats::{Compared, Difference, Row, Runs, largest};
use firstflight_report::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_report::human::{self, significant};
use firstflight_report::{Columns, Headings, TableStyle, prose};
use firstflight_trace::in_a_line;

use crate::partial::Partial;

/// Returns the text of a row's cell.
type Cell = fn(&Row) -> String;

/// A possible column: the field, the lines of the head, the alignment, the rank, and the cells.
type Shown = (&'static str, [&'static str; 2], Cells, u8, Cell);

const COLUMNS: [Shown; 17] = [
    ("habitat", ["habitat", ""], Cells::Words, ALWAYS, |row| habitat(row)),
    ("fct_s", ["FCT", "s"], Cells::Numbers, 1, |row| number(row, "fct_s", 1.0)),
    ("fct_s_difference", ["from", "sim"], Cells::Numbers, 1, |row| per_cent(row, "fct_s")),
    ("packets_lost", ["drops", "p"], Cells::Numbers, 1, |row| packets(row, "packets_lost")),
    ("packets_lost_difference", ["from", "sim"], Cells::Numbers, 1, |row| more(row, "packets_lost")),
    ("exit_cause", ["exit cause", "@ s"], Cells::Words, 2, exit),
    ("exit_rate_bps", ["found", "Mbit/s"], Cells::Numbers, 2, |row| number(row, "exit_rate_bps", 1e6)),
    ("exit_rate_bps_difference", ["from", "sim"], Cells::Numbers, 4, |row| per_cent(row, "exit_rate_bps")),
    ("exit_window_packets", ["window", "p"], Cells::Numbers, 4, window),
    ("overshoot_lost_packets", ["over-", "shot p"], Cells::Numbers, 4, |row| {
        packets(row, "overshoot_lost_packets")
    }),
    ("trains", ["trains", ""], Cells::Numbers, 4, |row| {
        row.summary("trains").map_or_else(String::new, |trains| halves(trains.median))
    }),
    ("fct_s_min", ["FCT", "from-to"], Cells::Numbers, 5, |row| range_of(row, "fct_s", significant)),
    ("packets_lost_min", ["drops", "from-to"], Cells::Numbers, 5, |row| {
        range_of(row, "packets_lost", halves)
    }),
    ("throughput_bps", ["thrpt", "Mbit/s"], Cells::Numbers, 6, |row| number(row, "throughput_bps", 1e6)),
    ("packets_sent", ["sent", "p"], Cells::Numbers, 6, |row| packets(row, "packets_sent")),
    ("runs", ["runs", ""], Cells::Numbers, 5, runs),
    ("avoidance", ["law", ""], Cells::Words, 6, |row| row.avoidance.to_owned()),
];

/// Returns the fields that may be chosen as columns.
pub(super) fn fields() -> Vec<&'static str> {
    COLUMNS.iter().map(|(field, ..)| *field).collect()
}

/// Returns the headings of the columns, each with its field.
pub(super) fn headings() -> Headings {
    firstflight_report::headings(COLUMNS.iter().map(|(field, head, ..)| (*head, *field)))
}

/// Renders the sentence, the table, and the notes below it. For partial results, their own sentence replaces the one about the largest
/// difference.
pub(super) fn render(compared: &Compared, partial: Option<&Partial>, style: &TableStyle) -> String {
    let rows = &compared.rows;
    let is_empty = |cell: &Cell| rows.iter().all(|row| ["", "-"].contains(&cell(row).as_str()));
    let is_wanted = |shown: &&Shown| match &style.columns {
        Columns::Chosen(fields) => fields.iter().any(|field| field == shown.0),
        Columns::All | Columns::Fitting => shown.3 == ALWAYS || !is_empty(&shown.4),
    };
    let mut wanted: Vec<&Shown> = COLUMNS.iter().filter(is_wanted).collect();
    if let Columns::Chosen(fields) = &style.columns {
        wanted.sort_by_key(|shown| fields.iter().position(|field| field == shown.0));
        if !fields.iter().any(|field| field == "habitat") {
            wanted.insert(0, &COLUMNS[0]);
        }
    }
    let names = rows.iter().enumerate().map(|(at, row)| {
        let is_first = at == 0 || rows[at - 1].scheme != row.scheme;
        if is_first { in_a_line(&row.scheme) } else { String::new() }
    });
    let name = Column {
        field: "scheme".to_owned(),
        head: vec!["scheme".to_owned(), String::new()],
        cells: Cells::Names,
        rank: ALWAYS,
        texts: names.collect(),
    };
    let columns = wanted.iter().map(|(field, head, cells, rank, cell)| Column {
        field: (*field).to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells: *cells,
        rank: *rank,
        texts: rows.iter().map(cell).collect(),
    });
    let width = style.width.filter(|_| style.columns == Columns::Fitting);
    let grid = Grid::new([name].into_iter().chain(columns).collect(), width);
    let sentence = partial.map_or_else(|| sentence(compared), Partial::sentence);
    let mut text = prose::fold(&format!("{sentence}\n\n"), style.width, 0);
    text += &grid.plain(style.width);
    for note in notes(rows) {
        text += &prose::fold(&format!("{note}\n"), style.width, 2);
    }
    text
}

/// Describes the largest difference from the simulator.
fn sentence(compared: &Compared) -> String {
    if let Some(row) = compared.rows.iter().find(|row| row.finishes_unlike) {
        let [own, theirs] =
            if row.finished == 0 { ["does not finish", "does"] } else { ["finishes", "does not"] };
        let simulator = format!("sim-{}", row.habitat.stack_name());
        return format!(
            "Largest difference: {} in {} {own} within the limit, and {theirs} in {simulator}.",
            row.scheme,
            habitat(row)
        );
    }
    let Some(most) = largest(&compared.rows) else {
        if compared.rows.iter().any(|row| row.by_chance.contains(&true)) {
            return "No difference is significant: the runs' ranges overlap.".to_owned();
        }
        return "Nothing is compared: no habitat has the simulator of its stack to compare with.".to_owned();
    };
    let Difference { row, metric, excess } = most;
    let simulator = format!("sim-{}", row.habitat.stack_name());
    let own = row.summary(metric).map_or(0.0, |summary| summary.median);
    let theirs = own - row.difference(metric).unwrap_or(0.0);
    let show = |value: f64| match metric {
        "fct_s" => human::seconds(value),
        "exit_rate_bps" => human::rate(value),
        _ => format!("{} packets", halves(value)),
    };
    let does = match metric {
        "fct_s" => "takes",
        "exit_rate_bps" => "finds",
        _ => "loses",
    };
    let what = format!(
        "{} in {} {does} {}, and {} in {simulator}",
        row.scheme,
        habitat(row),
        show(own),
        show(theirs)
    );
    if excess > 1.0 {
        return format!("Largest difference: {what}.");
    }
    format!(
        "No difference matters: FCTs are within 5 %, drops within 3 packets or 5 %, rates found within 10 %. Largest: {what}."
    )
}

/// Returns the notes that explain the table.
fn notes(rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut said = Vec::new();
    for row in rows.iter().filter(|row| row.congestion_control.is_some() && row.scheme != row.choice) {
        if !said.contains(&&row.scheme) {
            said.push(&row.scheme);
            let choice = row.choice.split(",as=").next().unwrap_or_default();
            let choice = choice.split(":as=").next().unwrap_or_default();
            notes.push(format!("{} is {choice} in the simulator.", row.scheme));
        }
    }
    if rows.iter().any(|row| matches!(row.habitat.runs, Runs::Kernel | Runs::Bpf)) {
        notes.push(
            "Of the kernel's sender only packets are seen: exits are found in them, and the window is what was in flight."
                .to_owned(),
        );
    }
    for row in rows.iter().filter(|row| row.finished < row.runs) {
        notes.push(format!(
            "{} in {}: {} of {} transfers did not finish within the limit; they have no FCT, and drops until then.",
            in_a_line(&row.scheme),
            habitat(row),
            row.runs - row.finished,
            row.runs
        ));
    }
    let (repeated, void) =
        rows.iter().fold((0, 0), |(again, void), row| (again + row.repeated, void + row.void));
    if repeated + void > 0 {
        notes.push(format!(
            "Invalid, because the relay or an end was late: {repeated} runs, which were repeated; {void} stayed invalid and do not count."
        ));
    }
    notes
}

fn habitat(row: &Row) -> String {
    match row.congestion_control {
        Some(name) => format!("{} {name}", row.habitat.name),
        None => row.habitat.name.to_owned(),
    }
}

fn number(row: &Row, name: &str, unit: f64) -> String {
    row.summary(name).map_or_else(|| "-".to_owned(), |summary| significant(summary.median / unit))
}

fn packets(row: &Row, name: &str) -> String {
    row.summary(name).map_or_else(|| "-".to_owned(), |summary| halves(summary.median))
}

/// Formats a median of counts, which is a whole number or an odd number of halves.
fn halves(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn per_cent(row: &Row, name: &str) -> String {
    row.share(name).map_or_else(String::new, |share| format!("{:+.1} %", share * 100.0))
}

fn more(row: &Row, name: &str) -> String {
    row.difference(name).map_or_else(String::new, |difference| {
        let sign = if difference < 0.0 { '-' } else { '+' };
        format!("{sign}{}", halves(difference.abs()))
    })
}

fn window(row: &Row) -> String {
    row.summary("exit_window_packets").map_or_else(|| "-".to_owned(), |summary| significant(summary.median))
}

fn exit(row: &Row) -> String {
    match (&row.exit_cause, row.summary("exit_time_s")) {
        (Some(cause), Some(time)) => format!("{cause} @ {}", significant(time.median)),
        (Some(cause), None) => cause.clone(),
        (None, _) => "-".to_owned(),
    }
}

fn range_of(row: &Row, name: &str, show: fn(f64) -> String) -> String {
    match row.summary(name) {
        Some(summary) if row.runs > 1 => format!("{}-{}", show(summary.min), show(summary.max)),
        _ => String::new(),
    }
}

fn runs(row: &Row) -> String {
    if row.runs > 1 || row.void > 0 { row.runs.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use firstflight_habitats::METRICS;

    use super::*;

    #[test]
    fn every_number_of_a_row_is_a_column() {
        for metric in &METRICS {
            assert!(metric.name == "exit_time_s" || fields().contains(&metric.name), "{}", metric.name);
        }
    }
}
