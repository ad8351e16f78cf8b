//! Scenario to run to metrics to verdict.
//!
//! 1. [`Options`] are set one by one, from the command line or a scenario file ([`parse_file`]), and
//!    [`Scenario::resolve`] fills in the defaults; [`parse_choices`] reads the list of schemes. With schemes from outside the
//!    tree all of this is read by their registry ([`ByName`]).
//! 2. [`race`] runs every scheme with every seed, in parallel. One run is the simulator with an observer, which
//!    leaves [`Evidence`]; a run of the same seed without the flow shows what it did to others. What happens before the
//!    flow begins is simulated once for all of a seed.
//! 3. [`metrics`], [`scorecard`] and [`ideal`] turn evidence into a [`Row`], each number by one definition.
//! 4. [`SchemeResult::object`] joins the runs of a scheme; [`rank`] orders the results and [`verdict`] sums them up.
//!
//! Results are a pure function of scenario, schemes and seeds: the same bytes on every machine, for any number of
//! threads.

pub mod available;
mod by_name;
mod census;
mod choice;
mod cross;
mod crossing;
mod entrant;
mod file;
mod flows;
mod fluid;
mod heat;
pub mod ideal;
mod judge;
pub mod links;
pub mod metrics;
pub mod model;
mod observe;
mod options;
pub mod population;
mod populations;
pub mod quantity;
mod race;
mod reading;
mod recording;
mod replay;
mod restart;
mod rooms;
pub mod rounds;
pub mod routers;
mod row;
mod run;
mod saved;
mod scenario;
pub mod score;
pub mod scorecard;
mod stage;
pub mod student;
mod summary;
mod sweep;
mod tap;
pub mod topology;
mod verdict;
mod warm_up;
pub mod words;

pub use by_name::{ByName, controller_of, parse_choices, parse_file, parse_restarts, parse_sweep};
pub use choice::{ChoiceError, OFFERS, SchemeChoice, all_schemes, show_choices};
pub use file::{FileError, ScenarioFile};
pub use flows::{FlowRow, PopulationRow};
pub use judge::{VERSION, add_harm, ideal_kind, row, set_ideal};
pub use observe::{Evidence, ExitSeen};
pub use options::{KEYS, OptionError, Options};
pub use populations::{PopulationResult, populations};
pub use race::{How, MakeTap, SchemeResult, TakeRecording, race};
pub use reading::read_text;
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use replay::{ReplayError, record, trace_header};
pub use restart::{RestartChoice, over_restarts};
pub use row::Row;
pub use run::{CrossTotals, Outcome, RunError, Without, run, run_without};
pub use scenario::{Goal, Packet, Rounds, Scenario, ScenarioError, Writes};
pub use sweep::{Bottleneck, PathFacts, Stopped, Sweep, SweepError, SweptRow, race_parts};
pub use tap::Tap;
pub use verdict::{population_verdict, rank, rank_populations, verdict};
