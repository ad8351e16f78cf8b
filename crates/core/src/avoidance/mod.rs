//! The avoidance laws, one file each.

mod reno;

pub(crate) use reno::RENO;
pub use reno::Reno;
