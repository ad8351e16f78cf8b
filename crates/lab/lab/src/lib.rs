//! Runs in the simulator: single runs, races, populations, sweeps, and the scores of sweeps.
//!
//! 1. [`race()`] runs every scheme of a scenario with every seed, in parallel. A run is the simulator with an observer that produces
//!    [`firstflight_measure::Evidence`]. A run of the seed without the flow shows the flow's effect on others. The time before the flow
//!    starts is simulated once for each seed. [`references`] races byte-counting slow start, which is the reference for results that gain
//!    from counting bytes; [`population_references`] races it as a reference for populations.
//! 2. [`populations()`] runs many flows at once, each measured.
//! 3. [`probe()`] sends trains over a path, and reports the bandwidth that was truly available.
//! 4. [`arrivals`] and [`replies`] draw the requests and their times, for hosts that carry them out with real packets.
//! 5. [`race_parts`] races a [`Sweep`] over many paths, and [`score`] summarises its rows by scheme.
//!
//! Results are a pure function of scenario, schemes and seeds: identical bytes on every machine, with any number of threads.

mod advance;
mod buffer_pool;
mod build_network;
mod client_requests;
mod completed;
mod cross_flows;
mod entrant;
mod error;
mod flow_costs;
mod flow_group;
mod flow_taps;
mod flows;
mod growth;
mod harm;
mod observe;
mod others;
mod populations;
mod probing;
mod processors;
mod race;
mod reference;
mod replay;
mod round_watch;
mod run;
mod run_settings;
mod saved_path;
pub mod score;
mod seed_runs;
mod sweep;
mod warm_up;
mod watched_flows;
mod window_meter;
mod work;

/// The build of the program, which is in the rows of a sweep: 16 hexadecimal digits, or the version of a library. The digits change
/// whenever a source file changes that affects a row.
pub const BUILD: &str = env!("FIRSTFLIGHT_BUILD");

pub use build_network::flow_start;
pub use client_requests::{arrivals, replies};
pub use completed::Completed;
pub use error::RunError;
pub use flow_group::{cast_of, group_count};
pub use populations::{populations, populations_until_interrupted};
pub use probing::{probe, probe_until_interrupted};
pub use race::{race, race_until_interrupted};
pub use reference::{population_references, references, under_one_law};
pub use replay::record;
pub use run::{Outcome, Without, run, run_without, without_ideal};
pub use run_settings::{
    How, LinkSlot, MakeClientTap, MakeFlowTap, MakeTap, PopulationFlow, RecordFurther, Slots,
    TakeFlowRecording, TakeRecording,
};
pub use saved_path::resumed;
pub use sweep::{
    Beside, Bottleneck, EarlyFields, PathFacts, PathList, Stopped, Sweep, SweepError, SweptRow, parse_sweep,
    race_parts,
};
