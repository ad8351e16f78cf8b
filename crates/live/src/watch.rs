//! Watching a connection: its segments, and what happens inside its endpoint.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight::{Time, TraceRecord};
use firstflight_tcp::{Happening, Role, Segment, Snapshot, Transmit};
use firstflight_trace::Header;

/// Watches one connection. The host's thread calls it, so that a watcher that waits makes packets late. Instants are those of the
/// host's clock, which counts from the host's start.
pub trait Watch: Send {
    /// A segment leaves with this payload, which lies in one piece or in two.
    fn sent(&mut self, at: Time, transmit: &Transmit, payload: [&[u8]; 2]) {
        let _ = (at, transmit, payload);
    }

    /// A segment arrived with this payload, before the endpoint hears it.
    fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        let _ = (at, segment, payload);
    }

    /// An event happened inside the endpoint, whose state is `snapshot` now.
    fn happening(&mut self, at: Time, happening: &Happening, snapshot: &Snapshot) {
        let _ = (at, happening, snapshot);
    }

    /// The controller handled a call and decided.
    fn told(&mut self, told: TraceRecord) {
        let _ = told;
    }

    /// The endpoint has handled an event and sent what it could.
    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let _ = (at, snapshot);
    }
}

/// A connection that begins.
#[derive(Debug)]
pub struct Beginning<'a> {
    /// When it begins: at a server, when the client proved its address.
    pub at: Time,
    /// Whether it opens the connection or accepts it.
    pub role: Role,
    /// The address of the peer, and that of the host's socket.
    pub peer: SocketAddr,
    /// The address of the host's socket; of one that has all addresses of the machine, the one that the peer chose, once it is known.
    pub own: SocketAddr,
    /// The TCP ports: the host's and the peer's.
    pub ports: (u16, u16),
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// The header of its trace.
    pub header: &'a Header,
}

/// Makes the watcher of each connection. A connection whose watcher cannot be made is not watched.
pub type Watches = Arc<dyn Fn(&Beginning<'_>) -> io::Result<Box<dyn Watch>> + Send + Sync>;
