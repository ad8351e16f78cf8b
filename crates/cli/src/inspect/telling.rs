//! Writes the senders of captures to the outputs as they are found: JSON, CSV, Parquet, the summary, and the table.

use firstflight_export::rows::{self, ParquetRows};
use firstflight_export::{Record, WholeFile, json};
use firstflight_inspect::{Found, Inspected};
use firstflight_report::inspected::{Summary, render_summary};
use firstflight_report::table::selected;
use firstflight_report::{TableStyle, prose};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::session;

use super::filter::Filter;
use super::options::Inspect;
use super::shown::Shown;

/// The size in bytes of the pieces in which JSON and CSV are written.
const PIECE: usize = 1 << 16;

/// All outputs about senders.
pub(crate) struct Telling<'a> {
    options: &'a Inspect,
    filters: Vec<Filter>,
    summary: Summary,
    shown: Shown,
    /// Lines for standard output that have not been written yet.
    lines: Vec<u8>,
    parquet: Option<ParquetRows<WholeFile>>,
    /// The rows of all senders, if a session needs them.
    rows: Option<Vec<Record>>,
    /// The first failure to write a requested output.
    failure: Option<Failure>,
}

/// The line of JSON for a sender.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    found: &'a Found,
}

impl<'a> Telling<'a> {
    /// Opens the requested outputs.
    pub(crate) fn new(options: &'a Inspect) -> Result<Self, Failure> {
        let filters = options.filter.iter().map(|text| Filter::parse(text)).collect::<Result<_, _>>()?;
        let parquet = match &options.parquet {
            Some(path) => {
                let file = WholeFile::create(path).map_err(Failure::write)?;
                Some(ParquetRows::new(file).map_err(Failure::write)?)
            }
            None => None,
        };
        Ok(Self {
            options,
            filters,
            summary: Summary::default(),
            shown: Shown::new(options),
            lines: if options.csv { rows::csv_header().map_err(Failure::write)? } else { Vec::new() },
            parquet,
            rows: session::current().map(|_| Vec::new()),
            failure: None,
        })
    }

    /// Adds the senders of one connection.
    pub(crate) fn take(&mut self, file: &str, senders: Vec<Inspected>) {
        if self.failure.is_none() {
            self.failure = self.tell(file, senders).err();
        }
    }

