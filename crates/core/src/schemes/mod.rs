//! The start-up schemes, one file each.

mod slow_start;

pub use slow_start::{Initial, SlowStart};
pub(crate) use slow_start::{SLOW_START, SLOW_START_PACED};
