//! Lists that one ACK or one timer fills. Their room is kept from one to the next.

use firstflight::{Delivered, LostPacket};

use super::scoreboard::Arrival;

/// Most packets that room is kept for: an ACK of a whole window at once leaves no more behind.
pub(super) const MOST_KEPT: usize = 16;
/// Most packets that room is kept for in the lists of a repair.
const FEW_KEPT: usize = 4;

/// The packets that one ACK or one timer is about.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Lists {
    /// What an ACK delivers: first what it acknowledges cumulatively, in order, then what it does selectively.
    pub(super) arrivals: Vec<Arrival>,
    /// What an ACK delivers, as the controller hears of it.
    pub(super) delivered: Vec<Delivered>,
    /// What was found lost.
    pub(super) lost: Vec<LostPacket>,
}

impl Lists {
    /// What one ACK or timer needed is given back, so that a single large one does not cost memory from then on. Only
    /// an empty list gives back all.
    #[inline]
    pub(super) fn put_away(&mut self) {
        self.delivered.clear();
        self.arrivals.clear();
        self.lost.clear();
        let few = self.arrivals.capacity().max(self.lost.capacity()) <= FEW_KEPT;
        if !few || self.delivered.capacity() > MOST_KEPT {
            self.shrink();
        }
    }

    #[inline(never)]
    fn shrink(&mut self) {
        self.delivered.shrink_to(MOST_KEPT);
        self.arrivals.shrink_to(FEW_KEPT);
        self.lost.shrink_to(FEW_KEPT);
    }

    /// Gives back what only a repair needs.
    pub(super) fn shrink_after_repair(&mut self) {
        self.delivered.shrink_to(FEW_KEPT);
        self.arrivals = Vec::new();
        self.lost = Vec::new();
    }

    /// Bytes of the heap.
    pub(super) fn memory(&self) -> usize {
        self.arrivals.capacity() * size_of::<Arrival>()
            + self.delivered.capacity() * size_of::<Delivered>()
            + self.lost.capacity() * size_of::<LostPacket>()
    }
}
