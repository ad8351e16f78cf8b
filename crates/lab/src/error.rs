//! Why a run could not be made.

use firstflight_scenario::ControllerError;
use firstflight_sim::NetworkError;

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A controller that cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A network that cannot be run.
    #[error("the path cannot be simulated: {0}")]
    Network(#[from] NetworkError),
    /// A capture or event log that could not be written.
    #[error(transparent)]
    Tap(#[from] std::io::Error),
    /// Many flows are asked of one run.
    #[error(
        "flows: a population has no measured flow of its own; `firstflight race` and `run` make its rows"
    )]
    IsPopulation,
    /// One flow is asked of [`crate::run()`], and a population of [`crate::populations`].
    #[error(
        "flows: there is no population; say how many flows are measured with flows, and between which hosts with topology"
    )]
    NoPopulation,
    /// One scheme makes no mix.
    #[error("mixed: at least two schemes are wanted")]
    NothingToMix,
    /// Nobody made the earlier connection.
    #[error(
        "{0}: among flows between hosts, what an earlier connection saved has to be said, as in `careful-resume:saved=64kB,rtt=40ms`"
    )]
    NothingSaved(String),
    /// No threads.
    #[error("the runs cannot be spread over threads: {0}")]
    Threads(String),
    /// The user had enough.
    #[error("interrupted")]
    Interrupted,
}
