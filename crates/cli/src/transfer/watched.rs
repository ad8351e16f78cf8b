//! Observes live connections for their rows, reports, captures and qlogs. The host's thread makes the observations, and never waits for a
//! disk.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use firstflight::{Time, TraceRecord};
use firstflight_export::log::{CapturedEnds, LoggedEnd, LoggedFlow};
use firstflight_measure::{Inside, Recording};
use firstflight_tcp::{EndpointEvent, Segment, Snapshot, Transmit};
use firstflight_udp::{Beginning, Source, Stream, Watch, Watches};

use super::budget::{Budget, Taken};
use super::limits::Limits;
use super::logs::{Item, Logs, Wanted};
use super::measured::Heard;
use super::reported::Page;
use crate::failure::Failure;

/// The number of bytes by which a record grows before the budget is checked again.
const STEP: u64 = 4 << 10;
/// The maximum number of items held for a connection until its logs start.
const BEGINNING: usize = 64;

/// The identity of a connection at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Connection {
    peer: SocketAddr,
    /// The TCP ports of this end and of the peer.
    ports: (u16, u16),
}

impl Connection {
    pub(super) fn of(stream: &Stream) -> Self {
        Self { peer: stream.peer_addr(), ports: stream.ports() }
    }
}

/// The observers of connections, with the record of each connection.
#[derive(Clone)]
pub(super) struct Watchers(Arc<Shared>);

struct Shared {
    wanted: Wanted,
    page: Page,
    connections: Mutex<BTreeMap<Connection, Arc<Mutex<Seen>>>>,
    logs: Option<Logs>,
    memory: Arc<Budget>,
    number: AtomicU64,
}

/// The record of a connection under way, and the state of its logs.
struct Seen {
    number: u64,
    /// The record; `None` if the budget was exhausted.
    heard: Option<Heard>,
    inside: Option<Inside>,
    memory: Taken,
    /// The number of bytes added since the budget was last checked.
    added: u64,
    /// Whether the logs of the connection have started. Its first items are held until then.
    is_logged: bool,
    held: Vec<Item>,
}

impl Watchers {
    /// Creates observers for connections that this end opens. Their logs start with the connection.
    pub(super) fn new(wanted: Wanted, page: Page) -> Result<Self, Failure> {
        Self::with(wanted, page, u64::MAX, u64::MAX)
    }

    /// Creates observers for connections that strangers open.
    pub(super) fn of_strangers(wanted: Wanted, page: Page, limits: &Limits) -> Result<Self, Failure> {
        Self::with(Wanted { waits: true, ..wanted }, page, limits.traces(), limits.logs)
    }

    fn with(wanted: Wanted, page: Page, memory: u64, logs: u64) -> Result<Self, Failure> {
        let logs = wanted.has_logs().then(|| Logs::begin(&wanted, logs)).transpose();
        let logs = logs.map_err(|error| Failure::usage(format!("the system gives no thread: {error}")))?;
        Ok(Self(Arc::new(Shared {
            wanted,
            page,
            connections: Mutex::default(),
            logs,
            memory: Budget::new(memory),
            number: AtomicU64::new(0),
        })))
    }

    /// Returns the factory of observers for connections; `None` if nothing is observed.
    pub(super) fn watches(&self) -> Option<Watches> {
        let shared = Arc::clone(&self.0);
        shared.wanted.is_any().then(|| {
            Arc::new(move |beginning: &Beginning<'_>| Ok(Box::new(shared.begin(beginning)) as Box<dyn Watch>))
                as Watches
        })
    }

    /// Starts the logs of the connection.
    pub(super) fn begin(&self, connection: &Connection) {
        let seen = locked(&self.0.connections).get(connection).cloned();
        if let (Some(seen), Some(logs)) = (seen, &self.0.logs) {
            let mut seen = locked(&seen);
            seen.is_logged = true;
            logs.take_all(std::mem::take(&mut seen.held));
        }
    }

    /// Takes the record of the connection; `None` if there is none, or if there was no room for it. The logs of the connection get a name
    /// made from this path, or are removed without one.
    pub(super) fn take(&self, connection: &Connection, path: Option<&str>) -> Option<Heard> {
        let seen = locked(&self.0.connections).remove(connection)?;
        let mut seen = locked(&seen);
        if let Some(logs) = &self.0.logs {
            logs.end(seen.number, path);
        }
        seen.held = Vec::new();
        seen.memory.is_now(0);
        seen.inside = None;
        seen.heard.take()
    }

    /// Takes the record as [`Watchers::take`] does, for this end's own connection to a peer, even if it was never established.
    pub(super) fn take_own(&self, peer: SocketAddr, path: Option<&str>) -> Option<Heard> {
        let connection =
            locked(&self.0.connections).keys().find(|connection| connection.peer == peer).copied();
        self.take(&connection?, path)
    }

    /// Ends all logs. Returns the first failure, if any, and reports what else is missing in the logs.
    pub(super) fn end(&self) -> Option<io::Error> {
        self.0.logs.as_ref().and_then(Logs::finish)
    }
}

impl Shared {
    fn begin(self: &Arc<Self>, beginning: &Beginning<'_>) -> Watcher {
        let Beginning { peer, ports, mss, .. } = *beginning;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let recording = Recording { mss: u32::from(mss), ..Recording::default() };
        let draws = self.wanted.report && self.page.draws();
        let is_logged = !self.wanted.waits;
        let mut seen = Seen {
            number,
            heard: self.wanted.is_sender().then(|| Heard { inside: recording, ..Heard::default() }),
            inside: draws.then(Inside::default),
            memory: self.memory.share(Source::of(peer.ip())),
            added: 0,
            is_logged,
            held: Vec::new(),
        };
        if let Some(logs) = &self.logs {
            let (flow, ends) = self.flow(beginning);
            let first = Item::begin(number, flow, ends);
            if is_logged { logs.take(first) } else { seen.held.push(first) }
        }
        let (connection, seen) = (Connection { peer, ports }, Arc::new(Mutex::new(seen)));
        locked(&self.connections).insert(connection, Arc::clone(&seen));
        Watcher { shared: Arc::clone(self), connection, seen }
    }

