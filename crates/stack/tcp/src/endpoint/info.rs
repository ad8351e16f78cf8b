//! The state that an endpoint reports, as Linux's `TCP_INFO` does.

use firstflight::{Avoidance, Startup, Time};

use crate::info::{Info, Status};
use crate::segment::{Flags, Segment};

use super::{Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Returns the state of the connection.
    pub fn status(&self) -> Status {
        match self.state {
            State::Closed | State::Listening => Status::Idle,
            State::SynSent | State::SynReceived => Status::Opening,
            State::Open if self.closed => Status::Closed,
            State::Open => Status::Open,
            State::Aborted => Status::Aborted,
        }
    }

    /// Returns detailed state of the connection, in Linux's units.
    pub fn info(&self) -> Info {
        Info { state: self.state_number(), received: self.receiver.received(), ..self.sender.info() }
    }

    /// Returns the number of segments of `size` bytes that arrived out of order above the sequence number `sequence`.
    pub fn segments_beyond(&self, sequence: u32, size: u64) -> u64 {
        let next = self.receiver.next();
        crate::seq::unwrap(self.peer.initial, sequence, next)
            .map_or(0, |from| self.receiver.segments_beyond(from, size))
    }

    /// Returns the number of bytes in order that the application has not read.
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Checks whether the peer's FIN arrived in order.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_arrived()
    }

    /// Returns the number of bytes that were written and are not acknowledged.
    pub fn queued(&self) -> u64 {
        self.sender.queued()
    }

    /// Checks whether a packet train is being sent. Its packets are sent at exact gaps, so the host should send the next one as exactly as
    /// it can.
    pub fn is_in_train(&self) -> bool {
        self.sender.is_in_train()
    }

    /// Returns the number of heap bytes that the connection uses, including events not yet taken. `docs/reference/laws.md` states their bound.
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

    /// Creates a RST segment (RFC 9293 section 3.10.5).
    pub(super) fn reset_segment(&mut self, now: Time) -> Segment {
        let mut segment = Segment::default();
        self.header(now, self.sender.nxt(), &mut segment);
        Segment { flags: Flags::RST.with(Flags::ACK), ..segment }
    }
}
