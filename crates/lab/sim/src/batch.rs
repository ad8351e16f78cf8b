//! Batching: how a link releases packets together.

use firstflight::Span;

/// Holds packets back and releases them together, like links that send ACKs in aggregates (Wi-Fi, cable and cellular
/// uplinks, receive offload).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// Releases all packets held at instants this far apart. The seed sets their phase.
    Every(Span),
    /// Releases when `packets` are held, or when one has been held for `hold`.
    Of {
        /// Packets of a full batch.
        packets: u32,
        /// Maximum time for which a packet is held.
        hold: Span,
    },
}

impl Batch {
    /// Returns whether batches hold no packet or take no time.
    pub(crate) const fn is_empty(self) -> bool {
        match self {
            Self::Every(span) => span.is_zero(),
            Self::Of { packets, hold } => packets == 0 || hold.is_zero(),
        }
    }
}
