//! The logs at one end of a real connection: a capture and a qlog. Their names are known only when the connection ends.

use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap as _;
use firstflight_tcp::{EndpointEvent, Flags, Role, Segment, Snapshot, Transmit};
use firstflight_wire::payload::Offsets;

use super::end_capture::{CapturedEnds, EndCapture};
use super::flow::{LoggedEnd, LoggedFlow};
use super::qlog::Qlog;
use super::qlog_schema::QlogSchema;

/// The logs of a connection at one of its ends.
pub struct EndLogs {
    end: LoggedEnd,
    capture: Option<EndCapture>,
    qlog: Option<Qlog>,
    /// When the connection started, by the host's clock. This is time zero of the qlog.
    origin: Option<Time>,
    /// The stream offsets of arriving data.
    arriving: Option<Offsets>,
}

impl EndLogs {
    /// Starts the logs for which there is a folder, the qlog in this schema. `snap` is the maximum number of bytes kept of a captured packet; `None` keeps whole
    /// packets.
    ///
    /// # Errors
    /// Fails if a file cannot be created.
    pub fn begin(
        pcap: Option<&Path>,
        qlog: Option<(&Path, QlogSchema)>,
        flow: &LoggedFlow,
        ends: &CapturedEnds,
        snap: Option<NonZeroU32>,
    ) -> io::Result<Self> {
        let (name, end) = (flow.name.as_str(), flow.end);
        let capture = pcap.map(|folder| EndCapture::begin(folder, (name, end.name()), ends, snap));
        let qlog_name = qlog_name(name, end);
        let flow = LoggedFlow { name: qlog_name, ..flow.clone() };
        let qlog = qlog.map(|(folder, schema)| Qlog::begin(folder, &flow, schema));
        Ok(Self { end, capture: capture.transpose()?, qlog: qlog.transpose()?, origin: None, arriving: None })
    }

    /// Records a segment that the host sent.
    pub fn sent(&mut self, at: Time, transmit: &Transmit, payload: &[u8]) {
        let since = self.since(at);
        if let Some(capture) = &mut self.capture {
            capture.sent(at, &transmit.segment, payload);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.sent(since, Role::Client, transmit, transmit.offset);
        }
    }

    /// Records a segment that arrived at the host.
    pub fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        let since = self.since(at);
        if let Some(capture) = &mut self.capture {
            capture.arrived(at, segment, payload);
        }
        if segment.flags.has(Flags::SYN) {
            self.arriving = Some(Offsets::new(segment.seq));
        }
        if let (Some(qlog), Some(arriving)) = (&mut self.qlog, &mut self.arriving) {
            qlog.arrived(since, Role::Server, segment, arriving.of(segment.seq));
        }
    }

    /// Records an event inside the host's endpoint.
    pub fn event(&mut self, at: Time, event: &EndpointEvent) {
        let since = self.since(at);
        if let (Some(capture), EndpointEvent::Control(note)) = (&mut self.capture, event) {
            capture.note(since, *note);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.event(since, Role::Client, event);
        }
    }

    /// Records one call to the host's controller, with the controller's decision.
    pub fn record(&mut self, record: &TraceRecord) {
        let since = self.since(record.path.now);
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            let mut record = record.clone();
            record.path.now = since;
            qlog.record(&record);
        }
    }

    /// Records that the host's endpoint has handled an event and sent what it could.
    pub fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let since = self.since(at);
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.state(since, snapshot);
        }
    }

    /// Finishes the logs when the connection ends, and gives them this name.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    pub fn finish(self, name: &str) -> io::Result<()> {
        let capture = self.capture.map_or(Ok(()), |capture| capture.finish((name, self.end.name())));
        let qlog = self.qlog.map_or(Ok(()), |mut qlog| {
            qlog.rename(&qlog_name(name, self.end))?;
            qlog.finish()
        });
        capture.and(qlog)
    }

    fn since(&mut self, at: Time) -> Time {
        Time::from_nanos(at.nanos_since(*self.origin.get_or_insert(at)))
    }
}

fn qlog_name(name: &str, end: LoggedEnd) -> String {
    format!("{name}-{}", end.name())
}
