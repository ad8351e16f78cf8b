//! Checks that a trace of any bytes is either replayed to a scheme, or rejected with the line at fault.

use firstflight::registry::Registry;
use firstflight_scenario::{ByName, controller_of};
use firstflight_trace::{TraceError, Writer, read};

use crate::readers::is_one_line;
use firstflight_conformance::Conformance;

/// Reads any bytes as a trace. The calls need not be those of a real host. A scheme must accept them anyway, the laws of hosts must report
/// each breach in one line, and a valid trace must stay the same when it is written and read again.
pub fn trace_reader(data: &[u8]) {
    let Some(text) = rewritten(data, true) else { return };
    assert_eq!(
        rewritten(text.as_bytes(), false).as_ref(),
        Some(&text),
        "what was written is read the same again"
    );
}

/// Writes the trace again up to its first fault. If `replays` is set, also replays each call to the trace's scheme. Returns `None` if the
/// trace has no header.
fn rewritten(data: &[u8], replays: bool) -> Option<String> {
    let (header, mut calls) = read(data).map_err(|error| names_a_line(&error, data)).ok()?;
    let mut part = match Registry::builtin().part_of(&header) {
        Ok(part) => part.filter(|_| replays),
        Err(error) => {
            is_one_line(&error.to_string());
            None
        }
    };
    let mut controller = match controller_of(&header) {
        Ok(controller) => Some(controller).filter(|_| replays),
        Err(error) => {
            is_one_line(&error.to_string());
            None
        }
    };
    let mut host = Conformance::of(&header, controller_of(&header).ok());
    let mut writer = Writer::default();
    let mut text = Writer::header(&header);
    loop {
        match calls.next_call() {
            Ok(None) => {
                for breach in host.finish().listed() {
                    is_one_line(&breach.to_string());
                }
                return Some(text);
            }
            Ok(Some(record)) => {
                host.check_record(calls.line(), &record);
                text.push_str(&writer.record(&record));
                if let Some(part) = &mut part {
                    part.replay(&record.call, &record.path);
                }
                if let Some(controller) = &mut controller {
                    let (plan, _) = controller.replay(&record.call, &record.path);
                    assert!(plan.window >= record.path.mss, "a window of {:?}", plan.window);
                }
            }
            Err(error) => {
                names_a_line(&error, data);
                return Some(text);
            }
        }
    }
}

fn names_a_line(error: &TraceError, data: &[u8]) {
    is_one_line(&error.to_string());
    if let TraceError::Line { line, .. } = error {
        let lines = data.split(|byte| *byte == b'\n').count();
        assert!((1..=lines).contains(line), "{error}; there are {lines} lines");
    }
}
