//! One connection: its socket, and what joins its host's thread with the threads that read and write.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_tcp::bytes::{Error, Settings, Socket};
use firstflight_tcp::{Flags, Role, Segment, Standing};

use crate::cookie::Cookie;
use crate::frame::HEADER;
use crate::link::{Link, Route};
use crate::options::{Options, Ready};
use crate::watch::Watch;
use crate::width::{BASE_SEGMENT, send_in_width, send_syn};

/// The segments that leave in one turn: between turns the host hears what arrived.
const TURN: usize = 64;
/// What a connection may keep of writes at least.
const LEAST_SEND_BUFFER: u64 = 32 << 10;
/// What it may keep of writes, and from where on it hears no more, while its host holds too much.
const SCARCE_BUFFER: u64 = 4 << 10;
/// Timeouts in a row after which a path is taken to have lost its width (RFC 8899 section 4.3).
const TIMEOUTS_OF_A_BLACK_HOLE: u64 = 2;
/// How often the first ACK is sent again for a server that keeps nothing before it.
const GREETINGS: u32 = 6;
/// For how long a connection that nobody holds waits for the peer's end.
const ORPHAN: Span = Span::from_secs(60);
/// For how long a host that ends waits for a peer's end, and as long as three round trips.
const FAREWELL: Span = Span::from_millis(100);

type AnySocket = Socket<AnyScheme, AnyRestart, AnyLaw>;

/// A connection.
pub(crate) struct Connection {
    state: Mutex<State>,
    changed: Condvar,
}

/// What of a connection is under its lock.
pub(crate) struct State {
    pub(crate) socket: AnySocket,
    pub(crate) route: Route,
    /// Its place in its host's table.
    pub(crate) place: usize,
    /// Bytes of a segment, header counted in: what the path is known or thought to carry.
    pub(crate) width: u16,
    /// Whether the host is to look at it already.
    pub(crate) touched: bool,
    /// Whether the host let go of it.
    pub(crate) over: bool,
    /// Whether it is counted among those that wait at their end.
    pub(crate) at_end: bool,
    /// Whether it is counted among those that nobody holds.
    pub(crate) is_lined_up: bool,
    /// Whether it is to be accepted once it is open.
    pub(crate) to_accept: bool,
    /// Nothing is read any more.
    pub(crate) deaf: bool,
    /// What the host cannot do for it.
    pub(crate) refused: Option<io::ErrorKind>,
    /// When the host wakes for it, at the latest.
    pub(crate) timer: Option<Time>,
    /// The server has it: something but the answer to the SYN came from there.
    confirmed: bool,
    greeting: Option<Greeting>,
    syns: u32,
    /// Nobody reads and writes any more; until then the end is waited for.
    orphan: Option<Time>,
    /// Of a host that ends: since when nothing is left to be acknowledged.
    quiet: Option<Time>,
    /// Bytes read since the host looked last.
    read: u64,
    send_buffer: u64,
    takes_whole_buffer: bool,
    receive_buffer: u64,
    memory: Arc<Memory>,
    /// Bytes counted in the memory of the host.
    held: u64,
    waits: Waits,
    watch: Option<Box<dyn Watch>>,
}

/// The first ACK with its cookie, until the server is known to have it.
struct Greeting {
    cookie: Cookie,
    segment: Option<Segment>,
    due: Time,
    sent: u32,
}

/// What threads wait for.
#[derive(Clone, Copy, Default)]
struct Waits {
    open: bool,
    read: bool,
    write: bool,
    end: bool,
}

/// The bytes that all connections of a host hold.
#[derive(Debug)]
pub(crate) struct Memory {
    held: AtomicU64,
    most: u64,
}

impl Memory {
    pub(crate) fn new(most: u64) -> Self {
        Self { held: AtomicU64::new(0), most }
    }

    fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    fn changes(&self, from: u64, to: u64) {
        self.held.fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.memory.changes(self.held, 0);
    }
}

