//! Turns a run's evidence into a row, and the rows of a race into an order and a verdict.
//!
//! 1. A simulator, or another host, that runs a flow produces [`Evidence`] with its [`Recording`]; a [`Tap`] observes the flow meanwhile.
//! 2. [`metrics`], [`scorecard`], [`rounds`] and [`ideal`] each define and compute some numbers of the evidence; [`row()`] combines them
//!    into a [`Row`].
//! 3. [`SchemeResult::object`] joins the runs of a scheme; [`rank`] orders the results and [`verdict()`] sums them up.
//!
//! The crate depends on neither scenarios nor the simulator. Its caller states what was measured ([`Measured`]), what the path could carry
//! ([`IdealSender`]) and how schemes are compared ([`Contest`]).

pub mod arithmetic;
pub mod available;
pub mod change;
mod column;
mod counted;
mod cpu;
mod early;
mod evidence;
mod fluid;
pub mod harm;
pub mod ideal;
mod inside;
mod judge;
pub mod metrics;
mod others;
mod pairing;
mod population_row;
mod probe_row;
mod processor_sharing;
mod quantile;
mod ranks;
mod recording;
mod result;
pub mod rounds;
mod row;
pub mod runs_needed;
pub mod scorecard;
mod show;
pub mod student;
mod summary;
mod tap;
mod verdict;
mod waits;
mod windows;

pub use change::{Change, Mean, Scale};
pub use column::{Column, Kind, Typed, count, joined};
pub use counted::{Counted, Intervals, SuCounted, Tally};
pub use cpu::CpuFields;
pub use early::{EARLY_ROUND_TRIPS, Early, early_instants};
pub use evidence::{Evidence, ExitSeen, RouterAnswers, SuCounts};
pub use harm::HarmFields;
pub use ideal::{IdealKind, IdealSender, Policer};
pub use inside::{Inside, mark};
pub use judge::{
    Contest, CrossTotals, Goal, Measured, Subject, VERSION, add_harm, row, set_ideal, without_start_up,
};
pub use others::Hop;
pub use pairing::Pairing;
pub use population_row::{FlowRow, PopulationRow};
pub use probe_row::{PROBE, ProbeRow, Probed, TrainRow};
pub use quantile::{Quantile, interval, quantile, weighted_place};
pub use recording::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Send, State};
pub use result::{PopulationResult, ProbeResult, SchemeResult};
pub use row::{ALONE, Row};
pub use show::rounded_rate;
pub use summary::{SPREAD, spread_at};
pub use tap::Tap;
pub use verdict::{
    Better, Claim, Reference, credit_notes, help, laws_differ, listed, noted, owing, population_verdict,
    populations_want_reference, rank, rank_populations, ranked_under, verdict, wants_reference,
};
pub use waits::{Wait, Waits};
pub use windows::{LinkFields, WINDOW_FIELDS, WindowFields, Windows};
