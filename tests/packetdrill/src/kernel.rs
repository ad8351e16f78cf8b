//! The simulated kernel under test: sockets, connections and the packets on the wire, in virtual time.

mod arguments;
mod calls;
mod connection;
mod constants;
mod device;
mod options;
mod outcome;
mod poll;
mod socket_options;

use std::collections::{BTreeMap, VecDeque};

use firstflight_tcp::{Flags, Segment};

use crate::problem::Problem;
use crate::settings::{Queue, Settings};

pub(crate) use connection::{Connection, Traffic};
pub(crate) use constants::{constant, named};
use device::Device;
pub(crate) use device::Left;
pub(crate) use outcome::Outcome;
pub(crate) use socket_options::SocketOptions;

/// The sockets, the connections, and the segments that the connections sent.
pub(crate) struct Kernel {
    settings: Settings,
    /// Microseconds since the script began.
    now: i64,
    sockets: BTreeMap<i64, Socket>,
    connections: Vec<Connection>,
    device: Device,
    /// The segments that were sent but not yet compared with the script, each with its time.
    sent: VecDeque<Left>,
    /// The timestamps of the endpoint, by the value that the script uses for each.
    timestamps: BTreeMap<u32, u32>,
}

/// A socket of the script.
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

    /// Returns the newest connection. Packets and code of the script refer to this connection.
    pub(crate) fn under_test(&self) -> Option<&Connection> {
        self.connections.last()
    }

    /// Checks whether there is a connection under test that is not over.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_test().is_some_and(|connection| !connection.is_over())
    }

    /// Returns the number of connections so far.
    pub(crate) const fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Handles the next timer that is due before `before`. Returns whether there was one.
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

    /// Advances the current time to `at` if `at` is later.
    pub(crate) fn set_now(&mut self, at: i64) {
        self.now = self.now.max(at);
    }

    /// Removes and returns the oldest segment that was sent but not yet compared.
    pub(crate) fn take_sent(&mut self) -> Option<Left> {
        self.sent.pop_front()
    }

    /// Returns the next segment sent, without removing it. Advances the time until there is one, up to `deadline`.
    pub(crate) fn peek_sent(&mut self, deadline: i64) -> Option<Left> {
        while self.sent.is_empty() {
            if !self.step(deadline.saturating_add(1)) {
                return None;
            }
        }
        self.sent.front().copied()
    }

    /// Records that the script uses the value `name` for the endpoint's timestamp `stamp`.
    pub(crate) fn note_timestamp(&mut self, name: u32, stamp: u32) {
        self.timestamps.insert(name, stamp);
    }

    /// Returns the endpoint's timestamp for which the script uses the value `name`. If no timestamp was recorded for it, returns `name`.
    pub(crate) fn timestamp_of(&self, name: u32) -> u32 {
        self.timestamps.get(&name).copied().unwrap_or(name)
    }

    /// Delivers an arriving segment to its connection.
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
            // Linux aborts on data that the application can no longer read (RFC 1122 section 4.2.2.13).
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

    /// Returns a connection that is open and that `accept` has not returned.
    fn acceptable(&self) -> Option<usize> {
        self.connections.iter().position(Connection::is_acceptable)
    }
}

/// Returns the reset that answers a segment of no connection (RFC 9293 section 3.10.7.1). `None` if the segment is a reset.
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
