//! One run as a trace.

use std::sync::{Arc, Mutex};

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_scenario::{Scenario, SchemeChoice, trace_header};
use firstflight_tcp::{Happening, Role, Segment, Transmit};
use firstflight_trace::Writer;

use crate::error::RunError;
use crate::run::run;

/// Makes one run and records its trace.
///
/// # Errors
/// As [`run`].
pub fn record(scenario: &Scenario, choice: &SchemeChoice, seed: u64) -> Result<String, RunError> {
    let text = Arc::new(Mutex::new(Writer::header(&trace_header(scenario, choice))));
    let tape = Tape { writer: Writer::default(), text: Arc::clone(&text) };
    run(scenario, choice, seed, false, Some(Box::new(tape)), &|| false)?;
    Ok(text.lock().map(|text| text.clone()).unwrap_or_default())
}

/// Collects the trace of a run.
struct Tape {
    writer: Writer,
    text: Arc<Mutex<String>>,
}

impl Tap for Tape {
    fn sent(&mut self, _: Time, _: Role, _: &Transmit, _: u64) {}

    fn arrived(&mut self, _: Time, _: Role, _: &Segment, _: u64) {}

    fn happening(&mut self, _: Time, _: Role, _: &Happening) {}

    fn wants_told(&self) -> bool {
        true
    }

    fn told(&mut self, told: &TraceRecord) {
        if let Ok(mut text) = self.text.lock() {
            text.push_str(&self.writer.told(told));
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
