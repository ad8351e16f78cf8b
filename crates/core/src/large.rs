//! Where large values live.

/// A value that is much larger than its neighbours, or seldom there. With an allocator such a value lives in a box:
/// an enum takes the space of its largest member, and a host may have a hundred thousand connections.
#[cfg(feature = "alloc")]
pub type Large<T> = alloc::boxed::Box<T>;
/// Without an allocator the value lives in place.
#[cfg(not(feature = "alloc"))]
pub type Large<T> = T;
