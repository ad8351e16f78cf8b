//! One connection: its socket, and the state that its host's thread shares with the threads that read and write the stream.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_tcp::bytes::{Error, Settings, Socket};
use firstflight_tcp::{Flags, Role, Segment, Status};

use crate::cookie::Cookie;
use crate::frame::HEADER;
use crate::link::{Link, Route};
use crate::memory::Memory;
use crate::options::{Options, Ready};
use crate::pmtu::{PmtuCandidates, send_in_pmtu, send_syn};
use crate::watch::Watch;
use crate::worth::Worth;

/// The maximum number of segments that a connection sends before the host receives again.
const TURN: usize = 64;
/// The minimum send buffer of a connection while its host has free memory.
const MIN_SEND_BUFFER: u64 = 32 << 10;
/// The initial send buffer of a connection with `takes_whole_buffer`, before its peer has acknowledged much.
const FIRST_SEND_BUFFER: u64 = 64 << 10;
/// The send buffer of a connection while its host's memory is full. A connection with this many unread bytes then drops data.
const SCARCE_BUFFER: u64 = 4 << 10;
/// The free room at which writers are woken at the latest.
const MUCH_ROOM: u64 = 256 << 10;
/// The number of consecutive timeouts after which a path is treated as a PMTU black hole (RFC 8899 section 4.3).
const TIMEOUTS_OF_A_BLACK_HOLE: u64 = 2;
/// The maximum number of retransmissions of the first ACK. A server that keeps no state before this ACK needs it.
const GREETINGS: u32 = 6;
/// The time in which the peer must close or acknowledge more data after the last handle of the connection was dropped.
const ORPHAN: Span = Span::from_secs(60);
/// Bytes of segment records that an endpoint may use before they count as held memory.
const FREE_RECORDS: u64 = 16 << 10;
/// The minimum time for which a host that ends waits for a peer to close. The wait is also at least three RTTs.
const FAREWELL: Span = Span::from_millis(100);

type AnySocket = Socket<AnyScheme, AnyRestart, AnyLaw>;

/// A connection, which several threads share.
pub(crate) struct Connection {
    state: Mutex<State>,
    changed: Condvar,
    /// The worth of the connection to the application, and the number of its changes ([`Worth::mark`]).
    mark: AtomicU64,
}

/// The state of a connection under its lock.
pub(crate) struct State {
    pub(crate) socket: AnySocket,
    pub(crate) route: Route,
    /// `true` if the peer opened the connection.
    pub(crate) is_of_peer: bool,
    /// The place of the connection in its host's table.
    pub(crate) place: usize,
    /// The largest segment in bytes, header included, that the path is known or assumed to carry.
    pub(crate) pmtu: u16,
    candidates: PmtuCandidates,
    /// Whether the host has a pending command to examine the connection.
    pub(crate) touched: bool,
    /// Whether the host has yet to wake the threads that wait for the connection.
    pub(crate) to_notify: bool,
    /// Whether the host has dropped the connection.
    pub(crate) over: bool,
    /// Whether the connection is in the queues of connections in TIME-WAIT, which may be dropped to make room.
    pub(crate) at_end: bool,
    /// Whether the connection is in the queues of connections without a handle, which may be dropped to make room.
    pub(crate) is_lined_up: bool,
    /// The mark ([`Worth::mark`]) with which the connection was last considered for the queues of connections that may be dropped to make
    /// room.
    pub(crate) lined_mark: u64,
    /// Whether the host passes the connection to a listener once it is open.
    pub(crate) to_accept: bool,
    /// Whether the application has shut the reading half.
    pub(crate) deaf: bool,
    /// The error with which the host refused the connection.
    pub(crate) refused: Option<io::ErrorKind>,
    /// The earliest timer that the host has set for the connection.
    pub(crate) timer: Option<Time>,
    /// Whether the server is known to have the connection, because a segment other than the SYN-ACK arrived from the server.
    confirmed: bool,
    greeting: Option<Greeting>,
    syns: u32,
    /// `None` while a handle exists. Otherwise the peer must close by this time, or acknowledge more than this offset.
    orphan: Option<(Time, u64)>,
    /// The time at which a host that ends first found all data acknowledged.
    quiet: Option<Time>,
    /// Bytes that the application read since the host last examined the connection.
    read: u64,
    send_buffer: u64,
    takes_whole_buffer: bool,
    receive_buffer: u64,
    memory: Memory,
    waits: Waits,
    /// The waker to call when a condition in `waits` holds.
    waker: Option<Waker>,
    watch: Option<Box<dyn Watch>>,
}

