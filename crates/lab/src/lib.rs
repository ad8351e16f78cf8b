//! Scenario to run to metrics to verdict.

mod options;
pub mod quantity;
mod recording;
mod row;
mod scenario;
pub mod words;

pub use options::{KEYS, OptionError, Options};
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use row::Row;
pub use scenario::{Goal, Packet, Scenario, ScenarioError};
