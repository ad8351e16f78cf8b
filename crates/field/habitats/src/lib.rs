//! Runs schemes over one path in several environments, which the code calls *habitats*: the simulator, the endpoint of `firstflight-udp`
//! on UDP sockets, and the kernel's own TCP with its own schemes or with schemes of this project. All environments but the simulator use
//! the emulated path of `firstflight-emulate`.
//!
//! - [`HABITATS`] is the table of environments. An entry states the program that runs and its stack. Rows are compared with those of the
//!   simulator with the same stack.
//! - [`Order`] describes a comparison. [`compare()`] runs it and returns [`Row`]s, each of one scheme in one environment. [`largest`]
//!   returns the largest difference.
//! - [`Figures`] are the numbers of one run. All environments use the definitions of `firstflight-measure`, applied to the
//!   [`firstflight_measure::Evidence`] of the run. A number that an environment cannot observe is undefined.
//! - [`real`] makes single runs on real packets for other crates, and [`rows`] the rows of a figure's runs.
//! - [`equal`] keeps the number and the lengths of packets on the wire equal.

mod cell;
mod compare;
#[cfg(target_os = "linux")]
mod connections;
pub mod equal;
mod evidence;
mod figures;
mod from_packets;
mod from_trace;
mod habitat;
mod hosting;
#[cfg(target_os = "linux")]
mod late;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod packed;
mod population;
pub mod real;
mod replies;
mod row;
pub mod rows;
mod sender_events;
mod subject;

pub use cell::{CompareError, Load, Loaded, Real};
pub use compare::{Compared, How, Order, Step, compare};
pub use evidence::{Carrier, evidence};
pub use figures::Figures;
pub use from_packets::Seen;
pub use from_trace::{Observed, Told};
pub use habitat::{HABITATS, Habitat, Runs, habitats};
pub use hosting::{Hosted, Hosting, Inside, Wanted};
#[cfg(target_os = "linux")]
pub use linux::inside;
pub use row::{Difference, METRICS, Metric, Row, Summary, Tolerance, largest};
pub use sender_events::{SenderTrace, read_trace};
pub use subject::{Subject, subjects};

/// Runs the program at an end of a compared path, if this process was started as one, and returns its exit code.
#[cfg(not(target_os = "linux"))]
pub fn inside(_: &[std::ffi::OsString]) -> Option<u8> {
    None
}
