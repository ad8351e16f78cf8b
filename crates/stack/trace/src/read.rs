//! Reads a trace, line by line. A faulty file gives an error with the number of the faulty line.

use std::io::{BufRead, Read};

use firstflight::{Call, Note, Plan, Time, TraceRecord};
use serde::Deserialize;

use crate::shapes::{CallShape, JudgedShape, NoteShape, PathDelta, PathShape, PlanDelta, PlanShape};
use crate::{FORMAT, Header, in_a_line};

/// Maximum number of bytes of a line. An ACK of a whole window of a million packets needs fewer.
const LONGEST: u64 = 256 << 20;

/// The reason why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file itself cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A line is not valid in a trace.
    #[error("line {line}: {what}")]
    Line {
        /// The line's number, counted from one.
        line: usize,
        /// The fault.
        what: String,
    },
    /// The file has no header.
    #[error(
        "it is no trace: its first line must be an object with `\"event\":\"trace\"`, as `--events` writes it"
    )]
    NoHeader,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Trace(Header),
    Told(Box<RecordLine>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordLine {
    at_ns: u64,
    #[expect(dead_code, reason = "there is one end that sends data")]
    end: String,
    call: CallShape,
    #[serde(default)]
    path: PathDelta,
    #[serde(default)]
    plan: PlanDelta,
    #[serde(default)]
    notes: Vec<NoteShape>,
    #[serde(default)]
    judged: Option<JudgedShape>,
}

/// Reads the header, and returns it with the [`Calls`], which reads the calls one by one.
///
/// # Errors
/// If the file cannot be read, does not begin with a header, or has another format.
pub fn read<R: BufRead>(input: R) -> Result<(Header, Calls<R>), TraceError> {
    let mut calls = Calls { input, line: 0, buffer: String::new(), path: None, plan: None, now: 0 };
    let header = match calls.next_line()? {
        Some(Line::Trace(header)) => header,
        Some(Line::Told(_) | Line::Other) | None => return Err(TraceError::NoHeader),
    };
    if header.format != FORMAT {
        let what = format!("the trace is of format {}; this version reads format {FORMAT}", header.format);
        return Err(calls.fault(what));
    }
    Ok((header, calls))
}

/// The calls of a trace, in order. After an error there are no more calls.
#[derive(Debug)]
pub struct Calls<R> {
    input: R,
    line: usize,
    buffer: String,
    path: Option<PathShape>,
    plan: Option<PlanShape>,
    now: u64,
}

impl<R: BufRead> Calls<R> {
    /// Returns the number of the last line read, counted from one.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the next call, or `None` at the end of the trace.
    ///
    /// # Errors
    /// If the next line cannot be read, or cannot follow the previous one.
    pub fn next_call(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(Line::Other) => {}
                Some(Line::Trace(_)) => return Err(self.fault("a second header")),
                Some(Line::Told(line)) => return self.record(*line).map(Some),
            }
        }
    }

    fn record(&mut self, line: RecordLine) -> Result<TraceRecord, TraceError> {
        if line.at_ns < self.now {
            return Err(self.fault(format!("time goes back from {} to {} ns", self.now, line.at_ns)));
        }
        self.now = line.at_ns;
        let before = self.path.take();
        let path = line.path.after(before).map_err(|name| self.fault(missing("path", name)))?;
        let before = self.plan.take();
        let plan = line.plan.after(before).map_err(|name| self.fault(missing("plan", name)))?;
        if path.mss == 0 || path.wire < path.mss {
            return Err(self.fault("`mss` must be at least 1, and `wire` at least `mss`"));
        }
        let call = Call::from(&line.call);
        let judged = line.judged.map(|judged| judged.of(&call)).transpose();
        let record = TraceRecord {
            judged: judged.map_err(|what| self.fault(what))?,
            call,
            path: path.at(Time::from_nanos(line.at_ns)),
            plan: Plan::from(&plan),
            notes: line.notes.into_iter().map(Note::from).collect(),
        };
        (self.path, self.plan) = (Some(path), Some(plan));
        Ok(record)
    }

    fn next_line(&mut self) -> Result<Option<Line>, TraceError> {
        self.buffer.clear();
        self.line += 1;
        let read = (&mut self.input).take(LONGEST + 1).read_line(&mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 > LONGEST {
            return Err(self.fault(format!("it is longer than {LONGEST} bytes")));
        }
        let line = self.buffer.trim_end();
        // Some editors put a byte order mark first.
        let line = if self.line == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        serde_json::from_str(line).map(Some).map_err(|error| self.fault(what(&error)))
    }

    fn fault(&self, what: impl Into<String>) -> TraceError {
        TraceError::Line { line: self.line, what: what.into() }
    }
}

/// Describes the error in a line and, if known, its position in the line. Quoted text stays on one line.
fn what(error: &serde_json::Error) -> String {
    // The error names line 1, because each line is parsed as a separate text.
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let text = in_a_line(text);
    match error.column() {
        0 => text,
        column => format!("column {column}: {text}"),
    }
}

fn missing(of: &str, name: &str) -> String {
    format!("the first call must hold the whole {of}; `{name}` is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"event":"trace","format":2,"version":"0","scheme":"slow-start","restart":"rfc5681","avoidance":"reno","iw_segments":4,"ssthresh_bytes":null}"#;

    fn refused(lines: &str) -> String {
        let text = format!("{HEADER}\n{lines}");
        let (_, mut calls) = read(text.as_bytes()).expect("a header");
        calls.next_call().expect_err("a fault").to_string()
    }

    #[test]
    fn quoted_input_in_errors_stays_on_one_line() {
        let error = refused(r#"{"event":"told","at_ns":0,"end":"client","call":"plan","a\nb":1}"#);
        assert!(error.starts_with(r"line 2: unknown field `a\nb`"), "{error}");
    }

    const FIRST: &str = r#"{"event":"told","at_ns":0,"end":"client","call":{"lost":{"packets":[],"bytes":0,"ranges":0}},"path":{"mss":1460,"wire":1500,"cwnd":1460,"flight":0,"pipe":0,"rwnd":0,"delivered":0,"una":0,"nxt":0,"rto_ns":1,"limit":"window","recovering":false,"srtt_ns":null,"latest_rtt_ns":null,"min_rtt_ns":null,"backlog":0,"last_sent_ns":null,"last_received_ns":null,"wake_ns":null},"plan":{"window":5840,"pacing":"hold","tag":0,"ask":null,"wake_ns":null,"ssthresh":null}"#;

    #[test]
    fn judged_fields_belong_to_acks_or_losses_and_round_trip() {
        let with = |judged: &str| format!(r#"{FIRST},"judged":{judged}}}"#);
        let error = refused(&with(r#"{"growth":1}"#));
        assert_eq!(error, "line 2: `judged` of a loss holds `opens_episode`");
        let call = r#"{"lost":{"packets":[],"bytes":0,"ranges":0}}"#;
        let error = refused(&with(r#"{"opens_episode":true}"#).replace(call, r#""woken""#));
        assert_eq!(error, "line 2: `judged` is of an ACK or of a loss");
        let line = with(r#"{"opens_episode":true}"#);
        let text = format!("{HEADER}\n{line}");
        let (_, mut calls) = read(text.as_bytes()).expect("a header");
        let record = calls.next_call().expect("a call").expect("one");
        assert_eq!(crate::Writer::default().record(&record).trim_end(), line);
    }

    #[test]
    fn a_fault_has_its_column_if_it_is_known() {
        assert!(refused(r#"{"event":"told","#).starts_with("line 2: column 16: EOF"));
    }
}
