//! Fetching into the cache.
//!
//! With many thousands of flows, hardly any data of the next event's flow is in a cache, and each access waits for
//! memory. If the data is prefetched one event before, it is there in time. This changes only the duration of a run.

use firstflight_tcp::Role;
use prefetch_index::prefetch_index;

use crate::packet::{FlowId, PacketId};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Maximum number of flows that are all in a cache without prefetching. Tests always fetch, so that small networks
/// exercise the code.
pub(crate) const FEW: usize = if cfg!(test) { 0 } else { 256 };
/// Maximum number of packets, and of events, for which the data of the next event is in a cache without prefetching.
pub(crate) const MANY: usize = if cfg!(test) { 0 } else { 4096 };

/// Fetches a value into the cache.
#[inline]
pub(crate) fn fetch<T>(value: &T) {
    fetch_first(value, size_of::<T>());
}

/// Fetches the first `bytes` of a value into the cache.
#[inline]
pub(crate) fn fetch_first<T>(value: &T, bytes: usize) {
    fetch_at(std::ptr::from_ref(value).addr(), bytes.min(size_of::<T>()));
}

/// Fetches into the cache values that lie side by side.
#[inline]
pub(crate) fn fetch_slice<T>(values: &[T]) {
    fetch_at(values.as_ptr().addr(), size_of_val(values));
}

#[inline]
fn fetch_at(address: usize, bytes: usize) {
    let nowhere: &[u8] = &[];
    let from = address.wrapping_sub(nowhere.as_ptr().addr());
    for line in (0..bytes).step_by(LINE) {
        prefetch_index(nowhere, from + line);
    }
    prefetch_index(nowhere, from + bytes - 1);
}

/// Data fetched for the next arrivals of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prefetched {
    /// The packet that arrives after the next.
    pub(crate) second: Option<PacketId>,
    /// The host where the next packet arrives.
    pub(crate) host: Option<(FlowId, Role)>,
}
