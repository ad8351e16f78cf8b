//! Observes the start-ups of a host's connections while they happen.
//!
//! The kernel reports the segments that each socket sends and receives to the [`Watcher`]. `firstflight-inspect` analyses these segments in
//! the same way as captures, so exit causes and windows have the same names and definitions. A completed start-up is a [`Start`]: the
//! results that a capture would give, and results that only the kernel knows. [`Groups`] sums start-ups by destination prefix and
//! congestion control, [`openmetrics`] writes the sums as text, and [`Comparison`] compares two collections of start-ups.

mod comparison;
mod groups;
mod matching;
mod metrics;
mod outcome;
mod resampling;
mod start;
mod verdict;
mod watcher;

pub use comparison::{Change, Comparison, Drawn, Side, Unreadable, check};
pub use groups::{Buckets, Counters, Group, Groups, Kept, Transfers};
pub use metrics::{Totals, openmetrics};
pub use outcome::Outcome;
pub use start::{COLUMNS, Start, columns, record};
pub use verdict::Unit;
pub use watcher::{Closed, Numbers, Opened, Prefixes, Watcher};
