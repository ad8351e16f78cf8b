//! The runs of a race that are the same packet for packet: the page draws and names each of them once.

use firstflight_export::record::{self, Record};

use super::drawn::Drawn;
use crate::report::{Report, Subject};

/// Fields that describe the scheme, not the run.
const NAMES: [&str; 12] = [
    "scheme",
    "label",
    "params",
    "avoidance",
    "recovery",
    "restart",
    "deploy",
    "su_counts",
    "state_bytes",
    "seed",
    "version",
    "scenario_hash",
];

/// The beginning of the names of fields that say what the scheme found, even if it did not use it.
const FOUND: &str = "exit_rate_bps";

/// The rows of a report, with those that are the same run put together.
#[derive(Debug)]
pub(crate) struct Merged {
    /// For each row, the first row that is the same run: itself, unless an earlier row is.
    first: Vec<usize>,
    /// For each row, its run among the drawn ones.
    drawn: Vec<Option<usize>>,
    /// The runs that have a panel, as indices of the drawn ones, in their order.
    panels: Vec<usize>,
    names: Vec<String>,
}

impl Merged {
    /// Finds the rows that are the same run. Only the runs of a race are compared: captures and flows of a population are all different.
    pub(crate) fn new(report: &Report) -> Self {
        let of = |row: &Record| report.drawn.iter().position(|run| run.is_of(row));
        let drawn: Vec<Option<usize>> = report.rows.iter().map(of).collect();
        let is_one_flow = |at: usize| drawn[at].is_none_or(|run| report.drawn[run].flow.is_none());
        let traces = |at: usize| drawn[at].map(|run: usize| &report.drawn[run].run);
        let is_same = |one: usize, other: usize| {
            report.subject == Subject::Race
                && is_one_flow(one)
                && has_equal_numbers(&report.rows[one], &report.rows[other])
                && match (traces(one), traces(other)) {
                    (Some(one), Some(other)) => one.is_same(other),
                    (one, other) => one.is_none() && other.is_none(),
                }
        };
        let mut first: Vec<usize> = Vec::new();
        for at in 0..report.rows.len() {
            let same = (0..at).find(|&earlier| first[earlier] == earlier && is_same(at, earlier));
            first.push(same.unwrap_or(at));
        }
        let is_repeated = |run: usize| {
            let mut rows = (0..first.len()).filter(|&row| drawn[row] == Some(run));
            rows.next().is_some_and(|row| first[row] != row && drawn[first[row]] != Some(run))
        };
        let panels = (0..report.drawn.len()).filter(|&run| !is_repeated(run)).collect();
        let names = report.rows.iter().map(record::name).collect();
        Self { first, drawn, panels, names }
    }

    /// Returns the rows that are no repetition of an earlier row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.first.iter().enumerate().filter(|(at, first)| at == *first).map(|(at, _)| at)
    }

    /// Returns the names of the later rows that are the same run as this row.
    pub(crate) fn others(&self, row: usize) -> Vec<&str> {
        let same = |at: &usize| *at != row && self.first[*at] == self.first[row];
        let mut names: Vec<&str> =
            (0..self.first.len()).filter(same).map(|at| self.names[at].as_str()).collect();
        names.dedup();
        names.retain(|name| *name != self.names[row]);
        names
    }

    /// Returns the drawn runs that have a panel.
    pub(crate) fn panels<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = &'a Drawn> + Clone {
        self.panels.iter().map(|&run| &report.drawn[run])
    }

    /// Returns the scheme of each panel, or the label of a run without a row.
    pub(crate) fn schemes<'a>(&self, report: &'a Report) -> Vec<&'a str> {
        let scheme = |&run: &usize| {
            let row = self.drawn.iter().position(|drawn| *drawn == Some(run));
            let scheme = row.map_or("", |row| record::text(&report.rows[row], "scheme"));
            if scheme.is_empty() { report.drawn[run].label.as_str() } else { scheme }
        };
        self.panels.iter().map(scheme).collect()
    }

    /// Returns the names of the rows that belong to a panel.
    pub(crate) fn names(&self, panel: usize) -> Vec<&str> {
        let of = |at: &usize| self.panel(*at) == Some(panel);
        let mut names: Vec<&str> =
            (0..self.first.len()).filter(of).map(|at| self.names[at].as_str()).collect();
        names.dedup();
        names
    }

    /// Returns the index of the row's panel; `None` if its run is not drawn.
    pub(crate) fn panel(&self, row: usize) -> Option<usize> {
        let run = self.drawn[self.first[row]]?;
        self.panels.iter().position(|&panel| panel == run)
    }
}

fn has_equal_numbers(one: &Record, other: &Record) -> bool {
    let measured = |row: &Record| {
        let is_measured = |field: &str| !NAMES.contains(&field) && !field.starts_with(FOUND);
        let fields = row.iter().filter(|(field, _)| is_measured(field));
        fields.map(|(field, value)| (field.clone(), value.clone())).collect::<Record>()
    };
    measured(one) == measured(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_export::records;
    use firstflight_measure::Recording;
    use serde_json::json;

    fn report(numbers: &[f64], ends: &[u64]) -> Report {
        let names = ["slow-start", "search", "leap"];
        let rows: Vec<_> =
            numbers.iter().zip(names).map(|(cost, name)| json!({"scheme": name, "cost": cost})).collect();
        let run = |(end, name): (&u64, &str)| {
            let run = Recording { label: name.into(), ended_at: *end, mss: 1000, ..Recording::default() };
            Drawn::new(&run, None)
        };
        let drawn = ends.iter().zip(names).map(run).collect();
        Report { rows: records(&rows).unwrap(), drawn, ..Report::default() }
    }

    #[test]
    fn equal_runs_share_a_panel_and_are_named_by_the_first() {
        let report = report(&[2.0, 2.0, 1.0], &[9, 9, 5]);
        let merged = Merged::new(&report);
        assert_eq!(merged.rows().collect::<Vec<_>>(), [0, 2]);
        assert_eq!((merged.others(0), merged.others(2)), (vec!["search"], Vec::<&str>::new()));
        let labels: Vec<&str> = merged.panels(&report).map(|run| run.label.as_str()).collect();
        assert_eq!(labels, ["slow-start", "leap"]);
        assert_eq!([0, 1, 2].map(|row| merged.panel(row)), [Some(0), Some(0), Some(1)]);
    }

    #[test]
    fn runs_with_another_trace_or_another_number_stay_apart() {
        for report in [report(&[2.0, 2.0], &[9, 8]), report(&[2.0, 3.0], &[9, 9])] {
            let merged = Merged::new(&report);
            assert_eq!((merged.rows().count(), merged.panel(1)), (2, Some(1)));
        }
    }
}
