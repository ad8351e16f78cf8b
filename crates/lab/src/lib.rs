//! Scenario to run to metrics to verdict.

mod file;
mod options;
pub mod quantity;
mod recording;
mod row;
mod scenario;
pub mod words;

pub use file::{FileError, ScenarioFile, parse_file};
pub use options::{KEYS, OptionError, Options};
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use row::Row;
pub use scenario::{Goal, Packet, Scenario, ScenarioError};
