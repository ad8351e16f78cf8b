//! What is heard of connections while they live: for their rows, their reports, their captures and their qlogs. A thread of each
//! connection's own takes it in, so that no packet waits for a disk.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use firstflight::{Time, TraceRecord};
use firstflight_compare::Overheard;
use firstflight_live::{Beginning, Watch, Watches};
use firstflight_measure::{Inside, Recording};
use firstflight_report::log::{CapturedEnds, EndLogs, LoggedEnd, LoggedFlow};
use firstflight_tcp::{Happening, Segment, Snapshot, Transmit};

use crate::output;

/// The bytes of segments that may wait for a disk. Segments beyond are missing in the capture, and counted.
const WAITING: u64 = 256 << 20;
/// The longest name of a log, without what follows it: file systems have names of 255 bytes.
const LONGEST_NAME: usize = 200;

/// What is wanted of connections.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Which end of the data this is.
    pub(super) end: LoggedEnd,
    /// The folders of captures and of qlogs.
    pub(super) pcap: Option<PathBuf>,
    pub(super) qlog: Option<PathBuf>,
    /// The most bytes kept of a captured packet.
    pub(super) snap: Option<NonZeroU32>,
    /// Whether a report draws the transfers.
    pub(super) report: bool,
}

impl Wanted {
    /// Whether anything is to be heard: of a sender always, for its row.
    fn is_any(&self) -> bool {
        self.end == LoggedEnd::Sender || self.has_logs()
    }

    fn has_logs(&self) -> bool {
        self.pcap.is_some() || self.qlog.is_some()
    }
}

/// Watches connections, and has what was heard of each by its peer's address.
#[derive(Clone)]
pub(super) struct Watchers(Arc<Shared>);

struct Shared {
    wanted: Wanted,
    connections: Mutex<BTreeMap<SocketAddr, Vec<Listening>>>,
    /// How often each name of a log was given.
    names: Mutex<BTreeMap<String, u32>>,
    /// The first failure of a log. It ends no transfer.
    failure: Mutex<Option<io::Error>>,
    /// Bytes of segments that wait, and how many segments found no room.
    waiting: AtomicU64,
    missed: AtomicU64,
}

/// A connection that is watched.
struct Listening {
    to: mpsc::Sender<Item>,
    listener: JoinHandle<Heard>,
}

/// What was heard of a connection.
#[derive(Default)]
pub(super) struct Heard {
    /// What its sender's trace says.
    pub(super) overheard: Overheard,
    /// Its inside as figures show it, if it is to be drawn.
    pub(super) inside: Recording,
    logs: Option<EndLogs>,
}

/// Something that is heard.
enum Item {
    Sent(Time, Transmit, Box<[u8]>),
    Arrived(Time, Segment, Box<[u8]>),
    Happening(Time, Happening, Box<Snapshot>),
    Told(Box<TraceRecord>),
    State(Time, Box<Snapshot>),
    /// No more is listened for.
    End,
}

