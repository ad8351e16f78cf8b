//! Start-up schemes in Linux's TCP: loads the objects of `kernel/objects`, lists what is loaded, unloads it.
//!
//! ```no_run
//! use firstflight_kernel::{Handover, Order, load};
//!
//! let order = Order {
//!     scheme: "hystart",
//!     parameters: &[],
//!     name: "ff_hystart",
//!     handover: Handover::Cubic,
//!     is_traced: false,
//! };
//! let loaded = load(&order)?;
//! // Sockets may use it until `loaded` is dropped or the process ends, however that happens.
//! # Ok::<(), firstflight_kernel::KernelError>(())
//! ```

mod cookie;
mod error;
mod load;
mod machine;
mod names;
mod namespaces;
mod netlink;
mod objects;
mod parameters;
mod peers;
mod pins;
mod quick_start;
mod registered;
mod rollout;
mod router;
mod settings;
mod sockets;
mod tcx;
mod watch;

pub use error::KernelError;
pub use load::{Handover, Loaded, Order, check_order, load, load_object};
pub use machine::{Abi, check};
pub use names::{NAMES, available, check as check_name, name_in_process, name_of};
pub use namespaces::Namespace;
pub use objects::{objects, schemes, why_not};
pub use peers::{ALL_PEERS, Prefix, Share, place};
pub use pins::Lock;
pub use quick_start::{Asks, Heard, Interface, Outcome, QuickStart, QuickStartOrder, quick_start};
pub use registered::{Keeper, Registered, Undone, list, load_anew, undo, unload};
pub use rollout::{Precedence, Rolled, Rollout, Scope, cgroup_at, cgroups_in, roll_out, rollouts};
pub use router::{Router, RouterCounts};
pub use sockets::{Route, Socket, routes, sockets};
pub use watch::{Closing, Fact, Numbers, Watch, WatchOrder, What};
