//! The sender's view of its connection, as a scheme in Python receives it.

use firstflight::{Path, SendLimit, Span, Time};
use pyo3::prelude::*;

/// The connection as its sender sees it. Times and spans are whole nanoseconds, sizes are bytes, and rates are bits per second.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct PathState(pub(super) Path);

#[pymethods]
impl PathState {
    /// The instant of the event, in nanoseconds of virtual time.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now.nanos()
    }

    /// The payload of a full segment, in bytes.
    #[getter]
    fn mss(&self) -> u64 {
        self.0.mss.get()
    }

    /// The IP bytes of a full segment.
    #[getter]
    fn wire(&self) -> u64 {
        self.0.wire.get()
    }

    /// The window in force before this event, in bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd.get()
    }

    /// The bytes that were sent and not yet cumulatively acknowledged.
    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight.get()
    }

    /// The bytes believed to be in the network. The window bounds this number.
    #[getter]
    fn pipe(&self) -> u64 {
        self.0.pipe.get()
    }

    /// The smoothed RTT in nanoseconds; `None` before the first sample.
    #[getter]
    fn srtt(&self) -> Option<u64> {
        self.0.srtt.map(Span::nanos)
    }

    /// The newest RTT sample in nanoseconds; `None` before the first sample.
    #[getter]
    fn latest_rtt(&self) -> Option<u64> {
        self.0.latest_rtt.map(Span::nanos)
    }

    /// The minimum RTT of the connection in nanoseconds; `None` before the first sample.
    #[getter]
    fn min_rtt(&self) -> Option<u64> {
        self.0.min_rtt.map(Span::nanos)
    }

    /// The receive window that the peer offers, in bytes.
    #[getter]
    fn rwnd(&self) -> u64 {
        self.0.rwnd.get()
    }

    /// The bytes that are ready to send and not yet sent; `None` if the host cannot know.
    #[getter]
    fn backlog(&self) -> Option<u64> {
        self.0.backlog.map(firstflight::Bytes::get)
    }

    /// The bytes delivered so far, including those acknowledged selectively.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.get()
    }

    /// The first byte that is not cumulatively acknowledged, as an offset in the stream.
    #[getter]
    fn una(&self) -> u64 {
        self.0.una
    }

    /// The next new byte to send, as an offset in the stream.
    #[getter]
    fn nxt(&self) -> u64 {
        self.0.nxt
    }

    /// The retransmission timeout in nanoseconds.
    #[getter]
    fn rto(&self) -> u64 {
        self.0.rto.nanos()
    }

    /// The limit on sending at the last transmission: `app`, `window`, `pacing` or `receiver`.
    #[getter]
    fn limit(&self) -> &'static str {
        limit(self.0.limit)
    }

    /// Whether a loss episode is being repaired.
    #[getter]
    fn recovering(&self) -> bool {
        self.0.recovering
    }

    /// The instant of the last transmission of a data packet, in nanoseconds; `None` before it.
    #[getter]
    fn last_sent(&self) -> Option<u64> {
        self.0.last_sent.map(Time::nanos)
    }

    /// The instant at which the last segment from the peer arrived, in nanoseconds; `None` before it.
    #[getter]
    fn last_received(&self) -> Option<u64> {
        self.0.last_received.map(Time::nanos)
    }

    /// The wake-up that the host granted, in nanoseconds; `None` without one.
    #[getter]
    fn wake(&self) -> Option<u64> {
        self.0.wake.map(Time::nanos)
    }

    fn __repr__(&self) -> String {
        let Self(path) = self;
        let ns = |span: Option<Span>| span.map_or("None".to_owned(), |span| span.nanos().to_string());
        format!(
            "PathState(now={}, cwnd={}, flight={}, pipe={}, srtt={}, min_rtt={}, mss={}, recovering={})",
            path.now.nanos(),
            path.cwnd.get(),
            path.flight.get(),
            path.pipe.get(),
            ns(path.srtt),
            ns(path.min_rtt),
            path.mss.get(),
            if path.recovering { "True" } else { "False" },
        )
    }
}

/// Returns the word for a limit on sending.
pub(super) fn limit(limit: SendLimit) -> &'static str {
    match limit {
        SendLimit::App => "app",
        SendLimit::Window => "window",
        SendLimit::Pacing => "pacing",
        SendLimit::Receiver => "receiver",
    }
}
