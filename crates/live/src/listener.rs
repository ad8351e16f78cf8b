//! Accepting connections.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, PoisonError};

use crate::host::{Handle, Host};
use crate::options::Options;
use crate::stream::Stream;

/// Accepts connections. When the last listener of a host is dropped, the host hears no more peers, and those that waited to be
/// accepted are reset.
#[derive(Debug)]
pub struct Listener(Arc<Handle>);

impl Listener {
    /// A listener on a UDP socket of its own.
    ///
    /// # Errors
    /// As [`Host::bind`].
    pub fn bind(address: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        let host = Host::bind(address, options)?;
        let port = host.local_addr().port();
        Ok(host.listen(port))
    }

    pub(crate) fn new(handle: Arc<Handle>) -> Self {
        Self(handle)
    }

    /// The address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.shared.own
    }

    /// The host, for connections of its own to other hosts.
    pub fn host(&self) -> Host {
        Host(Arc::clone(&self.0))
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// The host ended.
    pub fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let shared = &self.0.shared;
        let mut accepts = shared.accepts();
        loop {
            if let Some(connection) = accepts.waiting.pop_front() {
                drop(accepts);
                let peer = connection.lock().route.ends.peer;
                return Ok((Stream::new(connection, Arc::clone(&self.0)), peer));
            }
            if accepts.ended {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            accepts = shared.accepted.wait(accepts).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The connections as they come, until the host ends.
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
            for connection in waiting {
                let mut state = connection.lock();
                state.socket.abort();
                self.0.shared.touch(&connection, &mut state);
            }
        }
    }
}
