//! A connection with its bytes: an endpoint, the data written, the data that arrived, and the end of the connection.

use core::fmt;

use firstflight::{Avoidance, Controller, Span, Startup, Time};

use crate::config::Config;
use crate::endpoint::{Endpoint, Role, Transmit};
use crate::endpoint_event::EndpointEvent;
use crate::info::Status;
use crate::segment::{Flags, Segment};

use super::{Payload, Reassembly, SendBuffer};

/// Settings of a socket in addition to the [`Config`] of its endpoint. The receive buffer in [`Config`] limits the bytes that arrived and
/// are not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Maximum number of bytes that are written and not acknowledged.
    pub send_buffer: u64,
    /// The maximum segment lifetime (RFC 9293 section 3.4.2). The side that closes first waits for twice this time before its connection
    /// ends.
    pub lifetime: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { send_buffer: 1 << 20, lifetime: Span::from_secs(120) }
    }
}

/// The reason why a connection ended before both sides had closed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The peer reset the connection before it was open.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The peer did not answer for too long.
    TimedOut,
    /// [`Socket::abort`] was called.
    Aborted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "the peer refused the connection",
            Self::Reset => "the peer reset the connection",
            Self::TimedOut => "the peer did not answer for too long",
            Self::Aborted => "the connection was aborted",
        })
    }
}

impl core::error::Error for Error {}

/// The state of the TIME-WAIT of the side that closed first. It waits because its last ACK may be lost and old segments may still arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Linger {
    NotYet,
    Until(Time),
    Over,
}

/// An endpoint with its bytes. A host calls it like an [`Endpoint`], but passes and receives bytes instead of their numbers.
#[derive(Clone, Debug)]
pub struct Socket<S, R, A> {
    endpoint: Endpoint<S, R, A>,
    written: SendBuffer,
    arrived: Reassembly,
    lifetime: Span,
    linger: Linger,
    error: Option<Error>,
    /// Whether the RST that this side sends may still have to be sent.
    resets: bool,
    records_events: bool,
}

impl<S: Startup, R: Startup, A: Avoidance> Socket<S, R, A> {
    /// Creates an unused socket. A server listens, a client waits for [`Socket::open`]. [`Config::reads_at_once`] is ignored, because the
    /// application reads.
    pub fn new(role: Role, config: &Config, controller: Controller<S, R, A>, settings: &Settings) -> Self {
        let config = Config { reads_at_once: false, ..*config };
        Self {
            endpoint: Endpoint::new(role, &config, controller),
            written: SendBuffer::new(settings.send_buffer, config.mss),
            arrived: Reassembly::new(config.receive_buffer),
            lifetime: settings.lifetime,
            linger: Linger::NotYet,
            error: None,
            resets: false,
            records_events: false,
        }
    }

    /// Starts the connection: the client's SYN becomes ready to send. A second call does nothing.
    pub fn open(&mut self, now: Time) {
        self.endpoint.open(now);
    }

