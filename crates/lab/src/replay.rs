//! Traces of a run, and their replay to a scheme.

use std::sync::{Arc, Mutex};

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Bytes, Time, Told};
use firstflight_sim::Side;
use firstflight_tcp::{Happening, Segment, Transmit};
use firstflight_trace::{FORMAT, Header, Writer};

use crate::choice::{ChoiceError, SchemeChoice, parse_choices};
use crate::judge::VERSION;
use crate::quantity::in_a_line;
use crate::restart::parse_restarts;
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
        scheme: choice.unlabelled().to_string(),
        restart: own.restart.to_string(),
        avoidance: choice.law(own.avoidance).to_owned(),
        iw_segments: own.iw,
        ssthresh_bytes: own.ssthresh.map(Bytes::get),
    }
}

/// The header of a trace of `scheme` on what `header`'s was told: its own law, unless that is the recorded scheme.
///
/// # Errors
/// A text that does not name one scheme.
pub fn header_for(header: &Header, scheme: &str) -> Result<Header, ReplayError> {
    let choice = one(scheme)?;
    let same = one(&header.scheme).is_ok_and(|recorded| recorded.entry.name == choice.entry.name);
    let avoidance = if same { header.avoidance.clone() } else { choice.law(None).to_owned() };
    let scenario = scenario(&Header { avoidance, ..header.clone() })?;
    Ok(trace_header(&scenario, &choice))
}

/// The controller that `header` describes, as it was before the first call.
///
/// # Errors
/// A scheme, restart policy or law that cannot be built.
pub fn controller_of(header: &Header) -> Result<AnyController, ReplayError> {
    let (startup, restart, law) = parts_of(header)?;
    Ok(AnyController::new(startup, restart, law))
}

/// What that controller is composed of, for whoever puts something between.
///
/// # Errors
/// As [`controller_of`].
pub fn parts_of(header: &Header) -> Result<(AnyScheme, AnyRestart, AnyLaw), ReplayError> {
    let choice = one(&header.scheme)?;
    Ok(parts(&choice.on(&scenario(header)?), &choice)?)
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

fn one(scheme: &str) -> Result<SchemeChoice, ReplayError> {
    let mut choices = parse_choices(scheme)?;
    match (choices.pop(), choices.len()) {
        (Some(choice), 0) => Ok(choice),
        (_, more) => Err(ReplayError::NotOne(in_a_line(scheme), more + 1)),
    }
}

/// What a controller is built from; the rest of the scenario does not matter to it.
fn scenario(header: &Header) -> Result<Scenario, ReplayError> {
    if !(1..=65_535).contains(&header.iw_segments) {
        return Err(ReplayError::InitialWindow(header.iw_segments));
    }
    let law = firstflight::registry::laws().iter().find(|law| law.name == header.avoidance);
    let law = law.ok_or_else(|| RunError::UnknownLaw(in_a_line(&header.avoidance)))?;
    let mut policies =
        parse_restarts(&header.restart).map_err(|error| ReplayError::Restart(error.to_string()))?;
    let restart = policies.pop().filter(|_| policies.is_empty());
    Ok(Scenario {
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
