//! What happens inside an endpoint.

use firstflight::{Bytes, Note, Rate};

/// What happened inside an endpoint, for whoever keeps the record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Happening {
    /// The three-way handshake is over on this side.
    Established,
    /// The controller began, left, reduced or undid something.
    Control(Note),
    /// A loss episode began; the bytes in flight.
    RecoveryBegan {
        /// Bytes sent and not cumulatively acknowledged.
        flight: Bytes,
    },
    /// A loss episode is over.
    RecoveryEnded,
    /// The retransmission timer fired with data outstanding.
    TimedOut,
    /// A Quick-Start request was answered: the rate approved, if any.
    QuickStart {
        /// The rate, in IP bits per second.
        approved: Option<Rate>,
    },
    /// Everything written and the FIN, if asked for, was acknowledged.
    AllAcknowledged,
    /// Both directions are closed.
    Closed,
    /// The peer reset the connection, or it was given up.
    Aborted,
}
