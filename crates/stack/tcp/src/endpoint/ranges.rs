//! Byte ranges: the position of a segment's payload in its stream, the part of it that is missing, and what may be read or freed. A host
//! that moves bytes needs them; a host that only counts bytes does not.

use core::ops::Range;

use firstflight::{Avoidance, Startup};

use crate::segment::{Flags, Segment};
use crate::seq;

use super::{Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Returns the stream offset of the payload of a segment that this side just sent.
    #[inline]
    pub(super) fn offset_of(&self, segment: &Segment) -> u64 {
        // A SYN has no payload.
        seq::unwrap(self.initial_sequence, segment.seq, self.sender.una()).unwrap_or(0)
    }

    /// Returns the range of the peer's stream that an arriving segment's payload covers. To be called before the segment is processed.
    /// Returns `None` before the peer's SYN and after a reset, when no payload is accepted.
    pub fn arriving_range(&self, segment: &Segment) -> Option<Range<u64>> {
        if !matches!(self.state, State::SynReceived | State::Open) || segment.flags.has(Flags::SYN) {
            return None;
        }
        let start = seq::unwrap(self.peer.initial, segment.seq, self.receiver.next())?;
        Some(start..start + u64::from(segment.len))
    }

    /// Returns the first part of `range` in the peer's stream that lies in the receive window and has not arrived. Returns `None` if there
    /// is none.
    pub fn missing(&self, range: Range<u64>) -> Option<Range<u64>> {
        let (start, end) = self.receiver.missing(range.start, range.end)?;
        Some(start..end)
    }

    /// Returns the range of the peer's stream that arrived in order and was not read.
    pub fn readable_range(&self) -> Range<u64> {
        let end = self.receiver.received();
        end - self.receiver.unread()..end
    }

    /// Returns the stream offset of the first byte that is not acknowledged (SND.UNA). No byte below it will be retransmitted. The FIN
    /// counts as one byte after the last.
    pub fn una(&self) -> u64 {
        self.sender.una()
    }

    /// Checks whether [`Endpoint::shut`] was called.
    pub(crate) fn is_shut(&self) -> bool {
        self.sender.is_shut()
    }

    /// Checks whether the FIN, and therefore all written data, was acknowledged.
    pub(crate) fn is_shut_acknowledged(&self) -> bool {
        self.sender.finished()
    }

    /// Checks whether this side sent its FIN before the peer's FIN arrived. If so, it waits in TIME-WAIT when both sides have closed (RFC
    /// 9293 section 3.6).
    pub fn closed_first(&self) -> bool {
        self.closed_first
    }
}
