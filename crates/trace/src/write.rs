//! Writes a trace, line by line.

use firstflight::TraceRecord;
use serde::Serialize;

use crate::Header;
use crate::shapes::{CallShape, JudgedShape, NoteShape, PathDelta, PathShape, PlanDelta, PlanShape};

/// Makes the lines of one trace, and keeps the last line's state for the difference.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    path: Option<PathShape>,
    plan: Option<PlanShape>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line<'a> {
    Trace(&'a Header),
    Told(&'a ToldLine),
}

#[derive(Serialize)]
struct ToldLine {
    at_ns: u64,
    end: &'static str,
    call: CallShape,
    #[serde(skip_serializing_if = "PathDelta::is_empty")]
    path: PathDelta,
    #[serde(skip_serializing_if = "PlanDelta::is_empty")]
    plan: PlanDelta,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<NoteShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<JudgedShape>,
}

impl Writer {
    /// The first line, the newline included.
    pub fn header(header: &Header) -> String {
        text(&Line::Trace(header))
    }

    /// The line for one call, the newline included.
    pub fn told(&mut self, told: &TraceRecord) -> String {
        let path = PathShape::from(&told.path);
        let plan = PlanShape::from(&told.plan);
        let line = text(&Line::Told(&ToldLine {
            at_ns: told.path.now.nanos(),
            end: "client",
            call: CallShape::from(&told.call),
            path: path.since(self.path.as_ref()),
            plan: plan.since(self.plan.as_ref()),
            notes: told.notes.iter().map(|note| NoteShape::from(*note)).collect(),
            judged: told.judged.map(JudgedShape::from),
        }));
        (self.path, self.plan) = (Some(path), Some(plan));
        line
    }
}

/// Integers, booleans and words always serialise.
fn text(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}
