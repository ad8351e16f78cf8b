//! Counters for [`crate::Stats`] and [`crate::Info`]. No decision depends on them.

/// Numbers of rare events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Number of data packets whose whole payload was sent before.
    pub(crate) retransmissions: u64,
    /// Number of retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Number of tail loss probes sent.
    pub(crate) probes: u64,
    /// Number of window reductions that were undone.
    pub(crate) undone: u64,
    /// Number of duplicates that the peer reported (RFC 2883).
    pub(crate) duplicates_reported: u64,
    /// Number of ACKs processed by the fast path for expected ACKs.
    #[cfg(test)]
    pub(crate) expected_acks: u64,
    /// Number of ACKs processed by the fast path for repairs.
    #[cfg(test)]
    pub(crate) repair_acks: u64,
}
