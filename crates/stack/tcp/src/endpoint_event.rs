//! Events inside an endpoint.

use firstflight::{Bytes, Note, Rate};

/// An event inside an endpoint, for a host that records events.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EndpointEvent {
    /// The handshake is complete on this side.
    Established,
    /// An action of the controller: it began, left, reduced or undid something.
    Control(Note),
    /// A loss recovery began.
    RecoveryBegan {
        /// Number of bytes that were sent and are not cumulatively acknowledged.
        flight: Bytes,
    },
    /// The loss recovery ended.
    RecoveryEnded,
    /// The retransmission timer fired with data outstanding.
    TimedOut,
    /// A Quick-Start request was answered.
    QuickStart {
        /// The approved rate in IP bits per second; `None` if no rate was approved.
        approved: Option<Rate>,
    },
    /// All written data, and the FIN if there is one, was acknowledged.
    AllAcknowledged,
    /// Both directions are closed.
    Closed,
    /// The peer reset the connection, or this side gave up.
    Aborted,
}
