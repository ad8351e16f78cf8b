//! The results of a race for people and for programs: the terminal table, JSON lines, CSV, Parquet and one self-contained
//! HTML file.
//!
//! Everything here is a pure function from results to bytes; only [`write_whole`], [`write_new`], [`WholeFile`] and
//! [`log`] touch the file system.
//! A result may be of any type that serialises to an object ([`records`]). So a mean of many runs, which has `_ci95` fields
//! and `runs`, is shown by the code for a single run.

pub mod columns;
pub mod csv;
pub mod grid;
pub mod html;
pub mod human;
pub mod inspected;
pub mod json;
pub mod log;
pub mod parquet;
pub mod part;
pub mod population;
pub mod probed;
pub mod prose;
pub mod record;
mod reference;
mod report;
pub mod score;
pub mod svg;
pub mod table;
mod thin;
mod undefined;

mod view;
pub mod windows;
mod write;

pub use grid::Columns;
pub use html::{Drawn, FlowOf, HtmlError};
pub use record::{Record, RecordError, records};
pub use reference::BasePath;
pub use report::{Report, Subject};
pub use table::{Headings, Rows, TableStyle, headings};
pub use windows::windows_table;
pub use write::{WholeFile, WriteError, check_folder, check_writable, write_new, write_whole};
