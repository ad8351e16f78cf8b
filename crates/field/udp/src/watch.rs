//! The watcher of a connection, which observes its segments and the events inside its endpoint.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight::{Time, TraceRecord};
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot, Transmit};
use firstflight_trace::Header;

/// Watches one connection. The host's thread calls the watcher, so a watcher that blocks delays packets. The times are those of the host's
/// clock, which starts with the host.
pub trait Watch: Send {
    /// Called when a segment is sent with this payload, which is in one or two pieces.
    fn sent(&mut self, at: Time, transmit: &Transmit, payload: [&[u8]; 2]) {
        let _ = (at, transmit, payload);
    }

    /// Called when a segment arrived with this payload, before the endpoint processes it.
    fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        let _ = (at, segment, payload);
    }

    /// Called when an event happened inside the endpoint, whose state is now `snapshot`.
    fn event(&mut self, at: Time, event: &EndpointEvent, snapshot: &Snapshot) {
        let _ = (at, event, snapshot);
    }

    /// Called when the controller has handled a call and decided.
    fn record(&mut self, record: TraceRecord) {
        let _ = record;
    }

    /// Called when the endpoint has handled an event and sent what it could.
    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let _ = (at, snapshot);
    }
}

/// A new connection.
#[derive(Debug)]
pub struct Beginning<'a> {
    /// The time at which the connection begins. At a server this is when the client proved its address.
    pub at: Time,
    /// The host's role: whether it opens the connection or accepts it.
    pub role: Role,
    /// The address of the peer.
    pub peer: SocketAddr,
    /// The address of the host's socket. If the socket is bound to all addresses, it is the address to which the peer sent, once that is
    /// known.
    pub own: SocketAddr,
    /// The TCP ports of the host and of the peer.
    pub ports: (u16, u16),
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// The header of the connection's trace.
    pub header: &'a Header,
}

/// Makes the watcher of each connection. If this fails, the connection is not watched.
pub type Watches = Arc<dyn Fn(&Beginning<'_>) -> io::Result<Box<dyn Watch>> + Send + Sync>;
