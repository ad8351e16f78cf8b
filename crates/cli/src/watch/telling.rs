//! What is told of start-ups as they end: JSON, Parquet, the metrics, the view, and the report in the end.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use firstflight_inspect::Inspected;
use firstflight_kernel::{Fact, What};
use firstflight_report::inspected::rows::ParquetRows;
use firstflight_report::{TableStyle, WholeFile, json, write_whole};
use firstflight_watch::{Groups, Numbers, Opened, Start, Totals, Watcher, columns, openmetrics, record};

use super::Watch;
use super::view::{Shown, View};
use crate::args::Inspect;
use crate::failure::Failure;
use crate::inspect;
use crate::output;

/// The name of the source in messages.
const SOURCE: &str = "watch";
/// The latest start-ups that the view shows.
const LATEST: usize = 50;
/// How often the view is drawn.
const DRAWN: Duration = Duration::from_millis(250);

/// All that is told.
pub(super) struct Telling<'a> {
    options: &'a Watch,
    watcher: Watcher,
    groups: Groups,
    told: u64,
    doubtful: u64,
    latest: VecDeque<Start>,
    lines: Vec<u8>,
    parquet: Option<ParquetRows<WholeFile>>,
    report: inspect::Telling<'a>,
    metrics: Option<Metrics>,
    view: Option<View>,
    drawn: Duration,
    totals: Totals,
    failure: Option<Failure>,
    /// Whether nobody reads standard output any more.
    is_unread: bool,
}

/// The text of metrics, and when it is due.
struct Metrics {
    path: PathBuf,
    every: Duration,
    due: Duration,
}

/// The options of `inspect` whose report this one's is.
pub(super) fn of_captures(options: &Watch) -> Inspect {
    Inspect {
        captures: vec![PathBuf::from(SOURCE)],
        table: options.table.clone(),
        // Lines of JSON are written here: the report has none of them.
        summary: options.summary || options.json,
        json: options.json && options.summary,
        ..Inspect::default()
    }
}

impl<'a> Telling<'a> {
    /// Begins to tell; `inspect` are the options of the report.
    pub(super) fn new(options: &'a Watch, inspect: &'a Inspect, every: Duration) -> Result<Self, Failure> {
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
            groups: Groups::default(),
            told: 0,
            doubtful: 0,
            latest: VecDeque::new(),
            lines: Vec::new(),
            parquet,
            report: inspect::Telling::new(inspect)?,
            metrics,
            view: if wants_view { View::open() } else { None },
            drawn: Duration::ZERO,
            totals: Totals::default(),
            failure: None,
            is_unread: false,
        })
    }

    /// Something happened to a socket.
    pub(super) fn take(&mut self, fact: &Fact<'_>) {
        let firstflight_kernel::Numbers { cwnd, ssthresh, state } = fact.numbers;
        let numbers = Numbers { cwnd, ssthresh, state };
        let (socket, lost) = (fact.socket, fact.lost);
        match fact.what {
            What::Opened { opening, namespace, cookie, law } => {
                let opened = Opened { opening, namespace, cookie, law };
                if let Some(start) = self.watcher.opened(socket, numbers, &opened) {
                    self.tell(start);
                }
            }
            What::Named(law) => self.watcher.named(socket, lost, law),
            What::Sent(departure) => self.watcher.sent(socket, numbers, lost, &departure),
            What::Heard(hearing) => self.watcher.heard(socket, numbers, lost, &hearing),
            What::Closed(closing) => {
                // The kernel's own sum has what was lost with facts that found no room themselves.
                let start =
                    self.watcher.closed(socket, numbers, closing.lost, closing.law, closing.retransmitted);
                if let Some(start) = start {
                    self.tell(start);
                }
            }
        }
    }

    /// A start-up is told. Its row is kept whatever became of another output: what was watched does not come again.
    fn tell(&mut self, mut start: Start) {
        if let Err(failure) = self.keep(&mut start) {
            self.parquet = None;
            self.failure.get_or_insert(failure);
        }
        if self.failure.is_none() {
            self.failure = self.put(start).err();
        }
    }

    /// The row of a start-up.
    fn keep(&mut self, start: &mut Start) -> Result<(), Failure> {
        let Some(parquet) = &mut self.parquet else { return Ok(()) };
        parquet.push(record(start).map_err(Failure::write)?).map_err(Failure::write)
    }

    fn put(&mut self, start: Start) -> Result<(), Failure> {
        self.told += 1;
        self.doubtful += u64::from(start.facts_lost > 0);
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

    /// Shows what is due; whether it goes on.
    pub(super) fn turn(&mut self, elapsed: Duration, lost: u64) -> bool {
        self.totals = Totals {
            open: self.watcher.open_now() as u64,
            opened: self.watcher.opened_so_far(),
            facts_lost: lost,
        };
        if let Err(failure) = self.flush().and_then(|()| self.write_metrics(elapsed)) {
            self.failure.get_or_insert(failure);
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

    fn write_metrics(&mut self, elapsed: Duration) -> Result<(), Failure> {
        let Some(metrics) = self.metrics.as_mut().filter(|metrics| elapsed >= metrics.due) else {
            return Ok(());
        };
        metrics.due = elapsed.saturating_add(metrics.every);
        let text = openmetrics(&self.groups, &self.totals);
        write_whole(&metrics.path, text.as_bytes()).map_err(Failure::write)
    }

    /// Tells the start-ups of the connections that are open still, and the report.
    pub(super) fn end(
        mut self,
        elapsed: Duration,
        lost: u64,
        style: &TableStyle,
        arguments: &[String],
    ) -> Result<(), Failure> {
        // The terminal is as it was before anything is said.
        drop(self.view.take());
        let open = self.watcher.open_now();
        for start in self.watcher.finish() {
            self.tell(start);
        }
        self.totals.facts_lost = lost;
        if let (Some(rows), Some(path)) = (self.parquet.take(), &self.options.parquet) {
            rows.finish().map_err(Failure::write)?.commit().map_err(Failure::write)?;
            output::say_written(path);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.flush()?;
        self.write_metrics(Duration::MAX)?;
        let told = self.words(elapsed, open);
        if self.options.json {
            output::say(&told);
            if !self.options.summary {
                return Ok(());
            }
        }
        self.report.end(&told, style, arguments)
    }

    /// What was watched, in a line.
    fn words(&self, elapsed: Duration, open: usize) -> String {
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
        told + "\n"
    }
}
