//! Which bytes: where the payload of a segment lies in its stream, which part of it is wanted, and what may be read or let go.
//! A host that moves bytes asks; one that counts need not.

use core::ops::Range;

use firstflight::{Avoidance, Startup};

use crate::segment::{Flags, Segment};
use crate::seq;

use super::{Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Where the payload of a segment that left just now begins in the stream that this side writes.
    #[inline]
    pub(super) fn offset_of(&self, segment: &Segment) -> u64 {
        // A SYN has no payload.
        seq::unwrap(self.initial_sequence, segment.seq, self.sender.una()).unwrap_or(0)
    }

    /// Where the payload of a segment that arrives lies in the peer's stream, to be asked before the segment is heard. None if
    /// nothing of it can be taken: before the peer's SYN, and after a reset.
    pub fn arriving_range(&self, segment: &Segment) -> Option<Range<u64>> {
        if !matches!(self.state, State::SynReceived | State::Open) || segment.flags.has(Flags::SYN) {
            return None;
        }
        let start = seq::unwrap(self.peer.initial, segment.seq, self.receiver.next())?;
        Some(start..start + u64::from(segment.len))
    }

    /// The first part of a range of the peer's stream that lies in the receive window and did not arrive.
    pub fn missing(&self, range: Range<u64>) -> Option<Range<u64>> {
        let (start, end) = self.receiver.missing(range.start, range.end)?;
        Some(start..end)
    }

    /// What of the peer's stream is in order and was not read.
    pub fn readable_range(&self) -> Range<u64> {
        let end = self.receiver.received();
        end - self.receiver.unread()..end
    }

    /// The first byte of the stream that is not acknowledged (SND.UNA): no byte below will be sent again. The FIN counts as the
    /// byte after the last.
    pub fn una(&self) -> u64 {
        self.sender.una()
    }

    /// Whether [`Endpoint::shut`] was called.
    pub(crate) fn is_shut(&self) -> bool {
        self.sender.is_shut()
    }

    /// Whether the FIN was acknowledged, and with it all that was written.
    pub(crate) fn is_shut_acknowledged(&self) -> bool {
        self.sender.finished()
    }

    /// Whether the FIN of this side left before the peer's arrived: of a connection that both sides closed this side waits at
    /// the end (RFC 9293 section 3.6, TIME-WAIT).
    pub fn closed_first(&self) -> bool {
        self.closed_first
    }
}
