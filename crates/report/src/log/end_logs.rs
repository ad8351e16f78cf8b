//! The logs at one end of a real connection: a capture and a qlog. Which file they are of is known at the end alone, when they get
//! their names.

use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use firstflight::{Time, TraceRecord};
use firstflight_measure::Tap as _;
use firstflight_tcp::{Flags, Happening, Role, Segment, Snapshot, Transmit};
use firstflight_wire::payload::Offsets;

use super::end_capture::{CapturedEnds, EndCapture};
use super::flow::{LoggedEnd, LoggedFlow};
use super::qlog::Qlog;

/// The logs of a connection at one of its ends.
pub struct EndLogs {
    end: LoggedEnd,
    capture: Option<EndCapture>,
    qlog: Option<Qlog>,
    /// When the connection began by the host's clock: the zero of the qlog's times.
    origin: Option<Time>,
    /// The stream that arrives.
    arriving: Option<Offsets>,
}

impl EndLogs {
    /// Begins the logs for which there is a folder. `snap` is the most bytes kept of a captured packet; `None` keeps whole packets.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(
        [pcap, qlog]: [Option<&Path>; 2],
        flow: &LoggedFlow,
        ends: &CapturedEnds,
        snap: Option<NonZeroU32>,
    ) -> io::Result<Self> {
        let (name, end) = (flow.name.as_str(), flow.end);
        let capture = pcap.map(|folder| EndCapture::begin(folder, (name, end.name()), ends, snap));
        let qlog_name = qlog_name(name, end);
        let flow = LoggedFlow { name: qlog_name, ..flow.clone() };
        let qlog = qlog.map(|folder| Qlog::begin(folder, &flow));
        Ok(Self { end, capture: capture.transpose()?, qlog: qlog.transpose()?, origin: None, arriving: None })
    }

    /// A segment left the host.
    pub fn sent(&mut self, at: Time, transmit: &Transmit, payload: &[u8]) {
        let since = self.since(at);
        if let Some(capture) = &mut self.capture {
            capture.sent(at, &transmit.segment, payload);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.sent(since, Role::Client, transmit, transmit.offset);
        }
    }

    /// A segment arrived at the host.
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

    /// An event happened inside the host's endpoint.
    pub fn happening(&mut self, at: Time, happening: &Happening) {
        let since = self.since(at);
        if let (Some(capture), Happening::Control(note)) = (&mut self.capture, happening) {
            capture.note(since, *note);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.happening(since, Role::Client, happening);
        }
    }

    /// The host's controller handled a call and decided.
    pub fn told(&mut self, told: &TraceRecord) {
        let since = self.since(told.path.now);
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            let mut told = told.clone();
            told.path.now = since;
            qlog.told(&told);
        }
    }

    /// The host's endpoint has handled an event and sent what it could.
    pub fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let since = self.since(at);
        if let Some(qlog) = self.qlog.as_mut().filter(|_| self.end == LoggedEnd::Sender) {
            qlog.state(since, snapshot);
        }
    }

    /// The connection is over: the logs get this name.
    ///
    /// # Errors
    /// The first write that failed.
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
