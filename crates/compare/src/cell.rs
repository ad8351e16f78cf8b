//! A scheme in a habitat: what is run there, and why it cannot be.

use std::fmt::Debug;

use firstflight::Span;
use firstflight_lab as lab;
use firstflight_scenario::{ChoiceError, Goal, Scenario, ScenarioError, SchemeChoice};
use thiserror::Error;

use crate::figures::Figures;
use crate::habitat::Habitat;
use crate::subject::Subject;

/// A scheme in a habitat, and its runs so far.
pub(crate) struct Cell<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) habitat: Habitat,
    pub(crate) scenario: &'a Scenario,
    /// The scheme with what an earlier connection saved.
    pub(crate) choice: SchemeChoice,
    pub(crate) runs: Vec<Figures>,
    pub(crate) repeated: u32,
    pub(crate) void: u32,
    /// The scheme in the kernel, if the habitat has it there.
    pub(crate) loaded: Option<Loaded>,
}

/// A scheme that is loaded into the kernel, as long as this value lives.
#[derive(Debug)]
pub struct Loaded {
    /// The name of the congestion control.
    pub name: String,
    /// What keeps it loaded.
    pub keeper: Box<dyn Debug>,
}

/// Loads a scheme into the kernel, which goes on with a congestion-avoidance law of that name when start-up is over; or says in a
/// line why it cannot.
pub type Load<'a> = &'a dyn Fn(&SchemeChoice, &'static str) -> Result<Loaded, String>;

/// Why nothing can be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// A path that there cannot be.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scheme of the kernel's that the registry does not have.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A key that one transfer has no use for.
    #[error("{0}: {1}")]
    Key(&'static str, &'static str),
    /// The scheme sets the stack, which habitats have.
    #[error("`{0}` sets a stack; each habitat has its own, and --habitats chooses among them")]
    Stack(String),
    /// The simulator cannot run it.
    #[error(transparent)]
    Simulator(lab::RunError),
    /// The path is none for real packets.
    #[error("{0}")]
    Path(#[from] firstflight_emulate::PathError),
    /// The system refuses what real packets need.
    #[error("{0}; `--habitats sim-rfc,sim-linux` compares the simulator's stacks without it")]
    Refused(String),
    /// An end of the path failed.
    #[error("{scheme} in {habitat}: {why}")]
    End {
        /// The scheme.
        scheme: String,
        /// The habitat.
        habitat: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// What a run came to.
pub(crate) enum Taken {
    Figures(Box<Figures>),
    Void,
    Interrupted,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub enum Real<T> {
    /// It counts.
    Ran(T),
    /// The machine was too late for it to count, however often it was repeated.
    Void,
    /// The user interrupted.
    Interrupted,
}

/// How long a transfer may take in every habitat: thirty times as long as it takes at the least, and a minute, or what the limit
/// says.
pub(crate) fn limit(scenario: &Scenario) -> Span {
    let Goal::Size(size) = scenario.goal else { return scenario.limit };
    let bare = scenario.rate.time_for(size) + scenario.rtt * 10;
    let usual = bare * 30 + Span::from_secs(60);
    usual.min(scenario.limit)
}
