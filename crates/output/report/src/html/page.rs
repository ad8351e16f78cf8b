//! The text and the tables of the report's page.

use serde::Serialize;

use super::captured::{self, Listing, exit_time};
use super::merged::Merged;
use super::opening::takes_more_than_a_share;
use crate::human;
use crate::report::{Report, Subject};
use crate::undefined;
use crate::view::{self, Show};
use crate::views;
use firstflight_export::columns::{CI95, Kind, described};
use firstflight_export::record::{self, Record, number, text};

/// The text around the results.
#[derive(Serialize)]
pub(crate) struct Words<'a> {
    is_capture: bool,
    is_transfer: bool,
    title: &'a str,
    command: &'a str,
    version: &'a str,
    seed: u64,
    scenario_hash: &'a str,
    scenario_text: &'a str,
    /// The lines of the verdict: its headline, and its notes.
    verdict: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(report: &'a Report) -> Self {
        Self {
            is_capture: report.subject == Subject::Captures,
            is_transfer: report.subject == Subject::Transfers,
            title: &report.title,
            command: &report.command,
            version: &report.version,
            seed: report.seed,
            scenario_hash: &report.scenario_hash,
            scenario_text: &report.scenario_text,
            verdict: report.verdict.lines().collect(),
        }
    }
}

