//! Reports start-ups when they end, to all outputs: JSON, Parquet, the metrics, the view, and the final report.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use firstflight_export::rows::ParquetRows;
use firstflight_export::{WholeFile, json, write_whole};
use firstflight_inspect::Inspected;
use firstflight_kernel::{Fact, What};
use firstflight_report::TableStyle;
use firstflight_watch::{
    Closed, Groups, Numbers, Opened, Start, Totals, Watcher, columns, openmetrics, record,
};

use super::options::Watch;
use super::rows::AppendedRows;
use super::serving::Serving;
use super::state::State;
use super::view::{Shown, View};
use crate::failure::Failure;
use crate::inspect::{self, Inspect};
use crate::output;

/// The name of the source of start-ups in messages.
const SOURCE: &str = "watch";
/// The number of latest start-ups that are kept for the view.
const LATEST: usize = 50;
/// The minimum time between two publications of the rows so far. It is also at least the elapsed time divided by the next constant.
const PUBLISHED: Duration = Duration::from_secs(1);
const SHARE: u32 = 64;
/// The time between two drawings of the view.
const DRAWN: Duration = Duration::from_millis(250);

/// All outputs of the command.
pub(super) struct Telling<'a> {
    options: &'a Watch,
    watcher: Watcher,
    groups: Groups,
    told: u64,
    doubtful: u64,
    latest: VecDeque<Start>,
    lines: Vec<u8>,
    rows: Option<AppendedRows>,
    parquet: Option<ParquetRows<WholeFile>>,
    serving: Option<Serving>,
    state: Option<State>,
    /// The metrics as the file of `--state` has them. After a kill, no counter is lower than it was served.
    kept: String,
    /// The totals of earlier runs, by the file of `--state`.
    earlier: Totals,
    report: inspect::Telling<'a>,
    metrics: Option<Metrics>,
    /// The elapsed time from which the rows so far must be published, if there are new ones.
    rows_due: Duration,
    has_new_rows: bool,
    view: Option<View>,
    drawn: Duration,
    totals: Totals,
    /// Retransmissions, and all segments with data, that the kernel counted but that no event reported.
    unseen: [u64; 2],
    failure: Option<Failure>,
    /// Whether the reader of standard output has closed it.
    is_unread: bool,
}

/// The file of metrics, and the elapsed time at which it must be written.
struct Metrics {
    path: PathBuf,
    every: Duration,
    due: Duration,
}

/// Returns the options of `inspect` for the report.
pub(super) fn of_captures(options: &Watch) -> Inspect {
    Inspect {
        captures: vec![PathBuf::from(SOURCE)],
        table: options.table.clone(),
        // This module writes the JSON lines, so the report has none.
        summary: options.summary || options.json,
        json: options.json && options.summary,
        ..Inspect::default()
    }
}

impl<'a> Telling<'a> {
    /// Opens the outputs; `inspect` has the options of the report.
    pub(super) fn new(
        options: &'a Watch,
        inspect: &'a Inspect,
        (every, serving): (Duration, Option<Serving>),
    ) -> Result<Self, Failure> {
        let rows = options.rows.as_deref().map(AppendedRows::open).transpose()?;
        let (state, earlier, groups) = match options.state.as_deref().map(State::open).transpose()? {
            Some((state, earlier, groups)) => (Some(state), earlier, groups),
            None => (None, Totals::default(), Groups::default()),
        };
        let parquet = match &options.parquet {
            Some(path) => {
                let file = WholeFile::create(path).map_err(Failure::write)?;
                Some(ParquetRows::of(file, columns()).map_err(Failure::write)?)
            }
            None => None,
        };
        let metrics = options.openmetrics.clone();
        let metrics = metrics.map(|path| Metrics { path, every, due: Duration::ZERO });
        let wants_view = !(options.json || options.plain) && io::stdout().is_terminal();
        Ok(Self {
            options,
            watcher: Watcher::new(options.prefix),
            groups,
            told: 0,
            doubtful: 0,
            latest: VecDeque::new(),
            lines: Vec::new(),
            rows,
            parquet,
            serving,
            state,
            kept: String::new(),
            earlier,
            report: inspect::Telling::new(inspect)?,
            metrics,
            rows_due: Duration::ZERO,
            has_new_rows: false,
            view: if wants_view { View::open() } else { None },
            drawn: Duration::ZERO,
            totals: Totals::default(),
            unseen: [0; 2],
            failure: None,
            is_unread: false,
        })
    }

