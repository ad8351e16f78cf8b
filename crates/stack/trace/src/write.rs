//! Writes a trace, line by line.

use firstflight::TraceRecord;
use serde::Serialize;

use crate::Header;
use crate::shapes::{CallShape, JudgedShape, NoteShape, PathDelta, PathShape, PlanDelta, PlanShape};

/// Writes the lines of one trace. Keeps the state of the last line, because the next line holds only the difference.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    path: Option<PathShape>,
    plan: Option<PlanShape>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line<'a> {
    Trace(&'a Header),
    Told(&'a RecordLine),
}

#[derive(Serialize)]
struct RecordLine {
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
    /// Returns the first line, with its newline.
    pub fn header(header: &Header) -> String {
        text(&Line::Trace(header))
    }

    /// Returns the line for one call, with its newline.
    pub fn record(&mut self, record: &TraceRecord) -> String {
        let path = PathShape::from(&record.path);
        let plan = PlanShape::from(&record.plan);
        let line = text(&Line::Told(&RecordLine {
            at_ns: record.path.now.nanos(),
            end: "client",
            call: CallShape::from(&record.call),
            path: path.since(self.path.as_ref()),
            plan: plan.since(self.plan.as_ref()),
            notes: record.notes.iter().map(|note| NoteShape::from(*note)).collect(),
            judged: record.judged.map(JudgedShape::from),
        }));
        (self.path, self.plan) = (Some(path), Some(plan));
        line
    }
}

/// Returns the line as text. This cannot fail, because it consists of integers, booleans and strings.
fn text(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}
