//! The thread of a host: it hears what arrives, fires timers, and sends what may leave.

mod room;
mod strangers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Flags, Role, Standing};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::set_current_timer_slack;

use crate::clock::timespec;
use crate::connection::{Connection, Memory, State};
use crate::cookie::{Cookie, Ends, Secrets, Used};
use crate::frame::HEADER;
use crate::host::{Command, Shared};
use crate::link::{Arrival, Input, Link, Route, usual_segment};
use crate::options::{Options, Ready};
use crate::table::Table;
use crate::watch::Beginning;
use crate::width::BASE_SEGMENT;
use room::Line;
use strangers::is_syn;

/// The end of the wait for a packet of a train is spent awake: a sleeper wakes late by as much.
const SPIN: Span = Span::from_micros(60);
/// The first port of those that connections of our own have.
const FIRST_PORT: u64 = 1_024;

/// A host's thread.
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
    /// Connections that may have more to send, by place and generation.
    again: Vec<(usize, u64)>,
    /// Connections in TIME-WAIT, the oldest first.
    at_end: Line,
    /// Connections that nobody holds any more, the oldest first.
    orphans: Line,
    /// Of a TUN: connections whose peers have not proved their addresses.
    half_open: Vec<(usize, u64)>,
    memory: Arc<Memory>,
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
        let mss = largest.saturating_sub(HEADER).max(1);
        Ok(Self {
            ready: options.of_mss(mss)?,
            link,
            input: Some(Input::new()),
            shared,
            options: options.clone(),
            secrets: Secrets::new()?,
            used: Used::new(),
            table: Table::default(),
            timers: BinaryHeap::new(),
            again: Vec::new(),
            at_end: Line::default(),
            orphans: Line::default(),
            half_open: Vec::new(),
            memory: Arc::new(Memory::new(options.memory)),
            commands: Vec::new(),
            begun: 0,
            stopping: None,
        })
    }

    pub(crate) fn run(mut self) {
        // Timers are late by up to 50 us otherwise. What refuses this is late, and works.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut arrived = true;
        loop {
            // After a sleep that a timer ended there is nothing to read: paced packets cost a call less.
            let heard = arrived && self.receive();
            self.obey();
            self.fire();
            self.send_again();
            self.link.flush();
            self.narrow();
            self.report_unreachable();
            if self.is_done() {
                return self.leave();
            }
            arrived = heard || !self.again.is_empty() || self.sleep();
        }
    }

    fn now(&self) -> Time {
        self.shared.clock.now()
    }

    fn receive(&mut self) -> bool {
        let Some(mut input) = self.input.take() else { return false };
        let heard = self.link.receive(&mut input);
        if heard {
            for (from, at, ecn, bytes) in input.packets() {
                if let Some(arrival) = self.link.read(from, at, ecn, bytes) {
                    self.hear(&arrival);
                }
            }
        }
        self.input = Some(input);
        heard
    }

    fn hear(&mut self, arrival: &Arrival<'_>) {
        let now = self.now();
        let Some(place) = self.table.find(&arrival.route.ends) else {
            return self.hear_stranger(now, arrival);
        };
        let Some(connection) = self.table.at(place).map(|(connection, _)| Arc::clone(connection)) else {
            return;
        };
        let mut state = connection.lock();
        let is_fresh = |cookie: &Cookie| !arrival.segment.flags.has(Flags::SYN) && !self.used.has(cookie);
        let is_new = is_syn(&arrival.segment) || arrival.cookie.as_ref().is_some_and(is_fresh);
        if is_new && state.socket.endpoint().standing() == Standing::Closed && state.socket.error().is_none()
        {
            // The same ends again while the old connection waits at its end (RFC 9293 section 3.6.1).
            drop(state);
            return self.hear_stranger(now, arrival);
        }
        state.hear(now, &arrival.segment, arrival.cookie.as_ref(), arrival.payload);
        self.tend(now, place, &connection, &mut state);
    }

    /// Sends what may leave of a connection, and sees to its timer, its end and whoever waits for it.
    fn tend(&mut self, now: Time, place: usize, connection: &Arc<Connection>, state: &mut State) {
        let more = state.send(now, &mut self.link);
        let Some((_, generation)) = self.table.at(place) else { return };
        if more {
            self.again.push((place, generation));
        }
        if state.socket.is_finished() {
            state.over = true;
            connection.tell(state);
            self.table.remove(place);
            return;
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
        self.line_up((place, generation), state);
        connection.tell(state);
    }

    /// A connection that is open is there to be accepted. If nobody listens any more it is reset.
    fn hand_out(&self, connection: Arc<Connection>, state: &mut State) {
        let mut accepts = self.shared.accepts();
        if accepts.listeners == 0 {
            drop(accepts);
            state.socket.abort();
            return self.shared.touch(&connection, state);
        }
        accepts.waiting.push_back(connection);
        drop(accepts);
        self.shared.accepted.notify_one();
    }

    /// A connection that has done nothing yet.
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
        Arc::new(Connection::new(role, ready, &self.options, route, Arc::clone(&self.memory), watch))
    }

    fn remove(&mut self, place: usize) {
        if let Some(connection) = self.table.remove(place) {
            let mut state = connection.lock();
            state.over = true;
            connection.tell(&mut state);
        }
    }

    /// Does what other threads ask for.
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
                    // Who asked may be gone.
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
        if !self.make_room(now) {
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
        let route = Route { ends, from: None };
        let connection = self.begin(Role::Client, route, initial_sequence, self.ready.config.syn_retries);
        let place = self.table.insert(ends, Arc::clone(&connection));
        let mut state = connection.lock();
        state.socket.open(now);
        self.tend(now, place, &connection, &mut state);
        drop(state);
        Ok(connection)
    }

    /// Ends with a port of ours that no connection to the peer has, chosen at random (RFC 6056 section 3.3.1).
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

    /// The device refused datagrams to some peers for their length.
    fn narrow(&mut self) {
        for peer in self.link.take_too_large() {
            for (_, connection) in self.table.all() {
                let mut state = connection.lock();
                if state.route.ends.peer == peer {
                    state.narrow(BASE_SEGMENT);
                }
            }
        }
    }

    /// The system can send nothing to some peers. Connections to them that have not opened never will.
    fn report_unreachable(&mut self) {
        for (ends, kind) in self.link.take_unreachable() {
            let Some(place) = self.table.find(&ends) else { continue };
            let Some((connection, _)) = self.table.at(place) else { continue };
            let is_opening = {
                let mut state = connection.lock();
                let is_opening = state.socket.endpoint().standing() == Standing::Opening;
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

    /// Waits until something arrives or is asked, or a timer is due; whether something may have arrived.
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
            // Somebody woke the host, or did just now.
            let _ = rustix::io::read(&self.shared.event, &mut [0; 8]);
        }
        arrived
    }
}

impl Drop for Engine {
    /// Nothing happens any more, whatever the reason: who waits is told.
    fn drop(&mut self) {
        for (_, connection) in self.table.all() {
            let mut state = connection.lock();
            if state.socket.error().is_none() && !state.socket.is_finished() && !state.has_ended_well() {
                state.refused = Some(io::ErrorKind::BrokenPipe);
            }
            state.over = true;
            connection.tell(&mut state);
        }
        let mut accepts = self.shared.accepts();
        (accepts.ended, accepts.listeners) = (true, 0);
        accepts.waiting.clear();
        drop(accepts);
        self.shared.accepted.notify_all();
        self.shared.end();
    }
}
