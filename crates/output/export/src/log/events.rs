//! The event log of a flow at both ends, one JSON object on each line. The first line and the lines with the event `record` are the flow's
//! trace, which `firstflight replay` reads.
//!
//! Sequence numbers are those in the capture. Offsets count payload bytes from the first payload byte.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use firstflight::{Bytes, Exit, Note, Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_tcp::{EndpointEvent, Flags, Role, Segment, Transmit};
use firstflight_trace::{Header, Writer};
use serde::Serialize;

use super::names::{origin_name, phase_name};
use super::naming::naming;
use crate::json;
use crate::write::WholeFile;

/// The event log of one flow.
pub struct Events {
    path: PathBuf,
    /// The file; `None` after it was finished.
    file: Option<WholeFile>,
    failed: Option<io::Error>,
    trace: Writer,
}

/// One line of the log.
#[derive(Serialize)]
struct Line {
    at_ns: u64,
    /// The end at which the event happened. The `client` sends the data.
    end: &'static str,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum What {
    Sent {
        #[serde(flatten)]
        segment: Shown,
        /// The number of the packet among the data packets.
        packet: Option<u64>,
        tag: Option<u16>,
        retransmission: Option<bool>,
    },
    Arrived(Shown),
    Established,
    Begin {
        origin: &'static str,
    },
    Exit {
        phase: &'static str,
        cause: &'static str,
        cwnd_bytes: u64,
        flight_bytes: u64,
        window_bytes: u64,
        ssthresh_bytes: Option<u64>,
        rate_bps: Option<u64>,
    },
    Continued,
    Reduced {
        from_bytes: u64,
    },
    Undone {
        exit_undone: bool,
    },
    RecoveryBegan {
        flight_bytes: u64,
    },
    RecoveryEnded,
    TimedOut,
    QuickStart {
        approved_bps: Option<u64>,
    },
    AllAcknowledged,
    Closed,
    Aborted,
}

#[derive(Serialize)]
struct Shown {
    seq: u32,
    offset: u64,
    bytes: u16,
    ack: Option<u32>,
    window: u16,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sack: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "is_false")]
    syn: bool,
    #[serde(skip_serializing_if = "is_false")]
    fin: bool,
    #[serde(skip_serializing_if = "is_false")]
    rst: bool,
}

impl Events {
    /// Returns the name of a flow's file.
    pub fn file_name(name: &str) -> String {
        format!("{name}.jsonl")
    }

    /// Starts `NAME.jsonl` in `folder`.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub fn begin(folder: &Path, name: &str, header: &Header) -> io::Result<Self> {
        let path = folder.join(Self::file_name(name));
        let file = WholeFile::create(&path).map_err(|error| naming(&path, &error.source))?;
        let mut events = Self { path, file: Some(file), failed: None, trace: Writer::default() };
        events.write(Ok(Writer::header(header)));
        Ok(events)
    }

    fn add(&mut self, at: Time, role: Role, what: What) {
        if self.failed.is_none() {
            let end = if role == Role::Client { "client" } else { "server" };
            self.write(json::line(&Line { at_ns: at.nanos(), end, what }));
        }
    }

    fn write(&mut self, line: io::Result<String>) {
        let Some(file) = self.file.as_mut().filter(|_| self.failed.is_none()) else { return };
        if let Err(error) = line.and_then(|line| file.write_all(line.as_bytes())) {
            self.failed = Some(naming(&self.path, &error));
        }
    }
}

impl Tap for Events {
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64) {
        let segment = Shown::new(&transmit.segment, offset);
        let sent = transmit.sent;
        let (packet, tag) = (sent.map(|sent| sent.packet), sent.map(|sent| sent.tag.0));
        let retransmission = sent.map(|sent| sent.retransmission);
        self.add(at, role, What::Sent { segment, packet, tag, retransmission });
    }

    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64) {
        self.add(at, role, What::Arrived(Shown::new(segment, offset)));
    }

    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent) {
        self.add(at, role, What::from(event));
    }

    fn wants_trace(&self) -> bool {
        true
    }

    fn record(&mut self, record: &TraceRecord) {
        let line = self.trace.record(record);
        self.write(Ok(line));
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.file.take() {
            Some(file) => file.commit().map_err(|error| naming(&self.path, &error.source)),
            None => Ok(()),
        }
    }
}

impl Shown {
    fn new(segment: &Segment, offset: u64) -> Self {
        let blocks = segment.sack.iter().take(usize::from(segment.sack_count));
        Self {
            seq: segment.seq,
            offset,
            bytes: segment.len,
            ack: segment.flags.has(Flags::ACK).then_some(segment.ack),
            window: segment.window,
            sack: blocks.map(|block| [block.start, block.end]).collect(),
            syn: segment.flags.has(Flags::SYN),
            fin: segment.flags.has(Flags::FIN),
            rst: segment.flags.has(Flags::RST),
        }
    }
}

impl From<&EndpointEvent> for What {
    fn from(event: &EndpointEvent) -> Self {
        match *event {
            EndpointEvent::Established => Self::Established,
            EndpointEvent::Control(note) => Self::from(note),
            EndpointEvent::RecoveryBegan { flight } => Self::RecoveryBegan { flight_bytes: flight.get() },
            EndpointEvent::RecoveryEnded => Self::RecoveryEnded,
            EndpointEvent::TimedOut => Self::TimedOut,
            EndpointEvent::QuickStart { approved } => {
                Self::QuickStart { approved_bps: approved.map(firstflight::Rate::bps) }
            }
            EndpointEvent::AllAcknowledged => Self::AllAcknowledged,
            EndpointEvent::Closed => Self::Closed,
            EndpointEvent::Aborted => Self::Aborted,
        }
    }
}

impl From<Note> for What {
    fn from(note: Note) -> Self {
        match note {
            Note::Began(origin) => Self::Begin { origin: origin_name(origin) },
            Note::Exited { exit: Exit { cause, learned }, phase, cwnd, flight } => Self::Exit {
                phase: phase_name(phase),
                cause: cause.name(),
                cwnd_bytes: cwnd.get(),
                flight_bytes: flight.get(),
                window_bytes: learned.window.get(),
                ssthresh_bytes: learned.ssthresh.map(Bytes::get),
                rate_bps: learned.rate.map(firstflight::Rate::bps),
            },
            Note::Continued => Self::Continued,
            Note::Reduced { from } => Self::Reduced { from_bytes: from.get() },
            Note::Undone { exit } => Self::Undone { exit_undone: exit },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
