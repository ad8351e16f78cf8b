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

mod error;
mod load;
mod machine;
mod names;
mod objects;
mod parameters;
mod pins;
mod quick_start;
mod registered;
mod router;
mod settings;
mod tcx;
mod watch;

pub use error::KernelError;
pub use load::{Handover, Loaded, Order, load, load_object};
pub use machine::{Abi, check};
pub use names::{NAMES, available, check as check_name, name_in_process, name_of};
pub use objects::{schemes, why_not};
pub use pins::Pinned;
pub use quick_start::{Asks, Heard, Interface, Outcome, QuickStart, QuickStartOrder, quick_start};
pub use registered::{Keeper, Registered, list, unload};
pub use router::{Router, RouterCounts};
pub use watch::{Closing, Fact, Numbers, Watch, WatchOrder, What};
