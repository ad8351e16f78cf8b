//! The emulated path on this system. Each host is a network namespace with one TUN device, and a thread of this process relays packets
//! between the two devices.
//!
//! Namespaces and devices have no names in the file system: the processes of the hosts hold the namespaces, and descriptors hold the
//! devices. When the process ends for any reason, the kernel removes all of them.

mod clock;
mod control;
mod device;
mod host;
mod host_processes;
mod init_process;
pub mod kernel;
mod netlink;
mod pressure;
mod relaying;
mod run;

pub use host::{Ended, RunError};
pub use host_processes::{INSIDE, inside};
pub use run::{Done, Ending, Job, LISTENS, Timing, run};
