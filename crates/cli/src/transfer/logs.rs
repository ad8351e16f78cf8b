//! Writes the captures and the qlogs of connections. One thread writes them, so that no packet waits for a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use firstflight::{Time, TraceRecord};
use firstflight_export::log::{CapturedEnds, EndLogs, LoggedEnd, LoggedFlow, QlogSchema};
use firstflight_tcp::{EndpointEvent, Segment, Snapshot, Transmit};
use firstflight_trace::is_printable;
use firstflight_udp::Source;

use super::budget::{Budget, Taken};
use crate::output;

/// The name of the logs of a connection that transferred no file.
pub(super) const FAILED: &str = "failed";
/// The maximum number of bytes that may wait for the disk. Further bytes are counted and left out of the logs.
const WAITING: u64 = 16 << 20;
/// The maximum number of connections that are logged at a time. Each has two open files.
const OPEN: usize = 128;
/// The maximum length of a log's name without its suffix. File systems allow names of 255 bytes.
const LONGEST_NAME: usize = 200;
/// The minimum number of bytes with which a log is counted.
const LEAST: u64 = 64 << 10;
/// The number of bytes with which an item is counted in addition to its payload: a packet's headers, or an event.
const EACH: u64 = 256;

/// The records of connections that the options request.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The end of the connection that writes the records.
    pub(super) end: LoggedEnd,
    /// The folder of captures, if they are requested.
    pub(super) pcap: Option<PathBuf>,
    /// The folder of qlogs with their schema, if they are requested.
    pub(super) qlog: Option<(PathBuf, QlogSchema)>,
    /// The maximum number of bytes kept of a captured packet.
    pub(super) snap: Option<NonZeroU32>,
    /// Whether a report draws the transfers.
    pub(super) report: bool,
    /// Whether the logs of a connection start only when `Watchers::begin` is called. Otherwise they start with the connection.
    pub(super) waits: bool,
}

impl Wanted {
    /// Returns whether connections are observed. A sender's connections always are, because its row needs that.
    pub(super) fn is_any(&self) -> bool {
        self.is_sender() || self.has_logs()
    }

    /// Returns the folders of the requested files.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.pcap.as_deref().into_iter().chain(self.qlog.as_ref().map(|(folder, _)| folder.as_path()))
    }

    pub(super) fn has_logs(&self) -> bool {
        self.pcap.is_some() || self.qlog.is_some()
    }

    pub(super) fn is_sender(&self) -> bool {
        self.end == LoggedEnd::Sender
    }
}

/// An item for the log of a connection.
pub(super) struct Item {
    number: u64,
    what: What,
}

enum What {
    Begin(Box<(LoggedFlow, CapturedEnds)>),
    Sent(Time, Box<Transmit>, Box<[u8]>),
    Arrived(Time, Box<Segment>, Box<[u8]>),
    EndpointEvent(Time, EndpointEvent),
    Record(Box<TraceRecord>),
    State(Time, Box<Snapshot>),
    /// Ends the log. The log gets this name, or is removed without one.
    End(Option<String>),
    /// Ends the thread that writes logs.
    Stop,
}

impl Item {
    pub(super) fn begin(number: u64, flow: LoggedFlow, ends: CapturedEnds) -> Self {
        Self { number, what: What::Begin(Box::new((flow, ends))) }
    }

    pub(super) fn event(number: u64, at: Time, event: &EndpointEvent) -> Self {
        Self { number, what: What::EndpointEvent(at, *event) }
    }

    pub(super) fn record(number: u64, record: TraceRecord) -> Self {
        Self { number, what: What::Record(Box::new(record)) }
    }

    pub(super) fn state(number: u64, at: Time, snapshot: &Snapshot) -> Self {
        Self { number, what: What::State(at, Box::new(*snapshot)) }
    }

    /// Returns the number of bytes with which the item is counted while it waits, and in a log.
    fn size(&self) -> u64 {
        match &self.what {
            What::Sent(_, _, payload) | What::Arrived(_, _, payload) => payload.len() as u64 + EACH,
            What::Begin(_) | What::End(_) | What::Stop => 0,
            What::EndpointEvent(..) | What::Record(_) | What::State(..) => EACH,
        }
    }
}

