//! An emulated path for unmodified programs: what a race simulates, on real packets.
//!
//! - [`Path`] is the two ways between host A and host B, made from a scenario: links of the simulator
//!   ([`firstflight_sim::Port`]) in a row, under any clock.
//! - [`Relay`] moves packets between two devices over a path. The devices and the clock are traits, so that a test has a
//!   relay in memory under a clock of its own.
//! - [`Report`] is what a run came to: counters by direction, and how late packets were.
//! - [`log`] records every packet at both ends as pcapng; [`Tape`] keeps their headers and fates in memory.
//! - [`linux`] has the real thing: two network namespaces that a TUN device each joins to a relay, with a program in each.
//!
//! Instants of the path are computed, not measured: a relay that wakes up late delivers packets late, but the rate of the
//! path and what it drops stay what they are.

mod addresses;
mod lateness;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod log;
mod path;
mod relay;
mod report;
mod tape;
#[cfg(any(target_os = "linux", test))]
mod vigil;
mod way;

pub use addresses::{A, B, Host, Side};
pub use lateness::{Lateness, LatenessReport, VOID};
pub use path::{Path, PathError};
pub use relay::{Carried, Clock, Device, Observer, Relay, Turn};
pub use report::{DirectionReport, Dropped, Report};
pub use tape::{Fate, HEAD, Tape, Taped};
pub use way::Way;
