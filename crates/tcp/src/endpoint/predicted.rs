//! The segment that is expected: the next data, or the acknowledgement of what is outstanding, without anything else to
//! say (header prediction: Jacobson 1990, and every kernel since 4.3BSD-Reno). What is done with it, and what leaves for
//! it, is what would be done without prediction.

use firstflight::{Avoidance, Startup, Time};

use crate::segment::{Ecn, Flags, Segment};
use crate::seq;

use super::{Departure, Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Whether the connection is open, our FIN was not sent, nothing of the handshake, of Quick-Start or of a closed window
    /// is to be seen to, and the sender is calm.
    pub(super) fn is_smooth(&self) -> bool {
        self.state == State::Open
            && !(self.handshake.due | self.handshake.window_due | self.probe_window | self.all_acknowledged)
            && !self.sender.fin_sent()
            && self.quick_start.is_idle()
            && self.sender.is_calm()
    }

    /// Takes in a segment that was predicted; says whether it was, else nothing was done that the longer way does not do
    /// again.
    #[inline]
    pub(super) fn on_predicted_segment(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.is_smooth(), "nothing else is predicted");
        let predicted = segment.flags == Flags::ACK
            && segment.seq == seq::wrap(self.peer.initial, self.receiver.next())
            && segment.sack_count == 0
            && segment.quick_start.is_empty()
            && segment.ecn != Ecn::Ce
            && (segment.timestamps.is_none() || self.passes_in_time(segment));
        if !predicted {
            return false;
        }
        let una = self.sender.una();
        let ahead = segment.ack.wrapping_sub(seq::wrap(self.offer.initial_sequence, una));
        let ack = una + u64::from(ahead);
        let window = self.offered_window(segment);
        if segment.len > 0 {
            if !self.sender.is_no_news(ack, window) || !self.receiver.on_next(now, u64::from(segment.len)) {
                return false;
            }
            self.sender.on_no_news(now);
        } else {
            if ack == una || ack > self.sender.nxt() {
                return false;
            }
            self.sender.on_expected_ack(now, ack, window);
        }
        self.largest_window = self.largest_window.max(window);
        true
    }

    /// Whether a segment's timestamps are as expected, too; then they are heard, and may be again.
    #[inline(never)]
    fn passes_in_time(&mut self, segment: &Segment) -> bool {
        let passes = !self.is_too_old(segment);
        if passes {
            self.note_timestamp(segment);
        }
        passes
    }

    /// A full segment of new data leaves.
    #[inline(never)]
    pub(super) fn full_segment(&mut self, now: Time, place: &mut Segment) -> Departure {
        let (start, sent) = self.sender.send_full(now);
        self.header(now, start, place);
        place.len = u16::try_from(sent.bytes.get()).unwrap_or(u16::MAX);
        if self.sender.ecn() {
            place.ecn = Ecn::Ect0;
        }
        if !self.receiver.has_blocks() {
            self.receiver.acknowledged();
        }
        Departure { sent: Some(sent) }
    }
}
