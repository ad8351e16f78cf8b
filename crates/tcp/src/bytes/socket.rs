//! A connection with its bytes: an endpoint, what was written, what arrived, and how it ends.

use core::fmt;

use firstflight::{Avoidance, Controller, Span, Startup, Time};

use crate::config::Config;
use crate::endpoint::{Endpoint, Role, Transmit};
use crate::happening::Happening;
use crate::info::Standing;
use crate::segment::{Flags, Segment};

use super::{Payload, Reassembly, SendBuffer};

/// The settings of a socket besides its endpoint's [`Config`]. The receive buffer of the [`Config`] bounds the bytes that arrived
/// and are not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes written and not acknowledged, at most.
    pub send_buffer: u64,
    /// The maximum segment lifetime (RFC 9293 section 3.4.2). The side that closes first waits for twice as long at the end.
    pub lifetime: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { send_buffer: 1 << 20, lifetime: Span::from_secs(120) }
    }
}

/// Why a connection ended before both sides had closed it.
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

/// The wait of the side that closed first (TIME-WAIT): its last ACK may be lost, and old segments may be under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Linger {
    NotYet,
    Until(Time),
    Over,
}

/// An endpoint with its bytes. A host calls it as it would call an [`Endpoint`], with bytes in the place of counts.
#[derive(Clone, Debug)]
pub struct Socket<S, R, A> {
    endpoint: Endpoint<S, R, A>,
    written: SendBuffer,
    arrived: Reassembly,
    lifetime: Span,
    linger: Linger,
    error: Option<Error>,
    /// A reset of our own may not have left yet.
    resets: bool,
    keeps_happenings: bool,
}

