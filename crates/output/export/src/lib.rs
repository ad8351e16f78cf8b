//! Writes results for machines: records, CSV, JSON lines, Parquet, the parts of a sweep, and the logs of flows.
//!
//! A result may be of any type that serialises to an object ([`records`]). Therefore the code for a single run also writes the mean of many
//! runs, which has `runs` and `_ci95` fields. [`columns`] has the unit, the type and the meaning of each field. Only [`write_whole`],
//! [`write_new`], [`WholeFile`] and [`log`] use the file system.

pub mod columns;
pub mod csv;
pub mod json;
pub mod log;
pub mod parquet;
pub mod part;
pub mod record;
pub mod rows;
mod write;

pub use record::{Record, RecordError, records};
pub use write::{WholeFile, WriteError, check_folder, check_writable, write_new, write_whole};
