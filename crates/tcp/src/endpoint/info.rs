//! What an endpoint tells of itself, as Linux's `TCP_INFO` does.

use firstflight::{Avoidance, Startup, Time};

use crate::info::{Info, Standing};
use crate::segment::{Flags, Segment};

use super::{Endpoint, State};

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

    /// How many segments of `size` bytes wait out of order beyond a sequence number.
    pub fn segments_beyond(&self, sequence: u32, size: u64) -> u64 {
        let next = self.receiver.next();
        crate::seq::unwrap(self.peer.initial, sequence, next)
            .map_or(0, |from| self.receiver.segments_beyond(from, size))
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

    /// Whether a train is leaving, packet by packet at its gap: its next departure is exact to what the host can.
    pub fn is_in_train(&self) -> bool {
        self.sender.is_in_train()
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
