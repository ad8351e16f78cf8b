//! What is counted for [`crate::Stats`] and [`crate::Info`] and decides nothing.

/// How often what seldom happens did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Data packets that carried nothing but data sent before.
    pub(crate) retransmissions: u64,
    /// Retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Tail loss probes sent.
    pub(crate) probes: u64,
    /// Reductions that were undone.
    pub(crate) undone: u64,
    /// Duplicates that the peer reported (RFC 2883).
    pub(crate) duplicates_reported: u64,
    /// ACKs that the fast way of expected ones took in.
    #[cfg(test)]
    pub(crate) expected_acks: u64,
    /// ACKs that the fast way of a repair took in.
    #[cfg(test)]
    pub(crate) repair_acks: u64,
}
