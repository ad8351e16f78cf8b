//! The avoidance laws, one file each.

mod reno;

pub use reno::Reno;
