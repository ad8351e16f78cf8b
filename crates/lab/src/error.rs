//! Why a run failed.

use firstflight_scenario::{CastError, ControllerError};
use firstflight_sim::NetworkError;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A controller that cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A script whose flows cannot have their schemes.
    #[error(transparent)]
    Cast(#[from] CastError),
    /// A network that cannot be run.
    #[error("the path cannot be simulated: {0}")]
    Network(#[from] NetworkError),
    /// A capture or event log that could not be written.
    #[error(transparent)]
    Tap(#[from] std::io::Error),
    /// A scheme that no client of rounds has.
    #[error("flow: no client has the scheme {0}; those that measure are the schemes of the flows")]
    NoClient(String),
    /// A scenario with a population was given to [`crate::run()`].
    #[error(
        "flows: a population has no measured flow of its own; `firstflight race` and `run` make its rows"
    )]
    IsPopulation,
    /// A scenario without a population was given to [`crate::populations()`].
    #[error(
        "flows: there is no population; say how many flows are measured with flows, and between which hosts with topology"
    )]
    NoPopulation,
    /// A scenario without trains was given to [`crate::probe()`].
    #[error("probe: there are no trains; say how they search, as in `bracket`")]
    NoProbing,
    /// A mixed population of one scheme.
    #[error("mixed: at least two schemes are wanted")]
    NothingToMix,
    /// A population's scheme that resumes an earlier connection, without the saved values.
    #[error(
        "{0}: among flows between hosts, what an earlier connection saved has to be said, as in `{0}:saved=64kB,rtt=40ms`"
    )]
    NothingSaved(String),
    /// The threads could not be started.
    #[error("the runs cannot be spread over threads: {0}")]
    Threads(String),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}
