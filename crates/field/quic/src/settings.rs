//! The settings of a host.

use firstflight::{Bytes, Span};

/// What a host cannot learn from the hooks of its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Payload bytes of a full datagram: the stack's current MTU, which is the maximum UDP payload.
    pub mtu: Bytes,
    /// Bytes of the headers of IP and UDP: 28 with IPv4, 48 with IPv6. Rates and gaps count them.
    pub headers: Bytes,
    /// The peer's `max_ack_delay` (RFC 9000 section 18.2), a part of the probe timeout.
    pub max_ack_delay: Span,
}

impl Default for Settings {
    /// Returns the settings at the start of a QUIC connection over IPv4: datagrams of 1200 bytes, and a delay of 25 ms.
    fn default() -> Self {
        Self { mtu: Bytes::new(1_200), headers: Bytes::new(28), max_ack_delay: Span::from_millis(25) }
    }
}
