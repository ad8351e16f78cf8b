//! What an endpoint tells of itself, as Linux's `TCP_INFO` does.

use firstflight::{Avoidance, Bytes, Span, Startup, Time};

use crate::segment::{Flags, Segment};

use super::{Endpoint, State};

/// Where a connection stands, for whoever holds its socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nothing happened yet.
    Idle,
    /// The handshake is under way.
    Opening,
    /// Data may flow.
    Open,
    /// Both sides closed.
    Closed,
    /// Reset, or given up.
    Aborted,
}

/// The sender's trouble: Linux's `tcpi_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trouble {
    /// None.
    #[default]
    None,
    /// Something arrived out of order, and nothing is known to be lost.
    Disorder,
    /// The window is being reduced for a mark.
    Reduction,
    /// A fast recovery.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The state of a connection; segments are counted, where Linux counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Linux's number of the connection's state: 1 established, 2 SYN sent, 3 SYN received, 7 closed, 10 listening,
    /// and the closing states by RFC 9293's names.
    pub state: u8,
    /// What is being repaired.
    pub trouble: Trouble,
    /// Payload of a full segment.
    pub mss: u16,
    /// The window that governs sending.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The peer's window in bytes.
    pub send_window: u64,
    /// Segments sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Of those, selectively acknowledged.
    pub sacked: u64,
    /// Of those, found lost, sent again or not.
    pub lost: u64,
    /// Of those, sent again and in the network.
    pub resent: u64,
    /// Retransmissions in all.
    pub retransmissions: u64,
    /// Data segments sent in all.
    pub data_segments: u64,
    /// The degree of reordering, in segments.
    pub reordering: u64,
    /// How often reordering was seen.
    pub reorderings_seen: u64,
    /// Timeouts since the last new acknowledgement.
    pub timeouts_in_a_row: u64,
    /// How often the timeout was doubled.
    pub backoff: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// The smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Its variation.
    pub rtt_variation: Span,
    /// The least round-trip time.
    pub min_rtt: Option<Span>,
    /// Stream bytes acknowledged.
    pub acknowledged: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Stream bytes written and not sent.
    pub unsent: u64,
    /// Segments that the peer reported to have come twice.
    pub duplicates_reported: u64,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Where the connection stands.
    pub fn standing(&self) -> Standing {
        match self.state {
            State::Closed | State::Listening => Standing::Idle,
            State::SynSent | State::SynReceived => Standing::Opening,
            State::Open if self.closed => Standing::Closed,
            State::Open => Standing::Open,
            State::Aborted => Standing::Aborted,
        }
    }

    /// The state of the connection, counted as Linux does.
    pub fn info(&self) -> Info {
        Info { state: self.state_number(), received: self.receiver.received(), ..self.sender.info() }
    }

    /// Stream bytes in order that the application has not taken.
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Whether the peer's FIN arrived in order.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_arrived()
    }

    /// Stream bytes written and not acknowledged.
    pub fn queued(&self) -> u64 {
        self.sender.queued()
    }

    /// Bytes of the heap that the connection holds, happenings that nobody took included. `docs/laws.md` states their
    /// bound.
    pub fn memory(&self) -> usize {
        self.sender.memory() + self.receiver.memory()
    }

    fn state_number(&self) -> u8 {
        let (sent, done, theirs) =
            (self.sender.fin_sent(), self.sender.finished(), self.receiver.fin_arrived());
        match self.state {
            State::Closed | State::Aborted => 7,
            State::Listening => 10,
            State::SynSent => 2,
            State::SynReceived => 3,
            State::Open => match (sent, done, theirs) {
                (false, _, false) => 1,
                (false, _, true) => 8,
                (true, false, false) => 4,
                (true, true, false) => 5,
                (true, false, true) if self.closed_first => 11,
                (true, false, true) => 9,
                (true, true, true) if self.closed_first => 6,
                (true, true, true) => 7,
            },
        }
    }

    /// RFC 9293 section 3.10.5.
    pub(super) fn reset_segment(&mut self, now: Time) -> Segment {
        let mut segment = Segment::default();
        self.header(now, self.sender.nxt(), &mut segment);
        Segment { flags: Flags::RST.with(Flags::ACK), ..segment }
    }
}
