//! The start-ups of a host's connections as they happen.
//!
//! The kernel tells what leaves each socket and what it hears ([`Watcher`]); `firstflight-inspect` judges that as it judges captures, so
//! that exit causes and windows are the same words and numbers. A start-up that is over is a [`Start`]: what a capture would tell, and
//! what only the kernel knows. [`Groups`] sums them by destination prefix and congestion control, [`openmetrics`] is that as text, and
//! [`BeforeAfter`] compares two collections of them.

mod before_after;
mod groups;
mod metrics;
mod start;
mod watcher;

pub use before_after::{BeforeAfter, Change, Measure, Side, Unit, Unreadable};
pub use groups::{Group, Groups};
pub use metrics::{Totals, openmetrics};
pub use start::{COLUMNS, Start, columns, record};
pub use watcher::{Numbers, Opened, Prefixes, Watcher};
