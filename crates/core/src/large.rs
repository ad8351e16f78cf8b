//! Where what is large is kept.

/// What is larger than most, or is seldom there, is kept elsewhere where that is possible: a choice takes
/// the room of its largest member, and a host may have a hundred thousand connections.
#[cfg(feature = "alloc")]
pub type Large<T> = alloc::boxed::Box<T>;
/// Without an allocator it is kept in place.
#[cfg(not(feature = "alloc"))]
pub type Large<T> = T;
