//! All logs of a flow together: captures, event logs and qlogs.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot, Transmit};

use super::captures::Captures;
use super::events::Events;
use super::flow::LoggedFlow;
use super::naming::naming;
use super::qlog::Qlog;
use super::qlog_schema::QlogSchema;

/// The folders of logs. A kind of log without a folder is not written.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The folder of captures.
    pub pcap: Option<PathBuf>,
    /// The folder of event logs.
    pub events: Option<PathBuf>,
    /// The folder of qlogs.
    pub qlog: Option<PathBuf>,
    /// The schema of qlogs.
    pub qlog_schema: QlogSchema,
}

/// Creates the observers that write logs, and keeps their first failure.
///
/// If a disk is full, the rows must not be lost. A log that fails therefore stores its error here, and the race continues.
pub struct Taps {
    folders: Folders,
    /// The maximum number of bytes kept of a captured packet.
    snap: Option<NonZeroU32>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Taps {
    /// Creates the folders, and returns the writer of logs to them. `snap` is the maximum number of bytes kept of a captured packet; `None`
    /// keeps all.
    ///
    /// # Errors
    /// Fails if a folder cannot be created.
    pub fn new(folders: Folders, snap: Option<NonZeroU32>) -> io::Result<Self> {
        for folder in [&folders.pcap, &folders.events, &folders.qlog].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
        }
        Ok(Self { folders, snap, failure: Arc::default() })
    }

    /// Returns the observer of one flow; `None` if no log of the flow is written.
    pub fn begin(&self, flow: &LoggedFlow) -> Option<Box<dyn Tap>> {
        self.join(self.logs(flow))
    }

    /// Returns whether any log is written.
    pub const fn are_wanted(&self) -> bool {
        self.folders.pcap.is_some() || self.folders.events.is_some() || self.folders.qlog.is_some()
    }

    /// Joins these observers into one, whose failures are stored here; `None` if there are none.
    pub fn join(&self, taps: Vec<Box<dyn Tap>>) -> Option<Box<dyn Tap>> {
        (!taps.is_empty()).then(|| Box::new(All { taps, failure: Arc::clone(&self.failure) }) as Box<dyn Tap>)
    }

    /// Returns the observers for the logs of one flow.
    pub fn logs(&self, flow: &LoggedFlow) -> Vec<Box<dyn Tap>> {
        let Folders { pcap, events, qlog, qlog_schema } = &self.folders;
        let name = &flow.name;
        let pcap = pcap.iter().map(|folder| {
            Captures::begin(folder, (name, flow.flow), self.snap).map(|tap| Box::new(tap) as Box<dyn Tap>)
        });
        let events = events
            .iter()
            .map(|folder| Events::begin(folder, name, &flow.header).map(|tap| Box::new(tap) as Box<dyn Tap>));
        let qlog = qlog
            .iter()
            .map(|folder| Qlog::begin(folder, flow, *qlog_schema).map(|tap| Box::new(tap) as Box<dyn Tap>));
        pcap.chain(events).chain(qlog).filter_map(|tap| keep(&self.failure, tap)).collect()
    }

    /// Returns the first failure; `None` if there was none.
    pub fn failure(self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the success value of a result. For an error, returns `None` and stores the error if it is the first.
fn keep<T>(failure: &Mutex<Option<io::Error>>, result: io::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            None
        }
    }
}

/// All observers of one run as one.
struct All {
    taps: Vec<Box<dyn Tap>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Tap for All {
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64) {
        self.taps.iter_mut().for_each(|tap| tap.sent(at, role, transmit, offset));
    }

    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64) {
        self.taps.iter_mut().for_each(|tap| tap.arrived(at, role, segment, offset));
    }

    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent) {
        self.taps.iter_mut().for_each(|tap| tap.event(at, role, event));
    }

    fn wants_trace(&self) -> bool {
        self.taps.iter().any(|tap| tap.wants_trace())
    }

    fn record(&mut self, record: &TraceRecord) {
        self.taps.iter_mut().filter(|tap| tap.wants_trace()).for_each(|tap| tap.record(record));
    }

    fn wants_state(&self) -> bool {
        self.taps.iter().any(|tap| tap.wants_state())
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        self.taps.iter_mut().filter(|tap| tap.wants_state()).for_each(|tap| tap.state(at, snapshot));
    }

    fn surroundings(&mut self, delivered: (Time, u64), queue: u32) {
        self.taps.iter_mut().for_each(|tap| tap.surroundings(delivered, queue));
    }

    fn delivered(&mut self, at: Time, bytes: u64) {
        self.taps.iter_mut().for_each(|tap| tap.delivered(at, bytes));
    }

    fn finish(&mut self) -> io::Result<()> {
        for tap in &mut self.taps {
            keep(&self.failure, tap.finish());
        }
        Ok(())
    }
}
