//! Packets that arrive out of order or twice.

use firstflight::Span;

use crate::quantity::Probability;

/// Effects of a link on the order and the number of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Disorder {
    /// The packets that arrive after packets that entered later.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice. The second copy arrives at the same instant, directly after the first.
    pub duplicate: Probability,
}

/// Reordering: a share of the packets is displaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reorder {
    /// Probability that a packet is displaced.
    pub share: Probability,
    /// The distance.
    pub by: Displacement,
}

/// How far a packet is displaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Displacement {
    /// The packet arrives directly after the packet that is this number of undisplaced packets later, or once it has been held for `hold`
    /// without that many.
    Packets {
        /// Undisplaced packets that overtake the packet.
        count: u32,
        /// Maximum time for which the packet is held.
        hold: Span,
    },
    /// The packet arrives this much later.
    Time(Span),
}

impl Disorder {
    /// Returns whether a displacement is by nothing, or no packet is ever displaced or duplicated.
    pub(crate) fn is_empty(self) -> bool {
        let by_nothing = |reorder: Reorder| match reorder.by {
            Displacement::Packets { count, hold } => count == 0 || hold.is_zero(),
            Displacement::Time(span) => span.is_zero(),
        };
        let no_share = self.reorder.is_none_or(|reorder| reorder.share.is_never());
        self.reorder.is_some_and(by_nothing) || no_share && self.duplicate.is_never()
    }
}
