//! The start-up schemes, one file each.

mod slow_start;

pub use slow_start::{Initial, SlowStart};
