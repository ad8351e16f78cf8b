//! The emulated path on this system: each host is a network namespace with one TUN device, and a thread of this process relays
//! between the two devices.
//!
//! Nothing has a name in the file system: the namespaces are held by the processes of the hosts, and the devices by descriptors.
//! The kernel removes all of it with the process, however that ends.

mod clock;
mod control;
mod device;
mod first;
mod host;
mod inside;
pub mod kernel;
mod netlink;
mod relaying;
mod run;

pub use host::{Ended, RunError};
pub use inside::{INSIDE, inside};
pub use run::{Done, Ending, Job, LISTENS, Timing, run};
