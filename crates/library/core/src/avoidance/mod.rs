//! The avoidance laws, one file each.

mod additive;
mod bbr;
mod bbr_cruise;
mod cubic;
mod cubic_linux;
mod reno;
mod reno_acks;
mod signal;
mod vegas;
mod westwood;

pub use crate::vegas::Variant as VegasVariant;
pub use bbr::ProbeBw;
pub use bbr_cruise::BbrCruise;
pub use cubic::Cubic;
pub use cubic_linux::CubicLinux;
pub use reno::Reno;
pub use reno_acks::RenoAcks;
pub use vegas::Vegas;
pub use westwood::Westwood;

pub(crate) use bbr::BBR;
pub(crate) use bbr_cruise::BBR_CRUISE;
pub(crate) use cubic::CUBIC;
pub(crate) use cubic_linux::CUBIC_LINUX;
pub(crate) use reno::RENO;
pub(crate) use reno_acks::RENO_ACKS;
pub(crate) use vegas::{VEGAS, VEGAS_LINUX};
pub(crate) use westwood::WESTWOOD;
