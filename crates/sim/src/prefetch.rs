//! What the processor is told to fetch because it is needed soon.
//!
//! With many thousands of flows hardly anything of the one whose turn is next is in a cache, and each look at it waits for
//! memory. A processor that is told one event before has it by then. This changes how long a run takes and nothing else.

use prefetch_index::prefetch_index;

use crate::packet::{FlowId, PacketId, Side};

/// Bytes that a cache fetches at once.
const LINE: usize = 64;

/// Up to how many flows all of them are in a cache anyway. Tests fetch always, so that small networks try all of it.
pub(crate) const FEW: usize = if cfg!(test) { 0 } else { 256 };
/// From how many packets on they are not.
pub(crate) const MANY: usize = if cfg!(test) { 0 } else { 4096 };

/// All of a value is needed soon.
#[inline]
pub(crate) fn fetch<T>(value: &T) {
    fetch_first(value, size_of::<T>());
}

/// So many of a value's first bytes are needed soon.
#[inline]
pub(crate) fn fetch_first<T>(value: &T, bytes: usize) {
    let nowhere: &[u8] = &[];
    let bytes = bytes.min(size_of::<T>());
    let from = std::ptr::from_ref(value).addr().wrapping_sub(nowhere.as_ptr().addr());
    for line in (0..bytes).step_by(LINE) {
        prefetch_index(nowhere, from + line);
    }
    prefetch_index(nowhere, from + bytes - 1);
}

/// What was fetched for the next arrivals of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prefetched {
    /// The packet that arrives after the next.
    pub(crate) second: Option<PacketId>,
    /// The host where the next packet arrives.
    pub(crate) host: Option<(FlowId, Side)>,
}
