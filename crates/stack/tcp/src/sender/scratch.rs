//! Lists that an ACK or a timer fills. Their memory is reused for the next one.

use firstflight::{Delivered, LostPacket};

use super::scoreboard::Arrival;

/// Maximum number of packets for which a list keeps memory. After an ACK of a whole window, the rest is freed.
pub(super) const MAX_KEPT: usize = 16;
/// Maximum number of packets for which the lists of a repair keep memory.
const FEW_KEPT: usize = 4;

/// The packets that one ACK or one timer delivers or marks lost.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Scratch {
    /// Packets that an ACK delivers. The packets acknowledged cumulatively come first, in order, then those acknowledged selectively.
    pub(super) arrivals: Vec<Arrival>,
    /// Packets that an ACK delivers, in the form that the controller receives.
    pub(super) delivered: Vec<Delivered>,
    /// Packets that were found lost.
    pub(super) lost: Vec<LostPacket>,
}

impl Scratch {
    /// Clears the lists and frees the memory above the limit, so that a single large ACK does not occupy memory afterwards. A list that was
    /// already empty frees all its memory.
    #[inline]
    pub(super) fn put_away(&mut self) {
        self.delivered.clear();
        self.arrivals.clear();
        self.lost.clear();
        let few = self.arrivals.capacity().max(self.lost.capacity()) <= FEW_KEPT;
        if !few || self.delivered.capacity() > MAX_KEPT {
            self.shrink();
        }
    }

    #[inline(never)]
    fn shrink(&mut self) {
        self.delivered.shrink_to(MAX_KEPT);
        self.arrivals.shrink_to(FEW_KEPT);
        self.lost.shrink_to(FEW_KEPT);
    }

    /// Frees the memory that is needed only during a repair.
    pub(super) fn shrink_after_repair(&mut self) {
        self.delivered.shrink_to(FEW_KEPT);
        self.arrivals = Vec::new();
        self.lost = Vec::new();
    }

    /// Returns the number of heap bytes.
    pub(super) fn memory(&self) -> usize {
        self.arrivals.capacity() * size_of::<Arrival>()
            + self.delivered.capacity() * size_of::<Delivered>()
            + self.lost.capacity() * size_of::<LostPacket>()
    }
}
