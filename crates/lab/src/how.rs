//! How runs are made, other than what decides the numbers: threads, progress, interrupts, listeners.

use firstflight_measure::{Recording, Tap};
use firstflight_scenario::SchemeChoice;

use crate::error::RunError;

/// Makes the tap of one run; `None` if nobody listens to it.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// Is given the recording of a run that is over, by the thread that made it; runs end in any order.
pub type TakeRecording<'a> = &'a (dyn Fn(&Recording) + Sync);

/// How to race, other than what decides the numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Runs at a time; `None` leaves it to the machine.
    pub jobs: Option<usize>,
    /// Takes what it wants of a full recording of each scheme's first run, also of one that an interrupt leaves without
    /// a row.
    pub record: Option<TakeRecording<'a>>,
    /// Called after each run with how many are over, of how many, and the row's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Whether the user interrupted: then finished runs are kept and no more are begun.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes captures and event logs.
    pub tap: MakeTap<'a>,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            record: None,
            progress: &|_, _, _| {},
            interrupted: &|| false,
            tap: &|_, _| Ok(None),
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

/// Interrupted runs are left out; other errors are not.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
