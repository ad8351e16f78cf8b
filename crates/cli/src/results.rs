//! Writes the results of a race to the requested outputs.

use std::cell::OnceCell;
use std::path::Path;

use firstflight_export::{Record, parquet, record, records, write_whole};
use firstflight_measure::{Reference, SchemeResult, VERSION, ideal, noted};
use firstflight_report::{Report, Subject, TableStyle, html, markdown, prose, table, windows_table};
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};
use serde_json::Value;

use crate::checks::{Checks, Form};
use crate::drawings::{Drawing, Drawings, base_path, queue_packets};
use crate::failure::Failure;
use crate::figures::{Look, figure_of};
use crate::options::{OutputOptions, RunOptions};
use crate::output;
use crate::partial::Partial;
use crate::session;

/// The results of a race, best first.
pub(crate) struct Results<'a> {
    scenario: &'a Scenario,
    /// The schemes in the order of the command line.
    choices: &'a [SchemeChoice],
    ranked: Vec<SchemeResult>,
    /// The results of byte-counting slow start with which the verdict compares some schemes.
    references: Vec<Reference>,
    /// The note on the ranking under one law, if the laws of the schemes differ.
    under_one_law: Option<String>,
    runs: &'a RunOptions,
    /// The description of an interrupted race; `None` for complete results.
    partial: Option<Partial>,
    /// The data for plots, in the order of the results.
    drawings: Vec<Drawing>,
    /// The name of the program that reproduces the race.
    program: &'a str,
    /// The verdict, once it is needed: several outputs have it.
    verdict: OnceCell<String>,
}

impl<'a> Results<'a> {
    /// Orders the results, best first.
    pub(crate) fn new(
        (scenario, choices): (&'a Scenario, &'a [SchemeChoice]),
        (mut ranked, references, under_one_law): (Vec<SchemeResult>, Vec<Reference>, Option<String>),
        runs: &'a RunOptions,
        partial: Option<Partial>,
        drawings: Drawings,
        program: &'a str,
    ) -> Self {
        firstflight_measure::rank(&scenario.contest(), &mut ranked);
        let drawings = drawings.of(&ranked, scenario.seed);
        let verdict = OnceCell::new();
        Self {
            scenario,
            choices,
            ranked,
            references,
            under_one_law,
            runs,
            partial,
            drawings,
            program,
            verdict,
        }
    }

    /// Writes all requested outputs. If one output fails, the others are still written, and the first failure is returned. Partial results
    /// are only printed.
    pub(crate) fn write(
        mut self,
        to: &OutputOptions,
        (style, checks): (&TableStyle, &Checks),
        look: Look,
    ) -> Result<(), Failure> {
        let records = self.records()?;
        if let Some(partial) = &self.partial {
            if !records.is_empty() {
                self.to_stdout(to, &records, style, checks.is_markdown)?;
            }
            return Err(partial.failure());
        }
        if session::current().is_some() {
            let runs = self.run_records()?;
            session::table("runs", || runs);
            session::text("verdict", || self.verdict());
            session::selected(|| table::selected(&self.shown(&records), style));
            session::text("title", || self.scenario.describe());
            session::text("command", || self.scenario.command(self.program, &show_choices(self.choices)));
        }
        let outputs = [
            self.to_stdout(to, &records, style, checks.is_markdown),
            to_parquet(to, &records),
            self.write_report(to, &records),
            self.write_figure(to, &records, look),
            self.check(to, checks, style),
        ];
        outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }

    /// Compares the rows of single runs with the baseline, and checks the conditions.
    fn check(&self, to: &OutputOptions, checks: &Checks, style: &TableStyle) -> Result<(), Failure> {
        let form = Form::of(checks.is_markdown, to.json || to.csv);
        checks.carry_out(self.run_records()?, form, style)
    }

    /// Returns the rows of single runs.
    fn run_records(&self) -> Result<Vec<Record>, Failure> {
        let rows: Vec<_> = self.ranked.iter().flat_map(|result| &result.rows).collect();
        records(&rows).map_err(Failure::write)
    }

    fn records(&self) -> Result<Vec<Record>, Failure> {
        if self.runs.each_run {
            return self.run_records();
        }
        let of = if self.runs.extremes { SchemeResult::object_with_spread } else { SchemeResult::object };
        Ok(self.ranked.iter().map(of).collect())
    }

    fn to_stdout(
        &self,
        to: &OutputOptions,
        records: &[Record],
        style: &TableStyle,
        is_markdown: bool,
    ) -> Result<(), Failure> {
        if output::print_records(records, self.partial.as_ref(), (to.json, to.csv))? {
            return Ok(());
        }
        if is_markdown {
            let title = format!("### {}\n\n", markdown::text(&self.scenario.describe()));
            return output::print(&(title + &table::markdown(&self.shown(records), &self.verdict(), style)));
        }
        let title = prose::fold(&format!("{}\n\n", self.scenario.describe()), style.width, 0);
        let windows = windows_table(records, style.width);
        output::print(&(title + &table::render(&self.shown(records), &self.verdict(), style) + &windows))?;
        let folders = [&to.pcap, &to.events, &to.qlog];
        let has_files = to.files().next().is_some() || folders.into_iter().any(Option::is_some);
        if !has_files && self.partial.is_none() && session::current().is_none() {
            output::say("nothing was written to a file; --report FILE.html draws this race\n");
        }
        Ok(())
    }