    /// Takes one event of a socket.
    pub(super) fn take(&mut self, fact: &Fact<'_>) {
        let firstflight_kernel::Numbers { cwnd, ssthresh, state, at } = fact.numbers;
        let numbers = Numbers { cwnd, ssthresh, state, at };
        let (socket, lost) = (fact.socket, fact.lost);
        match fact.what {
            What::Opened { opening, namespace, cookie, law, retransmitted, data_segments } => {
                let opened = Opened { opening, namespace, cookie, law, retransmitted, data_segments };
                if let Some(start) = self.watcher.opened(socket, numbers, &opened) {
                    self.tell(start);
                }
            }
            What::Named(law) => self.watcher.named(socket, numbers, lost, law),
            What::Sent(departure) => self.watcher.sent(socket, numbers, lost, &departure),
            What::Heard(hearing) => self.watcher.heard(socket, numbers, lost, &hearing),
            What::Closed(closing) => {
                // The kernel's total also counts losses whose events were lost.
                let closed = Closed {
                    lost: closing.lost,
                    law: closing.law,
                    retransmitted: closing.retransmitted,
                    data_segments: closing.data_segments,
                    seen_segments: closing.seen_segments,
                };
                if let Some(start) = self.watcher.closed(socket, numbers, &closed) {
                    self.tell(start);
                }
            }
        }
    }

    /// Reports a start-up. Its row is kept even if another output has failed, because the observation cannot be repeated.
    fn tell(&mut self, mut start: Start) {
        if self.rows.is_some() || self.parquet.is_some() {
            self.keep(&mut start);
        }
        if self.failure.is_none() {
            self.failure = self.put(start).err();
        }
    }

    /// Adds the row of a start-up to the files of rows. A file that fails does not end the other one.
    fn keep(&mut self, start: &mut Start) {
        let row = match record(start) {
            Ok(row) => row,
            Err(error) => {
                self.failure.get_or_insert(Failure::write(error));
                return;
            }
        };
        if let Some(Err(failure)) = self.rows.as_mut().map(|rows| rows.push(&row)) {
            self.rows = None;
            self.failure.get_or_insert(failure);
        }
        if let Some(pushed) = self.parquet.as_mut().map(|parquet| parquet.push(row)) {
            self.has_new_rows = true;
            if let Err(error) = pushed {
                self.parquet = None;
                self.failure.get_or_insert(Failure::write(error));
            }
        }
    }

    fn put(&mut self, start: Start) -> Result<(), Failure> {
        self.told += 1;
        self.doubtful += u64::from(start.facts_lost > 0);
        self.unseen[0] += start.unseen_retransmissions.unwrap_or(0);
        self.unseen[1] += u64::from(start.unseen_segments.unwrap_or(0));
        self.groups.add(&start);
        if self.options.json && !self.options.summary {
            self.lines.extend(json::line(&start).map_err(Failure::write)?.into_bytes());
        }
        if self.view.is_some() {
            self.latest.truncate(LATEST - 1);
            self.latest.push_front(start.clone());
        }
        self.report.take(SOURCE, vec![Inspected { found: start.found, drawn: None }]);
        self.report.check()
    }

    /// Updates the outputs that are due. Returns whether to continue.
    pub(super) fn turn(&mut self, elapsed: Duration, lost: u64) -> bool {
        self.totals = Totals {
            open: self.watcher.open_now() as u64,
            opened: self.watcher.opened_so_far(),
            facts_lost: lost,
        };
        // The rows come first, because a kill at any time must leave them.
        let appended = self.append(elapsed);
        let written = [
            appended,
            self.write_state(elapsed),
            self.flush(),
            self.write_metrics(elapsed),
            self.publish_rows(elapsed),
        ];
        for failure in written.into_iter().filter_map(Result::err) {
            self.failure.get_or_insert(failure);
        }
        let totals = self.all_totals();
        if let Some(serving) = &mut self.serving {
            let is_kept = self.state.is_some();
            serving.turn(elapsed, || {
                if is_kept { self.kept.clone() } else { openmetrics(&self.groups, &totals) }
            });
        }
        let mut goes_on = self.failure.is_none() && !self.is_unread;
        if let Some(view) = &mut self.view {
            goes_on &= !View::is_left();
            if elapsed >= self.drawn {
                self.drawn = elapsed.saturating_add(DRAWN);
                let shown = Shown {
                    elapsed,
                    totals: self.totals,
                    told: self.told,
                    groups: &self.groups,
                    latest: &self.latest,
                };
                view.draw(&shown);
            }
        }
        goes_on
    }

    fn append(&mut self, elapsed: Duration) -> Result<(), Failure> {
        self.rows.as_mut().map_or(Ok(()), |rows| rows.flush(elapsed))
    }

