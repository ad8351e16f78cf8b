//! Runs in the simulator: one, a race, a population, a sweep, and the score of a sweep.
//!
//! 1. [`race()`] runs every scheme of a scenario with every seed, in parallel. One run is the simulator with an observer,
//!    which produces [`firstflight_measure::Evidence`]. A run of the seed without the flow shows the flow's effect on others.
//!    The time before the flow begins is simulated once for each seed.
//!    [`references`] races slow start that counts bytes beside results that owe something to the counting of bytes, and
//!    [`population_references`] runs that slow start beside populations.
//! 2. [`populations()`] runs many flows at once, each measured.
//! 3. [`probe()`] sends trains over a path, and says what was truly available.
//! 4. [`arrivals`] and [`replies`] say what is asked for, and when, for hosts that carry it out with real packets.
//! 5. [`race_parts`] races a [`Sweep`] over many paths, and [`score`] summarises its rows by scheme.
//!
//! Results are a pure function of scenario, schemes and seeds: identical bytes on every machine, with any number of
//! threads.

mod asking;
mod buffer_pool;
mod build_network;
mod census;
mod cross_flows;
mod entrant;
mod error;
mod flows;
mod group;
mod growth;
mod how;
mod meter;
mod observe;
mod populations;
mod probing;
mod processors;
mod race;
mod reference;
mod replay;
mod round_watch;
mod run;
mod saved;
pub mod score;
mod seed_runs;
mod sweep;
mod tapped;
mod warm_up;
mod watched_flows;

/// The build of the program, which rows of a sweep carry: 16 hexadecimal digits that are others as soon as a source that
/// decides what a row says is another, or the version of a library.
pub const BUILD: &str = env!("FIRSTFLIGHT_BUILD");

pub use asking::{arrivals, replies};
pub use build_network::flow_start;
pub use error::RunError;
pub use group::{cast_of, group_count};
pub use how::{
    How, LinkSlot, MakeClientTap, MakeFlowTap, MakeTap, PopulationFlow, Slots, TakeFlowRecording,
    TakeRecording,
};
pub use populations::populations;
pub use probing::probe;
pub use race::race;
pub use reference::{population_references, references};
pub use replay::record;
pub use run::{Outcome, Without, run, run_without, without_ideal};
pub use saved::resumed;
pub use sweep::{
    Beside, Bottleneck, EarlyFields, PathFacts, Stopped, Sweep, SweepError, SweptRow, parse_sweep, race_parts,
};