/// The verdict table.
#[derive(Serialize)]
pub(crate) struct Table {
    heads: Vec<Head>,
    rows: Vec<Vec<Cell>>,
    /// The reasons why cells are undefined, in the order of their footnotes.
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct Head {
    /// The words of the head. A line may break between them.
    words: Vec<String>,
    unit: String,
    is_words: bool,
    /// The column's meaning.
    meaning: String,
}

#[derive(Serialize)]
struct Cell {
    /// The parts of the cell. A line may break between them. A space stays with the part before it.
    parts: Vec<String>,
    /// The small print below the cell. Below a label it is the scheme, split like `parts`. Below a mean it is half the width of the
    /// confidence interval and, if some runs lack the number, the number of runs that have it.
    /// interval, and the number of runs that have it, if not all.
    below: Vec<String>,
    /// The value by which the script sorts the column; empty if undefined.
    key: String,
    is_words: bool,
    /// The number of the footnote that says why the cell is undefined.
    note: Option<usize>,
    /// The index of the panel that this row links to and whose colour it has; `None` without a panel.
    panel: Option<usize>,
}

pub(crate) fn verdict_table(report: &Report, merged: &Merged) -> Table {
    let mut columns = views::columns_for(&report.rows);
    if report.subject == Subject::Transfers {
        // A column in which every cell is undefined is left out.
        columns.retain(|view| report.rows.iter().any(|row| view.cell(row) != "-"));
    }
    let meaning = |field: &str| {
        let column = described(&report.rows).iter().find(|column| column.name == field);
        column.map_or_else(String::new, |column| column.meaning.to_owned())
    };
    let heads = columns.iter().map(|view| {
        let [first, second] = view.head;
        // A hyphen at the end of the first line splits a word for the narrow terminal. Here the word is joined again.
        let (name, unit) = match (first.strip_suffix('-'), second.split_once(' ')) {
            (Some(start), None) => (format!("{start}{second}"), ""),
            (Some(start), Some((rest, unit))) => (format!("{start}{rest}"), unit),
            (None, Some((rest, unit))) if rest != "@" => (format!("{first} {rest}"), unit),
            _ => (first.to_owned(), second),
        };
        // A space stays with the word before it.
        let words = name.replace(" %", "\u{a0}%").split_inclusive(' ').map(str::to_owned).collect();
        Head { words, unit: spelt(unit), is_words: view.is_words(), meaning: meaning(view.field) }
    });
    let fields: Vec<&str> = columns.iter().map(|view| view.field).collect();
    let is_dash = |at: usize, column: usize| columns[column].cell(&report.rows[at]) == "-";
    let notes = undefined::footnotes(&fields, &report.rows, is_dash);
    let rows = report.rows.iter().zip(&notes.marks).enumerate().map(|(at, (row, marks))| {
        let panel = merged.panel(at);
        let cells = columns.iter().zip(marks).map(|(view, note)| {
            let shown = view.shown(row);
            let (parts, below) = match view.show {
                Show::Name if captured::is_sender(row) => captured::named(row),
                Show::Name => named(row, columns.iter().any(|view| view.field == "restart")),
                Show::Text => (breakable(&dash(&shown.value)), Vec::new()),
                _ => (vec![dash(&shown.value)], shown.beside()),
            };
            Cell {
                parts,
                below,
                key: match view.sort_key(row) {
                    Some(key) => key.to_string(),
                    None if view.is_words() && view.field != "exit_cause" => shown.value,
                    None => String::new(),
                },
                is_words: view.is_words(),
                note: *note,
                panel: panel.filter(|_| matches!(view.show, Show::Name)),
            }
        });
        cells.collect()
    });
    Table { heads: heads.collect(), rows: rows.collect(), reasons: notes.reasons.clone() }
}

/// Returns the result's name, and the small print below it: the scheme and parameters that the label names. A restart policy that has
/// its own column is left out.
fn named(row: &Record, has_restart: bool) -> (Vec<String>, Vec<String>) {
    let [label, scheme, params] = ["label", "scheme", "params"].map(|field| text(row, field));
    let is_shown = |part: &&str| !(part.is_empty() || has_restart && part.starts_with("restart="));
    let params = params.split(',').filter(is_shown).collect::<Vec<_>>().join(",");
    let whole = if params.is_empty() { scheme.to_owned() } else { format!("{scheme}:{params}") };
    match label {
        "" => (vec![scheme.to_owned()], breakable(&params)),
        label => (vec![label.to_owned()], breakable(&whole)),
    }
}

/// Splits the text of a scheme or a policy at the places where a line may break.
fn breakable(text: &str) -> Vec<String> {
    text.split_inclusive([':', ',', '/']).map(str::to_owned).collect()
}

fn spelt(unit: &str) -> String {
    match unit {
        "p" => "packets".to_owned(),
        unit => unit.to_owned(),
    }
}

/// Returns the cell, with a dash for an undefined value.
fn dash(cell: &str) -> String {
    if cell == "-" { "–".to_owned() } else { cell.to_owned() }
}

/// The table of every field of every result, with a row for each field.
#[derive(Serialize)]
pub(crate) struct EveryNumber {
    names: Vec<String>,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    name: String,
    unit: String,
    values: Vec<String>,
    is_words: bool,
}

pub(crate) fn every_number(report: &Report) -> EveryNumber {
    let is_list = |name: &str| {
        report.rows.iter().any(|row| row.get(name).is_some_and(|value| value.is_array() || value.is_object()))
    };
    let shown = |name: &String| {
        !matches!(name.as_str(), "scheme" | "label" | "seed" | "version" | "scenario_hash") && !is_list(name)
    };
    let fields = record::fields(&report.rows).into_iter().filter(shown).map(|name| {
        let bare = name.strip_suffix(CI95).unwrap_or(&name);
        let column = described(&report.rows).iter().find(|column| column.name == bare);
        Field {
            unit: column.map_or("", |column| column.unit).replace('1', ""),
            is_words: column.is_some_and(|column| matches!(column.kind, Kind::Text | Kind::Truth)),
            values: report.rows.iter().map(|row| exact(row, &name)).collect(),
            name,
        }
    });
    EveryNumber { fields: fields.collect(), names: report.rows.iter().map(record::name).collect() }
}

/// Returns the exact value, as in the exports.
fn exact(row: &Record, field: &str) -> String {
    match row.get(field) {
        None | Some(serde_json::Value::Null) => "–".to_owned(),
        Some(serde_json::Value::String(words)) => words.clone(),
        Some(value) => value.to_string(),
    }
}

/// The definition of a field.
#[derive(Serialize)]
pub(crate) struct Definition {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
}

/// Returns the definitions of the fields that the results have.
pub(crate) fn definitions(report: &Report) -> Vec<Definition> {
    let fields = record::fields(&report.rows);
    described(&report.rows)
        .iter()
        .filter(|column| fields.iter().any(|field| field == column.name))
        .map(|column| Definition {
            name: column.name,
            unit: if column.unit == "1" { "" } else { column.unit },
            meaning: column.meaning,
        })
        .collect()
}

/// The panel of a scheme, apart from its plots.
#[derive(Serialize)]
pub(crate) struct Panel {
    index: usize,
    name: String,
    /// The names of other schemes with the same run; empty if there are none.
    same: String,
    /// The facts of the row, in a few words each.
    facts: Vec<(&'static str, String)>,
    /// A summary for readers who do not see the plots.
    summary: String,
    /// Tables below the plots, which the reader can unfold.
    listings: Vec<Listing>,
}

pub(crate) fn panels(report: &Report, merged: &Merged) -> Vec<Panel> {
    // The facts of a population's flow come only from a row of flows, not from the row of its scheme.
    let row_of = |run: &super::Drawn| {
        report.rows.iter().position(|row| run.is_of(row) && (run.flow.is_none() || row.contains_key("flow")))
    };
    let panel = |(index, run): (usize, &super::Drawn)| {
        let is_capture = report.subject == Subject::Captures;
        let tell = if is_capture { captured::facts } else { facts };
        let at = row_of(run);
        let row = at.map(|at| &report.rows[at]);
        let facts = row.map(tell).unwrap_or_default();
        let plots = match report.subject {
            Subject::Captures => {
                "Three plots over one time axis: sequence, bytes in flight, round-trip time."
            }
            Subject::Transfers => "Three plots over one time axis: sequence, window, round-trip time.",
            Subject::Race => "Four plots over one time axis: sequence, window, round-trip time, queue.",
        };
        let shown: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        Panel {
            index,
            name: row.filter(|_| run.flow.is_none()).map_or_else(|| run.label.clone(), record::name),
            same: at.map(|at| merged.others(at).join(", ")).unwrap_or_default(),
            summary: format!("{}: {}. {plots}", run.label, shown.join(", ")),
            listings: row.filter(|_| is_capture).map(captured::listings).unwrap_or_default(),
            facts,
        }
    };
    merged.panels(report).enumerate().map(panel).collect()
}

fn facts(row: &Record) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(runs) = number(row, "runs").filter(|_| view::is_mean(row)) {
        facts.push(("means of", format!("{runs:.0} runs; the first is drawn")));
    }
    let avoidance = text(row, "avoidance");
    if !avoidance.is_empty() {
        facts.push(("avoidance", avoidance.to_owned()));
    }
    let mut say = |name, field, show: &dyn Fn(f64) -> String| {
        if let Some(value) = number(row, field) {
            let some = view::some_runs(row, field);
            let runs = some.map_or_else(String::new, |(had, runs)| format!(" in {had:.0} of {runs:.0} runs"));
            facts.push((name, show(value) + &runs));
        }
    };
    say("completed in", "fct_s", &human::seconds);
    let share = if takes_more_than_a_share(row) { ", more than a fair share" } else { "" };
    say("cost", "cost", &|cost| format!("{} × ideal{share}", human::significant(cost)));
    say("throughput", "throughput_bps", &human::rate);
    say("su-time", "su_time_s", &human::seconds);
    say("su-loss", "su_loss", &|loss| format!("{} %", human::significant(loss * 100.0)));
    say("found", "exit_rate_bps", &human::rate);
    say("exit window", "exit_cwnd_over_bdp", &|ratio| format!("{} BDP", human::significant(ratio)));
    let (cause, some) = view::exit_cause(row);
    if !cause.is_empty() {
        let runs = some.map_or_else(String::new, |(had, runs)| format!(" in {had} of {runs} runs"));
        facts.push(("exit", format!("{cause}{runs}{}", exit_time(row))));
    }
    if let Some(timeouts) = number(row, "timeouts").filter(|&timeouts| timeouts > 0.0) {
        let shown = if view::is_mean(row) { human::significant(timeouts) } else { format!("{timeouts:.0}") };
        facts.push(("timeouts", shown));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_export::records;
    use serde_json::json;

    /// Returns the cells of these rows, each as its text and its small print.
    fn cells(rows: &[serde_json::Value]) -> Vec<Vec<(String, String)>> {
        let report = Report { rows: records(rows).unwrap(), ..Report::default() };
        let said = |cell: &Cell| (cell.parts.concat(), cell.below.concat());
        verdict_table(&report, &Merged::new(&report))
            .rows
            .iter()
            .map(|row| row.iter().map(said).collect())
            .collect()
    }

    fn has(cells: &[(String, String)], parts: &str, below: &str) -> bool {
        cells.iter().any(|cell| (cell.0.as_str(), cell.1.as_str()) == (parts, below))
    }

    #[test]
    fn half_of_an_interval_stands_below_its_mean() {
        let row = json!({"scheme": "vegas", "throughput_bps": 2e6, "throughput_bps_ci95": 3e5, "exit_cause": "loss",
            "exit_time_s": 1.5, "exit_time_s_ci95": 0.25, "runs": 5});
        let cells = cells(&[row]);
        assert!(has(&cells[0], "2.00", "±0.30") && has(&cells[0], "loss @ 1.50", "±0.25"), "{cells:?}");
    }

    #[test]
    fn a_mean_of_some_runs_says_of_how_many() {
        let row = json!({"scheme": "vegas", "fct_s": 0.39, "fct_s_ci95": 0.055, "fct_s_runs": 7, "su_time_s": 0.2,
            "su_time_s_ci95": null, "su_time_s_runs": 1, "throughput_bps": 2e6, "throughput_bps_ci95": 0.0, "runs": 10});
        let cells = cells(std::slice::from_ref(&row));
        let [fct, su_time, throughput] = [("0.390", "±0.055, 7/10"), ("0.200", "1/10"), ("2.00", "±0")];
        for (mean, below) in [fct, su_time, throughput] {
            assert!(has(&cells[0], mean, below), "{cells:?}");
        }
        let facts = facts(&records(&[row]).unwrap()[0]);
        for fact in [("completed in", "390 ms in 7 of 10 runs"), ("su-time", "200 ms in 1 of 10 runs")] {
            assert!(facts.contains(&(fact.0, fact.1.to_owned())), "{facts:?}");
        }
        assert!(facts.contains(&("throughput", "2.00 Mbit/s".to_owned())), "{facts:?}");
    }

    #[test]
    fn a_restart_policy_is_said_once_and_breaks_between_its_settings() {
        let params = "recovery=vegas,restart=rbp-rate/scale=100%";
        let row = |label: &str| json!({"scheme": "vegas", "label": label, "params": params, "restart": "rbp-rate/scale=100%", "elapsed_s": 1});
        let rows = [row("mine"), row("")];
        let of = cells(&rows);
        assert!(
            has(&of[0], "mine", "vegas:recovery=vegas") && has(&of[1], "vegas", "recovery=vegas"),
            "{of:?}"
        );
        assert!(has(&of[0], "rbp-rate/scale=100%", ""), "{of:?}");
        assert_eq!(breakable("rbp-rate/scale=100%/after=cut"), ["rbp-rate/", "scale=100%/", "after=cut"]);
        // In a table without a column for the restart policy, the policy is below the name.
        let single = json!({"scheme": "vegas", "params": params, "restart": "rbp-rate/scale=100%"});
        assert!(has(&cells(&[single])[0], "vegas", params));
    }

    #[test]
    fn a_panel_of_means_notes_the_drawn_run_and_the_exit_time() {
        let row = json!({"scheme": "vegas", "exit_cause": "loss", "exit_time_s": 1.5, "runs": 5});
        let facts = facts(&records(&[row]).unwrap()[0]);
        assert!(facts.contains(&("means of", "5 runs; the first is drawn".to_owned())), "{facts:?}");
        assert!(facts.contains(&("exit", "loss at 1.50 s".to_owned())), "{facts:?}");
    }

    #[test]
    fn an_exit_of_some_runs_says_of_how_many() {
        let row = json!({"scheme": "vegas", "exit_cause": "mixed", "exit_causes": {"loss": 1, "none": 19},
            "exit_time_s": 0.471, "exit_time_s_runs": 1, "runs": 20});
        assert!(has(&cells(std::slice::from_ref(&row))[0], "loss 1/20 @ 0.471", ""));
        let facts = facts(&records(&[row]).unwrap()[0]);
        let exit = ("exit", "loss in 1 of 20 runs at 471 ms".to_owned());
        assert!(facts.contains(&exit), "{facts:?}");
    }

    #[test]
    fn an_undefined_cell_has_the_footnote_that_says_why() {
        let row = |undefined: serde_json::Value| {
            json!({"connection": 1, "from": "a", "to": "b", "handshake_rtt_s": null, "initial_window_segments": null,
                "exit_cause": "loss", "undefined": undefined})
        };
        let rows = [
            row(json!({"handshake_rtt_s": "no <SYN>", "initial_window_segments": "no <SYN>"})),
            row(json!({"handshake_rtt_s": "too late", "initial_window_segments": "no <SYN>"})),
        ];
        let report =
            Report { subject: Subject::Captures, rows: records(&rows).unwrap(), ..Report::default() };
        let table = verdict_table(&report, &Merged::new(&report));
        assert_eq!(table.reasons, ["no <SYN>", "too late"]);
        let notes =
            |row: usize| -> Vec<usize> { table.rows[row].iter().filter_map(|cell| cell.note).collect() };
        assert_eq!((notes(0), notes(1)), (vec![1, 1], vec![2, 1]));
        let page = crate::html::render(&report).unwrap();
        assert!(page.contains("–<sup><a href=\"#why-1\" title=\"no &lt;SYN&gt;\">1</a></sup>"));
        assert!(page.contains("<li id=\"why-2\">too late</li>"));
    }
}