impl Connection {
    /// A connection that has done nothing yet.
    pub(crate) fn new(
        role: Role,
        ready: Ready,
        options: &Options,
        route: Route,
        memory: Arc<Memory>,
        watch: Option<Box<dyn Watch>>,
    ) -> Self {
        let settings = Settings { send_buffer: options.send_buffer, lifetime: options.lifetime };
        let mut socket = Socket::new(role, &ready.config, ready.controller, &settings);
        if let Some(timeout) = options.user_timeout {
            socket.set_user_timeout(timeout);
        }
        if watch.is_some() {
            socket.keep_told();
            socket.keep_happenings();
        }
        let state = State {
            socket,
            route,
            place: usize::MAX,
            width: ready.config.mss + HEADER,
            touched: false,
            over: false,
            at_end: false,
            is_lined_up: false,
            to_accept: false,
            deaf: false,
            refused: None,
            timer: None,
            confirmed: role == Role::Server,
            greeting: None,
            syns: 0,
            orphan: None,
            quiet: None,
            read: 0,
            send_buffer: options.send_buffer,
            takes_whole_buffer: options.takes_whole_buffer,
            receive_buffer: ready.config.receive_buffer,
            memory,
            held: 0,
            waits: Waits::default(),
            watch,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changed, or for `timeout`; the connection, and whether there was time left.
    pub(crate) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        timeout: Option<std::time::Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        match timeout {
            None => (self.changed.wait(state).unwrap_or_else(PoisonError::into_inner), true),
            Some(timeout) => {
                let (state, result) =
                    self.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner);
                (state, !result.timed_out())
            }
        }
    }

    /// Wakes the threads that wait, if what they wait for is there.
    pub(crate) fn tell(&self, state: &mut State) {
        let waits = state.waits;
        let met = waits.open && state.is_opened()
            || waits.read && state.can_read()
            || waits.write && state.can_write_much()
            || waits.end && (state.is_ended() || state.socket.is_all_acknowledged());
        if met || state.over {
            state.waits = Waits::default();
            self.changed.notify_all();
        }
    }
}

impl State {
    /// The handshake of a server, of which nothing was kept: this SYN arrived then, and was answered.
    pub(crate) fn was_opened(&mut self, then: Time, syn: &Segment) {
        self.take_in(then, syn, &[]);
        // The SYN-ACK left already.
        while let Some((transmit, _)) = self.socket.poll(then) {
            if let Some(watch) = &mut self.watch {
                watch.sent(then, &transmit, [&[], &[]]);
            }
        }
    }

