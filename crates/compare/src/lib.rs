//! Schemes over one path in several *habitats*: the simulator, the endpoint of `firstflight-live` on UDP sockets, and the
//! kernel's own TCP with its schemes or with ours, all but the first over the emulated path of `firstflight-emulate`.
//!
//! - [`HABITATS`] is the table of habitats: what runs, as which stack, and beside which simulator its rows stand.
//! - [`Order`] is what is to be compared. [`compare()`] runs it and gives [`Row`]s, a scheme in a habitat each; [`largest`] says
//!   what differs most.
//! - [`Figures`] are the numbers of one run. All habitats have the same definitions, those of `firstflight-measure`, on the
//!   [`firstflight_measure::Evidence`] of the run; what a habitat cannot know stays undefined.
//! - [`real`] makes single runs on real packets for others.
//! - [`equal`] keeps packets equal on the wire: as many, and as long.

mod cell;
mod compare;
#[cfg(target_os = "linux")]
mod connections;
pub mod equal;
mod evidence;
mod figures;
mod habitat;
mod heard;
mod hosting;
#[cfg(target_os = "linux")]
mod late;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod population;
pub mod real;
mod replies;
mod row;
mod seen;
mod subject;
mod told;

pub use cell::{CompareError, Load, Loaded, Real};
pub use compare::{Compared, How, Order, Step, compare};
pub use evidence::{Carrier, evidence};
pub use figures::Figures;
pub use habitat::{HABITATS, Habitat, Runs, habitats};
pub use heard::{Heard, hear};
pub use hosting::{Hosted, Hosting, Inside, Wanted};
#[cfg(target_os = "linux")]
pub use linux::inside;
pub use row::{Difference, METRICS, Metric, Row, Summary, Tolerance, largest};
pub use seen::Seen;
pub use subject::{Subject, subjects};
pub use told::{Overheard, Told};

/// If this process was started as the program at an end of a compared path, is that and gives its exit code.
#[cfg(not(target_os = "linux"))]
pub fn inside(_: &[std::ffi::OsString]) -> Option<std::process::ExitCode> {
    None
}
