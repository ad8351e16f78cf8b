//! Records one run as a trace.

use std::sync::{Arc, Mutex, PoisonError};

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_scenario::{Scenario, SchemeChoice, trace_header};
use firstflight_tcp::{EndpointEvent, Role, Segment, Transmit};
use firstflight_trace::Writer;

use crate::error::RunError;
use crate::run::run;

/// Makes one run and records its trace.
///
/// # Errors
/// Fails as [`run`] does.
pub fn record(scenario: &Scenario, choice: &SchemeChoice, seed: u64) -> Result<String, RunError> {
    let text = Arc::new(Mutex::new(Writer::header(&trace_header(scenario, choice))));
    let tape = Tape { writer: Writer::default(), text: Arc::clone(&text) };
    run(scenario, choice, seed, false, Some(Box::new(tape)), &|| false)?;
    let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(text)
}

/// Collects the trace of a run.
struct Tape {
    writer: Writer,
    text: Arc<Mutex<String>>,
}

impl Tap for Tape {
    fn sent(&mut self, _: Time, _: Role, _: &Transmit, _: u64) {}

    fn arrived(&mut self, _: Time, _: Role, _: &Segment, _: u64) {}

    fn event(&mut self, _: Time, _: Role, _: &EndpointEvent) {}

    fn wants_trace(&self) -> bool {
        true
    }

    fn record(&mut self, record: &TraceRecord) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(&self.writer.record(record));
    }

    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
