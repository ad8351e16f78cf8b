//! Observes the start-ups of a host's connections while they happen.
//!
//! The kernel reports the segments that each socket sends and receives to the [`Watcher`]. `firstflight-inspect` analyses these segments in
//! the same way as captures, so exit causes and windows have the same names and definitions. A completed start-up is a [`Start`]: the
//! results that a capture would give, and results that only the kernel knows. [`Groups`] sums start-ups by destination prefix and
//! congestion control, [`openmetrics`] writes the sums as text, and [`BeforeAfter`] compares two collections of start-ups.

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
