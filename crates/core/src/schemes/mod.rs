//! The start-up schemes, one file each.

mod hystart;
mod limited;
mod paced;
mod slow_start;

pub use hystart::HyStart;
pub use limited::Limited;
pub use paced::Paced;
pub use slow_start::{Initial, SlowStart};

pub(crate) use hystart::HYSTART;
pub(crate) use limited::LIMITED;
pub(crate) use paced::PACED;
pub(crate) use slow_start::{SLOW_START, SLOW_START_PACED};