    /// Returns the totals of this run and of earlier ones.
    fn all_totals(&self) -> Totals {
        Totals {
            open: self.totals.open,
            opened: self.earlier.opened + self.totals.opened,
            facts_lost: self.earlier.facts_lost + self.totals.facts_lost,
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.lines);
        if lines.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match out.write_all(&lines).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(())
            }
            Err(error) => Err(Failure::write(format!("cannot write to standard output: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Replaces the file of `--state`, if it is time. What is served afterwards is made of the same counters.
    fn write_state(&mut self, elapsed: Duration) -> Result<(), Failure> {
        let totals = self.all_totals();
        let Some(state) = &mut self.state else { return Ok(()) };
        if state.write(elapsed, totals, &self.groups)? {
            self.kept = openmetrics(&self.groups, &totals);
        }
        Ok(())
    }

    fn write_metrics(&mut self, elapsed: Duration) -> Result<(), Failure> {
        let totals = self.all_totals();
        let Some(metrics) = self.metrics.as_mut().filter(|metrics| elapsed >= metrics.due) else {
            return Ok(());
        };
        metrics.due = elapsed.saturating_add(metrics.every);
        let text = if self.state.is_some() { self.kept.clone() } else { openmetrics(&self.groups, &totals) };
        write_whole(&metrics.path, text.as_bytes()).map_err(Failure::write)
    }

    /// Publishes the rows so far in the Parquet file, if there are new ones. The time between two publications grows with the elapsed time,
    /// because each publication makes a row group and a copy of the file.
    fn publish_rows(&mut self, elapsed: Duration) -> Result<(), Failure> {
        let is_due = self.has_new_rows && elapsed >= self.rows_due;
        let Some(parquet) = self.parquet.as_mut().filter(|_| is_due) else { return Ok(()) };
        self.has_new_rows = false;
        self.rows_due = elapsed.saturating_add(PUBLISHED.max(elapsed / SHARE));
        let end = parquet.end_so_far().map_err(Failure::write)?;
        parquet.out().publish(&end).map_err(Failure::write)
    }

    /// Reports the start-ups of connections that are still open, and the summary. `lost` is the number of events for which there was no
    /// room. `skipped` is the number of calls of the programs that the kernel skipped.
    pub(super) fn end(
        mut self,
        elapsed: Duration,
        (lost, skipped): (u64, u64),
        style: &TableStyle,
        arguments: &[String],
    ) -> Result<(), Failure> {
        // The terminal must be restored before anything is printed.
        drop(self.view.take());
        let open = self.watcher.open_now();
        for start in self.watcher.finish() {
            self.tell(start);
        }
        self.totals = Totals { open: 0, opened: self.watcher.opened_so_far(), facts_lost: lost };
        let state = self.write_state(Duration::MAX);
        let appended = self.append(elapsed);
        if let (Some(rows), Some(path)) = (self.parquet.take(), &self.options.parquet) {
            rows.finish().map_err(Failure::write)?.commit().map_err(Failure::write)?;
            output::say_written(path);
        }
        appended?;
        state?;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.flush()?;
        self.write_metrics(Duration::MAX)?;
        let told = self.words(elapsed, open, skipped);
        if self.options.json {
            output::say(&told);
            if !self.options.summary {
                return Ok(());
            }
        }
        self.report.end(&told, style, arguments)
    }

    /// Describes in one line how much was observed and how much was missed.
    fn words(&self, elapsed: Duration, open: usize, skipped: u64) -> String {
        let Totals { opened, facts_lost, .. } = self.totals;
        let mut told = format!(
            "{SOURCE}: {:.1} s: {opened} connections opened, {open} of them still open; {} start-ups; {} connections sent no data",
            elapsed.as_secs_f64(),
            self.told,
            self.watcher.silent(),
        );
        if facts_lost > 0 {
            let _ = write!(
                told,
                "; {facts_lost} facts found no room in the ring (--ring makes it larger), so that {} start-ups are doubtful",
                self.doubtful
            );
        }
        let unknown = self.watcher.unknown_facts();
        if facts_lost > 0 && unknown > 0 {
            let _ = write!(told, "; {unknown} facts were of connections whose beginning was lost");
        }
        let [retransmissions, segments] = self.unseen;
        if retransmissions > 0 {
            let _ = write!(told, "; {retransmissions} retransmissions that the kernel counts were not seen");
        }
        if segments > 0 {
            let _ =
                write!(told, "; {segments} segments with data that the kernel counts were not seen to leave");
        }
        if skipped > 0 {
            let _ = write!(told, "; the kernel skipped {skipped} calls of the programs");
        }
        told + "\n"
    }
}
