//! Recorded traces of any bytes: told to a scheme, or refused with the line at fault.

use firstflight_lab::controller_of;
use firstflight_trace::{TraceError, Writer, read};

use crate::conformance::Conformance;
use crate::readers::is_one_line;

/// A trace of any bytes. Its calls need not be such as a host makes, and a scheme takes them all the same, and the laws of
/// hosts say in one line each what is wrong; what was read is written and read the same again.
pub fn trace_reader(data: &[u8]) {
    let Some(text) = rewritten(data, true) else { return };
    assert_eq!(
        rewritten(text.as_bytes(), false).as_ref(),
        Some(&text),
        "what was written is read the same again"
    );
}

/// The trace as it is written, up to its first fault, each call told to its scheme if that is wanted; `None` without a
/// header.
fn rewritten(data: &[u8], replays: bool) -> Option<String> {
    let (header, mut calls) = read(data).map_err(|error| names_a_line(&error, data)).ok()?;
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
