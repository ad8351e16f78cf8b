//! The endpoint: one side of a connection, from the handshake to the close.

use firstflight::{Avoidance, Bytes, Controller, Note, Phase, Sent, Span, Startup, Time};

use crate::config::Config;
use crate::segment::Segment;

/// Which side opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends the SYN.
    Client,
    /// Waits for it.
    Server,
}

/// A segment that leaves now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// For data packets: the packet's number, its tag, and whether its data was sent before.
    pub sent: Option<Sent>,
}

/// What happened inside an endpoint, for whoever keeps the record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Happening {
    /// The three-way handshake is over on this side.
    Established,
    /// The controller began, left, reduced or undid something.
    Control(Note),
    /// A loss episode began; the bytes in flight.
    RecoveryBegan {
        /// Bytes sent and not cumulatively acknowledged.
        flight: Bytes,
    },
    /// A loss episode is over.
    RecoveryEnded,
    /// The retransmission timer fired with data outstanding.
    TimedOut,
    /// Everything written and the FIN, if asked for, was acknowledged.
    AllAcknowledged,
    /// Both directions are closed.
    Closed,
    /// The peer reset the connection, or it was given up.
    Aborted,
}

/// The sender's state as figures and metrics want it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Who governs the window.
    pub phase: Phase,
    /// The window in force: the plan's, or recovery's while a loss is repaired.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The estimate of bytes in the network: sent, less delivered, less lost, plus retransmitted.
    pub in_flight: Bytes,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The newest round-trip sample.
    pub latest_rtt: Option<Span>,
    /// The least round-trip sample.
    pub min_rtt: Option<Span>,
    /// Whether a loss episode is being repaired.
    pub recovering: bool,
    /// First stream byte not cumulatively acknowledged.
    pub una: u64,
    /// Next new stream byte to send.
    pub nxt: u64,
}

/// Counters of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that carried nothing but data sent before.
    pub retransmissions: u64,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Reductions found spurious and undone.
    pub undone: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Pure ACKs sent.
    pub acks_sent: u64,
}

/// One side of a connection. `S`, `R` and `A` are its start-up scheme, restart policy and avoidance law.
#[derive(Clone, Debug)]
pub struct Endpoint<S, R, A> {
    controller: Controller<S, R, A>,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// An endpoint that has done nothing yet.
    pub fn new(role: Role, config: &Config, controller: Controller<S, R, A>) -> Self {
        let _ = (role, config);
        Self { controller }
    }

    /// Starts the connection: the client's SYN becomes ready to transmit.
    pub fn open(&mut self, now: Time) {
        let _ = now;
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// The application takes up to `bytes` that are in order; how many it got.
    pub fn read(&mut self, bytes: u64) -> u64 {
        bytes
    }

    /// The application will write no more: a FIN follows the data.
    pub fn shut(&mut self) {}

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let _ = (now, segment);
    }

    /// The instant of [`Endpoint::next_timer`] has come. Early calls do nothing.
    pub fn on_timer(&mut self, now: Time) {
        let _ = now;
    }

    /// The next segment that may leave at `now`, if any. Call until it gives none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let _ = now;
        None
    }

    /// When to call [`Endpoint::on_timer`] next, whether or not anything arrives.
    pub fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The oldest happening not yet taken.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        None
    }

    /// The sender's state.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.controller.phase(),
            cwnd: Bytes::ZERO,
            ssthresh: None,
            in_flight: Bytes::ZERO,
            srtt: None,
            latest_rtt: None,
            min_rtt: None,
            recovering: false,
            una: 0,
            nxt: 0,
        }
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats::default()
    }
}
