//! Scenario to run to metrics to verdict.

mod choice;
mod file;
mod options;
pub mod quantity;
mod recording;
mod row;
mod scenario;
pub mod words;

pub use choice::{ChoiceError, OFFERS, SchemeChoice, all_schemes, parse_choices, show_choices};
pub use file::{FileError, ScenarioFile, parse_file};
pub use options::{KEYS, OptionError, Options};
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use row::Row;
pub use scenario::{Goal, Packet, Scenario, ScenarioError};