    /// Returns the first failure to write an output, if there was one.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn tell(&mut self, file: &str, mut senders: Vec<Inspected>) -> Result<(), Failure> {
        let had = senders.len();
        let has_rows = self.options.csv || self.parquet.is_some() || self.rows.is_some();
        let needs_row = has_rows || self.filters.iter().any(Filter::reads_fields);
        let mut failure = None;
        let mut records: Vec<Record> = Vec::new();
        senders.retain_mut(|one| {
            let row = if needs_row { rows::row(file, &mut one.found) } else { Ok(Record::new()) };
            let row = row.unwrap_or_else(|error| {
                failure = Some(Failure::write(error));
                Record::new()
            });
            let is_wanted = self.filters.iter().all(|filter| filter.takes(&one.found, &row));
            if is_wanted && has_rows {
                records.push(row);
            }
            is_wanted
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        self.summary.leave_out((had - senders.len()) as u64);
        if senders.is_empty() {
            return Ok(());
        }
        self.summary.add_connection();
        for one in &senders {
            self.summary.add(&one.found);
        }
        for record in records {
            if self.options.csv {
                self.lines.extend(rows::csv_line(&record).map_err(Failure::write)?);
            }
            if let Some(rows) = &mut self.rows {
                let column = |name: &str| (name.to_owned(), record.get(name).cloned().unwrap_or_default());
                rows.push(rows::columns().map(|of| column(of.name)).collect());
            }
            if let Some(parquet) = &mut self.parquet {
                parquet.push(record).map_err(Failure::write)?;
            }
        }
        if self.options.json && !self.options.summary {
            let file = (self.options.captures.len() > 1).then_some(file);
            let lines: Vec<_> = senders.iter().map(|one| Line { file, found: &one.found }).collect();
            json::write_lines(&mut self.lines, &lines).map_err(Failure::write)?;
        }
        if self.lines.len() >= PIECE {
            self.flush()?;
        }
        if self.options.report.is_some() || !(self.options.json || self.options.csv || self.options.summary) {
            let name = (self.options.captures.len() > 1).then_some(file);
            self.shown.take(name, senders, self.options.all);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.lines);
        output::print_bytes(&lines)
    }

    /// Writes the remaining outputs. `overview` describes what was read, with a line for each capture.
    pub(crate) fn end(
        mut self,
        overview: &str,
        style: &TableStyle,
        arguments: &[String],
    ) -> Result<(), Failure> {
        self.shown.sort(self.options.all);
        self.flush()?;
        self.deposit(overview, style)?;
        if self.options.as_race {
            let text = self.shown.as_races(arguments.first().map_or("firstflight", String::as_str));
            output::say_lines(overview);
            if !self.left_out().is_empty() {
                output::note(&[self.left_out()]);
            }
            output::print(&text)?;
        } else {
            self.print(overview, style)?;
        }
        if let (Some(rows), Some(path)) = (self.parquet.take(), &self.options.parquet) {
            rows.finish().map_err(Failure::write)?.commit().map_err(Failure::write)?;
            output::say_written(path);
        }
        self.write_page(overview, arguments)
    }

    /// Gives the session the rows of all senders, the summary as JSON, and the description of what was read as the verdict.
    fn deposit(&mut self, overview: &str, style: &TableStyle) -> Result<(), Failure> {
        let Some(rows) = self.rows.take() else { return Ok(()) };
        session::table("rows", || rows);
        let shown = self.shown.records()?;
        session::selected(|| selected(&shown, style));
        let summary = json::line(&self.summary.summed()).map_err(Failure::write)?;
        session::text("summary", || summary);
        let notes = self.left_out();
        session::text("verdict", || [overview.trim_end(), &notes].join("\n").trim_end().to_owned());
        Ok(())
    }

    /// Writes only the page of the report.
    pub(super) fn page(mut self, overview: &str, arguments: &[String]) -> Result<(), Failure> {
        self.shown.sort(self.options.all);
        self.write_page(overview, arguments)
    }

    fn write_page(&self, overview: &str, arguments: &[String]) -> Result<(), Failure> {
        let Some(path) = &self.options.report else { return Ok(()) };
        let summary = (self.summary.senders() > 1).then(|| self.summary.summed());
        self.shown.report(path, self.options, (overview, &self.left_out(), summary), arguments)
    }

    fn print(&self, overview: &str, style: &TableStyle) -> Result<(), Failure> {
        let options = self.options;
        if options.json || options.csv {
            if self.summary.left_out() > 0 {
                output::note(&[self.left_out()]);
            }
            if !options.summary {
                return Ok(());
            }
            return output::print(&json::line(&self.summary.summed()).map_err(Failure::write)?);
        }
        let mut text = prose::fold(overview, style.width, 2);
        if self.summary.senders() > 1 || options.summary {
            text.push('\n');
            text += &render_summary(&self.summary.summed(), style.width);
        }
        let notes = self.left_out();
        if options.summary {
            if !notes.is_empty() {
                text = [&text, "\n", &notes, "\n"].concat();
            }
            return output::print(&text);
        }
        output::print(&(text + &self.shown.table(&notes, style)?))
    }

    /// Describes in a sentence what the filters left out; empty if they left out nothing.
    fn left_out(&self) -> String {
        let (left_out, senders) = (self.summary.left_out(), self.summary.senders());
        if left_out == 0 {
            return String::new();
        }
        let filters: Vec<_> = self.options.filter.iter().map(|filter| format!("`{filter}`")).collect();
        format!("--filter {} leaves out {left_out} of {} senders.", filters.join(" and "), left_out + senders)
    }
}
