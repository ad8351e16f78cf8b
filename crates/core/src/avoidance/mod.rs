//! The avoidance laws, one file each.

mod cubic;
mod reno;

pub use cubic::Cubic;
pub use reno::Reno;

pub(crate) use cubic::CUBIC;
pub(crate) use reno::RENO;