    /// Returns the description of a connection that its logs have at the start.
    fn flow(&self, beginning: &Beginning<'_>) -> (LoggedFlow, CapturedEnds) {
        #[expect(clippy::disallowed_methods, reason = "captures of real packets have real times")]
        let began = SystemTime::now();
        let since_1970 = began.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let epoch = u64::try_from(since_1970).unwrap_or(u64::MAX).saturating_sub(beginning.at.nanos());
        let (ours, theirs) = beginning.ports;
        let own = SocketAddr::new(own_address(beginning).ip(), ours);
        let peer = SocketAddr::new(beginning.peer.ip(), theirs);
        let scheme = || beginning.header.scheme.split(':').next().unwrap_or_default().to_owned();
        let flow = LoggedFlow {
            name: match self.wanted.end {
                LoggedEnd::Sender => scheme(),
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
        (flow, CapturedEnds { own, peer, epoch })
    }
}

impl Seen {
    /// Adds to the bytes of the connection's record. If there is no room for them, drops the whole record.
    fn adds(&mut self, bytes: usize) {
        self.added += bytes as u64;
        if self.added < STEP {
            return;
        }
        self.added = 0;
        let Some(heard) = &self.heard else { return };
        let Recording { states, rtts, marks, phases, .. } = &heard.inside;
        let drawn = (states.capacity() + rtts.capacity() + marks.capacity() + phases.capacity()) * 64;
        if !self.memory.is_now((heard.observed.memory() + drawn) as u64) {
            (self.heard, self.inside) = (None, None);
            self.memory.is_now(0);
        }
    }

    /// Passes an item to the logs, or holds it until they start.
    fn log(&mut self, logs: &Logs, item: Item) {
        if self.is_logged {
            logs.take(item);
        } else if self.held.len() < BEGINNING {
            self.held.push(item);
        }
    }
}

/// The observer of one connection.
struct Watcher {
    shared: Arc<Shared>,
    connection: Connection,
    seen: Arc<Mutex<Seen>>,
}

impl Drop for Watcher {
    /// Removes the record of a stranger's connection that was never accepted.
    fn drop(&mut self) {
        if !self.shared.wanted.waits {
            return;
        }
        let mut connections = locked(&self.shared.connections);
        if connections.get(&self.connection).is_some_and(|seen| Arc::ptr_eq(seen, &self.seen)) {
            connections.remove(&self.connection);
            drop(connections);
            if let Some(logs) = &self.shared.logs {
                logs.end(locked(&self.seen).number, None);
            }
        }
    }
}

impl Watch for Watcher {
    fn sent(&mut self, at: Time, transmit: &Transmit, payload: [&[u8]; 2]) {
        if let Some(logs) = &self.shared.logs {
            let mut seen = locked(&self.seen);
            let item = logs.sent(seen.number, at, transmit, payload);
            seen.log(logs, item);
        }
    }

    fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        if let Some(logs) = &self.shared.logs {
            let mut seen = locked(&self.seen);
            let item = logs.arrived(seen.number, at, segment, payload);
            seen.log(logs, item);
        }
    }

    fn event(&mut self, at: Time, event: &EndpointEvent, snapshot: &Snapshot) {
        if !self.shared.wanted.is_sender() {
            return;
        }
        let mut seen = locked(&self.seen);
        let seen = &mut *seen;
        if let (Some(inside), Some(heard)) = (&mut seen.inside, &mut seen.heard) {
            inside.event(&mut heard.inside, at, event, || *snapshot);
            seen.adds(64);
        }
        if let Some(logs) = &self.shared.logs {
            let item = Item::event(seen.number, at, event);
            seen.log(logs, item);
        }
    }

    fn record(&mut self, record: TraceRecord) {
        if !self.shared.wanted.is_sender() {
            return;
        }
        let mut seen = locked(&self.seen);
        if let Some(heard) = &mut seen.heard {
            heard.observed.take(&record);
            seen.adds(16);
        }
        if let Some(logs) = self.shared.logs.as_ref().filter(|_| self.shared.wanted.qlog.is_some()) {
            let item = Item::record(seen.number, record);
            seen.log(logs, item);
        }
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let wanted = &self.shared.wanted;
        if !(wanted.is_sender() && (wanted.report || wanted.qlog.is_some())) {
            return;
        }
        let mut seen = locked(&self.seen);
        let seen = &mut *seen;
        if let (Some(inside), Some(heard)) = (&mut seen.inside, &mut seen.heard) {
            inside.state(&mut heard.inside, at, snapshot);
            seen.adds(64);
        }
        if let Some(logs) = self.shared.logs.as_ref().filter(|_| wanted.qlog.is_some()) {
            let item = Item::state(seen.number, at, snapshot);
            seen.log(logs, item);
        }
    }
}

/// Returns the host's address of the connection. If the socket is bound to all addresses, this is the address from which the system would
/// send.
fn own_address(beginning: &Beginning<'_>) -> SocketAddr {
    let Beginning { own, peer, .. } = beginning;
    if !own.ip().is_unspecified() {
        return *own;
    }
    let asked = UdpSocket::bind((own.ip(), 0)).and_then(|socket| {
        // Connecting a UDP socket sends no packet.
        socket.connect(peer)?;
        socket.local_addr()
    });
    asked.unwrap_or(*own)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
