//! Scenario to run to metrics to verdict.

pub mod quantity;
mod recording;
mod row;

pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use row::Row;