/// The logs of connections, as their observers use them.
pub(super) struct Logs {
    to: mpsc::Sender<Item>,
    thread: Mutex<Option<JoinHandle<Outcome>>>,
    waiting: Arc<AtomicU64>,
    missed: AtomicU64,
    /// The maximum number of payload bytes that are captured; zero without captures.
    snap: usize,
}

/// The report of the thread on the logs, at its end.
#[derive(Default)]
struct Outcome {
    failure: Option<io::Error>,
    /// The number of packets and events for which there was no room.
    left_out: u64,
}

impl Logs {
    /// Starts the thread that writes logs. All logs together may have at most `most` bytes.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread.
    pub(super) fn begin(wanted: &Wanted, most: u64) -> io::Result<Self> {
        let (to, from) = mpsc::channel();
        let waiting = Arc::new(AtomicU64::new(0));
        let snap = wanted.snap.map_or(usize::MAX, |snap| usize::try_from(snap.get()).unwrap_or(usize::MAX));
        let snap = if wanted.pcap.is_some() { snap } else { 0 };
        let writer = Writer {
            wanted: wanted.clone(),
            waiting: Arc::clone(&waiting),
            budget: Budget::new(most),
            open: BTreeMap::new(),
            names: Names::default(),
            outcome: Outcome::default(),
        };
        let thread = std::thread::Builder::new().name("logs".to_owned()).spawn(move || writer.run(&from))?;
        Ok(Self { to, thread: Mutex::new(Some(thread)), waiting, missed: AtomicU64::new(0), snap })
    }

    pub(super) fn sent(&self, number: u64, at: Time, transmit: &Transmit, payload: [&[u8]; 2]) -> Item {
        let kept = if self.snap == 0 { Box::default() } else { payload.concat().into_boxed_slice() };
        Item { number, what: What::Sent(at, Box::new(*transmit), kept) }
    }

    pub(super) fn arrived(&self, number: u64, at: Time, segment: &Segment, payload: &[u8]) -> Item {
        let kept = if self.snap == 0 { Box::default() } else { Box::from(payload) };
        Item { number, what: What::Arrived(at, Box::new(*segment), kept) }
    }

    /// Takes an item for a log if there is room. Never waits, because that would delay the connection.
    pub(super) fn take(&self, item: Item) {
        let size = item.size();
        if self.waiting.fetch_add(size, Ordering::Relaxed) > WAITING && size > 0 {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // If the thread has ended, it accepts no items.
        let _ = self.to.send(item);
    }

    pub(super) fn take_all(&self, items: Vec<Item>) {
        for item in items {
            self.take(item);
        }
    }

    /// Ends the logs of a connection that has ended. They get a name made from this path, or are removed without one.
    pub(super) fn end(&self, number: u64, path: Option<&str>) {
        self.take(Item { number, what: What::End(path.map(str::to_owned)) });
    }

    /// Waits until everything is written. Returns the first failure, and reports on standard error what else is missing in the logs.
    pub(super) fn finish(&self) -> Option<io::Error> {
        self.take(Item { number: 0, what: What::Stop });
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let outcome = thread.join().unwrap_or_default();
        let missed = self.missed.load(Ordering::Relaxed);
        if missed > 0 {
            output::say(&format!(
                "warning: the disk was too slow: captures and qlogs lack {missed} packets and events"
            ));
        }
        if outcome.left_out > 0 {
            let left_out = outcome.left_out;
            output::say(&format!(
                "warning: --logs: captures and qlogs lack {left_out} packets and events, for which there was no room"
            ));
        }
        outcome.failure
    }
}

/// The state of the thread that writes logs.
struct Writer {
    wanted: Wanted,
    waiting: Arc<AtomicU64>,
    budget: Arc<Budget>,
    open: BTreeMap<u64, (EndLogs, Taken)>,
    names: Names,
    outcome: Outcome,
}

impl Writer {
    fn run(mut self, from: &mpsc::Receiver<Item>) -> Outcome {
        while let Ok(item) = from.recv() {
            let size = item.size();
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            let number = item.number;
            match item.what {
                What::Stop => break,
                What::Begin(of) => self.begin(number, &of.0, &of.1),
                What::End(path) => self.end(number, path.as_deref()),
                what => self.write(number, what, size),
            }
        }
        self.outcome
    }

