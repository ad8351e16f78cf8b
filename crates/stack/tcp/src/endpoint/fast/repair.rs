//! A fast path for ACKs that only continue a repair, and for the segments that they release. The repair of an overshoot takes thousands of
//! both. If this path can handle a segment, it leads to the same state as the full path.

use firstflight::{Avoidance, Startup, Time};

use crate::segment::{Flags, Segment};
use crate::sender::{NextRepair, Outgoing};
use crate::seq;

use super::RepairSegment;
use crate::endpoint::sack_memory::{SackMemory, only_first_is_new};
use crate::endpoint::{Endpoint, State};

/// The new information in the SACK blocks of an ACK.
enum News {
    /// The ACK has no blocks.
    None,
    /// The blocks are those of the previous ACK, so there is nothing to mark.
    Same,
    /// Only the first block is new. It is given in stream offsets.
    First((u64, u64)),
    /// This is not known here; only the full path can decide.
    Unclear,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Checks whether a repair with a fast path is in progress. The connection must be open, its headers must have no options, and no
    /// segment of the handshake, of Quick-Start or of a zero-window probe may be due. The last segment that set the window may not lie
    /// above a hole. ACKs that continue the repair, and the segments that they release, do not change these conditions.
    pub(in crate::endpoint) fn is_in_repair(&self) -> bool {
        self.state == State::Open
            && self.is_plain()
            && !(self.handshake.due | self.handshake.window_due | self.probe_window)
            && self.quick_start.is_idle()
            && self.newest_start <= self.receiver.next()
            && self.sender.mends()
    }

    /// Implements [`super::Fast::repair_segment`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet of a repair, and from one place of a host")]
    pub(in crate::endpoint) fn repair_segment(&mut self, now: Time, place: &mut Segment) -> RepairSegment {
        if !self.in_repair || self.sender.asks() || self.receiver.ack_due() {
            return RepairSegment::Other;
        }
        debug_assert!(self.is_in_repair(), "whatever ends it says so");
        match self.sender.poll_in_repair(now) {
            NextRepair::Leaves(Outgoing { start, len, sent, .. }) => {
                self.plain_header(start, len, place);
                self.receiver.acknowledged_with_data();
                RepairSegment::Leaves(sent, Segment::PLAIN_LENGTH + u32::from(len))
            }
            NextRepair::Nothing => RepairSegment::Nothing,
            NextRepair::Unclear => RepairSegment::Other,
        }
    }

    /// Implements [`Endpoint::needs_no_waking_before`] for the time in which losses are repaired.
    #[inline(never)]
    pub(in crate::endpoint) fn needs_no_waking_in_repair_before(&self, at: Option<Time>) -> bool {
        self.in_repair && self.receiver.timer().is_none() && self.sender.needs_no_waking_in_repair_before(at)
    }

    /// Processes an ACK if it only continues a repair. Returns false if it does not; nothing is then changed.
    #[inline]
    pub(in crate::endpoint) fn on_ack_in_repair(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.is_in_repair(), "whatever ends it says so");
        let next = self.receiver.next();
        let plain = segment.flags == Flags::ACK
            && segment.len == 0
            && segment.timestamps.is_none()
            && segment.quick_start.is_empty()
            && segment.seq == seq::wrap(self.peer.initial, next);
        let una = self.sender.una();
        let advance = segment.ack.wrapping_sub(seq::wrap(self.initial_sequence, una));
        let ack = una + u64::from(advance);
        if !plain || !self.sender.is_before_the_end(ack) {
            return false;
        }
        let news = self.news(segment, ack);
        let block = match &news {
            News::Unclear => return false,
            News::None | News::Same => &[],
            News::First(block) => core::slice::from_ref(block),
        };
        let window = self.offered_window(segment);
        self.newest_start = next;
        self.largest_window = self.largest_window.max(window);
        self.sender.on_ack_in_repair(now, ack, window, block);
        match news {
            News::None | News::Unclear => {}
            News::Same => self.sack_memory.una = una,
            News::First(_) => {
                let blocks = segment.sack_blocks();
                let blocks = core::array::from_fn(|i| blocks.get(i).copied().unwrap_or_default());
                self.sack_memory = SackMemory { blocks, una };
            }
        }
        // While a repair is in progress, some data is not acknowledged.
        self.all_acknowledged = false;
        true
    }

    /// Returns the new information in the SACK blocks of an ACK up to the stream offset `ack`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn news(&self, segment: &Segment, ack: u64) -> News {
        let blocks = segment.sack_blocks();
        let Some(first) = blocks.first() else { return News::None };
        let una = self.sender.una();
        let before = self.sack_memory.of(una, self.sender.keeps_blocks());
        // Repeated blocks may say something new if a segment was partly acknowledged: its rest may now lie completely within a block. This
        // is only possible if the block starts where the rest does.
        if segment.sack == *before
            && seq::distance(self.initial_sequence, first.start, ack) > 0
            && first.start != first.end
        {
            return News::Same;
        }
        if !only_first_is_new(blocks, before) {
            return News::Unclear;
        }
        let offset = |number: u32| seq::unwrap(self.initial_sequence, number, una);
        let (Some(start), Some(end)) = (offset(first.start), offset(first.end)) else { return News::Unclear };
        // RFC 2883 section 4: the first block reports a duplicate if it is below the cumulative ACK or within the second block.
        let within_second = blocks.get(1).is_some_and(|second| {
            offset(second.start).is_some_and(|low| low <= start)
                && offset(second.end).is_some_and(|high| end <= high)
        });
        if start >= end || end > self.sender.nxt() || end <= ack || within_second {
            News::Unclear
        } else {
            News::First((start, end))
        }
    }
}
