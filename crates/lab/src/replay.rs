//! Traces of a run, and their replay to a scheme.

use std::sync::{Arc, Mutex};

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme, Registry};
use firstflight::{Bytes, Time, Told};
use firstflight_sim::Side;
use firstflight_tcp::{Happening, Segment, Transmit};
use firstflight_trace::{FORMAT, Header, Writer};

use crate::choice::{self, ChoiceError, SchemeChoice};
use crate::judge::VERSION;
use crate::quantity::in_a_line;
use crate::restart;
use crate::run::{RunError, run};
use crate::scenario::Scenario;
use crate::stage::parts;
use crate::tap::Tap;

/// Why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A scheme that cannot be read or built.
    #[error("scheme: {0}")]
    Scheme(#[from] ChoiceError),
    /// A restart policy that cannot be read.
    #[error("restart: {0}")]
    Restart(String),
    /// A law that the library does not know, or another part that is not there.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A number that no connection has.
    #[error("iw_segments: {0} is not allowed; from 1 to 65535 is")]
    InitialWindow(u32),
    /// Not one scheme.
    #[error("one scheme is replayed at a time; `{0}` names {1}")]
    NotOne(String, usize),
}

/// What a trace of `choice` over `scenario` begins with.
pub fn trace_header(scenario: &Scenario, choice: &SchemeChoice) -> Header {
    let own = choice.on(scenario);
    Header {
        format: FORMAT,
        version: VERSION.to_owned(),
        // A stack may judge itself what widens the window: its controller is another one.
        scheme: choice.unlabelled().of_stack(own.stack).to_string(),
        restart: own.restart.to_string(),
        avoidance: choice.law(own.avoidance).to_owned(),
        iw_segments: own.iw,
        ssthresh_bytes: own.ssthresh.map(Bytes::get),
    }
}

/// [`crate::ByName::header_for`].
pub(crate) fn header_for(registry: Registry, header: &Header, scheme: &str) -> Result<Header, ReplayError> {
    let choice = one(registry, scheme)?;
    let same = one(registry, &header.scheme).is_ok_and(|recorded| recorded.entry.name == choice.entry.name);
    let avoidance = if same { header.avoidance.clone() } else { choice.law(None).to_owned() };
    let scenario = scenario(registry, &Header { avoidance, ..header.clone() })?;
    Ok(trace_header(&scenario, &choice))
}

/// [`crate::ByName::controller_of`].
pub(crate) fn controller_of(registry: Registry, header: &Header) -> Result<AnyController, ReplayError> {
    let (startup, restart, law) = parts_of(registry, header)?;
    let mut controller = AnyController::new(startup, restart, law);
    if one(registry, &header.scheme)?.on(&scenario(registry, header)?).stack.growth().judges_growth() {
        controller.let_host_judge();
    }
    Ok(controller)
}

/// [`crate::ByName::parts_of`].
pub(crate) fn parts_of(
    registry: Registry,
    header: &Header,
) -> Result<(AnyScheme, AnyRestart, AnyLaw), ReplayError> {
    let choice = one(registry, &header.scheme)?;
    Ok(parts(&choice.on(&scenario(registry, header)?), &choice)?)
}

/// One run, as a trace.
///
/// # Errors
/// As [`run`].
pub fn record(scenario: &Scenario, choice: &SchemeChoice, seed: u64) -> Result<String, RunError> {
    let text = Arc::new(Mutex::new(Writer::header(&trace_header(scenario, choice))));
    let tape = Tape { writer: Writer::default(), text: Arc::clone(&text) };
    run(scenario, choice, seed, false, Some(Box::new(tape)), &|| false)?;
    Ok(text.lock().map(|text| text.clone()).unwrap_or_default())
}

fn one(registry: Registry, scheme: &str) -> Result<SchemeChoice, ReplayError> {
    let mut choices = choice::parse(registry, scheme)?;
    match (choices.pop(), choices.len()) {
        (Some(choice), 0) => Ok(choice),
        (_, more) => Err(ReplayError::NotOne(in_a_line(scheme), more + 1)),
    }
}

/// What a controller is built from; the rest of the scenario does not matter to it.
fn scenario(registry: Registry, header: &Header) -> Result<Scenario, ReplayError> {
    if !(1..=65_535).contains(&header.iw_segments) {
        return Err(ReplayError::InitialWindow(header.iw_segments));
    }
    let law =
        registry.law(&header.avoidance).ok_or_else(|| RunError::UnknownLaw(in_a_line(&header.avoidance)))?;
    let mut policies =
        restart::parse(registry, &header.restart).map_err(|error| ReplayError::Restart(error.to_string()))?;
    let restart = policies.pop().filter(|_| policies.is_empty());
    Ok(Scenario {
        registry,
        iw: header.iw_segments,
        ssthresh: header.ssthresh_bytes.map(Bytes::new),
        avoidance: Some(law.name),
        restart: restart.ok_or_else(|| ReplayError::Restart("one policy is wanted".to_owned()))?,
        ..Scenario::default()
    })
}

/// Keeps the trace of a run.
struct Tape {
    writer: Writer,
    text: Arc<Mutex<String>>,
}

impl Tap for Tape {
    fn sent(&mut self, _: Time, _: Side, _: &Transmit, _: u64) {}

    fn arrived(&mut self, _: Time, _: Side, _: &Segment, _: u64) {}

    fn happening(&mut self, _: Time, _: Side, _: &Happening) {}

    fn wants_told(&self) -> bool {
        true
    }

    fn told(&mut self, told: &Told) {
        if let Ok(mut text) = self.text.lock() {
            text.push_str(&self.writer.told(told));
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
