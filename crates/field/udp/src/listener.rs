//! A listener, which accepts connections.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

use crate::shared::{Handle, Waiting};
use crate::stream::Stream;

/// Accepts connections. When the last listener of a host is dropped, the host no longer answers new peers, and resets the connections that
/// wait to be accepted.
#[derive(Debug)]
pub struct Listener(pub(crate) Arc<Handle>);

impl Listener {
    pub(crate) fn new(handle: Arc<Handle>) -> Self {
        Self(handle)
    }

    /// Returns the address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.shared.own
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// The host ended.
    pub fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let shared = &self.0.shared;
        let mut accepts = shared.accepts();
        loop {
            if let Some(waiting) = accepts.waiting.pop_front() {
                drop(accepts);
                return Ok(self.claim(&waiting));
            }
            if accepts.ended {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            accepts = shared.accepted.wait(accepts).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns a connection that waits to be accepted; `None` if there is none.
    ///
    /// # Errors
    /// The host ended.
    pub fn try_accept(&self) -> io::Result<Option<(Stream, SocketAddr)>> {
        let mut accepts = self.0.shared.accepts();
        let waiting = accepts.waiting.pop_front();
        if waiting.is_none() && accepts.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        drop(accepts);
        Ok(waiting.map(|waiting| self.claim(&waiting)))
    }

    /// Sets the waker to call when a connection starts to wait, and when the host ends. The host's thread calls the waker, so a waker that
    /// blocks delays packets.
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.0.shared.accepts().waker = waker;
    }

    fn claim(&self, waiting: &Waiting) -> (Stream, SocketAddr) {
        let connection = Arc::clone(&waiting.connection);
        let peer = connection.lock().route.ends.peer;
        (Stream::new(connection, Arc::clone(&self.0)), peer)
    }

    /// Yields connections as they are accepted, until the host ends.
    pub fn incoming(&self) -> impl Iterator<Item = Stream> + '_ {
        std::iter::from_fn(|| self.accept().ok().map(|(stream, _)| stream))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut accepts = self.0.shared.accepts();
        accepts.listeners = accepts.listeners.saturating_sub(1);
        if accepts.listeners == 0 {
            let waiting = std::mem::take(&mut accepts.waiting);
            drop(accepts);
            for Waiting { connection, .. } in waiting {
                let mut state = connection.lock();
                state.socket.abort();
                self.0.shared.touch(&connection, &mut state);
            }
        }
    }
}
