//! Reading and writing.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use firstflight_tcp::{Info, Snapshot, Stats};

use crate::clock::Clock;
use crate::connection::{Connection, State};
use crate::host::{Handle, Host};
use crate::options::Options;

/// A connection, used as [`std::net::TcpStream`] is. When the last handle is dropped, the connection is shut; what was written is
/// still sent.
#[derive(Clone, Debug)]
pub struct Stream(Arc<Inner>);

struct Inner {
    connection: Arc<Connection>,
    handle: Arc<Handle>,
    read_timeout: Mutex<Option<Duration>>,
    write_timeout: Mutex<Option<Duration>>,
    nonblocking: AtomicBool,
}

impl Stream {
    /// Opens a connection from a UDP socket of its own. [`Host::connect`] opens many from one socket.
    ///
    /// # Errors
    /// No address, the socket cannot be bound, the peer refuses or does not answer.
    pub fn connect(peer: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        let peer = peer.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let any: SocketAddr = if peer.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        Host::bind(any, options)?.connect(peer)
    }

    pub(crate) fn new(connection: Arc<Connection>, handle: Arc<Handle>) -> Self {
        Self(Arc::new(Inner {
            connection,
            handle,
            read_timeout: Mutex::new(None),
            write_timeout: Mutex::new(None),
            nonblocking: AtomicBool::new(false),
        }))
    }

    /// The address of the peer.
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.lock().route.ends.peer
    }

    /// How long a read waits for data until it fails with [`io::ErrorKind::TimedOut`]; for ever with `None`, as at first.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        *self.0.read_timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// How long a write waits for room until it fails with [`io::ErrorKind::TimedOut`]; for ever with `None`, as at first.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        *self.0.write_timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// Whether reads and writes that would wait are an error of [`io::ErrorKind::WouldBlock`] instead.
    pub fn set_nonblocking(&self, on: bool) {
        self.0.nonblocking.store(on, Ordering::Relaxed);
    }

    /// Shuts the writing half, so that the peer reads to the end, or the reading half, so that reads give nothing any more, or both.
    /// Threads that read or write wait no longer. What arrives for a reading half that is shut fills the window, and is not read.
    pub fn shutdown(&self, how: Shutdown) {
        let mut state = self.0.connection.lock();
        if how != Shutdown::Write {
            state.deaf = true;
        }
        if how != Shutdown::Read {
            state.socket.shutdown();
            self.touch(&mut state);
        }
        self.0.connection.tell(&mut state);
    }

    /// Resets the connection: what is under way is lost.
    pub fn abort(&self) {
        let mut state = self.0.connection.lock();
        state.socket.abort();
        self.touch(&mut state);
        self.0.connection.tell(&mut state);
    }

    /// Shuts the writing half and waits until the peer has all of it, for `timeout` at most.
    ///
    /// # Errors
    /// The connection ended before that, or [`io::ErrorKind::TimedOut`].
    pub fn finish(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.shutdown(Shutdown::Write);
        let done = |state: &State| state.socket.is_all_acknowledged() || state.is_ended();
        let state = self.wait_until(timeout, State::wait_end, done)?;
        match state.error() {
            Some(error) if !state.socket.is_all_acknowledged() => Err(error),
            _ => Ok(()),
        }
    }

    /// The state of the connection, as Linux's `TCP_INFO` has it.
    pub fn info(&self) -> Info {
        self.0.connection.lock().socket.endpoint().info()
    }

    /// The sender's state.
    pub fn snapshot(&self) -> Snapshot {
        self.0.connection.lock().socket.endpoint().snapshot()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        self.0.connection.lock().socket.endpoint().stats()
    }

    pub(crate) fn wait_open(&self, timeout: Option<Duration>) -> io::Result<()> {
        let state = self.wait_until(timeout, State::wait_open, State::is_opened);
        match state {
            Ok(state) => state.error().map_or(Ok(()), Err),
            Err(error) => {
                self.abort();
                Err(error)
            }
        }
    }

    /// Waits until `there`, for `timeout` at most.
    fn wait_until(
        &self,
        timeout: Option<Duration>,
        waits: fn(&mut State),
        there: impl Fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        let clock = Clock::new();
        let begin = clock.now();
        let mut state = self.0.connection.lock();
        loop {
            if there(&state) {
                return Ok(state);
            }
            let left = match timeout {
                None => None,
                Some(timeout) => {
                    let waited = Duration::from_nanos(clock.now().since(begin).nanos());
                    let left = timeout.checked_sub(waited).filter(|left| !left.is_zero());
                    Some(left.ok_or(io::ErrorKind::TimedOut)?)
                }
            };
            waits(&mut state);
            (state, _) = self.0.connection.wait(state, left);
        }
    }

    fn wait_for_io(
        &self,
        timeout: &Mutex<Option<Duration>>,
        waits: fn(&mut State),
        there: fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        if self.0.nonblocking.load(Ordering::Relaxed) {
            let state = self.0.connection.lock();
            return if there(&state) { Ok(state) } else { Err(io::ErrorKind::WouldBlock.into()) };
        }
        self.wait_until(*timeout.lock().unwrap_or_else(PoisonError::into_inner), waits, there)
    }

    fn touch(&self, state: &mut State) {
        self.0.handle.shared.touch(&self.0.connection, state);
    }
}

