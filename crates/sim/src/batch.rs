//! Batching: how a link releases packets together.

use firstflight::Span;

/// Holds packets back and releases them together, as links do that send ACKs in aggregates (Wi-Fi, cable and cellular
/// uplinks, receive offload).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// Releases come at instants this far apart, each with all packets held. The seed sets their phase.
    Every(Span),
    /// A release comes when `packets` are held, or when one has been held for `hold`.
    Of {
        /// Packets of a full batch.
        packets: u32,
        /// The longest that a packet is held.
        hold: Span,
    },
}

impl Batch {
    /// Whether batches hold no packet or take no time.
    pub(crate) const fn is_empty(self) -> bool {
        match self {
            Self::Every(span) => span.is_zero(),
            Self::Of { packets, hold } => packets == 0 || hold.is_zero(),
        }
    }
}
