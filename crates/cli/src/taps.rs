//! What listens to the first run of each scheme: captures, event logs, qlogs.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use firstflight::{Time, Told};
use firstflight_measure::Tap;
use firstflight_scenario::{Scenario, SchemeChoice, trace_header};
use firstflight_tcp::{Happening, Role, Segment, Snapshot, Transmit};

use crate::args::OutputOptions;
use crate::captures::{Captures, naming};
use crate::events::Events;
use crate::qlogs::Qlog;

/// Where taps write, and the first of their failures.
///
/// A disk that fills up must not cost the rows: a tap that fails says so here, and the race goes on.
pub(crate) struct Taps {
    pcap: Option<PathBuf>,
    events: Option<PathBuf>,
    qlog: Option<PathBuf>,
    /// The most bytes kept of a captured packet.
    snap: Option<NonZeroU32>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Taps {
    /// Taps that write where `output` says, once its folders are made.
    pub(crate) fn new(output: &OutputOptions, snap: Option<NonZeroU32>) -> io::Result<Self> {
        let OutputOptions { pcap, events, qlog, .. } = output.clone();
        for folder in [&pcap, &events, &qlog].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
        }
        Ok(Self { pcap, events, qlog, snap, failure: Arc::default() })
    }

    /// The names of the files that `option` writes for the row of `choice`.
    pub(crate) fn names(option: &str, choice: &SchemeChoice) -> Vec<String> {
        let name = choice.name();
        match option {
            "--pcap" => ["client", "server"].map(|side| format!("{name}-{side}.pcapng")).to_vec(),
            "--events" => vec![format!("{name}.jsonl")],
            "--qlog" => vec![format!("{name}.sqlog")],
            _ => Vec::new(),
        }
    }

    /// The tap for the row of `choice`.
    pub(crate) fn begin(&self, scenario: &Scenario, choice: &SchemeChoice) -> Option<Box<dyn Tap>> {
        let name = choice.name();
        let pcap = self
            .pcap
            .iter()
            .map(|folder| Captures::begin(folder, name, self.snap).map(|tap| Box::new(tap) as Box<dyn Tap>));
        let events = self.events.iter().map(|folder| {
            let header = trace_header(scenario, choice);
            Events::begin(folder, name, &header).map(|tap| Box::new(tap) as Box<dyn Tap>)
        });
        let qlog = self
            .qlog
            .iter()
            .map(|folder| Qlog::begin(folder, scenario, choice).map(|tap| Box::new(tap) as Box<dyn Tap>));
        let taps: Vec<_> =
            pcap.chain(events).chain(qlog).filter_map(|tap| keep(&self.failure, tap)).collect();
        (!taps.is_empty()).then(|| Box::new(All { taps, failure: Arc::clone(&self.failure) }) as Box<dyn Tap>)
    }

    /// The first failure, if any.
    pub(crate) fn failure(self) -> Option<io::Error> {
        self.failure.lock().ok()?.take()
    }
}

/// What succeeded; the first failure is noted.
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

/// All that listens to one run.
struct All {
    taps: Vec<Box<dyn Tap>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Tap for All {
    fn sent(&mut self, at: Time, side: Role, transmit: &Transmit, offset: u64) {
        self.taps.iter_mut().for_each(|tap| tap.sent(at, side, transmit, offset));
    }

    fn arrived(&mut self, at: Time, side: Role, segment: &Segment, offset: u64) {
        self.taps.iter_mut().for_each(|tap| tap.arrived(at, side, segment, offset));
    }

    fn happening(&mut self, at: Time, side: Role, happening: &Happening) {
        self.taps.iter_mut().for_each(|tap| tap.happening(at, side, happening));
    }

    fn wants_told(&self) -> bool {
        self.taps.iter().any(|tap| tap.wants_told())
    }

    fn told(&mut self, told: &Told) {
        self.taps.iter_mut().filter(|tap| tap.wants_told()).for_each(|tap| tap.told(told));
    }

    fn wants_state(&self) -> bool {
        self.taps.iter().any(|tap| tap.wants_state())
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        self.taps.iter_mut().filter(|tap| tap.wants_state()).for_each(|tap| tap.state(at, snapshot));
    }

    fn finish(&mut self) -> io::Result<()> {
        for tap in &mut self.taps {
            keep(&self.failure, tap.finish());
        }
        Ok(())
    }
}
