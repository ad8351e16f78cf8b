//! Scenario to run to metrics to verdict.

pub mod available;
mod choice;
mod file;
pub mod ideal;
mod judge;
pub mod metrics;
mod observe;
mod options;
pub mod quantity;
mod race;
mod recording;
mod row;
mod run;
mod scenario;
pub mod scorecard;
pub mod student;
mod summary;
mod tap;
mod verdict;
pub mod words;

pub use choice::{ChoiceError, OFFERS, SchemeChoice, all_schemes, parse_choices, show_choices};
pub use file::{FileError, ScenarioFile, parse_file};
pub use judge::{VERSION, add_harm, ideal_kind, row};
pub use observe::{Evidence, ExitSeen};
pub use options::{KEYS, OptionError, Options};
pub use race::{How, MakeTap, SchemeResult, race};
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use row::Row;
pub use run::{CrossTotals, Outcome, RunError, run, run_without};
pub use scenario::{Goal, Packet, Scenario, ScenarioError};
pub use tap::Tap;
pub use verdict::{rank, verdict};
