//! All logs of a flow together: captures, event logs, qlogs.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_tcp::{Happening, Role, Segment, Snapshot, Transmit};

use super::captures::Captures;
use super::events::Events;
use super::flow::LoggedFlow;
use super::naming::naming;
use super::qlog::Qlog;

/// The folders for logs. A log without a folder is not written.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The folder of captures.
    pub pcap: Option<PathBuf>,
    /// The folder of event logs.
    pub events: Option<PathBuf>,
    /// The folder of qlogs.
    pub qlog: Option<PathBuf>,
}

/// The folders and settings of taps, and the first failure.
///
/// A full disk must not lose the rows: a failed tap stores its error here, and the race continues.
pub struct Taps {
    folders: Folders,
    /// The most bytes kept of a captured packet.
    snap: Option<NonZeroU32>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Taps {
    /// Taps that write to these folders, which are created. `snap` is the most bytes kept of a captured packet; `None`
    /// keeps all.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(folders: Folders, snap: Option<NonZeroU32>) -> io::Result<Self> {
        for folder in [&folders.pcap, &folders.events, &folders.qlog].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
        }
        Ok(Self { folders, snap, failure: Arc::default() })
    }

    /// The tap of one flow; `None` if no log of the flow is written.
    pub fn begin(&self, flow: &LoggedFlow) -> Option<Box<dyn Tap>> {
        self.join(self.logs(flow))
    }

    /// Whether any log is written.
    pub const fn are_wanted(&self) -> bool {
        self.folders.pcap.is_some() || self.folders.events.is_some() || self.folders.qlog.is_some()
    }

    /// One tap of all these, whose failures are kept here; `None` without any.
    pub fn join(&self, taps: Vec<Box<dyn Tap>>) -> Option<Box<dyn Tap>> {
        (!taps.is_empty()).then(|| Box::new(All { taps, failure: Arc::clone(&self.failure) }) as Box<dyn Tap>)
    }

    /// The logs of one flow.
    pub fn logs(&self, flow: &LoggedFlow) -> Vec<Box<dyn Tap>> {
        let Folders { pcap, events, qlog } = &self.folders;
        let name = &flow.name;
        let pcap = pcap.iter().map(|folder| {
            Captures::begin(folder, (name, flow.flow), self.snap).map(|tap| Box::new(tap) as Box<dyn Tap>)
        });
        let events = events
            .iter()
            .map(|folder| Events::begin(folder, name, &flow.header).map(|tap| Box::new(tap) as Box<dyn Tap>));
        let qlog =
            qlog.iter().map(|folder| Qlog::begin(folder, flow).map(|tap| Box::new(tap) as Box<dyn Tap>));
        pcap.chain(events).chain(qlog).filter_map(|tap| keep(&self.failure, tap)).collect()
    }

    /// The first failure, if any.
    pub fn failure(self) -> Option<io::Error> {
        self.failure.lock().ok()?.take()
    }
}

/// The success value of a result. The first failure is stored.
fn keep<T>(failure: &Mutex<Option<io::Error>>, result: io::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            if let Ok(mut first) = failure.lock() {
                first.get_or_insert(error);
            }
            None
        }
    }
}

/// All taps of one run.
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

    fn happening(&mut self, at: Time, role: Role, happening: &Happening) {
        self.taps.iter_mut().for_each(|tap| tap.happening(at, role, happening));
    }

    fn wants_told(&self) -> bool {
        self.taps.iter().any(|tap| tap.wants_told())
    }

    fn told(&mut self, told: &TraceRecord) {
        self.taps.iter_mut().filter(|tap| tap.wants_told()).for_each(|tap| tap.told(told));
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
