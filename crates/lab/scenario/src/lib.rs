//! The description of a race: a path, the endpoints on it, and the schemes, as plain data read from text.
//!
//! 1. [`Options`] are set one by one, from the command line or a scenario file ([`parse_file`]), and
//!    [`Scenario::resolve`] fills in the defaults; [`parse_choices`] reads the list of schemes. With schemes from outside the
//!    tree all of this is read by their registry ([`ByName`]).
//! 2. [`controller()`] composes the controller of a flow from a scenario and a choice; [`controller_of`] composes it from the
//!    header of a trace alone.
//! 3. [`Scenario::measured`], [`Scenario::ideal_sender`] and [`Scenario::contest`] give `firstflight-measure` what it needs
//!    from a scenario to evaluate a run over it.
//!
//! This crate runs nothing. It uses only those values of `firstflight-sim` that describe a link, a queue or a router.

mod asking;
pub mod bottleneck;
pub mod bulk_flows;
mod by_name;
mod chance;
mod choice;
pub mod condition;
mod controller;
mod cross;
pub mod cross_entries;
mod expanded;
mod file;
mod flow_schemes;
mod for_scheme;
mod gemodel;
mod header;
mod host_cpu;
mod hosts;
mod kernel_choice;
pub mod keys;
pub mod keywords;
pub mod kind;
mod measure_input;
mod named_link;
mod options;
mod outage;
mod over_restarts;
mod overlay;
mod parameter;
mod part;
pub mod population;
pub mod presets;
mod probing;
pub mod quantity;
mod quic;
mod quic_flow;
mod reading;
mod reorder;
mod restart;
pub mod routers;
mod scenario;
pub mod script;
mod stacks;
pub mod suggest;
pub mod topology;
mod traces;
mod windows;

pub use asking::{asks_routers, is_quick_start};
pub use by_name::{ByName, controller_of, parse_choices, parse_file, parse_restarts};
pub use chance::probability;
pub use choice::{
    ChoiceError, OFFERS, SAVED_RTT, SAVED_WINDOW, SchemeChoice, all_schemes, is_named, show_choices,
};
pub use controller::{ControllerError, controller, sender_config};
pub use cross::Cross;
pub use file::{FileError, FlowPlace, ScenarioFile, scalar, schemes};
pub use flow_schemes::{Cast, CastError, CastFlow};
pub use gemodel::Gemodel;
pub use header::{HeaderError, trace_header};
pub use host_cpu::HostCpu;
pub use kernel_choice::{Alone, AloneError};
pub use keys::OptionError;
pub use keywords::Packet;
pub use measure_input::deploy;
pub use named_link::NamedLink;
pub use options::Options;
pub use outage::Outages;
pub use over_restarts::over_restarts;
pub use overlay::{Replaced, SUBJECTS};
pub use part::Part;
pub use probing::ProbeChoice;
pub use quic::QuicStack;
pub use quic_flow::quic_flow;
pub use reading::read_text;
pub use reorder::Reordering;
pub use restart::RestartChoice;
pub use scenario::{Goal, Rounds, Scenario, ScenarioError, ScenarioFault, Writes, fnv_1a, lowest, quote};
pub use stacks::{SchemeOrder, StackController, StackOrder, Stacks};
pub use traces::TraceOrigin;
pub use windows::Window;
