//! The JSON texts of a file, read piece by piece: a trace is not kept in memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::QlogError;

/// The separator of records (RFC 7464).
pub(crate) const RS: u8 = 0x1E;

/// Maximum length of a record in a JSON text sequence, and of an event or a field in the other forms. In memory a value needs several times
/// its text.
const MAX_RECORD: usize = 1 << 24;

/// A piece of a file.
pub(crate) enum Piece<'a> {
    /// A field of the file.
    FileField(&'a str, Value),
    /// A trace begins.
    BeginTrace,
    /// A field of the trace.
    TraceField(&'a str, Value),
    /// An event of the trace.
    Event(Value),
    /// The trace ends.
    EndTrace,
}

/// The receiver of pieces.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Piece<'_>);

/// How the reading ended, and what it left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ended {
    /// The reason why the rest of the file is not used, if it is not.
    pub(crate) early: Option<String>,
    /// Number of records that are not JSON.
    pub(crate) broken: u64,
}

/// Reads a JSON text sequence.
pub(crate) fn read_sequence(input: &mut dyn BufRead, sink: Sink<'_>) -> Result<Ended, QlogError> {
    let mut ended = Ended::default();
    let mut record = Vec::new();
    let mut has_header = false;
    loop {
        let is_last = next_record(input, &mut record)?;
        if !record.iter().all(u8::is_ascii_whitespace) {
            let read = if has_header { event(&record, sink) } else { first_text(&record, sink) };
            match read {
                Ok(()) => has_header = true,
                Err(error) if !has_header => {
                    return Err(QlogError::Format(format!("the first record: {error}")));
                }
                Err(_) if is_last => ended.early = Some("the file ends within a record".to_owned()),
                Err(_) => ended.broken += 1,
            }
        }
        if is_last {
            return Ok(ended);
        }
    }
}

fn event(record: &[u8], sink: Sink<'_>) -> serde_json::Result<()> {
    sink(Piece::Event(serde_json::from_slice(record)?));
    Ok(())
}

fn first_text(record: &[u8], sink: Sink<'_>) -> serde_json::Result<()> {
    let mut text = serde_json::Deserializer::from_slice(record);
    FileSeed { sink }.deserialize(&mut text)?;
    text.end()
}

/// Reads up to the next separator into `record`. Returns whether the file ends there.
fn next_record(input: &mut dyn BufRead, record: &mut Vec<u8>) -> Result<bool, QlogError> {
    record.clear();
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(QlogError::Io(error)),
        };
        if buffer.is_empty() {
            return Ok(true);
        }
        let end = buffer.iter().position(|byte| *byte == RS);
        let taken = end.unwrap_or(buffer.len());
        record.extend_from_slice(&buffer[..taken]);
        input.consume(taken + usize::from(end.is_some()));
        if record.len() > MAX_RECORD {
            return Err(too_long("a record"));
        }
        if end.is_some() {
            return Ok(false);
        }
    }
}

/// Returns the error of a record above the maximum.
fn too_long(what: &str) -> QlogError {
    QlogError::Format(format!("{what} is longer than {} MiB", MAX_RECORD >> 20))
}

/// Bytes of an input, of which there may be a maximum number since the last piece.
struct Limited<'a, R> {
    input: R,
    since_piece: &'a Cell<usize>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_piece.get() > MAX_RECORD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = self.input.read(buffer)?;
        self.since_piece.set(self.since_piece.get() + count);
        Ok(count)
    }
}

/// Reads a JSON text, and the texts that follow it, each an event.
pub(crate) fn read_texts(input: impl Read, sink: Sink<'_>) -> Result<Ended, QlogError> {
    let mut events = 0_u64;
    let since_piece = Cell::new(0);
    let mut counting = |piece: Piece<'_>| {
        since_piece.set(0);
        events += u64::from(matches!(piece, Piece::Event(_)));
        sink(piece);
    };
    let mut text = serde_json::Deserializer::from_reader(Limited { input, since_piece: &since_piece });
    let mut read = FileSeed { sink: &mut counting }.deserialize(&mut text);
    if read.is_ok() {
        for value in text.into_iter::<Value>() {
            match value {
                Ok(value) => counting(Piece::Event(value)),
                Err(error) => {
                    read = Err(error);
                    break;
                }
            }
        }
    }
    let Err(error) = read else { return Ok(Ended::default()) };
    if since_piece.get() > MAX_RECORD {
        return Err(too_long("an event or a field"));
    }
    if error.is_io() {
        return Err(QlogError::Io(error.into()));
    }
    if events == 0 {
        return Err(QlogError::Format(error.to_string()));
    }
    let early =
        if error.is_eof() { "the file ends within a JSON text".to_owned() } else { error.to_string() };
    Ok(Ended { early: Some(early), broken: 0 })
}

/// Reads the object of a file.
struct FileSeed<'a> {
    sink: Sink<'a>,
}

impl<'de> DeserializeSeed<'de> for FileSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a qlog file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "traces" => map.next_value_seed(TracesSeed { sink: self.sink })?,
                "trace" => map.next_value_seed(TraceSeed { sink: self.sink, ends: false })?,
                name => {
                    let value = map.next_value()?;
                    (self.sink)(Piece::FileField(name, value));
                }
            }
        }
        Ok(())
    }
}

/// Reads the array of traces.
struct TracesSeed<'a> {
    sink: Sink<'a>,
}

impl<'de> DeserializeSeed<'de> for TracesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TracesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of traces")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        while traces.next_element_seed(TraceSeed { sink: self.sink, ends: true })?.is_some() {}
        Ok(())
    }
}

/// Reads one trace. `ends` says whether its events are in it, and not in the records that follow.
struct TraceSeed<'a> {
    sink: Sink<'a>,
    ends: bool,
}

impl<'de> DeserializeSeed<'de> for TraceSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TraceSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        (self.sink)(Piece::BeginTrace);
        while let Some(name) = map.next_key::<String>()? {
            if name == "events" {
                map.next_value_seed(EventsSeed { sink: self.sink })?;
            } else {
                let value = map.next_value()?;
                (self.sink)(Piece::TraceField(&name, value));
            }
        }
        if self.ends {
            (self.sink)(Piece::EndTrace);
        }
        Ok(())
    }
}

/// Reads the array of events.
struct EventsSeed<'a> {
    sink: Sink<'a>,
}

impl<'de> DeserializeSeed<'de> for EventsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EventsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(event) = events.next_element()? {
            (self.sink)(Piece::Event(event));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