    /// Stores as much of the beginning of `bytes` as the send buffer has room for, to be sent. Returns the number of bytes stored. This is
    /// 0 after [`Socket::shutdown`] or an error. Data written before the connection is open is sent once it is open.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.endpoint.is_shut() || self.error.is_some() {
            return 0;
        }
        let taken = self.written.write(bytes);
        self.endpoint.write(taken as u64);
        taken
    }

    /// Copies data that arrived in order and was not read to the beginning of `bytes`. Returns the number of bytes copied. Reading enlarges
    /// the receive window, so an ACK may be ready to send afterwards. After an error, data that arrived before it can still be read.
    pub fn read(&mut self, bytes: &mut [u8]) -> usize {
        let len = self.arrived.read(&mut self.endpoint, bytes);
        if self.is_at_end() {
            self.arrived.tidy(&self.endpoint);
        }
        len
    }

    /// Closes this side of the connection: a FIN follows the written data.
    pub fn shutdown(&mut self) {
        self.endpoint.shut();
    }

    /// Makes an ACK ready to send, if the connection is open.
    pub fn acknowledge(&mut self) {
        self.endpoint.acknowledge();
    }

    /// Ends the connection at once. A RST is ready to send if the peer may know of the connection.
    pub fn abort(&mut self) {
        if self.error.is_none() && self.linger == Linger::NotYet && !self.is_finished() {
            self.endpoint.reset();
            self.fail(Error::Aborted);
            self.resets = true;
        }
        if let Linger::Until(_) = self.linger {
            self.linger = Linger::Over;
        }
    }

    /// Sets the user timeout. If the peer does not answer retransmissions or zero-window probes for this time, the connection ends with
    /// [`Error::TimedOut`] (RFC 9293 section 3.8.3). By default it ends after fifteen unanswered attempts.
    pub fn set_user_timeout(&mut self, timeout: Span) {
        self.endpoint.set_user_timeout(timeout, true);
    }

    /// Processes a segment that arrived with this payload. Ignores the segment if the payload's length differs from the length in its
    /// header.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, payload: &[u8]) {
        // RFC 1337 section 3 (F1): a RST does not end TIME-WAIT early.
        let resets_too_late = self.linger != Linger::NotYet && segment.flags.has(Flags::RST);
        if usize::from(segment.len) != payload.len() || resets_too_late || self.is_finished() {
            return;
        }
        let opening = self.endpoint.status() == Status::Opening;
        self.arrived.take_in(&self.endpoint, segment, payload);
        self.endpoint.on_segment(now, segment);
        self.written.release(self.endpoint.una());
        match self.endpoint.status() {
            Status::Aborted => self.fail(if opening { Error::Refused } else { Error::Reset }),
            Status::Closed => {
                self.arrived.tidy(&self.endpoint);
                self.written.tidy();
                self.wait(now, segment);
            }
            Status::Idle | Status::Opening | Status::Open => {}
        }
        self.discard_events();
    }

    /// Processes the timers that are due. To be called at the time of [`Socket::next_timer`]. Earlier calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        if self.endpoint.next_timer().is_some_and(|at| at <= now) {
            self.endpoint.on_timer(now);
            if self.endpoint.status() == Status::Aborted {
                self.fail(Error::TimedOut);
            }
        }
        if matches!(self.linger, Linger::Until(at) if at <= now) {
            self.linger = Linger::Over;
        }
        self.discard_events();
    }

    /// Returns the next segment that may be sent at `now` with its payload, or `None`. To be called until it returns `None`.
    pub fn poll(&mut self, now: Time) -> Option<(Transmit, Payload<'_>)> {
        let transmit = if self.linger == Linger::Over { None } else { self.endpoint.poll_transmit(now) };
        self.resets &= transmit.is_some();
        let transmit = transmit?;
        let payload = self.written.bytes(transmit.range());
        debug_assert_eq!(
            payload.len(),
            usize::from(transmit.segment.len),
            "what is not acknowledged is kept"
        );
        Some((transmit, payload))
    }

    /// Returns when to call [`Socket::on_timer`] next, if nothing arrives before; `None` if no timer runs.
    pub fn next_timer(&self) -> Option<Time> {
        match self.linger {
            Linger::NotYet => self.endpoint.next_timer(),
            Linger::Until(at) => Time::earlier(self.endpoint.next_timer(), Some(at)),
            Linger::Over => None,
        }
    }

    /// Starts to record events for [`Socket::poll_event`]. The caller must then take them, because they are stored until they are
    /// taken.
    pub fn record_events(&mut self) {
        self.records_events = true;
    }

    /// Returns the oldest recorded event that was not taken yet.
    pub fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.endpoint.poll_event()
    }

    /// Starts to record the controller's calls for [`Socket::poll_trace`]. The caller must then take them.
    pub fn record_trace(&mut self) {
        self.endpoint.record_trace();
    }

    /// Returns the oldest recorded call of the controller that was not taken yet.
    pub fn poll_trace(&mut self) -> Option<firstflight::TraceRecord> {
        self.endpoint.poll_trace()
    }

    /// Returns the reason why the connection ended before both sides had closed it; `None` if it did not.
    pub fn error(&self) -> Option<Error> {
        self.error
    }

    /// Checks whether the handshake is complete and the connection has not ended.
    pub fn is_open(&self) -> bool {
        self.endpoint.status() == Status::Open
    }

    /// Checks whether the peer's FIN arrived and all data before it was read. [`Socket::read`] will then return nothing more.
    pub fn is_at_end(&self) -> bool {
        self.endpoint.peer_closed() && self.endpoint.readable() == 0
    }

    /// Checks whether [`Socket::shutdown`] was called.
    pub fn is_shut(&self) -> bool {
        self.endpoint.is_shut()
    }

    /// Checks whether all written data and, if it was sent, the FIN are acknowledged.
    pub fn is_all_acknowledged(&self) -> bool {
        self.written.is_empty() && (!self.endpoint.is_shut() || self.endpoint.is_shut_acknowledged())
    }

    /// Checks whether the socket will neither send nor process any more segments, so that the host may drop it. Unread data can still be
    /// read.
    pub fn is_finished(&self) -> bool {
        match self.endpoint.status() {
            Status::Aborted => !self.resets,
            Status::Closed => self.linger == Linger::Over,
            Status::Idle | Status::Opening | Status::Open => false,
        }
    }

    /// Returns the number of bytes that arrived in order and were not read.
    pub fn readable(&self) -> u64 {
        self.endpoint.readable()
    }

    /// Returns the number of bytes that the socket stores: bytes written and not acknowledged, and bytes that arrived and were not read.
    /// Out-of-order bytes are counted as the whole pages that they occupy. Up to one page of 16 KiB per buffer is not counted.
    pub fn held(&self) -> u64 {
        self.written.len() + self.readable().max(self.arrived.held())
    }

    /// Returns the number of bytes for which the send buffer has room.
    pub fn writable(&self) -> u64 {
        self.written.free()
    }

    /// Returns the endpoint, for its state and counters.
    pub fn endpoint(&self) -> &Endpoint<S, R, A> {
        &self.endpoint
    }

    /// Updates TIME-WAIT for a segment that arrives after both sides closed the connection (RFC 9293 section 3.10.7.4). The side that
    /// closed first starts to wait. If the peer repeats its FIN, this side acknowledges it and restarts the wait. The side that closed last
    /// is finished.
    fn wait(&mut self, now: Time, segment: &Segment) {
        let until = Linger::Until(now + self.lifetime + self.lifetime);
        let end = segment.seq.wrapping_add(segment.sequence_length());
        let is_fin = segment.flags.has(Flags::FIN) && end == self.endpoint.next_expected();
        self.linger = match self.linger {
            Linger::NotYet if self.endpoint.closed_first() => until,
            Linger::NotYet => Linger::Over,
            Linger::Until(_) if is_fin => until,
            lingers => lingers,
        };
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    fn discard_events(&mut self) {
        while !self.records_events && self.endpoint.poll_event().is_some() {}
    }
}