impl Watchers {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self(Arc::new(Shared {
            wanted,
            connections: Mutex::default(),
            names: Mutex::default(),
            failure: Mutex::default(),
            waiting: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        }))
    }

    /// Who watches each connection; `None` if nothing is wanted.
    pub(super) fn watches(&self) -> Option<Watches> {
        let shared = Arc::clone(&self.0);
        shared.wanted.is_any().then(|| {
            Arc::new(move |beginning: &Beginning<'_>| {
                shared.begin(beginning).map(|watch| watch as Box<dyn Watch>)
            }) as Watches
        })
    }

    /// What was heard of the connection with this peer; `None` if there is not exactly one, for then whose it is cannot be told. The
    /// connection's logs get the name of this path; without one they are removed.
    pub(super) fn take(&self, peer: SocketAddr, path: Option<&str>) -> Option<Heard> {
        let mut all = locked(&self.0.connections).remove(&peer)?;
        let (Some(Listening { to, listener }), 0) = (all.pop(), all.len()) else { return None };
        // A listener that ended already hears nothing any more.
        let _ = to.send(Item::End);
        let mut heard = listener.join().ok()?;
        if let (Some(logs), Some(path)) = (heard.logs.take(), path)
            && let Err(error) = logs.finish(&self.name(path))
        {
            locked(&self.0.failure).get_or_insert(error);
        }
        Some(heard)
    }

    /// The first failure of a log, if any; what else a log lacks is said.
    pub(super) fn failure(&self) -> Option<io::Error> {
        let missed = self.0.missed.load(Ordering::Relaxed);
        if missed > 0 {
            output::say(&format!("warning: the disk was too slow: captures lack {missed} packets\n"));
        }
        locked(&self.0.failure).take()
    }

    /// The name of the logs of a file at this path: another one each time.
    fn name(&self, path: &str) -> String {
        let flat = path.replace('/', "_");
        let mut start = flat.len().saturating_sub(LONGEST_NAME);
        while !flat.is_char_boundary(start) {
            start += 1;
        }
        let name = flat.get(start..).unwrap_or_default().trim_start_matches('.').to_owned();
        let mut names = locked(&self.0.names);
        let count = names.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count == 1 { name } else { format!("{name}-{count}") }
    }
}

impl Shared {
    fn begin(self: &Arc<Self>, beginning: &Beginning<'_>) -> io::Result<Box<Watcher>> {
        // A log that cannot be written costs neither the row nor the transfer.
        let logs = self.wanted.has_logs().then(|| self.logs(beginning)).transpose();
        let logs = logs.unwrap_or_else(|error| {
            locked(&self.failure).get_or_insert(error);
            None
        });
        let (to, from) = mpsc::channel();
        let (shared, mss) = (Arc::clone(self), beginning.mss);
        let listener = std::thread::Builder::new().spawn(move || shared.listen(&from, logs, mss))?;
        let listening = Listening { to: to.clone(), listener };
        locked(&self.connections).entry(beginning.peer).or_default().push(listening);
        Ok(Box::new(Watcher { shared: Arc::clone(self), to }))
    }

    fn logs(&self, beginning: &Beginning<'_>) -> io::Result<EndLogs> {
        #[expect(clippy::disallowed_methods, reason = "captures of real packets have real times")]
        let began = SystemTime::now();
        let since_1970 = began.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let epoch = u64::try_from(since_1970).unwrap_or(u64::MAX).saturating_sub(beginning.at.nanos());
        let (ours, theirs) = beginning.ports;
        let own = SocketAddr::new(own_address(beginning).ip(), ours);
        let peer = SocketAddr::new(beginning.peer.ip(), theirs);
        let flow = LoggedFlow {
            name: match self.wanted.end {
                LoggedEnd::Sender => beginning.header.scheme.split(':').next().unwrap_or_default().to_owned(),
                LoggedEnd::Receiver => "transfer".to_owned(),
            },
            flow: 0,
            description: format!("{own} with {peer}"),
            header: beginning.header.clone(),
            run: None,
            began: Some(began),
            end: self.wanted.end,
            mss: beginning.mss,
            packet: u32::from(beginning.mss) + 40,
        };
        let folders = [self.wanted.pcap.as_deref(), self.wanted.qlog.as_deref()];
        EndLogs::begin(folders, &flow, &CapturedEnds { own, peer, epoch }, self.wanted.snap)
    }

