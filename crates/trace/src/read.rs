//! Reads a trace, line by line. Any file is either read or refused with the line at fault.

use std::io::{BufRead, Read};

use firstflight::{Call, Note, Plan, Time, TraceRecord};
use serde::Deserialize;

use crate::shapes::{CallShape, JudgedShape, NoteShape, PathDelta, PathShape, PlanDelta, PlanShape};
use crate::{FORMAT, Header};

/// The most bytes of a line. An ACK of a whole window of a million packets has fewer.
const LONGEST: u64 = 256 << 20;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file itself cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A line is not a line of a trace.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from one.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// No header in the whole file.
    #[error(
        "it is no trace: its first line must be an object with `\"event\":\"trace\"`, as `--events` writes it"
    )]
    NoHeader,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Trace(Header),
    Told(Box<ToldLine>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldLine {
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

/// Reads the header. [`Calls`] reads the calls one by one.
///
/// # Errors
/// A file that cannot be read, does not begin with a header, or is of another format.
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

/// The calls of a trace, in order. No call follows an error.
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
    /// The number of the line read last, from one.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The next call, if there is one.
    ///
    /// # Errors
    /// A line that cannot be read, or that cannot follow the one before.
    pub fn next_call(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(Line::Other) => {}
                Some(Line::Trace(_)) => return Err(self.fault("a second header")),
                Some(Line::Told(line)) => return self.told(*line).map(Some),
            }
        }
    }

    fn told(&mut self, line: ToldLine) -> Result<TraceRecord, TraceError> {
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
        let told = TraceRecord {
            judged: judged.map_err(|what| self.fault(what))?,
            call,
            path: path.at(Time::from_nanos(line.at_ns)),
            plan: Plan::from(&plan),
            notes: line.notes.into_iter().map(Note::from).collect(),
        };
        (self.path, self.plan) = (Some(path), Some(plan));
        Ok(told)
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
        serde_json::from_str(self.buffer.trim_end()).map(Some).map_err(|error| self.fault(what(&error)))
    }

    fn fault(&self, what: impl Into<String>) -> TraceError {
        TraceError::Line { line: self.line, what: what.into() }
    }
}

/// What is wrong with a line, and where in the line if that is known. Quoted text stays on one line.
fn what(error: &serde_json::Error) -> String {
    // It names line 1: each line is a text of its own.
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let text: String = text.chars().map(shown).collect();
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
    fn what_a_fault_quotes_stays_on_one_line() {
        let error = refused(r#"{"event":"told","at_ns":0,"end":"client","call":"plan","a\nb":1}"#);
        assert!(error.starts_with(r"line 2: unknown field `a\nb`"), "{error}");
    }

    const FIRST: &str = r#"{"event":"told","at_ns":0,"end":"client","call":{"lost":{"packets":[],"bytes":0,"ranges":0}},"path":{"mss":1460,"wire":1500,"cwnd":1460,"flight":0,"pipe":0,"rwnd":0,"delivered":0,"una":0,"nxt":0,"rto_ns":1,"limit":"window","recovering":false,"srtt_ns":null,"latest_rtt_ns":null,"min_rtt_ns":null,"backlog":0,"last_sent_ns":null,"last_received_ns":null,"wake_ns":null},"plan":{"window":5840,"pacing":"hold","tag":0,"ask":null,"wake_ns":null,"ssthresh":null}"#;

    #[test]
    fn what_was_judged_is_of_an_ack_or_a_loss_and_is_written_as_it_was_read() {
        let with = |judged: &str| format!(r#"{FIRST},"judged":{judged}}}"#);
        let error = refused(&with(r#"{"growth":1}"#));
        assert_eq!(error, "line 2: `judged` of a loss holds `opens_episode`");
        let call = r#"{"lost":{"packets":[],"bytes":0,"ranges":0}}"#;
        let error = refused(&with(r#"{"opens_episode":true}"#).replace(call, r#""woken""#));
        assert_eq!(error, "line 2: `judged` is of an ACK or of a loss");
        let line = with(r#"{"opens_episode":true}"#);
        let text = format!("{HEADER}\n{line}");
        let (_, mut calls) = read(text.as_bytes()).expect("a header");
        let told = calls.next_call().expect("a call").expect("one");
        assert_eq!(crate::Writer::default().told(&told).trim_end(), line);
    }

    #[test]
    fn a_fault_has_its_column_if_it_is_known() {
        assert!(refused(r#"{"event":"told","#).starts_with("line 2: column 16: EOF"));
    }
}
