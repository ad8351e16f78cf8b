//! The thread of a host: it receives segments, fires timers, and sends.

mod capacity;
mod sources;
mod unmatched;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Flags, Role, Segment, Status};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::set_current_timer_slack;

use crate::clock::timespec;
use crate::connection::{Connection, State};
use crate::cookie::{Cookie, Ends, Secrets};
use crate::frame::HEADER;
use crate::link::{Arrival, Input, Link, Route, usual_segment};
use crate::memory::{Held, Memory};
use crate::options::{Options, Ready, SHARES};
use crate::pmtu::PmtuCandidates;
use crate::shared::{Command, Shared, Waiting};
use crate::source::Source;
use crate::table::Table;
use crate::used::Used;
use crate::watch::Beginning;
use sources::{Lines, Sources};

/// The final part of the wait for a packet of a train. The thread spends it in a busy loop, because a sleeping thread wakes late by about
/// this much.
const SPIN: Span = Span::from_micros(60);
/// The first port of the range for connections that this host opens.
const FIRST_PORT: u64 = 1_024;

/// The state of a host's thread.
pub(crate) struct Engine {
    link: Link,
    input: Option<Input>,
    shared: Arc<Shared>,
    options: Options,
    ready: Ready,
    secrets: Secrets,
    used: Used,
    table: Table,
    timers: BinaryHeap<Reverse<(Time, usize, u64)>>,
    /// Connections that may have more to send, each as its place in the table and the place's generation.
    again: Vec<(usize, u64)>,
    /// Connections whose waiting threads are to be woken, if what they wait for has happened.
    to_notify: Vec<Arc<Connection>>,
    /// Connections that may be dropped to make room.
    lines: Lines,
    /// The usage of the host by each source of peers.
    sources: Sources,
    /// Connections over a TUN device whose peers' addresses are not yet verified, each as its place and the place's generation.
    half_open: Vec<(usize, u64)>,
    /// The memory of all connections, and the memory of the connections that this host opened.
    memory: [Arc<Held>; 2],
    candidates: PmtuCandidates,
    commands: Vec<Command>,
    begun: u64,
    stopping: Option<Time>,
}

impl Engine {
    pub(crate) fn new(link: Link, shared: Arc<Shared>, options: &Options) -> io::Result<Self> {
        let largest = options.largest.map_or_else(
            || usual_segment(&link, shared.own),
            |largest| if link.has_cookies() { largest } else { largest.saturating_sub(20) },
        );
        let largest = largest.saturating_sub(link.overhead());
        let mss = largest.saturating_sub(HEADER).max(1);
        Ok(Self {
            ready: options.of_mss(mss)?,
            candidates: PmtuCandidates::new(
                mss + HEADER,
                usual_segment(&link, shared.own) - link.overhead(),
                link.overhead(),
            ),
            link,
            input: Some(Input::new()),
            shared,
            options: options.clone(),
            secrets: Secrets::new()?,
            used: Used::default(),
            table: Table::default(),
            timers: BinaryHeap::new(),
            again: Vec::new(),
            to_notify: Vec::new(),
            lines: Lines::default(),
            sources: Sources::new(options.memory / SHARES as u64),
            half_open: Vec::new(),
            memory: [
                options
                    .shared
                    .as_ref()
                    .map_or_else(|| Held::new(options.memory), |memory| Arc::clone(&memory.held)),
                Held::new(u64::MAX),
            ],
            commands: Vec::new(),
            begun: 0,
            stopping: None,
        })
    }

    pub(crate) fn run(mut self) {
        // Without this call, timers are late by up to 50 us. Some systems refuse it; timers then still work, but late.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut arrived = true;
        loop {
            // After a sleep that a timer ended, there is nothing to read. Skipping the read saves one system call for each paced packet.
            let received = arrived && self.receive();
            self.obey();
            self.fire();
            self.send_again();
            self.link.flush();
            self.notify();
            self.narrow();
            self.report_unreachable();
            if self.is_done() {
                return self.leave();
            }
            arrived = received || !self.again.is_empty() || self.sleep();
        }
    }

