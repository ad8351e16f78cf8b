//! What a race says, written where it was asked for.

use std::path::Path;

use firstflight_measure::{Reference, SchemeResult, VERSION, ideal};
use firstflight_report::svg::figure::{self, Frame};
use firstflight_report::{
    Record, Report, Subject, TableStyle, html, parquet, prose, records, table, windows_table, write_whole,
};
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};
use serde_json::Value;

use crate::args::{OutputOptions, RunOptions};
use crate::drawings::{Drawing, Drawings, base_path};
use crate::failure::Failure;
use crate::output;

/// The results of a race, best first.
pub(crate) struct Results<'a> {
    scenario: &'a Scenario,
    /// As they were asked for.
    choices: &'a [SchemeChoice],
    ranked: Vec<SchemeResult>,
    /// Beside which the verdict judges some of them.
    references: Vec<Reference>,
    runs: &'a RunOptions,
    /// After an interrupt: the rows that lack runs, and how many they have.
    missing: Vec<String>,
    /// What is drawn, in the order of the results.
    drawings: Vec<Drawing>,
    /// Who races it again.
    program: &'a str,
}

impl<'a> Results<'a> {
    /// Puts the results in order.
    pub(crate) fn new(
        (scenario, choices): (&'a Scenario, &'a [SchemeChoice]),
        (mut ranked, references): (Vec<SchemeResult>, Vec<Reference>),
        runs: &'a RunOptions,
        missing: Vec<String>,
        drawings: Drawings,
        program: &'a str,
    ) -> Self {
        firstflight_measure::rank(&scenario.contest(), &mut ranked);
        let drawings = drawings.of(&ranked, scenario.seed);
        Self { scenario, choices, ranked, references, runs, missing, drawings, program }
    }

    /// Writes everything that was asked for. A failure of one output does not keep the others from being
    /// written; the first one is reported.
    pub(crate) fn write(
        mut self,
        to: &OutputOptions,
        style: &TableStyle,
        figure_until: Option<u64>,
    ) -> Result<(), Failure> {
        let records = self.records()?;
        let mut first = Ok(());
        if !records.is_empty() {
            let outputs = [
                self.to_stdout(to, &records, style),
                to_parquet(to, &records),
                self.write_report(to, &records),
                self.write_figure(to, &records, figure_until),
            ];
            first = outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()));
        }
        if first.is_ok() && !self.missing.is_empty() {
            return Err(Failure::interrupted(self.interruption()));
        }
        first
    }

    fn records(&self) -> Result<Vec<Record>, Failure> {
        if self.runs.each_run {
            let rows: Vec<_> = self.ranked.iter().flat_map(|result| result.rows.iter().cloned()).collect();
            return records(&rows).map_err(Failure::write);
        }
        let of = if self.runs.extremes { SchemeResult::object_with_spread } else { SchemeResult::object };
        Ok(self.ranked.iter().map(of).collect())
    }

    fn to_stdout(&self, to: &OutputOptions, records: &[Record], style: &TableStyle) -> Result<(), Failure> {
        if output::print_records(records, to.json, to.csv)? {
            return Ok(());
        }
        let title = prose::fold(&format!("{}\n\n", self.scenario.describe()), style.width, 0);
        let windows = windows_table(records, style.width);
        output::print(&(title + &table::render(&self.shown(records), &self.verdict(), style) + &windows))?;
        let files = [&to.report, &to.figure, &to.parquet, &to.pcap, &to.events, &to.qlog, &to.series];
        if files.into_iter().all(Option::is_none) {
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

    /// The figure shows the rows in the order in which they were asked for.
    fn write_figure(
        &mut self,
        to: &OutputOptions,
        records: &[Record],
        until: Option<u64>,
    ) -> Result<(), Failure> {
        let Some(path) = &to.figure else { return Ok(()) };
        let report = self.report(records);
        let mut recordings: Vec<_> =
            self.drawings.iter_mut().filter_map(|drawing| drawing.recording.take()).collect();
        let asked = |label: &str| self.choices.iter().position(|choice| choice.name() == label);
        recordings.sort_by_key(|run| asked(&run.label));
        let frame = Frame { path: base_path(self.scenario), until, is_one_run: false };
        write(path, figure::render(&report, &recordings, &frame).map_err(Failure::usage)?.as_bytes())
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
        }
    }

    /// The records as people see them: an interval of zero would be read as certainty found by many runs where the seed cannot
    /// make them differ, which the verdict says.
    fn shown(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        if !self.scenario.seed_changes_runs() {
            let is_none = |value: &Value| value.as_f64() == Some(0.0);
            for record in &mut records {
                record.retain(|field, value| !(field.ends_with("_ci95") && is_none(value)));
            }
        }
        records
    }

    /// What the clairvoyant sender would have delivered by the end of the longest run drawn.
    fn ideal(&self) -> Vec<(u64, u64)> {
        let Some(first) = self.drawings.first() else { return Vec::new() };
        // The line is of a sender that always has something to send: beside rounds of replies it would only set the scale.
        if self.scenario.app.is_some() || self.scenario.rounds.is_some() {
            return Vec::new();
        }
        let longest = self.drawings.iter().map(|drawing| drawing.ended_at).max().unwrap_or(0);
        // A transfer that is over delivers no more.
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

    /// The verdict; after an interrupt it says so first.
    fn verdict(&self) -> String {
        let verdict = firstflight_measure::verdict(&self.scenario.contest(), &self.ranked, &self.references);
        if self.missing.is_empty() { verdict } else { format!("{}. So far: {verdict}", self.interruption()) }
    }

    fn interruption(&self) -> String {
        format!("interrupted; runs finished: {}", self.missing.join(", "))
    }
}

fn to_parquet(to: &OutputOptions, records: &[Record]) -> Result<(), Failure> {
    let Some(path) = &to.parquet else { return Ok(()) };
    write(path, &parquet::to_bytes(records).map_err(Failure::write)?)
}

/// Writes a file whole or not at all, and says so.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(path, bytes).map_err(Failure::write)?;
    output::say_written(path);
    Ok(())
}