    fn begin(&mut self, number: u64, flow: &LoggedFlow, ends: &CapturedEnds) {
        let mut taken = self.budget.share(Source::of(ends.peer.ip()));
        let files = self.wanted.folders().count() as u64;
        if self.open.len() >= OPEN || !taken.takes(files * LEAST) {
            self.outcome.left_out += 1;
            return;
        }
        let Wanted { pcap, qlog, .. } = &self.wanted;
        let qlog = qlog.as_ref().map(|(folder, schema)| (folder.as_path(), *schema));
        match EndLogs::begin(pcap.as_deref(), qlog, flow, ends, self.wanted.snap) {
            Ok(logs) => drop(self.open.insert(number, (logs, taken))),
            Err(error) => self.failed(error),
        }
    }

    fn write(&mut self, number: u64, what: What, size: u64) {
        let Some((logs, taken)) = self.open.get_mut(&number) else {
            self.outcome.left_out += 1;
            return;
        };
        if !taken.takes(size) {
            self.outcome.left_out += 1;
            return;
        }
        match what {
            What::Sent(at, transmit, payload) => logs.sent(at, &transmit, &payload),
            What::Arrived(at, segment, payload) => logs.arrived(at, &segment, &payload),
            What::EndpointEvent(at, event) => logs.event(at, &event),
            What::Record(record) => logs.record(&record),
            What::State(at, snapshot) => logs.state(at, &snapshot),
            What::Begin(_) | What::End(_) | What::Stop => {}
        }
    }

    fn end(&mut self, number: u64, path: Option<&str>) {
        let Some((logs, taken)) = self.open.remove(&number) else { return };
        let Some(path) = path else { return };
        let is_there = |name: &str| {
            let folders = self.wanted.folders();
            let end = self.wanted.end.name();
            let mut files = folders.flat_map(|folder| {
                ["pcapng", "sqlog"].map(|kind| folder.join(format!("{name}-{end}.{kind}")))
            });
            files.any(|file| file.exists())
        };
        let name = self.names.next(path, is_there);
        taken.keep();
        if let Err(error) = logs.finish(&name) {
            self.failed(error);
        }
    }

    fn failed(&mut self, error: io::Error) {
        self.outcome.failure.get_or_insert(error);
    }
}

/// The names of logs, which must all be different.
#[derive(Default)]
struct Names {
    given: BTreeSet<String>,
    /// For each name, the number of logs that have it.
    count: BTreeMap<String, u64>,
}

impl Names {
    /// Returns a name for the logs of a file at this path. The name is the path, with `_` for `/` and for unprintable characters. A number
    /// is added if that name was used before or exists.
    fn next(&mut self, path: &str, is_there: impl Fn(&str) -> bool) -> String {
        let flat: String = path.chars().map(|c| if c == '/' || !is_printable(c) { '_' } else { c }).collect();
        let mut start = flat.len().saturating_sub(LONGEST_NAME);
        while !flat.is_char_boundary(start) {
            start += 1;
        }
        let flat = flat.get(start..).unwrap_or_default().trim_start_matches('.').to_owned();
        let count = self.count.entry(flat.clone()).or_insert(0);
        loop {
            *count += 1;
            let name = if *count == 1 { flat.clone() } else { format!("{flat}-{count}") };
            if !self.given.contains(&name) && !is_there(&name) {
                self.given.insert(name.clone());
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_logs_have_the_same_name_whatever_their_paths_are() {
        let mut names = Names::default();
        let mut next = |path: &str| names.next(path, |name| name == "there");
        assert_eq!(["x-2", "x", "x", "x-2", "x"].map(&mut next), ["x-2", "x", "x-3", "x-2-2", "x-4"]);
        assert_eq!(["a/b", "a_b", "a/b"].map(&mut next), ["a_b", "a_b-2", "a_b-3"]);
        assert_eq!(["there", "there"].map(&mut next), ["there-2", "there-3"]);
        assert_eq!(next("\u{1b}[2J\u{202e}\n"), "_[2J__");
        let long = "ü".repeat(300);
        assert_eq!([next(&long), next(&format!("x{long}"))].map(|name| name.len()), [200, 202]);
    }
}