    fn now(&self) -> Time {
        self.shared.clock.now()
    }

    fn receive(&mut self) -> bool {
        let Some(mut input) = self.input.take() else { return false };
        let received = self.link.receive(&mut input);
        if received {
            input.for_each(|from, at, ecn, bytes| {
                if let Some(arrival) = self.link.read(from, at, ecn, bytes) {
                    self.on_arrival(&arrival);
                }
            });
        }
        self.input = Some(input);
        received
    }

    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        let now = self.now();
        let Some(place) = self.table.find(&arrival.route.ends) else {
            return self.on_unmatched(now, arrival);
        };
        let Some(connection) = self.table.at(place).map(|(connection, _)| Arc::clone(connection)) else {
            return;
        };
        let mut state = connection.lock();
        if self.link.is_sealed() && state.route.opens != arrival.route.opens {
            // Something on the path reflected a datagram of this side to it.
            return;
        }
        let is_fresh = |cookie: &Cookie| {
            !arrival.segment.flags.has(Flags::SYN) && self.remembered(now, arrival, cookie).is_some()
        };
        let is_new = is_syn(&arrival.segment) || arrival.cookie.as_ref().is_some_and(is_fresh);
        if is_new && state.socket.endpoint().status() == Status::Closed && state.socket.error().is_none() {
            // The peer reuses the ports while the old connection is in TIME-WAIT (RFC 9293 section 3.6.1).
            drop(state);
            return self.on_unmatched(now, arrival);
        }
        state.on_segment(now, &arrival.segment, arrival.cookie.as_ref(), arrival.payload);
        self.tend(now, place, &connection, &mut state);
    }

    /// Sends what a connection may send. Then updates its timer, drops it if it is over, and wakes the threads that wait for it.
    fn tend(&mut self, now: Time, place: usize, connection: &Arc<Connection>, state: &mut State) {
        let more = state.send(now, &mut self.link);
        let Some((_, generation)) = self.table.at(place) else { return };
        if more {
            self.again.push((place, generation));
        }
        if state.socket.is_finished() {
            return self.let_go(place, connection, state);
        }
        if let Some(next) = state.next_timer()
            && state.timer.is_none_or(|timer| next < timer)
        {
            state.timer = Some(next);
            self.timers.push(Reverse((next, place, generation)));
        }
        if state.to_accept && state.socket.is_open() {
            state.to_accept = false;
            self.hand_out(Arc::clone(connection), state);
        }
        self.line_up((place, generation), connection, state);
        if !std::mem::replace(&mut state.to_notify, true) {
            self.to_notify.push(Arc::clone(connection));
        }
    }

    /// Wakes the threads that wait for connections with news. This is done once for all segments that arrived together, because waking a
    /// thread for each of them would cost more than the segments.
    fn notify(&mut self) {
        for connection in self.to_notify.drain(..) {
            let mut state = connection.lock();
            state.to_notify = false;
            connection.notify(&mut state);
        }
    }

    /// Passes an open connection to a listener. If no listener is left, resets the connection.
    fn hand_out(&self, connection: Arc<Connection>, state: &mut State) {
        let mut accepts = self.shared.accepts();
        if accepts.listeners == 0 {
            drop(accepts);
            state.socket.abort();
            return self.shared.touch(&connection, state);
        }
        let source = Source::of(state.route.ends.peer.ip());
        accepts.waiting.push_back(Waiting { connection, source });
        let waker = accepts.waker.clone();
        drop(accepts);
        self.shared.accepted.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Makes a new connection, which has neither sent nor received anything.
    fn begin(
        &mut self,
        role: Role,
        route: Route,
        initial_sequence: u32,
        syn_retries: u32,
    ) -> Arc<Connection> {
        self.begun += 1;
        let secret = self.secrets.number(self.begun);
        let mut ready = self.ready.clone();
        ready.config = Config { initial_sequence, secret, syn_retries, ..ready.config };
        let Ends { peer, theirs, ours } = route.ends;
        let own = route.from.map_or(self.shared.own, |ip| SocketAddr::new(ip, self.shared.own.port()));
        let beginning = Beginning {
            at: self.now(),
            role,
            peer,
            own,
            ports: (ours, theirs),
            mss: ready.config.mss,
            header: &ready.header,
        };
        let watch = self.options.watches.as_ref().and_then(|watches| watches(&beginning).ok());
        let source = (role == Role::Server).then(|| Source::of(peer.ip()));
        let [all, own] = &self.memory;
        let of_source = source.map_or(own, |source| &self.sources.of(source).memory);
        let memory = Memory::new(Arc::clone(all), Arc::clone(of_source));
        Arc::new(Connection::new(role, ready, &self.options, route, (memory, self.candidates), watch))
    }

    /// Adds a connection to the table. Returns its place.
    fn keep(&mut self, ends: Ends, connection: &Arc<Connection>) -> usize {
        let place = self.table.insert(ends, Arc::clone(connection));
        if connection.lock().is_of_peer {
            self.sources.opened(ends.peer);
        }
        place
    }

    fn remove(&mut self, place: usize) {
        if let Some(connection) = self.table.at(place).map(|(connection, _)| Arc::clone(connection)) {
            self.let_go(place, &connection, &mut connection.lock());
        }
    }

    /// Removes a connection that is over from the table.
    fn let_go(&mut self, place: usize, connection: &Arc<Connection>, state: &mut State) {
        state.over = true;
        connection.notify(state);
        self.table.remove(place);
        if state.is_of_peer {
            self.sources.closed(state.route.ends.peer);
        }
    }

    /// Executes the commands of other threads.
    fn obey(&mut self) {
        let mut commands = std::mem::take(&mut self.commands);
        self.shared.take_commands(&mut commands);
        for command in commands.drain(..) {
            match command {
                Command::Touch(connection) => {
                    let mut state = connection.lock();
                    if !state.over && state.place != usize::MAX {
                        let place = state.place;
                        self.tend(self.now(), place, &connection, &mut state);
                    }
                }
                Command::Open { peer, reply } => {
                    // The thread that sent the command may be gone.
                    let _ = reply.send(self.open(peer));
                }
                Command::Stop => {
                    let linger = u64::try_from(self.options.linger.as_nanos()).unwrap_or(u64::MAX);
                    self.stopping = Some(self.now() + Span::from_nanos(linger));
                }
            }
        }
        self.commands = commands;
    }

    fn open(&mut self, peer: SocketAddr) -> io::Result<Arc<Connection>> {
        let now = self.now();
        if !self.make_room(now, None) {
            let most = self.options.connections;
            return Err(io::Error::other(format!("the host has {most} connections, as many as it may")));
        }
        if peer.port() == 0 || peer.is_ipv6() && self.shared.own.is_ipv4() {
            let own = self.shared.own.ip();
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{peer} cannot be reached from a socket of {own}"),
            ));
        }
        let ends = self.free_ends(peer).ok_or(io::ErrorKind::AddrNotAvailable)?;
        let initial_sequence = self.secrets.sequence(&ends, now);
        let route = Route { ends, from: None, opens: true };
        let connection = self.begin(Role::Client, route, initial_sequence, self.ready.config.syn_retries);
        let place = self.keep(ends, &connection);
        let mut state = connection.lock();
        state.socket.open(now);
        self.tend(now, place, &connection, &mut state);
        drop(state);
        Ok(connection)
    }

    /// Returns the endpoints of a new connection to the peer. The port of this host is free towards the peer and chosen at random (RFC 6056
    /// section 3.3.1).
    fn free_ends(&mut self, peer: SocketAddr) -> Option<Ends> {
        (0..1_000_u64).find_map(|n| {
            let number = self.secrets.number(u64::MAX - self.begun * 1_000 - n);
            let ours = u16::try_from(FIRST_PORT + number % (u64::from(u16::MAX) - FIRST_PORT)).ok()?;
            let ends = Ends { peer, theirs: peer.port(), ours };
            self.table.find(&ends).is_none().then_some(ends)
        })
    }

    fn fire(&mut self) {
        let now = self.now();
        while let Some(Reverse((at, place, generation))) = self.timers.peek().copied()
            && at <= now
        {
            self.timers.pop();
            let Some((connection, current)) = self.table.at(place) else { continue };
            if current != generation {
                continue;
            }
            let connection = Arc::clone(connection);
            let mut state = connection.lock();
            if state.timer != Some(at) {
                continue;
            }
            state.timer = None;
            if state.next_timer().is_some_and(|next| next <= now) {
                state.on_timer(now);
            }
            self.tend(now, place, &connection, &mut state);
        }
        if self.timers.len() > 4 * self.table.len() + 1_024 {
            let table = &self.table;
            self.timers.retain(|Reverse((at, place, generation))| {
                table.at(*place).is_some_and(|(connection, current)| {
                    current == *generation && connection.lock().timer == Some(*at)
                })
            });
        }
    }

    fn send_again(&mut self) {
        for (place, generation) in std::mem::take(&mut self.again) {
            let Some((connection, current)) = self.table.at(place) else { continue };
            if current == generation {
                let connection = Arc::clone(connection);
                self.tend(self.now(), place, &connection, &mut connection.lock());
            }
        }
    }

    /// Limits the segments of connections whose datagrams the device refused as too long.
    fn narrow(&mut self) {
        for peer in self.link.take_too_large() {
            for (_, connection) in self.table.all() {
                let mut state = connection.lock();
                if state.route.ends.peer == peer {
                    state.narrow_to_next();
                }
            }
        }
    }

    /// Drops the connections that are being opened to peers that the system cannot reach.
    fn report_unreachable(&mut self) {
        for (ends, kind) in self.link.take_unreachable() {
            let Some(place) = self.table.find(&ends) else { continue };
            let Some((connection, _)) = self.table.at(place) else { continue };
            let is_opening = {
                let mut state = connection.lock();
                let is_opening = state.socket.endpoint().status() == Status::Opening;
                if is_opening {
                    state.refused = Some(kind);
                }
                is_opening
            };
            if is_opening {
                self.remove(place);
            }
        }
    }

    /// Waits for a segment, a command or a timer. Returns whether a segment may have arrived.
    fn sleep(&mut self) -> bool {
        let mut arrived = true;
        self.shared.sleeping.store(true, Ordering::SeqCst);
        if self.shared.is_quiet() {
            let next = self.timers.peek().map(|Reverse((at, place, _))| (*at, *place));
            let in_train =
                |place| self.table.at(place).is_some_and(|(connection, _)| connection.lock().is_in_train());
            let spins = next.is_some_and(|(_, place)| in_train(place));
            let until = Time::earlier(next.map(|(at, _)| at), self.next_glance());
            let early = if spins { SPIN } else { Span::ZERO };
            let timeout = until.map(|until| timespec(until.since(self.now() + early)));
            let mut fds = [
                PollFd::from_borrowed_fd(self.link.fd(), PollFlags::IN),
                PollFd::new(&self.shared.event, PollFlags::IN),
            ];
            // An interrupted wait ends early.
            let woken = poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0);
            arrived = fds[0].revents() != PollFlags::empty();
            if !woken && let Some(at) = until.filter(|_| spins) {
                self.shared.clock.spin_until(at);
            }
        }
        if !self.shared.sleeping.swap(false, Ordering::SeqCst) {
            // Another thread woke the host, or is doing so.
            let _ = rustix::io::read(&self.shared.event, &mut [0; 8]);
        }
        arrived
    }
}

impl Drop for Engine {
    /// Ends all connections when the thread ends for any reason, and wakes the threads that wait for them.
    fn drop(&mut self) {
        for (_, connection) in self.table.all() {
            let mut state = connection.lock();
            if state.socket.error().is_none() && !state.socket.is_finished() && !state.has_ended_well() {
                state.refused = Some(io::ErrorKind::BrokenPipe);
            }
            state.over = true;
            connection.notify(&mut state);
        }
        let mut accepts = self.shared.accepts();
        (accepts.ended, accepts.listeners) = (true, 0);
        accepts.waiting.clear();
        drop(accepts);
        self.shared.accepted.notify_all();
        self.shared.end();
    }
}

fn is_syn(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK)
}
