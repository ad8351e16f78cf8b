//! What a sender's log says, in one form for all stacks and schemas.

/// A packet number space (RFC 9000 section 12.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carries {
    /// Data of a stream, or a datagram.
    Data,
    /// Other frames that elicit an acknowledgement.
    Control,
    /// Unknown: the log lists no frames of packets.
    Unknown,
}

/// A packet that elicits an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The packet number space.
    pub space: Space,
    /// The packet number.
    pub number: u64,
    /// Time of its transmission, in nanoseconds since the connection's first event.
    pub sent_at: u64,
    /// Bytes of the packet, as the log states its length.
    pub bytes: u64,
    /// What it carries.
    pub carries: Carries,
}

/// The state of a congestion controller, as its log states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Slow start or another start-up.
    SlowStart,
    /// Recovery from a loss or a mark.
    Recovery,
    /// Neither of both: congestion avoidance, or the later phases of BBR.
    Avoidance,
    /// The application does not use the window.
    ApplicationLimited,
}

/// Values of a congestion controller; `None` for those that an event does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Metrics {
    /// The congestion window in bytes.
    pub window: Option<u64>,
    /// The slow-start threshold in bytes. A value above 2^40 is left out: stacks write the maximum of their integers if there is none.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
}

/// An event of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// A packet was sent.
    Sent(Packet),
    /// An ACK newly acknowledges these packets, in ascending order of their numbers.
    Acked {
        /// The packets; not empty.
        packets: &'a [Packet],
        /// Packets among them that the stack had declared lost.
        spurious: usize,
        /// Whether the ACK reports more congestion marks (ECN-CE) than the ACK before.
        is_marked: bool,
    },
    /// Packets were found lost, in ascending order of their numbers.
    Lost(&'a [Packet]),
    /// The controller's values changed.
    Metrics(Metrics),
    /// The controller's state changed, or a timeout prolonged it.
    State {
        /// The new state.
        state: State,
        /// Whether the log names persistent congestion or a timeout as the cause.
        is_timeout: bool,
        /// Whether the log names a congestion mark as the cause.
        is_mark: bool,
    },
    /// A probe timeout (RFC 9002 section 6.2) expired.
    TimedOut,
    /// The peer's or the own limit on the time of an acknowledgement: `max_ack_delay` in nanoseconds, from the peer.
    MaxAckDelay(u64),
    /// The connection was closed.
    Closed,
}