    fn listen(&self, from: &mpsc::Receiver<Item>, logs: Option<EndLogs>, mss: u16) -> Heard {
        let recording = Recording { mss: u32::from(mss), ..Recording::default() };
        let mut heard = Heard { overheard: Overheard::default(), inside: recording, logs };
        let mut inside = self.wanted.report.then(Inside::default);
        while let Ok(item) = from.recv() {
            match &item {
                Item::Sent(at, transmit, payload) => {
                    self.waiting.fetch_sub(room(payload), Ordering::Relaxed);
                    if let Some(logs) = &mut heard.logs {
                        logs.sent(*at, transmit, payload);
                    }
                }
                Item::Arrived(at, segment, payload) => {
                    self.waiting.fetch_sub(room(payload), Ordering::Relaxed);
                    if let Some(logs) = &mut heard.logs {
                        logs.arrived(*at, segment, payload);
                    }
                }
                Item::Happening(at, happening, snapshot) => {
                    if let Some(logs) = &mut heard.logs {
                        logs.happening(*at, happening);
                    }
                    if let Some(inside) = &mut inside {
                        inside.happening(&mut heard.inside, *at, happening, || **snapshot);
                    }
                }
                Item::Told(told) => {
                    heard.overheard.take(told);
                    if let Some(logs) = &mut heard.logs {
                        logs.told(told);
                    }
                }
                Item::State(at, snapshot) => {
                    if let Some(logs) = &mut heard.logs {
                        logs.state(*at, snapshot);
                    }
                    if let Some(inside) = &mut inside {
                        inside.state(&mut heard.inside, *at, snapshot);
                    }
                }
                Item::End => break,
            }
        }
        heard
    }
}

/// What a watcher hands on of a connection. It never waits: a connection would be late.
struct Watcher {
    shared: Arc<Shared>,
    to: mpsc::Sender<Item>,
}

impl Watcher {
    fn hand_on(&self, item: Item) {
        // A listener that ended hears nothing any more.
        let _ = self.to.send(item);
    }

    /// The payload of a segment for the logs; `None` if there is none, or no room.
    fn payload(&self, pieces: [&[u8]; 2]) -> Option<Box<[u8]>> {
        let wanted = &self.shared.wanted;
        if !wanted.has_logs() {
            return None;
        }
        let payload: Box<[u8]> =
            if wanted.pcap.is_some() { pieces.concat().into_boxed_slice() } else { Box::default() };
        let room = room(&payload);
        if self.shared.waiting.fetch_add(room, Ordering::Relaxed) > WAITING {
            self.shared.waiting.fetch_sub(room, Ordering::Relaxed);
            self.shared.missed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(payload)
    }

    fn is_sender(&self) -> bool {
        self.shared.wanted.end == LoggedEnd::Sender
    }
}

impl Watch for Watcher {
    fn sent(&mut self, at: Time, transmit: &Transmit, payload: [&[u8]; 2]) {
        if let Some(payload) = self.payload(payload) {
            self.hand_on(Item::Sent(at, *transmit, payload));
        }
    }

    fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        if let Some(payload) = self.payload([payload, &[]]) {
            self.hand_on(Item::Arrived(at, *segment, payload));
        }
    }

    fn happening(&mut self, at: Time, happening: &Happening, snapshot: &Snapshot) {
        if self.is_sender() {
            self.hand_on(Item::Happening(at, *happening, Box::new(*snapshot)));
        }
    }

    fn told(&mut self, told: TraceRecord) {
        if self.is_sender() {
            self.hand_on(Item::Told(Box::new(told)));
        }
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let wanted = &self.shared.wanted;
        if self.is_sender() && (wanted.report || wanted.qlog.is_some()) {
            self.hand_on(Item::State(at, Box::new(*snapshot)));
        }
    }
}

/// What a segment takes while it waits.
fn room(payload: &[u8]) -> u64 {
    payload.len() as u64 + 256
}

/// The host's address of the connection. A socket of all addresses has the one from which the system would send.
fn own_address(beginning: &Beginning<'_>) -> SocketAddr {
    let Beginning { own, peer, .. } = beginning;
    if !own.ip().is_unspecified() {
        return *own;
    }
    let asked = UdpSocket::bind((own.ip(), 0)).and_then(|socket| {
        // Nothing is sent.
        socket.connect(peer)?;
        socket.local_addr()
    });
    asked.unwrap_or(*own)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
