//! The kernel under test: sockets, connections and the wire, in virtual time.

mod calls;
mod connection;
mod constants;
mod device;
mod options;
mod poll;

use std::collections::{BTreeMap, VecDeque};

use firstflight_tcp::{Flags, Segment};

use crate::problem::Problem;
use crate::settings::{Queue, Settings};

pub(crate) use calls::Outcome;
pub(crate) use connection::{Connection, Heard};
pub(crate) use constants::{constant, named};
use device::Device;
pub(crate) use device::Left;
pub(crate) use options::SocketOptions;

/// Sockets, connections, and the segments that they sent.
pub(crate) struct Kernel {
    settings: Settings,
    /// Microseconds since the script began.
    now: i64,
    sockets: BTreeMap<i64, Socket>,
    connections: Vec<Connection>,
    device: Device,
    /// The segments that were sent and not yet compared, and when.
    sent: VecDeque<Left>,
    /// The script's name for each timestamp of the endpoint.
    timestamps: BTreeMap<u32, u32>,
}

/// A socket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Socket {
    state: SocketState,
    nonblocking: bool,
    options: SocketOptions,
}

/// The state of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum SocketState {
    #[default]
    Fresh,
    Listening,
    /// The socket has a connection, at this index of [`Kernel::connections`].
    Connected(usize),
}

impl Kernel {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            now: 0,
            sockets: BTreeMap::new(),
            connections: Vec::new(),
            device: Device::default(),
            sent: VecDeque::new(),
            timestamps: BTreeMap::new(),
        }
    }

    pub(crate) fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    pub(crate) fn settings_ref(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// The connection that packets and code refer to: the newest.
    pub(crate) fn under_test(&self) -> Option<&Connection> {
        self.connections.last()
    }

    /// Whether that connection is not over.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_test().is_some_and(|connection| !connection.is_over())
    }

    /// How many connections there have been.
    pub(crate) const fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Serves the next timer that is due before `before`. Returns whether there was one.
    pub(crate) fn step(&mut self, before: i64) -> bool {
        let timers = self.connections.iter().filter_map(Connection::next_timer);
        let next = timers.chain(self.device.next_departure()).min();
        let Some(at) = next.map(|at| at.max(self.now)).filter(|at| *at < before) else { return false };
        self.now = at;
        for connection in &mut self.connections {
            connection.on_timer(at);
        }
        self.collect();
        true
    }

    /// Advances the time to `at`, if that is later.
    pub(crate) fn set_now(&mut self, at: i64) {
        self.now = self.now.max(at);
    }

    /// Takes the oldest segment that was sent and not compared.
    pub(crate) fn take_sent(&mut self) -> Option<Left> {
        self.sent.pop_front()
    }

    /// The next segment sent. The call waits for one until `deadline`.
    pub(crate) fn peek_sent(&mut self, deadline: i64) -> Option<Left> {
        while self.sent.is_empty() {
            if !self.step(deadline.saturating_add(1)) {
                return None;
            }
        }
        self.sent.front().copied()
    }

    /// Records the script's name `name` for the endpoint's timestamp `stamp`.
    pub(crate) fn note_timestamp(&mut self, name: u32, stamp: u32) {
        self.timestamps.insert(name, stamp);
    }

    /// The endpoint's timestamp with this name. A name that was never recorded is the timestamp itself.
    pub(crate) fn timestamp_of(&self, name: u32) -> u32 {
        self.timestamps.get(&name).copied().unwrap_or(name)
    }

    /// A segment arrives.
    pub(crate) fn inject(&mut self, line: usize, segment: &Segment) -> Result<(), Problem> {
        let syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let listener = self.sockets.values().find(|socket| socket.state == SocketState::Listening).cloned();
        if let (true, false, Some(listener)) = (syn, self.is_busy(), listener) {
            self.connections.push(Connection::passive(&self.settings, &listener.options));
        }
        let now = self.now;
        let Some(connection) = self.connections.last_mut() else {
            return Err(Problem::unsupported(line, "a segment for no connection"));
        };
        if connection.is_gone() {
            let answer = reset_for(segment);
            self.sent.extend(answer.map(|segment| Left { at: now, segment, more: false }));
            return Ok(());
        }
        if connection.is_deaf_to(segment) {
            // Linux aborts on data that nobody can read any more (RFC 1122 section 4.2.2.13).
            connection.reset();
            while connection.transmit(now).is_some() {}
            let answer = reset_for(segment);
            self.sent.extend(answer.map(|segment| Left { at: now, segment, more: false }));
            return Ok(());
        }
        connection.on_segment(now, segment);
        self.collect();
        Ok(())
    }

    /// Collects the segments that the connections send now.
    fn collect(&mut self) {
        if self.settings.queue != Queue::Full {
            for connection in &mut self.connections {
                while let Some(segment) = connection.transmit(self.now) {
                    self.device.take(segment, connection.is_in_burst());
                }
                let rate = if self.settings.queue == Queue::Fair { connection.pacing_rate() } else { None };
                self.device.flush(self.now, rate, connection.info().data_segments);
            }
        }
        self.sent.extend(self.device.departed(self.now));
    }

    fn connection(&self, socket: &Socket) -> Option<&Connection> {
        match socket.state {
            SocketState::Connected(at) => self.connections.get(at),
            SocketState::Fresh | SocketState::Listening => None,
        }
    }

    /// A connection that is open and that `accept` has not returned.
    fn acceptable(&self) -> Option<usize> {
        self.connections.iter().position(Connection::is_acceptable)
    }
}

/// The reset that answers a segment for no connection (RFC 9293 section 3.10.7.1).
fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    if segment.flags.has(Flags::ACK) {
        return Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
    }
    let ack = segment.seq.wrapping_add(segment.sequence_length());
    Some(Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() })
}
