//! The ACK that only goes on with a repair, and the segment that leaves for it. An overshoot takes thousands of both to repair,
//! so they have a shorter way than other segments of an open connection. Where both ways can be taken they lead to the same
//! state.

use firstflight::{Avoidance, Startup, Time};

use crate::segment::{Flags, Segment};
use crate::sender::{NextRepair, Outgoing};
use crate::seq;

use super::RepairSegment;
use crate::endpoint::exchange::{SackMemory, only_first_is_new};
use crate::endpoint::{Endpoint, State};

/// What the SACK blocks of an ACK say.
enum News {
    /// There are none.
    None,
    /// The blocks are those of the ACK before, so that nothing is to be marked.
    Same,
    /// Only the first block is new; in stream offsets.
    First((u64, u64)),
    /// Only the longer way can tell.
    Unclear,
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Whether a repair is under way that has a fast way: the connection is open, its headers are without options, and nothing
    /// is due of the handshake, of Quick-Start, or of a closed window or one told of beyond a hole. ACKs that go on with the
    /// repair, and what leaves for them, leave it so.
    pub(in crate::endpoint) fn is_mending(&self) -> bool {
        self.state == State::Open
            && self.is_plain()
            && !(self.handshake.due | self.handshake.window_due | self.probe_window)
            && self.quick_start.is_idle()
            && self.newest_start <= self.receiver.next()
            && self.sender.mends()
    }

    /// [`super::Fast::repair_segment`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet of a repair, and from one place of a host")]
    pub(in crate::endpoint) fn repair_segment(&mut self, now: Time, place: &mut Segment) -> RepairSegment {
        if !self.mending || self.sender.asks() || self.receiver.ack_due() {
            return RepairSegment::Other;
        }
        debug_assert!(self.is_mending(), "whatever ends it says so");
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

    /// [`Endpoint::needs_no_waking_before`] while losses are repaired.
    #[inline(never)]
    pub(in crate::endpoint) fn needs_no_waking_in_repair_before(&self, at: Option<Time>) -> bool {
        self.mending && self.receiver.timer().is_none() && self.sender.needs_no_waking_in_repair_before(at)
    }

    /// Takes in an ACK if it only goes on with a repair, and says whether it did. If not, nothing was done.
    #[inline]
    pub(in crate::endpoint) fn on_ack_in_repair(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.is_mending(), "whatever ends it says so");
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
                let told = segment.sack_blocks();
                let blocks = core::array::from_fn(|i| told.get(i).copied().unwrap_or_default());
                self.sack_memory = SackMemory { blocks, una };
            }
        }
        // Not all is while something is repaired.
        self.all_acknowledged = false;
        true
    }

    /// What the SACK blocks of an ACK up to `ack` say.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place")]
    fn news(&self, segment: &Segment, ack: u64) -> News {
        let told = segment.sack_blocks();
        let Some(first) = told.first() else { return News::None };
        let una = self.sender.una();
        let before = self.sack_memory.of(una, self.sender.keeps_blocks());
        // What is left of a segment acknowledged in part may lie whole within a block only now, if that starts where it does.
        if segment.sack == *before
            && seq::distance(self.initial_sequence, first.start, ack) > 0
            && first.start != first.end
        {
            return News::Same;
        }
        if !only_first_is_new(told, before) {
            return News::Unclear;
        }
        let offset = |number: u32| seq::unwrap(self.initial_sequence, number, una);
        let (Some(start), Some(end)) = (offset(first.start), offset(first.end)) else { return News::Unclear };
        // RFC 2883 section 4: a duplicate lies below the cumulative ACK, or within the block that follows.
        let within_second = told.get(1).is_some_and(|second| {
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
