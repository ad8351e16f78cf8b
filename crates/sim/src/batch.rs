//! How a link releases packets together.

use firstflight::Span;

/// Holds packets back and releases them together, as links do that send ACKs in aggregates (Wi-Fi, cable and
/// cellular uplinks, receive offload).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// All that came since the last time, at instants this far apart. The seed moves their phase.
    Every(Span),
    /// So many at a time. None is held longer than `hold`: then those that are there are released.
    Of {
        /// Packets of a full batch.
        packets: u32,
        /// The longest that a packet is held.
        hold: Span,
    },
}

impl Batch {
    /// Whether its batches hold no packet or take no time.
    pub(crate) const fn is_empty(self) -> bool {
        match self {
            Self::Every(span) => span.is_zero(),
            Self::Of { packets, hold } => packets == 0 || hold.is_zero(),
        }
    }
}
