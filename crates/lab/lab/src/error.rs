//! The error of a run.

use firstflight::Time;
use firstflight_scenario::quantity::show_span;
use firstflight_scenario::{CastError, ControllerError};
use firstflight_sim::NetworkError;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A scheme's controller cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// Some flows of a script cannot have their schemes.
    #[error(transparent)]
    Cast(#[from] CastError),
    /// The network cannot be simulated.
    #[error("the path cannot be simulated: {0}")]
    Network(#[from] NetworkError),
    /// A capture or event log could not be written.
    #[error(transparent)]
    Tap(#[from] std::io::Error),
    /// No client of the scenario's rounds has this scheme.
    #[error("flow: no client has the scheme {0}; those that measure are the schemes of the flows")]
    NoClient(String),
    /// A scenario with a population was given to [`crate::run()`].
    #[error("flows: a population has no separate measured flow; `firstflight race` and `run` make its rows")]
    IsPopulation,
    /// A scenario without a population was given to [`crate::populations()`].
    #[error(
        "flows: there is no population; say how many flows are measured with flows, and between which hosts with topology"
    )]
    NoPopulation,
    /// A scenario without trains was given to [`crate::probe()`].
    #[error("probe: there are no trains; say how they search, as in `bracket`")]
    NoProbing,
    /// A mixed population was requested with only one scheme.
    #[error("mixed: at least two schemes are wanted")]
    NothingToMix,
    /// In a population, a scheme resumes an earlier connection, but the saved values are not given.
    #[error(
        "{0}: among flows between hosts, what an earlier connection saved has to be said, as in `{0}:saved=64kB,rtt=40ms`"
    )]
    NothingSaved(String),
    /// The threads could not be started.
    #[error("the runs cannot be spread over threads: {0}")]
    Threads(String),
    /// No run was made of this scheme.
    #[error("{0}: no run of it was made")]
    NoRun(String),
    /// The run needs more events than its limit allows, because of its other traffic.
    #[error(
        "limit: after {} the run needs more than the {events} events of the simulation that a limit of this length allows; a lower load, \
         larger transfers or a longer limit is wanted",
        show_span(at.since(Time::ZERO))
    )]
    TooMuchWork {
        /// The maximum number of events that the run may take.
        events: u64,
        /// The simulated time at which the run stopped.
        at: Time,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}
