//! The header of a trace: written from a scenario, and read back into a controller.

use firstflight::Bytes;
use firstflight::registry::{AnyController, Registry};
use firstflight::schemes::Initial;
use firstflight_measure::VERSION;
use firstflight_trace::{Departures, FORMAT, Header, Hosts, NOT_HOSTED};

use crate::choice::{self, ChoiceError, SchemeChoice};
use crate::controller::{ControllerError, compose};
use crate::part::Part;
use crate::quantity::in_a_line;
use crate::restart::{self, RestartChoice};
use crate::scenario::Scenario;

/// Why the header of a trace describes no controller.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// A scheme that cannot be read or built.
    #[error("scheme: {0}")]
    Scheme(#[from] ChoiceError),
    /// A restart policy that cannot be read.
    #[error("restart: {0}")]
    Restart(String),
    /// A law that the library does not know.
    #[error("`{0}` is no avoidance law")]
    UnknownLaw(String),
    /// Components that make no controller.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// An initial window that no connection can have.
    #[error("iw_segments: {0} is not allowed; from 1 to 65535 is")]
    InitialWindow(u32),
    /// A scheme, although the host has only a restart policy.
    #[error("the trace is of a host that has a restart policy alone, and no start-up")]
    PolicyAlone,
    /// A header that names several parts of a controller, although the host runs only one part.
    #[error("a host of the {0} alone has no {1}; `none` is wanted there, and not `{2}`")]
    Other(&'static str, &'static str, String),
    /// A text that does not name exactly one scheme.
    #[error("one scheme is replayed at a time; `{0}` names {1}")]
    NotOne(String, usize),
}

/// Returns the header of a trace of `choice` over `scenario`.
pub fn trace_header(scenario: &Scenario, choice: &SchemeChoice) -> Header {
    let own = scenario.for_scheme(choice);
    Header {
        format: FORMAT,
        version: VERSION.to_owned(),
        // The stack and the growth rule are part of the header, because the controller depends on them.
        scheme: choice.unlabelled().of_stack(own.stack).of_growth(own.growth).to_string(),
        restart: own.restart.to_string(),
        avoidance: choice.law(own.avoidance).to_owned(),
        iw_segments: own.iw,
        ssthresh_bytes: own.ssthresh.map(Bytes::get),
        hosts: Hosts::Controller,
        departures: Departures::AtOnce,
    }
}

/// [`crate::ByName::header_for`].
pub(crate) fn header_for(registry: Registry, header: &Header, scheme: &str) -> Result<Header, HeaderError> {
    let choice = one(registry, scheme)?;
    match header.hosts {
        Hosts::Controller => {}
        Hosts::Startup => {
            return Ok(Header { scheme: choice.unlabelled().to_string(), ..header.clone() });
        }
        Hosts::Restart => return Err(HeaderError::PolicyAlone),
    }
    let same = one(registry, &header.scheme).is_ok_and(|recorded| recorded.entry.name == choice.entry.name);
    let avoidance = if same { header.avoidance.clone() } else { choice.law(None).to_owned() };
    let known = Known::of(registry, &Header { avoidance, ..header.clone() })?;
    let scenario = Scenario {
        registry,
        iw: known.initial.segments,
        ssthresh: known.initial.ssthresh,
        avoidance: Some(known.law),
        restart: known.restart,
        ..Scenario::default()
    };
    Ok(trace_header(&scenario, &choice))
}

/// [`crate::ByName::controller_of`].
pub(crate) fn controller_of(registry: Registry, header: &Header) -> Result<AnyController, HeaderError> {
    let choice = one(registry, &header.scheme)?;
    let Known { initial, law, restart } = Known::of(registry, header)?;
    let (startup, restart, law) = compose(registry, initial, &choice, &restart, law)?;
    let mut controller = AnyController::new(startup, restart, law);
    // The host decides itself which ACKs may widen the window. The recorded bytes by which an ACK advances are then the host's decision
    // ([`firstflight_tcp::Growth::judges_growth`]).
    if choice.own_growth().judges_growth() {
        controller.host_limits_growth();
    }
    Ok(controller)
}

/// [`crate::ByName::part_of`].
pub(crate) fn part_of(registry: Registry, header: &Header) -> Result<Option<Part>, HeaderError> {
    let none = |of, what, text: &str| match text {
        NOT_HOSTED => Ok(()),
        other => Err(HeaderError::Other(of, what, in_a_line(other))),
    };
    match header.hosts {
        Hosts::Controller => Ok(None),
        Hosts::Startup => {
            none("start-up", "restart policy", &header.restart)?;
            none("start-up", "avoidance law", &header.avoidance)?;
            let choice = one(registry, &header.scheme)?;
            let scheme = choice.build(Known::initial_of(header)?).map_err(ControllerError::from)?;
            Ok(Some(Part::startup(scheme)))
        }
        Hosts::Restart => {
            none("restart policy", "scheme", &header.scheme)?;
            none("restart policy", "avoidance law", &header.avoidance)?;
            let policy = Known::restart_of(registry, header)?;
            let policy = policy.build(Known::initial_of(header)?);
            Ok(Some(Part::restart(policy.map_err(|error| HeaderError::Restart(error.to_string()))?)))
        }
    }
}

fn one(registry: Registry, scheme: &str) -> Result<SchemeChoice, HeaderError> {
    let mut choices = choice::parse(registry, scheme)?;
    match (choices.pop(), choices.len()) {
        (Some(choice), 0) => Ok(choice),
        (_, more) => Err(HeaderError::NotOne(in_a_line(scheme), more + 1)),
    }
}

/// The values in a trace's header that a controller needs in addition to its scheme.
struct Known {
    initial: Initial,
    law: &'static str,
    restart: RestartChoice,
}

impl Known {
    fn of(registry: Registry, header: &Header) -> Result<Self, HeaderError> {
        let initial = Self::initial_of(header)?;
        let law = registry.law(&header.avoidance);
        let law = law.ok_or_else(|| HeaderError::UnknownLaw(in_a_line(&header.avoidance)))?;
        Ok(Self { initial, law: law.name, restart: Self::restart_of(registry, header)? })
    }

    fn initial_of(header: &Header) -> Result<Initial, HeaderError> {
        if !(1..=65_535).contains(&header.iw_segments) {
            return Err(HeaderError::InitialWindow(header.iw_segments));
        }
        Ok(Initial { segments: header.iw_segments, ssthresh: header.ssthresh_bytes.map(Bytes::new) })
    }

    fn restart_of(registry: Registry, header: &Header) -> Result<RestartChoice, HeaderError> {
        let policies = restart::parse(registry, &header.restart);
        let mut policies = policies.map_err(|error| HeaderError::Restart(error.to_string()))?;
        let restart = policies.pop().filter(|_| policies.is_empty());
        restart.ok_or_else(|| HeaderError::Restart("one policy is wanted".to_owned()))
    }
}