    /// The endpoint hears a segment.
    fn take_in(&mut self, now: Time, segment: &Segment, payload: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.arrived(now, segment, payload);
        }
        self.socket.on_segment(now, segment, payload);
    }

    /// A segment arrived for the connection.
    pub(crate) fn hear(&mut self, now: Time, segment: &Segment, cookie: Option<&Cookie>, payload: &[u8]) {
        if segment.flags.has(Flags::SYN) {
            // What follows its options is padding.
            let bare = Segment { len: 0, ..*segment };
            let opening = !self.socket.is_open();
            self.take_in(now, &bare, &[]);
            if let Some(cookie) = cookie.filter(|_| opening && self.socket.is_open()) {
                let due = now + Span::from_secs(1);
                self.greeting = Some(Greeting { cookie: *cookie, segment: None, due, sent: 0 });
            } else if opening {
                self.confirmed = true;
            }
            return;
        }
        if segment.len > 0 && self.memory.held() >= self.memory.most && !self.is_wanted(segment) {
            // It is lost, as on a path, and comes again.
            return;
        }
        self.take_in(now, segment, payload);
        if self.socket.is_open() {
            (self.confirmed, self.greeting) = (true, None);
        }
    }

    /// Whether data is heard though the host holds as much as it may: what comes next, unless much of that is not read.
    fn is_wanted(&self, segment: &Segment) -> bool {
        let next = self.socket.endpoint().next_expected();
        self.socket.readable() < SCARCE_BUFFER && segment.seq.wrapping_sub(next).cast_signed() <= 0
    }

    /// Sends what may leave now, a turn's worth at most; whether more may be left.
    pub(crate) fn send(&mut self, now: Time, link: &mut Link) -> bool {
        self.touched = false;
        self.read = 0;
        self.abort_if_orphaned(now);
        let mut sent = 0;
        while sent < TURN {
            // What called for a segment is told before it.
            self.tell_watch(now);
            let Some((transmit, payload)) = self.socket.poll(now) else { break };
            let (segment, pieces) = (transmit.segment, payload.pieces());
            sent += 1;
            if let Some(watch) = &mut self.watch {
                watch.sent(now, &transmit, pieces);
            }
            if segment.flags.has(Flags::SYN) {
                send_syn(link, &self.route, &segment, self.width, &mut self.syns);
                continue;
            }
            if let Some(greeting) = self.greeting.as_mut().filter(|_| !self.confirmed) {
                let bare = Segment { len: 0, flags: Flags::ACK, sack_count: 0, ..segment };
                let hello = greeting.segment.get_or_insert(bare);
                if sent == 1 && !segment.flags.has(Flags::RST) {
                    link.send(&self.route, hello, Some(&greeting.cookie), [&[], &[]]);
                    if segment == *hello {
                        continue;
                    }
                }
            }
            send_in_width(link, &self.route, &segment, pieces, self.width);
        }
        self.greet_again(now, link);
        self.account();
        self.tell_watch(now);
        if let Some(watch) = &mut self.watch {
            watch.state(now, &self.socket.endpoint().snapshot());
        }
        sent == TURN
    }

    /// Tells the watcher what happened since the last time.
    fn tell_watch(&mut self, now: Time) {
        let Some(watch) = &mut self.watch else { return };
        while let Some(happening) = self.socket.poll_happening() {
            watch.happening(now, &happening, &self.socket.endpoint().snapshot());
        }
        while let Some(told) = self.socket.poll_told() {
            watch.told(told);
        }
    }

    /// When the host is to look at the connection next, whether or not anything arrives.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        let greeting = self.greeting.as_ref().filter(|greeting| greeting.sent < GREETINGS);
        let due = Time::earlier(greeting.map(|greeting| greeting.due), self.orphan);
        Time::earlier(self.socket.next_timer(), due)
    }

    /// The instant of the timer has come.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.socket.on_timer(now);
        let timeouts = self.socket.endpoint().info().timeouts_in_a_row;
        if timeouts >= TIMEOUTS_OF_A_BLACK_HOLE && self.width > BASE_SEGMENT {
            self.narrow(BASE_SEGMENT);
        }
    }

    /// Segments of more than `width` bytes do not get through: they are parted from now on, as a device would part them.
    pub(crate) fn narrow(&mut self, width: u16) {
        self.width = self.width.min(width);
    }

    /// The instant of the next departure is that of a packet of a train.
    pub(crate) fn is_in_train(&self) -> bool {
        self.socket.endpoint().is_in_train()
    }

    /// Nobody reads and writes any more. What was written is still sent, and the peer's end waited for.
    pub(crate) fn leave(&mut self, now: Time) {
        self.socket.shutdown();
        self.orphan = Some(now + ORPHAN);
    }

    /// Whether nobody reads and writes any more.
    pub(crate) fn is_orphan(&self) -> bool {
        self.orphan.is_some()
    }

    /// Whether both sides have closed.
    pub(crate) fn has_ended_well(&self) -> bool {
        self.socket.endpoint().standing() == Standing::Closed
    }

    /// The host ends. Whether the connection has, or all that was written is acknowledged and the peer had its time to end.
    pub(crate) fn may_be_left(&mut self, now: Time) -> bool {
        if self.is_ended() || self.has_ended_well() {
            return true;
        }
        if !self.socket.is_all_acknowledged() {
            return false;
        }
        let srtt = self.socket.endpoint().info().srtt.unwrap_or(Span::ZERO);
        *self.quiet.get_or_insert(now) + FAREWELL.max(srtt * 3) <= now
    }

    /// The host lets go: a peer that does not know that the connection is over is told by a reset.
    pub(crate) fn give_up(&mut self, now: Time, link: &mut Link) {
        self.socket.abort();
        self.send(now, link);
    }

    /// Whether the handshake is over, in whatever way.
    pub(crate) fn is_opened(&self) -> bool {
        self.socket.is_open() || self.is_ended()
    }

    /// Whether a read would not wait.
    pub(crate) fn can_read(&self) -> bool {
        self.deaf || self.socket.readable() > 0 || self.socket.is_at_end() || self.is_ended()
    }

    /// Bytes that a write would take now.
    pub(crate) fn room(&self) -> u64 {
        let window = self.socket.endpoint().snapshot().cwnd.get();
        let bound = match self.memory.held() {
            held if held < self.memory.most / 2 && self.takes_whole_buffer => self.send_buffer,
            held if held < self.memory.most / 2 => (2 * window).max(LEAST_SEND_BUFFER),
            held if held < self.memory.most => LEAST_SEND_BUFFER,
            _ => SCARCE_BUFFER,
        };
        let bound = bound.min(self.send_buffer);
        bound.saturating_sub(self.socket.endpoint().queued()).min(self.socket.writable())
    }

    /// Whether it is worth to wake who writes.
    fn can_write_much(&self) -> bool {
        self.room() >= SCARCE_BUFFER.min(self.send_buffer) || self.socket.is_shut() || self.is_ended()
    }

    /// Whether all that was written and the end of it arrived at the peer, or never will.
    pub(crate) fn is_ended(&self) -> bool {
        self.over || self.refused.is_some() || self.socket.error().is_some() || self.socket.is_finished()
    }

    /// Counts what the connection holds to the memory of its host.
    pub(crate) fn account(&mut self) {
        let held = self.socket.held();
        self.memory.changes(self.held, held);
        self.held = held;
    }

    /// Counts what was read; whether the host is to look whether the window opens.
    pub(crate) fn was_read(&mut self, bytes: usize) -> bool {
        self.read += bytes as u64;
        self.read >= self.receive_buffer / 4
    }

    /// The error of the connection, as the standard library has it.
    pub(crate) fn error(&self) -> Option<io::Error> {
        if let Some(kind) = self.refused {
            return Some(kind.into());
        }
        let error = self.socket.error()?;
        let kind = match error {
            Error::Refused => io::ErrorKind::ConnectionRefused,
            Error::Reset => io::ErrorKind::ConnectionReset,
            Error::TimedOut => io::ErrorKind::TimedOut,
            Error::Aborted => io::ErrorKind::ConnectionAborted,
        };
        Some(io::Error::new(kind, error.to_string()))
    }

    /// A thread waits until [`State::is_opened`].
    pub(crate) fn wait_open(&mut self) {
        self.waits.open = true;
    }

    /// A thread waits until [`State::can_read`].
    pub(crate) fn wait_read(&mut self) {
        self.waits.read = true;
    }

    /// A thread waits for room to write.
    pub(crate) fn wait_write(&mut self) {
        self.waits.write = true;
    }

    /// A thread waits until [`State::is_ended`], or all that was written is acknowledged.
    pub(crate) fn wait_end(&mut self) {
        self.waits.end = true;
    }

    /// Data for nobody resets the connection (RFC 1122 section 4.2.2.13), and so does a peer that never ends, or never acknowledges
    /// the end.
    fn abort_if_orphaned(&mut self, now: Time) {
        let Some(until) = self.orphan else { return };
        let is_over = until <= now && self.socket.endpoint().queued() == 0 && !self.has_ended_well();
        if self.socket.readable() > 0 || is_over {
            self.orphan = None;
            self.socket.abort();
        } else if until <= now {
            // What was written is still on its way, for as long as TCP tries.
            self.orphan = Some(now + ORPHAN);
        }
    }

    fn greet_again(&mut self, now: Time, link: &mut Link) {
        let Some(greeting) = &mut self.greeting else { return };
        if let Some(segment) = greeting.segment.filter(|_| greeting.due <= now && greeting.sent < GREETINGS) {
            link.send(&self.route, &segment, Some(&greeting.cookie), [&[], &[]]);
            greeting.sent += 1;
            greeting.due = now + Span::from_secs(1 << greeting.sent);
        }
    }
}
