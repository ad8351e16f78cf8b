//! What a stack reports of packets and ACK frames.

/// A packet as its stack reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSent {
    /// The packet number; `None` from a stack that reports none with an ACK. A stack gives a number always or never.
    pub number: Option<u64>,
    /// Bytes of the packet, which the stack counts as in flight.
    pub bytes: u64,
}

/// The end of an ACK frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckEnd {
    /// The stack's `bytes_in_flight` after the ACK and before any loss that the ACK shows, from a stack that discards packets without a
    /// report; the host then discards them too. `None` from a stack that reports each packet as acknowledged or lost.
    pub in_flight: Option<u64>,
    /// Whether the application, and neither window nor pacer, limited sending before the ACK.
    pub app_limited: bool,
}