/// The first ACK with its cookie, which is kept until the server is known to have the connection.
struct Greeting {
    cookie: Cookie,
    segment: Option<Segment>,
    due: Time,
    sent: u32,
}

/// The conditions for which threads wait.
#[derive(Clone, Copy, Default)]
struct Waits {
    open: bool,
    read: bool,
    write: bool,
    end: bool,
}

impl Connection {
    /// Returns a connection that has neither sent nor received anything.
    pub(crate) fn new(
        role: Role,
        ready: Ready,
        options: &Options,
        route: Route,
        (memory, candidates): (Memory, PmtuCandidates),
        watch: Option<Box<dyn Watch>>,
    ) -> Self {
        let settings = Settings { send_buffer: options.send_buffer, lifetime: options.lifetime };
        let mut socket = Socket::new(role, &ready.config, ready.controller, &settings);
        if let Some(timeout) = options.user_timeout {
            socket.set_user_timeout(timeout);
        }
        if watch.is_some() {
            socket.record_trace();
            socket.record_events();
        }
        let state = State {
            socket,
            route,
            is_of_peer: role == Role::Server,
            place: usize::MAX,
            pmtu: ready.config.mss + HEADER,
            candidates,
            touched: false,
            to_notify: false,
            over: false,
            at_end: false,
            is_lined_up: false,
            lined_mark: 0,
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
            waits: Waits::default(),
            waker: None,
            watch,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), mark: AtomicU64::new(0) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current mark ([`Worth::mark`]).
    pub(crate) fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Sets the worth of the connection to the application. Returns whether it changed.
    pub(crate) fn set_worth(&self, worth: Worth) -> bool {
        // The caller holds the lock, so no other thread changes the mark here.
        let mark = self.mark();
        let is_new = Worth::of(mark) != worth;
        if is_new {
            self.mark.store(worth.mark(mark), Ordering::Relaxed);
        }
        is_new
    }

    /// Waits for a change of the connection, or for `timeout`. Returns the connection's state, and `false` if the wait timed out.
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

    /// Wakes the waiting threads if the condition for which they wait holds.
    pub(crate) fn notify(&self, state: &mut State) {
        let waits = state.waits;
        let met = waits.open && state.is_opened()
            || waits.read && state.can_read()
            || waits.write && state.can_write_much()
            || waits.end && (state.is_ended() || state.socket.is_all_acknowledged());
        if met || state.over {
            state.waits = Waits::default();
            self.changed.notify_all();
            if let Some(waker) = &state.waker {
                waker.wake_by_ref();
            }
        }
    }
}

impl State {
    /// Replays the handshake of a server that kept no state of it. The SYN arrived at `then`, and the SYN-ACK was already sent.
    pub(crate) fn was_opened(&mut self, then: Time, syn: &Segment) {
        self.take_in(then, syn, &[]);
        // The server already sent the SYN-ACK, so this one is not sent.
        while let Some((transmit, _)) = self.socket.poll(then) {
            if let Some(watch) = &mut self.watch {
                watch.sent(then, &transmit, [&[], &[]]);
            }
        }
    }

    /// Passes a segment to the watcher and to the endpoint.
    fn take_in(&mut self, now: Time, segment: &Segment, payload: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.arrived(now, segment, payload);
        }
        self.socket.on_segment(now, segment, payload);
    }

