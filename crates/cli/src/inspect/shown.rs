//! The senders that the table and the report show: those that sent most bytes, in order of falling size.

use std::cmp::Reverse;
use std::path::Path;

use firstflight_export::{Record, write_whole};
use firstflight_inspect::Inspected;
use firstflight_measure::VERSION;
use firstflight_report::inspected::{Summed, label, labelled, recording};
use firstflight_report::{Drawn, Report, Subject, TableStyle, html, table};

use crate::failure::Failure;
use crate::output;

use super::as_race;
use super::options::Inspect;

/// A sender of fewer segments than this is left out if another sender of its connection sent at least as many.
const FEW: u64 = 10;

/// The maximum number of panels that a report draws.
const MAX_PANELS: usize = 12;

/// The maximum number of senders in the table without `--all`.
const MAX_ROWS: usize = 50;

/// Returns the number of senders whose time series are needed. These are the senders that sent most bytes.
pub(super) fn drawn(options: &Inspect) -> usize {
    match (options.as_race, &options.report) {
        (true, _) if options.all => usize::MAX,
        (true, _) => MAX_ROWS,
        (false, Some(_)) => MAX_PANELS,
        (false, None) => 0,
    }
}

/// A sender, with the name of its capture if there are several captures.
struct One {
    file: Option<String>,
    sender: Inspected,
}

/// The senders that are shown.
#[derive(Default)]
pub(super) struct Shown {
    /// The number of senders whose time series are kept. These are the senders that sent most bytes.
    drawn: usize,
    all: Vec<One>,
    /// The number of senders left out because they have few segments, and for lack of room.
    small: u64,
    crowded: u64,
}

impl Shown {
    /// Creates an empty collection of senders.
    pub(super) fn new(options: &Inspect) -> Self {
        Self { drawn: drawn(options), ..Self::default() }
    }

    /// Adds the senders of one connection.
    pub(super) fn take(&mut self, file: Option<&str>, senders: Vec<Inspected>, is_all: bool) {
        let matter: Vec<bool> = (0..senders.len()).map(|at| is_all || matters(&senders, at)).collect();
        for (sender, matters) in senders.into_iter().zip(matter) {
            if matters {
                self.all.push(One { file: file.map(str::to_owned), sender });
            } else {
                self.small += 1;
            }
        }
        if self.all.len() > 4 * MAX_ROWS {
            self.sort(is_all);
        }
    }

    /// Sorts senders by falling size; senders of equal size keep the order of their connections. Without `is_all`, keeps only as many
    /// senders as there is room for.
    pub(super) fn sort(&mut self, is_all: bool) {
        if is_all && self.all.is_sorted_by_key(|one| Reverse(size(&one.sender))) {
            return;
        }
        self.all.sort_by_key(|one| Reverse(size(&one.sender)));
        if !is_all && self.all.len() > MAX_ROWS {
            self.crowded += (self.all.len() - MAX_ROWS) as u64;
            self.all.truncate(MAX_ROWS);
        }
        self.all.iter_mut().skip(self.drawn).for_each(|one| one.sender.drawn = None);
    }

    /// Renders the table, with a note below it. If no sender is shown, only the text `left_out` remains, which describes what a filter left
    /// out.
    pub(super) fn table(&self, left_out: &str, style: &TableStyle) -> Result<String, Failure> {
        let records = self.records()?;
        if records.is_empty() {
            return Ok(if left_out.is_empty() { String::new() } else { format!("\n{left_out}\n") });
        }
        let note = [self.note("--all shows them, --json has all"), left_out.to_owned()];
        let note =
            note.iter().filter(|note| !note.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
        Ok(format!("\n{}", table::render(&records, &note, style)))
    }

    /// Returns the `race` command of the path that each sender saw.
    pub(super) fn as_races(&self, program: &str) -> String {
        let race = |one: &One| {
            let seen = one.sender.drawn.as_ref().map(|drawn| drawn.path.clone()).unwrap_or_default();
            as_race::command(
                &label(one.file.as_deref(), &one.sender.found),
                &one.sender.found,
                &seen,
                program,
            )
        };
        let races: Vec<String> = self.all.iter().map(race).collect();
        let note = self.note("--all has them");
        let note = if note.is_empty() { note } else { format!("\n# {note}\n") };
        races.join("\n") + &note
    }

    /// Describes the senders that are not shown, in a sentence; empty if all are shown.
    fn note(&self, how: &str) -> String {
        let small = format!("{} senders of fewer than {FEW} segments", self.small);
        let crowded = format!("{} senders that sent less than these", self.crowded);
        let notes = [(self.small, small), (self.crowded, crowded)];
        let notes: Vec<String> =
            notes.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note).collect();
        if notes.is_empty() { String::new() } else { format!("Not shown: {}; {how}.", notes.join(", and ")) }
    }

    /// Returns the records of the senders that are shown.
    pub(super) fn records(&self) -> Result<Vec<Record>, Failure> {
        let mut records = Vec::new();
        for one in &self.all {
            let sender = std::slice::from_ref(&one.sender);
            records.extend(labelled(one.file.as_deref(), sender).map_err(Failure::write)?);
        }
        Ok(records)
    }

    /// Writes the report.
    pub(super) fn report(
        &self,
        path: &Path,
        options: &Inspect,
        (overview, left_out, summary): (&str, &str, Option<Summed>),
        arguments: &[String],
    ) -> Result<(), Failure> {
        let drawn = self.all.iter().filter(|one| one.sender.drawn.is_some()).take(MAX_PANELS);
        let drawn: Vec<_> = drawn
            .filter_map(|one| Some(Drawn::new(&recording(one.file.as_deref(), &one.sender)?, None)))
            .collect();
        let cut = if drawn.len() < self.all.len() {
            format!("The {} that sent most are drawn, of {}.", drawn.len(), self.all.len())
        } else {
            String::new()
        };
        let verdict = [cut, self.note("--all shows them"), left_out.to_owned()];
        let verdict = verdict.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>();
        let names: Vec<String> = options.captures.iter().map(|path| path.display().to_string()).collect();
        let report = Report {
            subject: Subject::Captures,
            title: names.join(", "),
            command: arguments.join(" "),
            version: VERSION.to_owned(),
            scenario_text: overview.to_owned(),
            verdict: verdict.join(" "),
            summary,
            rows: self.records()?,
            drawn,
            ..Report::default()
        };
        let page = html::render(&report).map_err(Failure::write)?;
        write_whole(path, page.as_bytes()).map_err(Failure::write)?;
        output::say_written(path);
        Ok(())
    }
}

/// Returns the bytes that a sender sent. If more bytes were acknowledged, or only these are known, returns the bytes acknowledged.
fn size(sender: &Inspected) -> u64 {
    sender.found.bytes_sent.unwrap_or(0).max(sender.found.bytes_acked)
}

/// Checks whether a sender is shown. A sender of few segments, such as a request, is shown only if all other senders of its connection sent
/// fewer.
fn matters(all: &[Inspected], at: usize) -> bool {
    let one = &all[at].found;
    let mut others = all.iter().enumerate().filter(|(other, _)| *other != at);
    let fewer = |other: &Inspected| other.found.data_segments_sent < one.data_segments_sent;
    one.data_segments_sent.is_none_or(|sent| sent >= FEW) || others.all(|(_, other)| fewer(other))
}
