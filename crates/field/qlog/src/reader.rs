//! Reads a file: its connections and their events.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use crate::connection::Connection;
use crate::entry::Entry;
use crate::error::QlogError;
use crate::event::Event;
use crate::head::Head;
use crate::records::{Piece, RS, read_sequence, read_texts};

/// Maximum number of connections of a file. Events of further ones are left out.
const MAX_CONNECTIONS: usize = 10_000;

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The version of the schema: `qlog_version`, or the `file_schema` of newer drafts; `None` if the file has neither.
    pub version: Option<String>,
    /// The connections, in the order of their first events.
    pub connections: Vec<Connection>,
    /// The reason why the end of the file is not used, if it is not: a log that was cut off is used up to there.
    pub early: Option<String>,
    /// Number of records in a JSON text sequence that are not JSON, and are left out.
    pub broken: u64,
    /// Number of events.
    pub events: u64,
}

/// The receiver of events: the index of the connection in [`Summary::connections`], the time in nanoseconds since the connection's first
/// event, and the event.
pub type Take<'a> = &'a mut dyn FnMut(usize, u64, &Event<'_>);

/// Checks whether a file that begins with these bytes is qlog: a JSON text sequence, or an object with a field of qlog among its first bytes.
/// Some thousand bytes suffice.
pub fn is_qlog(first: &[u8]) -> bool {
    let begins = first.iter().find(|byte| !byte.is_ascii_whitespace());
    match begins {
        Some(&RS) => true,
        Some(b'{') => {
            let text = String::from_utf8_lossy(first);
            ["\"qlog_version\"", "\"qlog_format\"", "\"file_schema\"", "\"traces\"", "\"event_fields\""]
                .iter()
                .any(|field| text.contains(field))
        }
        _ => false,
    }
}

/// Reads a file to its end, and passes the events of its connections to `take`.
///
/// # Errors
/// If the system cannot read the input, if it does not begin as qlog, or if a field that gives events their times or their connections comes
/// after events. A file that ends early is accepted.
pub fn read(input: impl Read, take: Take<'_>) -> Result<Summary, QlogError> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut reading = Reading {
        take,
        head: Head::default(),
        known: BTreeMap::new(),
        sum: 0.0,
        late: None,
        found: Summary::default(),
    };
    let mut sink = |piece: Piece<'_>| reading.piece(piece);
    let first = first_byte(&mut input)?;
    let ended = match first {
        Some(RS) => read_sequence(&mut input, &mut sink)?,
        Some(first @ b'{') => read_texts([first].as_slice().chain(input), &mut sink)?,
        Some(other) => {
            return Err(QlogError::Format(format!(
                "it begins with the byte {other:#04x}; qlog begins with {{ or a record separator (0x1e)"
            )));
        }
        None => return Err(QlogError::Format("it is empty".to_owned())),
    };
    reading.end_trace();
    let Reading { head, mut found, late, .. } = reading;
    if let Some(name) = late {
        return Err(QlogError::Format(format!(
            "the field {name} follows events of its trace and changes their times or connections; it must precede \"events\""
        )));
    }
    (found.version, found.early, found.broken) = (head.version, ended.early, ended.broken);
    if found.events == 0 && found.version.is_none() {
        let what = "it has neither qlog_version nor file_schema, and no events";
        return Err(QlogError::Format(what.to_owned()));
    }
    Ok(found)
}

/// Reads the first byte that is not white space.
fn first_byte(input: &mut impl BufRead) -> Result<Option<u8>, QlogError> {
    for byte in input.bytes() {
        let byte = byte.map_err(QlogError::Io)?;
        if !byte.is_ascii_whitespace() {
            return Ok(Some(byte));
        }
    }
    Ok(None)
}

/// The state of reading.
struct Reading<'a> {
    take: Take<'a>,
    head: Head,
    /// The connections of the trace, by their identifiers.
    known: BTreeMap<String, usize>,
    /// The sum of the time differences of the trace.
    sum: f64,
    /// A field that changes how the events before it are read. Nothing is read after it.
    late: Option<String>,
    found: Summary,
}

impl Reading<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        if self.late.is_some() {
            return;
        }
        match piece {
            Piece::FileField(name, value) => self.head.of_file(name, value),
            Piece::BeginTrace => {
                self.end_trace();
                self.head.begin_trace();
            }
            Piece::TraceField(name, value) if self.known.is_empty() => self.head.of_trace(name, value),
            Piece::TraceField(name, value) => {
                let before = self.head.clone();
                self.head.of_trace(name, value);
                let are_grouped = self.known.keys().any(|group| !group.is_empty());
                if !self.head.reads_as(&before, are_grouped) {
                    self.late = Some(format!("{name:?}"));
                }
            }
            Piece::Event(value) => self.event(&value),
            Piece::EndTrace => self.end_trace(),
        }
    }

    fn event(&mut self, value: &Value) {
        // Logs end with an empty event to avoid a comma before the end.
        let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if is_empty {
            return;
        }
        self.found.events += 1;
        let entry = Entry::of(value, &self.head);
        let time = entry.as_ref().map_or(0.0, |entry| self.time(entry));
        let group = entry.as_ref().and_then(|entry| entry.group).or(self.head.group()).unwrap_or_default();
        let index = match self.known.get(group) {
            Some(index) => *index,
            None if self.found.connections.len() == MAX_CONNECTIONS => return,
            None => {
                let index = self.found.connections.len();
                self.known.insert(group.to_owned(), index);
                self.found.connections.push(Connection::default());
                index
            }
        };
        let connection = &mut self.found.connections[index];
        let take = &mut *self.take;
        match entry {
            Some(entry) if !entry.name.is_empty() => {
                connection.take(time, &entry, &self.head, &mut |at, event| take(index, at, event));
            }
            _ => connection.unreadable(),
        }
    }

    /// Returns the time of an event by the log's clock.
    fn time(&mut self, entry: &Entry<'_>) -> f64 {
        if entry.is_difference {
            self.sum += entry.time;
            self.sum
        } else {
            entry.time
        }
    }

    /// Ends the connections of the trace.
    fn end_trace(&mut self) {
        self.sum = 0.0;
        for index in std::mem::take(&mut self.known).into_values() {
            let take = &mut *self.take;
            self.found.connections[index].finish(&self.head, &mut |at, event| take(index, at, event));
        }
    }
}
