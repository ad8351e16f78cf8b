//! The SACK blocks of the last ACK, so that repeated ones need not be processed again.

use crate::segment::{MAX_SACK_BLOCKS, SackBlock};

/// The SACK blocks of the last ACK that had any, in the order of that ACK. Their data is already marked on the scoreboard. A block that was
/// ignored is stored as an empty one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackMemory {
    pub(super) blocks: [SackBlock; MAX_SACK_BLOCKS],
    /// The cumulative acknowledgement when the blocks were stored, as a stream offset.
    pub(super) una: u64,
}

impl SackMemory {
    /// Returns the stored blocks. If an ACK repeats one of them while `una` is acknowledged, it carries nothing new. Returns empty blocks
    /// if the sender has not `kept` its SACK marks, or if the stored blocks are so old that their sequence numbers may have wrapped.
    pub(super) fn of(&self, una: u64, kept: bool) -> &[SackBlock; MAX_SACK_BLOCKS] {
        const NONE: &[SackBlock; MAX_SACK_BLOCKS] = &[SackBlock { start: 0, end: 0 }; MAX_SACK_BLOCKS];
        if kept && una - self.una < 1 << 30 { &self.blocks } else { NONE }
    }
}

/// Checks whether all SACK blocks of an ACK except the first are repeated. They are if the blocks `before` have each of them at the same
/// index, or each at the index before it. This is so for most ACKs.
#[inline]
pub(super) fn only_first_is_new(told: &[SackBlock], before: &[SackBlock; MAX_SACK_BLOCKS]) -> bool {
    let stood =
        |places: usize| (1..MAX_SACK_BLOCKS).all(|i| told.get(i).is_none_or(|it| *it == before[i - places]));
    stood(0) || stood(1)
}
