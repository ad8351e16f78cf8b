//! Storage for large values.

/// A value that is much larger than its neighbours, or seldom present. With an allocator this value is boxed: an enum
/// takes the space of its largest member, and a host may have a hundred thousand connections.
#[cfg(feature = "alloc")]
pub type MaybeBox<T> = alloc::boxed::Box<T>;
/// Without an allocator the value lives in place.
#[cfg(not(feature = "alloc"))]
pub type MaybeBox<T> = T;

/// The storage of a type of ordinary size: in place, without a box.
pub(crate) type Small<T> = T;