impl<S: Startup, R: Startup, A: Avoidance> Socket<S, R, A> {
    /// A socket that has done nothing yet: a server listens, a client waits for [`Socket::open`]. Of the settings of the
    /// endpoint [`Config::reads_at_once`] does not count, for the application reads.
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
            keeps_happenings: false,
        }
    }

    /// Starts the connection: the client's SYN becomes ready to leave. A second call does nothing.
    pub fn open(&mut self, now: Time) {
        self.endpoint.open(now);
    }

    /// Takes as much of the beginning of `bytes` as the send buffer has room for; how much that is. Nothing is taken after
    /// [`Socket::shutdown`] or an error. What is written before the connection is open leaves once it is.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.endpoint.is_shut() || self.error.is_some() {
            return 0;
        }
        let taken = self.written.write(bytes);
        self.endpoint.write(taken as u64);
        taken
    }

    /// Copies what arrived in order and was not read yet to the beginning of `bytes`; how many bytes there were. Reading opens
    /// the receive window, so that an ACK may be ready to leave afterwards. What arrived before an error can be read after it.
    pub fn read(&mut self, bytes: &mut [u8]) -> usize {
        let len = self.arrived.read(&mut self.endpoint, bytes);
        if self.is_at_end() {
            self.arrived.tidy(&self.endpoint);
        }
        len
    }

    /// The application will write no more: a FIN follows what was written.
    pub fn shutdown(&mut self) {
        self.endpoint.shut();
    }

    /// An ACK leaves now, if the connection is open.
    pub fn acknowledge(&mut self) {
        self.endpoint.acknowledge();
    }

    /// Gives the connection up: a reset is ready to leave if the peer may know of it.
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

    /// For how long data is sent again, or a closed window probed, without an answer before the connection has
    /// [`Error::TimedOut`] (RFC 9293 section 3.8.3); fifteen times without this.
    pub fn set_user_timeout(&mut self, timeout: Span) {
        self.endpoint.set_user_timeout(timeout, true);
    }

    /// A segment arrived with this payload. A segment whose payload is not as long as it says is not heard.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, payload: &[u8]) {
        // RFC 1337 section 3 (F1): a reset does not cut TIME-WAIT short.
        let resets_too_late = self.linger != Linger::NotYet && segment.flags.has(Flags::RST);
        if usize::from(segment.len) != payload.len() || resets_too_late || self.is_finished() {
            return;
        }
        let opening = self.endpoint.standing() == Standing::Opening;
        self.arrived.take_in(&self.endpoint, segment, payload);
        self.endpoint.on_segment(now, segment);
        self.written.release(self.endpoint.una());
        match self.endpoint.standing() {
            Standing::Aborted => self.fail(if opening { Error::Refused } else { Error::Reset }),
            Standing::Closed => {
                self.arrived.tidy(&self.endpoint);
                self.written.tidy();
                self.wait(now, segment);
            }
            Standing::Idle | Standing::Opening | Standing::Open => {}
        }
        self.forget_happenings();
    }

    /// The instant of [`Socket::next_timer`] has come. Early calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        if self.endpoint.next_timer().is_some_and(|at| at <= now) {
            self.endpoint.on_timer(now);
            if self.endpoint.standing() == Standing::Aborted {
                self.fail(Error::TimedOut);
            }
        }
        if matches!(self.linger, Linger::Until(at) if at <= now) {
            self.linger = Linger::Over;
        }
        self.forget_happenings();
    }

    /// The next segment that may leave at `now`, if any, with its payload. Call until it gives none.
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

    /// When to call [`Socket::on_timer`] next, whether or not anything arrives.
    pub fn next_timer(&self) -> Option<Time> {
        match self.linger {
            Linger::NotYet => self.endpoint.next_timer(),
            Linger::Until(at) => Time::earlier(self.endpoint.next_timer(), Some(at)),
            Linger::Over => None,
        }
    }

    /// Keeps what happens from now on for [`Socket::poll_happening`]. Whoever asks for it must take it, for it is kept until
    /// then.
    pub fn keep_happenings(&mut self) {
        self.keeps_happenings = true;
    }

    /// The oldest happening not yet taken.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        self.endpoint.poll_happening()
    }

    /// Keeps what the controller is told from now on for [`Socket::poll_told`]. Whoever asks for it must take it.
    pub fn keep_told(&mut self) {
        self.endpoint.keep_told();
    }

    /// The oldest call of the controller not yet taken.
    pub fn poll_told(&mut self) -> Option<firstflight::TraceRecord> {
        self.endpoint.poll_told()
    }

    /// Why the connection ended before both sides had closed it, if it did.
    pub fn error(&self) -> Option<Error> {
        self.error
    }

    /// Whether the handshake is over and the connection did not end.
    pub fn is_open(&self) -> bool {
        self.endpoint.standing() == Standing::Open
    }

    /// Whether the peer's FIN arrived and all before it was read: [`Socket::read`] will give nothing more.
    pub fn is_at_end(&self) -> bool {
        self.endpoint.peer_closed() && self.endpoint.readable() == 0
    }

    /// Whether [`Socket::shutdown`] was called.
    pub fn is_shut(&self) -> bool {
        self.endpoint.is_shut()
    }

    /// Whether all that was written is acknowledged, and the FIN if there is one.
    pub fn is_all_acknowledged(&self) -> bool {
        self.written.is_empty() && (!self.endpoint.is_shut() || self.endpoint.is_shut_acknowledged())
    }

    /// Whether neither anything will leave nor anything that arrives be heard: the host may let go of the socket. What was not
    /// read can still be read.
    pub fn is_finished(&self) -> bool {
        match self.endpoint.standing() {
            Standing::Aborted => !self.resets,
            Standing::Closed => self.linger == Linger::Over,
            Standing::Idle | Standing::Opening | Standing::Open => false,
        }
    }

    /// Bytes in order that were not read.
    pub fn readable(&self) -> u64 {
        self.endpoint.readable()
    }

    /// Bytes that the socket holds: written and not acknowledged, and arrived and not read, those out of order with all of the pages
    /// in which they lie. Of each of the two buffers one page of 16 KiB at most is not counted.
    pub fn held(&self) -> u64 {
        self.written.len() + self.readable().max(self.arrived.held())
    }

    /// Bytes that the send buffer has room for.
    pub fn writable(&self) -> u64 {
        self.written.free()
    }

    /// The endpoint, for its state and counters.
    pub fn endpoint(&self) -> &Endpoint<S, R, A> {
        &self.endpoint
    }

    /// Both sides closed. RFC 9293 section 3.10.7.4: who closed first acknowledges the peer's FIN again should it come again,
    /// and waits anew; who closed last is at the end.
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

    fn forget_happenings(&mut self) {
        while !self.keeps_happenings && self.endpoint.poll_happening().is_some() {}
    }
}
