//! A scheme in one environment ([`Habitat`](crate::Habitat)): its runs, and the reasons why the environment cannot run it.

use std::fmt::Debug;

use firstflight::Span;
use firstflight_lab as lab;
use firstflight_scenario::{ChoiceError, Goal, Scenario, ScenarioError, SchemeChoice};
use thiserror::Error;

use crate::figures::Figures;
use crate::habitat::Habitat;
use crate::subject::Subject;

/// A scheme in an environment, and its runs so far.
pub(crate) struct Cell<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) habitat: Habitat,
    pub(crate) scenario: &'a Scenario,
    /// The scheme with the state that an earlier connection saved.
    pub(crate) choice: SchemeChoice,
    pub(crate) runs: Vec<Figures>,
    pub(crate) repeated: u32,
    pub(crate) void: u32,
    /// The scheme as it is loaded into the kernel, if the environment needs this.
    pub(crate) loaded: Option<Loaded>,
}

/// A scheme that is loaded into the kernel while this value lives.
#[derive(Debug)]
pub struct Loaded {
    /// The name of the congestion control.
    pub name: String,
    /// The value that keeps the scheme loaded.
    pub keeper: Box<dyn Debug>,
}

/// Loads a scheme into the kernel. After start-up the kernel continues with the congestion-avoidance law of the given name. An error is the
/// reason, in one line.
pub type Load<'a> = &'a dyn Fn(&SchemeChoice, &'static str) -> Result<Loaded, String>;

/// Why nothing can be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// An impossible path.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scheme of the kernel that the registry does not contain.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A key that does not apply to a single transfer, and the reason.
    #[error("{0}: {1}")]
    Key(&'static str, &'static str),
    /// A scheme that sets the stack, which the environment determines.
    #[error("`{0}` sets a stack; each habitat has its own, and --habitats chooses among them")]
    Stack(String),
    /// A scheme that the simulator cannot run.
    #[error(transparent)]
    Simulator(lab::RunError),
    /// A path that cannot be emulated for real packets.
    #[error("{0}")]
    Path(#[from] firstflight_emulate::PathError),
    /// The system does not permit what runs with real packets need.
    #[error("{0}; `--habitats sim-rfc,sim-linux` compares the simulator's stacks without it")]
    Refused(String),
    /// The program at one end of the path failed.
    #[error("{scheme} in {habitat}: {why}")]
    End {
        /// The scheme.
        scheme: String,
        /// The environment.
        habitat: &'static str,
        /// The reason.
        why: String,
    },
}

/// The result of one run.
pub(crate) enum Taken {
    Figures(Box<Figures>),
    Void,
    Interrupted,
}

/// The result of a run on real packets.
#[derive(Clone, Debug)]
pub enum Real<T> {
    /// The run counts.
    Ran(T),
    /// The run does not count, because the machine delayed packets too much in all repetitions.
    Void,
    /// The user interrupted.
    Interrupted,
}

/// Returns the time limit of a transfer, which is the same in every environment. It is thirty times the minimum time of the transfer plus a
/// minute, or the scenario's limit if that is shorter.
pub(crate) fn limit(scenario: &Scenario) -> Span {
    let Goal::Size(size) = scenario.goal else { return scenario.limit };
    let bare = scenario.rate.time_for(size) + scenario.rtt * 10;
    let usual = bare * 30 + Span::from_secs(60);
    usual.min(scenario.limit)
}