    fn write_report(&mut self, to: &OutputOptions, records: &[Record]) -> Result<(), Failure> {
        let Some(path) = &to.report else { return Ok(()) };
        let mut report = self.report(records);
        report.drawn = self.drawings.iter_mut().filter_map(|drawing| drawing.drawn.take()).collect();
        write(path, html::render(&report).map_err(Failure::write)?.as_bytes())
    }

    /// Writes the figure, with the rows in the order of the command line.
    fn write_figure(&mut self, to: &OutputOptions, records: &[Record], look: Look) -> Result<(), Failure> {
        let Some(path) = &to.figure else { return Ok(()) };
        let report = self.report(records);
        let mut recordings: Vec<_> =
            self.drawings.iter_mut().filter_map(|drawing| drawing.recording.take()).collect();
        let asked = |label: &str| self.choices.iter().position(|choice| choice.name() == label);
        recordings.sort_by_key(|run| asked(&run.label));
        let frame = look.frame(base_path(self.scenario), false);
        write(path, &figure_of(&report, &recordings, &frame, path)?)
    }

    fn report(&self, records: &[Record]) -> Report {
        Report {
            subject: Subject::Race,
            title: self.scenario.describe(),
            command: self.scenario.command(self.program, &show_choices(self.choices)),
            version: VERSION.to_owned(),
            seed: self.scenario.seed,
            scenario_hash: self.scenario.hash(),
            scenario_text: self.scenario.canonical(),
            verdict: self.verdict(),
            rows: self.shown(records),
            drawn: Vec::new(),
            ideal: self.ideal(),
            summary: None,
            queue_packets: queue_packets(self.scenario),
        }
    }

    /// Returns the records as people see them, with the spread of skewed fields. If the verdict says that the seed changes no run, confidence intervals of zero are removed,
    /// because they would suggest the certainty of many runs.
    fn shown(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        if !self.runs.each_run {
            for (record, result) in records.iter_mut().zip(&self.ranked) {
                add_spread(record, &result.object_with_spread());
            }
        }
        if !self.scenario.seed_changes_runs() {
            let is_none = |value: &Value| value.as_f64() == Some(0.0);
            for record in &mut records {
                record.retain(|field, value| !(field.ends_with("_ci95") && is_none(value)));
            }
        }
        records
    }

    /// Returns the deliveries of the ideal sender until the end of the longest run in a plot.
    fn ideal(&self) -> Vec<(u64, u64)> {
        let Some(first) = self.drawings.first() else { return Vec::new() };
        // The line is that of a sender that always has data to send. With rounds of replies or pauses it would only stretch the scale.
        if self.scenario.app.is_some() || self.scenario.rounds.is_some() {
            return Vec::new();
        }
        let longest = self.drawings.iter().map(|drawing| drawing.ended_at).max().unwrap_or(0);
        // A transfer that has finished delivers no more.
        let ideal_fct = self.ranked.iter().find_map(|result| result.rows.first()?.ideal_fct_s?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a span of the run, above zero"
        )]
        let until = ideal_fct.map_or(longest, |seconds| longest.min(first.syn_at + (seconds * 1e9) as u64));
        let payload_share = (u64::from(self.scenario.mss), u64::from(self.scenario.packet()));
        let common = self.ranked.iter().find_map(|result| result.ideal.as_deref());
        ideal::ideal_line(common.unwrap_or(&first.ideal), until, payload_share)
    }

    /// Returns the verdict; for partial results, the sentence that replaces it.
    fn verdict(&self) -> String {
        let verdict = || {
            let verdict =
                firstflight_measure::verdict(&self.scenario.contest(), &self.ranked, &self.references);
            noted(&verdict, self.under_one_law.clone())
        };
        let computed = || self.partial.as_ref().map_or_else(verdict, Partial::sentence);
        self.verdict.get_or_init(computed).clone()
    }
}

/// Adds the spread of the fields whose interval is wider than their mean, for which tables show the median and the range.
fn add_spread(record: &mut Record, spread: &Record) {
    let is_wide = |field: &str| {
        let half = record::number(record, &format!("{field}_ci95")).unwrap_or(0.0);
        record::number(record, field).is_some_and(|mean| half > mean)
    };
    let wide: Vec<String> = record.keys().filter(|field| is_wide(field)).cloned().collect();
    for field in wide {
        for suffix in ["_median", "_min", "_max"] {
            let name = format!("{field}{suffix}");
            if let Some(value) = spread.get(&name) {
                record.insert(name, value.clone());
            }
        }
    }
}

/// Writes the records as Parquet if that is requested.
pub(crate) fn to_parquet(to: &OutputOptions, records: &[Record]) -> Result<(), Failure> {
    let Some(path) = &to.parquet else { return Ok(()) };
    write(path, &parquet::to_bytes(records).map_err(Failure::write)?)
}

/// Writes a file, completely or not at all, and reports that it was written.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(path, bytes).map_err(Failure::write)?;
    output::say_written(path);
    Ok(())
}