impl Read for &Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut state = self.wait_for_io(&self.0.read_timeout, State::wait_read, State::can_read)?;
        if state.deaf {
            return Ok(0);
        }
        let read = state.socket.read(bytes);
        if read == 0 && !state.socket.is_at_end() {
            return Err(state.error().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()));
        }
        state.account();
        if state.was_read(read) {
            self.touch(&mut state);
        }
        Ok(read)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let there = |state: &State| state.room() > 0 || state.is_ended() || state.socket.is_shut();
        loop {
            let mut state = self.wait_for_io(&self.0.write_timeout, State::wait_write, there)?;
            if let Some(error) = state.error() {
                return Err(error);
            }
            if state.socket.is_shut() || state.is_ended() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            // What other connections hold may have left less room meanwhile.
            let room = usize::try_from(state.room()).unwrap_or(usize::MAX);
            let written = state.socket.write(&bytes[..bytes.len().min(room)]);
            if written > 0 {
                state.account();
                self.touch(&mut state);
                return Ok(written);
            }
        }
    }

    /// Does nothing: what was written leaves as soon as it may.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self).read(bytes)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut state = self.connection.lock();
        state.leave(self.handle.shared.clock.now());
        self.handle.shared.touch(&self.connection, &mut state);
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("peer", &self.connection.lock().route.ends.peer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listener::Listener;
    use firstflight_wire::payload;

    /// Bytes that a transfer sends, and how near to its end the sequence space must be at first.
    const BYTES: u32 = 30_000_000;

    fn transfer(mut from: &Stream, mut to: &Stream) {
        let mut bytes = vec![0; BYTES as usize];
        payload::fill(0, &mut bytes);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                from.write_all(&bytes).unwrap();
                from.shutdown(Shutdown::Write);
            });
            let mut arrived = Vec::new();
            to.read_to_end(&mut arrived).unwrap();
            assert_eq!((arrived.len(), payload::first_difference(0, &arrived)), (BYTES as usize, None));
        });
    }

    #[test]
    fn sequence_numbers_go_on_at_zero_in_either_direction() {
        let options = Options::new("slow-start").unwrap();
        let listener = Listener::bind("127.0.0.1:0", &options).unwrap();
        let host = Host::bind("127.0.0.1:0", &options).unwrap();
        // Numbers are random: one in a hundred and forty begins near the end.
        let (mut up, mut down) = (false, false);
        while !(up && down) {
            let client = host.connect(listener.local_addr()).unwrap();
            let (server, _) = listener.accept().unwrap();
            let wraps = |peer: &Stream| {
                peer.0.connection.lock().socket.endpoint().next_expected() > u32::MAX - BYTES / 2
            };
            if !up && wraps(&server) {
                transfer(&client, &server);
                up = true;
            } else if !down && wraps(&client) {
                transfer(&server, &client);
                down = true;
            }
            client.abort();
        }
    }
}
