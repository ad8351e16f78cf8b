//! An emulated path for unmodified programs. It is the path of a simulated race, but carries real packets.
//!
//! - [`Path`] is the two directions between host A and host B, made from a scenario. Each consists of consecutive links of the simulator
//!   ([`firstflight_sim::Port`]), and works with any clock.
//! - [`Relay`] moves packets between two devices over a path. The devices and the clock are traits, so that a test can run a relay in
//!   memory under a test clock.
//! - [`Report`] is the result of a run: counters by direction, and the lateness of packets.
//! - [`log`] records every packet at both ends as pcapng; [`PacketLog`] keeps the headers and fates of packets in memory.
//! - [`own_program`] is how this program starts itself again.
//! - [`linux`] emulates on this system. It has two network namespaces, each with a program, and a TUN device joins each to the relay.
//!
//! The times on the path are computed, not measured. A relay that wakes up late delivers packets late, but this does not affect the rate
//! and the drops of the path.

mod addresses;
#[cfg(any(target_os = "linux", test))]
mod busy_wait;
mod lateness;
mod link_chain;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod log;
pub mod own_program;
mod packet_log;
mod path;
mod read_delay;
mod relay;
mod report;

pub use addresses::{A, B, Host, Side};
pub use lateness::{Lateness, LatenessReport, MAX_LATENESS};
pub use link_chain::LinkChain;
pub use packet_log::{Fate, HEAD, LoggedPacket, PacketLog};
pub use path::{Path, PathError};
pub use relay::{Carried, Clock, Device, Observer, Relay, Turn};
pub use report::{DirectionReport, Dropped, Report};