    /// Handles a segment that arrived for the connection.
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        cookie: Option<&Cookie>,
        payload: &[u8],
    ) {
        if segment.flags.has(Flags::SYN) {
            // The bytes after the options of a SYN are padding.
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
        if segment.len > 0 && self.memory.is_full() && !self.is_wanted(segment) {
            // The segment counts as lost on the path; the peer retransmits it.
            return;
        }
        self.take_in(now, segment, payload);
        if self.socket.is_open() {
            (self.confirmed, self.greeting) = (true, None);
        }
    }

    /// Returns whether the connection accepts the segment's data while the host's memory is full: only in-order data, and only while few
    /// bytes are unread.
    fn is_wanted(&self, segment: &Segment) -> bool {
        let next = self.socket.endpoint().next_expected();
        self.socket.readable() < SCARCE_BUFFER && segment.seq.wrapping_sub(next).cast_signed() <= 0
    }

    /// Sends the segments that may be sent now, at most `TURN` of them. Returns whether more segments may be ready.
    pub(crate) fn send(&mut self, now: Time, link: &mut Link) -> bool {
        self.touched = false;
        self.read = 0;
        self.abort_if_orphaned(now);
        let mut sent = 0;
        while sent < TURN {
            // The watcher is notified of the event that caused a segment before the segment itself.
            self.notify_watch(now);
            let Some((transmit, payload)) = self.socket.poll(now) else { break };
            let (segment, pieces) = (transmit.segment, payload.pieces());
            sent += 1;
            if let Some(watch) = &mut self.watch {
                watch.sent(now, &transmit, pieces);
            }
            if segment.flags.has(Flags::SYN) {
                send_syn(link, &self.route, &segment, (self.pmtu, self.candidates), &mut self.syns);
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
            send_in_pmtu(link, &self.route, &segment, pieces, self.pmtu);
        }
        self.greet_again(now, link);
        self.account();
        self.notify_watch(now);
        if let Some(watch) = &mut self.watch {
            watch.state(now, &self.socket.endpoint().snapshot());
        }
        sent == TURN
    }

    /// Notifies the watcher of everything that happened since the previous call.
    fn notify_watch(&mut self, now: Time) {
        let Some(watch) = &mut self.watch else { return };
        while let Some(event) = self.socket.poll_event() {
            watch.event(now, &event, &self.socket.endpoint().snapshot());
        }
        while let Some(record) = self.socket.poll_trace() {
            watch.record(record);
        }
    }

    /// Returns the time at which the host must next examine the connection if no segment arrives.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        let greeting = self.greeting.as_ref().filter(|greeting| greeting.sent < GREETINGS);
        // TIME-WAIT has a separate timer.
        let orphan = self.orphan.filter(|_| !self.has_ended_well());
        let due = Time::earlier(greeting.map(|greeting| greeting.due), orphan.map(|(until, _)| until));
        Time::earlier(self.socket.next_timer(), due)
    }

    /// Handles a timer of the connection that is due.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.socket.on_timer(now);
        let timeouts = self.socket.endpoint().info().timeouts_in_a_row;
        if timeouts >= TIMEOUTS_OF_A_BLACK_HOLE {
            self.narrow_to_next();
        }
    }

    /// Limits segments to `pmtu` bytes, because the path does not carry longer ones. Longer segments are split, as segmentation offload
    /// splits them.
    pub(crate) fn narrow(&mut self, pmtu: u16) {
        self.pmtu = self.pmtu.min(pmtu);
    }

    /// Reduces the maximum segment size to the next shorter one of the sizes for paths. For a path that drops longer segments.
    pub(crate) fn narrow_to_next(&mut self) {
        self.narrow(self.candidates.below(self.pmtu));
    }

    /// Returns whether the next packet to be sent belongs to a train.
    pub(crate) fn is_in_train(&self) -> bool {
        self.socket.endpoint().is_in_train()
    }

    /// Closes a connection whose handles are gone. Written data is still sent, and the host waits for the peer to close.
    pub(crate) fn leave(&mut self, now: Time) {
        self.socket.shutdown();
        self.orphan = Some((now + ORPHAN, self.socket.endpoint().una()));
    }

    /// Returns whether no handle of the connection is left.
    pub(crate) fn is_orphan(&self) -> bool {
        self.orphan.is_some()
    }

    /// Returns whether both sides have closed.
    pub(crate) fn has_ended_well(&self) -> bool {
        self.socket.endpoint().status() == Status::Closed
    }

    /// Returns whether a host that ends may abandon the connection. True if the connection has ended, or if all data is acknowledged and
    /// the peer had its time to close.
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

    /// Aborts the connection. A peer that does not know that the connection is over gets a reset.
    pub(crate) fn give_up(&mut self, now: Time, link: &mut Link) {
        self.socket.abort();
        self.send(now, link);
    }

    /// Returns whether the handshake is over, successfully or not.
    pub(crate) fn is_opened(&self) -> bool {
        self.socket.is_open() || self.is_ended()
    }

    /// Returns whether a read would not block.
    pub(crate) fn can_read(&self) -> bool {
        self.deaf || self.socket.readable() > 0 || self.socket.is_at_end() || self.is_ended()
    }

    /// Returns the number of bytes that a write would accept now.
    pub(crate) fn room(&self) -> u64 {
        self.room_in(self.write_bound())
    }

    /// Returns the free part of a send buffer of `bound` bytes.
    fn room_in(&self, bound: u64) -> u64 {
        bound.saturating_sub(self.socket.endpoint().queued()).min(self.socket.writable())
    }

    /// Returns the maximum number of bytes that may be written and not acknowledged now.
    fn write_bound(&self) -> u64 {
        let snapshot = self.socket.endpoint().snapshot();
        let window = snapshot.cwnd.get();
        let wanted = if self.takes_whole_buffer {
            window.max(snapshot.una).saturating_mul(4).max(FIRST_SEND_BUFFER)
        } else {
            (2 * window).max(MIN_SEND_BUFFER)
        };
        let wanted = wanted.min(self.send_buffer);
        let least = if self.memory.is_full() { SCARCE_BUFFER } else { MIN_SEND_BUFFER };
        self.memory.grant(wanted).max(least.min(wanted))
    }

    /// Returns whether to wake writers, because a quarter of the send buffer is free or because no write can succeed any more. With less
    /// room, a writer would be woken for every few segments.
    fn can_write_much(&self) -> bool {
        let bound = self.write_bound();
        let much = (bound / 4).clamp(SCARCE_BUFFER, MUCH_ROOM).min(self.send_buffer);
        self.room_in(bound) >= much || self.socket.is_shut() || self.is_ended()
    }

    /// Returns whether the peer has all data and the FIN, or will never get them.
    pub(crate) fn is_ended(&self) -> bool {
        self.over || self.refused.is_some() || self.socket.error().is_some() || self.socket.is_finished()
    }

    /// Counts the connection's memory towards that of its host.
    pub(crate) fn account(&mut self) {
        let records = self.socket.endpoint().memory() as u64;
        self.memory.holds(self.socket.held() + records.saturating_sub(FREE_RECORDS));
    }

    /// Records that the application read `bytes`. Returns whether the host must check if the receive window opens.
    pub(crate) fn was_read(&mut self, bytes: usize) -> bool {
        self.read += bytes as u64;
        self.read >= self.receive_buffer / 4
    }

    /// Returns the error of the connection as an error of the standard library.
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

    /// Sets the waker to call when a read or write that failed without waiting may succeed.
    pub(crate) fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }

    /// Marks that a thread waits until [`State::is_opened`].
    pub(crate) fn wait_open(&mut self) {
        self.waits.open = true;
    }

    /// Marks that a thread waits until [`State::can_read`].
    pub(crate) fn wait_read(&mut self) {
        self.waits.read = true;
    }

    /// Marks that a thread waits for room to write.
    pub(crate) fn wait_write(&mut self) {
        self.waits.write = true;
    }

    /// Marks that a thread waits until [`State::is_ended`], or until all data is acknowledged.
    pub(crate) fn wait_end(&mut self) {
        self.waits.end = true;
    }

    /// Aborts a connection without a handle in two cases: if it has data that no one will read (RFC 1122 section 4.2.2.13), or if the peer
    /// neither closes nor acknowledges more data for the time `ORPHAN`.
    fn abort_if_orphaned(&mut self, now: Time) {
        let una = self.socket.endpoint().una();
        let is_over = match &mut self.orphan {
            Some(_) if self.socket.readable() > 0 => true,
            Some((until, before)) if una > *before => {
                (*until, *before) = (now + ORPHAN, una);
                false
            }
            Some((until, _)) => *until <= now && !self.has_ended_well(),
            None => false,
        };
        if is_over {
            self.orphan = None;
            self.socket.abort();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cookie::{Ends, Offers, Remembered};
    use crate::memory::Held;

    const SECOND: Span = Span::from_secs(1);

    /// Returns a server's connection that opened a second ago, and the ACK that opened it.
    fn opened() -> (Connection, Segment) {
        let options = Options::new("slow-start").unwrap();
        let ready = options.of_mss(1_452).unwrap();
        let ends = Ends { peer: ([127, 0, 0, 1], 5).into(), theirs: 6, ours: 7 };
        let route = Route { ends, from: None, opens: false };
        let memory = Memory::new(Held::new(1 << 30), Held::new(1 << 30));
        let ack = Segment {
            seq: 1,
            ack: ready.config.initial_sequence.wrapping_add(1),
            flags: Flags::ACK,
            window: 1_000,
            ..Segment::default()
        };
        let candidates = PmtuCandidates::new(1_472, 1_472, 0);
        let connection = Connection::new(Role::Server, ready, &options, route, (memory, candidates), None);
        let offers = Offers { scale: None, sack: true, timestamps: false, ecn: false };
        let at = Time::ZERO + SECOND;
        let mut state = connection.lock();
        state.was_opened(at, &Remembered { at, mss: 1_452, offers }.syn(&ack));
        state.on_segment(at, &ack, None, &[]);
        assert!(state.socket.is_open());
        drop(state);
        (connection, ack)
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + SECOND * seconds
    }

    /// Returns the second at which a connection is aborted whose last handle was dropped at second 10. `acknowledges` has pairs of a second
    /// and the bytes that the peer acknowledges at this second.
    fn aborted_at(written: &[u8], acknowledges: &[(u64, u32)]) -> Option<u64> {
        let (connection, ack) = opened();
        let mut state = connection.lock();
        state.socket.write(written);
        while state.socket.poll(at(2)).is_some() {}
        state.leave(at(10));
        for second in 10..400 {
            for (when, bytes) in acknowledges {
                if *when == second {
                    let ack = Segment { ack: ack.ack.wrapping_add(*bytes), ..ack };
                    state.on_segment(at(second), &ack, None, &[]);
                    while state.socket.poll(at(second)).is_some() {}
                }
            }
            state.abort_if_orphaned(at(second));
            if state.socket.error().is_some() {
                return Some(second);
            }
        }
        None
    }

    #[test]
    fn a_dead_connection_without_a_handle_is_reset_after_a_minute() {
        assert_eq!(aborted_at(&[7; 5_000], &[]), Some(70), "nothing is acknowledged");
        assert_eq!(aborted_at(&[], &[]), Some(70), "the peer does not end");
        assert_eq!(aborted_at(&[7; 5_000], &[(40, 1_000), (90, 2_000)]), Some(150));
        assert_eq!(aborted_at(&[7; 5_000], &[(40, 1_000), (60, 1_000), (80, 1_000)]), Some(100));
    }
}
