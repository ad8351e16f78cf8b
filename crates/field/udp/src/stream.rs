//! A stream, which reads and writes a connection.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use firstflight_tcp::{Info, Snapshot, Stats};

use crate::clock::Clock;
use crate::connection::{Connection, State};
use crate::shared::Handle;
use crate::worth::Worth;

/// A connection with the interface of [`std::net::TcpStream`]. When the last handle is dropped, the connection is shut, but written data is
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
    pub(crate) fn new(connection: Arc<Connection>, handle: Arc<Handle>) -> Self {
        Self(Arc::new(Inner {
            connection,
            handle,
            read_timeout: Mutex::new(None),
            write_timeout: Mutex::new(None),
            nonblocking: AtomicBool::new(false),
        }))
    }

    /// Returns the address of the peer.
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.lock().route.ends.peer
    }

    /// Sets the time after which a read without data fails with [`io::ErrorKind::TimedOut`]. The default, `None`, is no limit.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        *self.0.read_timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// Sets the time after which a write without room fails with [`io::ErrorKind::TimedOut`]. The default, `None`, is no limit.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        *self.0.write_timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// Sets whether reads, writes and [`Stream::finish`] fail with [`io::ErrorKind::WouldBlock`] instead of waiting.
    pub fn set_nonblocking(&self, on: bool) {
        self.0.nonblocking.store(on, Ordering::Relaxed);
    }

    /// Sets the waker to call when an operation that failed with [`io::ErrorKind::WouldBlock`] may succeed, and when the connection ends.
    /// The host's thread calls the waker, so a waker that blocks delays packets.
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.0.connection.lock().set_waker(waker);
    }

    /// Sets the worth of the connection to the application. A new connection may need room because its host, its peer's
    /// [`Source`](crate::Source) or its peer's socket has the maximum number of connections. Then a connection whose worth is not
    /// [`Worth::Kept`] may be reset.
    pub fn set_worth(&self, worth: Worth) {
        let mut state = self.0.connection.lock();
        if self.0.connection.set_worth(worth) && worth != Worth::Kept {
            self.touch(&mut state);
        }
    }

    /// Returns the TCP ports of the connection: this end's and the peer's.
    pub fn ports(&self) -> (u16, u16) {
        let ends = self.0.connection.lock().route.ends;
        (ends.ours, ends.theirs)
    }

    /// Shuts the writing half (the peer reads to the end of the stream), the reading half (reads return no more data), or both. Waiting
    /// threads return. Data that arrives for a shut reading half is not read and fills the window.
    pub fn shutdown(&self, how: Shutdown) {
        let mut state = self.0.connection.lock();
        if how != Shutdown::Write {
            state.deaf = true;
        }
        if how != Shutdown::Read {
            state.socket.shutdown();
            self.touch(&mut state);
        }
        self.0.connection.notify(&mut state);
    }

    /// Resets the connection. Data in flight is lost.
    pub fn abort(&self) {
        let mut state = self.0.connection.lock();
        state.socket.abort();
        self.touch(&mut state);
        self.0.connection.notify(&mut state);
    }

    /// Shuts the writing half and waits until the peer has all data, for at most `timeout`.
    ///
    /// # Errors
    /// The connection ended before that, or [`io::ErrorKind::TimedOut`].
    pub fn finish(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.shutdown(Shutdown::Write);
        let done = |state: &State| state.socket.is_all_acknowledged() || state.is_ended();
        let state = self.wait_or_refuse(timeout, State::wait_end, done)?;
        match state.error() {
            Some(error) if !state.socket.is_all_acknowledged() => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the state of the connection in the form of Linux's `TCP_INFO`.
    pub fn info(&self) -> Info {
        self.0.connection.lock().socket.endpoint().info()
    }

    /// Returns the sender's state.
    pub fn snapshot(&self) -> Snapshot {
        self.0.connection.lock().socket.endpoint().snapshot()
    }

    /// Returns the counters of the connection.
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

    /// Waits until `there` returns `true`, for at most `timeout`.
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

    /// Waits as [`Stream::wait_until`] does. If the stream is nonblocking, returns an error instead; the stream's waker is called once the
    /// condition holds.
    fn wait_or_refuse(
        &self,
        timeout: Option<Duration>,
        waits: fn(&mut State),
        there: fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        if !self.0.nonblocking.load(Ordering::Relaxed) {
            return self.wait_until(timeout, waits, there);
        }
        let mut state = self.0.connection.lock();
        if there(&state) {
            return Ok(state);
        }
        waits(&mut state);
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn wait_for_io(
        &self,
        timeout: &Mutex<Option<Duration>>,
        waits: fn(&mut State),
        there: fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        self.wait_or_refuse(*timeout.lock().unwrap_or_else(PoisonError::into_inner), waits, there)
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
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// Writes the beginning of the pieces, as if they were one. They are sent in the same segments.
    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        if pieces.iter().all(|piece| piece.is_empty()) {
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
            // Other connections may have used memory in the meantime, which leaves less room.
            let room = usize::try_from(state.room()).unwrap_or(usize::MAX);
            let mut written = 0;
            for piece in pieces {
                written += state.socket.write(&piece[..piece.len().min(room - written)]);
            }
            if written > 0 {
                state.account();
                self.touch(&mut state);
                return Ok(written);
            }
        }
    }

    /// Does nothing: written data is sent as soon as the connection may send it.
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

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(pieces)
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
    use crate::host::Host;
    use crate::listener::Listener;
    use crate::options::Options;
    use firstflight_wire::payload;

    /// The bytes of a transfer. The transfer begins near the end of the sequence space, at most half of these bytes before it.
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
        // Initial sequence numbers are random. About 1 in 140 is close enough to the end of the sequence space.
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
