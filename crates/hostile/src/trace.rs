//! Traces of any bytes are replayed to a scheme, or refused with the line at fault.

use firstflight::registry::Registry;
use firstflight_scenario::{ByName, controller_of};
use firstflight_trace::{TraceError, Writer, read};

use crate::conformance::Conformance;
use crate::readers::is_one_line;

/// Reads a trace of any bytes. The calls need not be those of a real host: a scheme takes them all the same, the laws
/// of hosts report each breach in one line, and a trace that was read is written and read again unchanged.
pub fn trace_reader(data: &[u8]) {
    let Some(text) = rewritten(data, true) else { return };
    assert_eq!(
        rewritten(text.as_bytes(), false).as_ref(),
        Some(&text),
        "what was written is read the same again"
    );
}

/// The trace as written again, up to its first fault, each call replayed to its scheme if wanted; `None` without a
/// header.
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
    let mut host = Conformance::with_judge(&header).unwrap_or_default();
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
            Ok(Some(told)) => {
                host.hear(calls.line(), &told);
                text.push_str(&writer.told(&told));
                if let Some(part) = &mut part {
                    part.replay(&told.call, &told.path);
                }
                if let Some(controller) = &mut controller {
                    let (plan, _) = controller.replay(&told.call, &told.path);
                    assert!(plan.window >= told.path.mss, "a window of {:?}", plan.window);
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
