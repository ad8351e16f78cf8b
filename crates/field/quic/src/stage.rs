//! The progress of the handshake.

use firstflight::{Bytes, Time};

use crate::reports::PacketSent;

/// The progress of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// No ACK has arrived.
    Handshake {
        /// Whether a packet was found lost.
        lost: bool,
        /// Transmission time of the newest packet that the ACK at hand acknowledges.
        newest: Option<Time>,
    },
    Established,
}

/// The first packet that was sent after the first ACK, if it is not full: a client's Finished, or the first data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum First {
    Expected,
    /// The packet, sent now. It is the handshake's if packet numbers begin anew with the next packet, and data otherwise.
    Undecided(PacketSent),
    Decided,
}

impl First {
    /// Returns whether `next`, sent after the undecided packet, shows that this one was the handshake's: it is of another packet number
    /// space, in which numbers begin anew.
    pub(crate) fn is_handshake(self, next: &PacketSent) -> bool {
        matches!(self, Self::Undecided(first) if next.number <= first.number)
    }

    /// Returns the bytes of the undecided packet.
    pub(crate) fn bytes(self) -> Bytes {
        if let Self::Undecided(first) = self { Bytes::new(first.bytes) } else { Bytes::ZERO }
    }
}
