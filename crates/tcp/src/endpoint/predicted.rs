//! The segment that is expected: data, or the acknowledgement of what is outstanding, without anything else to
//! say (header prediction: Jacobson 1990, and every kernel since 4.3BSD-Reno). What is done with it, and what leaves for
//! it, is what would be done without prediction.

use firstflight::{Avoidance, Startup, Time};

use crate::receiver::Incoming;
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
        let plain = segment.flags == Flags::ACK
            && segment.sack_count == 0
            && segment.quick_start.is_empty()
            && segment.ecn != Ecn::Ce;
        if !plain {
            return false;
        }
        let is_next = segment.seq == seq::wrap(self.peer.initial, self.receiver.next());
        let una = self.sender.una();
        let ahead = segment.ack.wrapping_sub(seq::wrap(self.offer.initial_sequence, una));
        let window = self.offered_window(segment);
        if segment.len > 0 {
            let no_news = ahead == 0 && self.sender.is_window(window);
            let in_order = is_next && (segment.timestamps.is_none() || self.passes_in_time(segment));
            let expected = no_news
                && (in_order && self.receiver.on_next(now, u64::from(segment.len))
                    || self.on_data_around_a_hole(now, segment));
            if expected {
                self.sender.on_no_news(now);
            }
            return expected;
        }
        let ack = una + u64::from(ahead);
        let expected = is_next && self.sender.may_expect(ack);
        if !expected || segment.timestamps.is_some() && !self.passes_in_time(segment) {
            return false;
        }
        self.largest_window = self.largest_window.max(window);
        self.sender.on_expected_ack(now, ack, window);
        true
    }

    /// Takes in data inside the window that is not the next, or is and fills a hole; says whether it is inside.
    #[inline(never)]
    fn on_data_around_a_hole(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let ahead = seq::distance(self.peer.initial, segment.seq, next);
        let Ok(ahead) = u64::try_from(ahead) else { return false };
        let inside = ahead <= self.receiver.room();
        if !inside || segment.timestamps.is_some() && !self.passes_in_time(segment) {
            return false;
        }
        let (start, len) = (next + ahead, u64::from(segment.len));
        let plain = Incoming { start, len, fin: false, ce: false, cwr: false, closing: false };
        self.receiver.on_data(now, &plain);
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
        let full = self.sender.send_full(now);
        self.header(now, full.start, place);
        place.len = full.len;
        let ip_length = self.plain_length() + u32::from(full.len);
        debug_assert_eq!(ip_length, place.ip_length(), "it has no options but timestamps");
        if self.sender.ecn() {
            place.ecn = Ecn::Ect0;
        }
        self.receiver.acknowledged_with_data();
        Departure { sent: Some(full.sent), last: full.last && !self.receiver.ack_due(), ip_length }
    }

    /// The IP bytes of a segment without data, SACK blocks and Quick-Start.
    #[inline]
    pub(super) fn plain_length(&self) -> u32 {
        Segment::plain_length(self.options.timestamps)
    }
}
