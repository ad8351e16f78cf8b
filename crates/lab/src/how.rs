//! Settings of a race that do not affect the numbers: threads, progress, interrupts, taps.

use firstflight_measure::{Recording, Tap};
use firstflight_scenario::SchemeChoice;

use crate::error::RunError;

/// Makes the tap of one run; `None` if there is none.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// A measured flow of a population.
#[derive(Clone, Copy, Debug)]
pub struct PopulationFlow<'a> {
    /// The scheme of the flow.
    pub choice: &'a SchemeChoice,
    /// The place of the population: that of its scheme among those raced, and behind all for the mixed one.
    pub group: usize,
    /// What rows call the population: `only`, `mixed`, `scripted`, or `with NAME`.
    pub population: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the flow, by arrival from zero.
    pub flow: u32,
}

/// Makes the tap of one flow of a population; `None` if there is none.
pub type MakeFlowTap<'a> = &'a (dyn Fn(PopulationFlow<'_>) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// Receives the recording of a finished run, on the thread that made it. Runs finish in any order.
pub type TakeRecording<'a> = &'a (dyn Fn(&Recording) + Sync);

/// Settings of a race that do not affect the numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// The number of runs at a time; `None` for the number of processors.
    pub jobs: Option<usize>,
    /// Receives a full recording of each scheme's first run, even if an interrupt leaves the run without a row.
    pub record: Option<TakeRecording<'a>>,
    /// Called after each run with the number of finished runs, the number of all runs, and the row's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Whether the user has interrupted the race. Finished runs are then kept, and no more begin.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes captures and event logs.
    pub tap: MakeTap<'a>,
    /// Makes captures and logs of a population's flows; `None` if no flow has any.
    pub flow_tap: Option<MakeFlowTap<'a>>,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            record: None,
            progress: &|_, _, _| {},
            interrupted: &|| false,
            tap: &|_, _| Ok(None),
            flow_tap: None,
        }
    }
}

/// The threads of a race.
pub(crate) fn pool(how: &How<'_>) -> Result<rayon::ThreadPool, RunError> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = how.jobs {
        builder = builder.num_threads(jobs);
    }
    builder.build().map_err(|error| RunError::Threads(error.to_string()))
}

/// Leaves out an interrupted run, and keeps every other error.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
