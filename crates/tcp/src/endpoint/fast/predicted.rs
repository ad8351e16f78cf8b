//! Header prediction (Jacobson 1990, and every kernel since 4.3BSD-Reno): the segment that is expected is data, or the
//! acknowledgement of what is outstanding, without anything else to say. What is done with it, and what leaves for it, is what
//! would be done without prediction.

use firstflight::{Avoidance, Startup, Time};

use crate::receiver::Incoming;
use crate::segment::{Ecn, Flags, MAX_SACK_BLOCKS, Segment};
use crate::sender::NextData;
use crate::seq;

use super::NextSegment;
use crate::endpoint::{Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Whether segments may be predicted: the connection is open, our FIN is not acknowledged, the sender is calm, and nothing
    /// is due of the handshake, of Quick-Start or of a closed window.
    fn is_smooth(&self) -> bool {
        self.state == State::Open
            && !(self.handshake.due | self.handshake.window_due | self.probe_window | self.all_acknowledged)
            && self.quick_start.is_idle()
            && self.sender.is_calm()
    }

    /// Looks whether segments may be predicted from now on, and keeps the answer. To be called while they may not. During a
    /// fast recovery the question is whether [`Endpoint::is_mending`].
    #[inline]
    pub(in crate::endpoint) fn turns_smooth(&mut self) -> bool {
        if !self.mending {
            self.look_closer();
        }
        self.smooth
    }

    #[inline(never)]
    fn look_closer(&mut self) {
        if self.sender.recovering() {
            self.mending = self.is_mending();
        } else {
            self.smooth = self.is_smooth();
        }
    }

    /// Forgets what is known of the next segment.
    #[inline]
    pub(in crate::endpoint) fn takes_a_closer_look(&mut self) {
        (self.smooth, self.mending) = (false, false);
    }

    /// Takes in a segment if it was predicted, and says whether it was. If not, nothing was done that the longer way does not
    /// do again.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub(in crate::endpoint) fn on_predicted_segment(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.is_smooth(), "nothing else is predicted");
        let plain = segment.flags == Flags::ACK
            && segment.sack_count == 0
            && segment.quick_start.is_empty()
            && segment.ecn != Ecn::Ce;
        if !plain {
            false
        } else if segment.timestamps.is_none() {
            self.on_plain_segment(now, segment)
        } else {
            self.on_stamped_segment(now, segment)
        }
    }

    /// Takes in a predicted segment with timestamps. They are heard if the rest of the segment is as predicted.
    #[inline(never)]
    fn on_stamped_segment(&mut self, now: Time, segment: &Segment) -> bool {
        if self.ahead(segment).is_none() || self.is_too_old(now, segment) {
            return false;
        }
        let heard = self.on_plain_segment(now, segment);
        if heard {
            self.note_timestamp(now, segment);
        }
        heard
    }

    /// How far beyond the next byte expected a segment starts, if that is in the window.
    fn ahead(&self, segment: &Segment) -> Option<u64> {
        let ahead = seq::distance(self.peer.initial, segment.seq, self.receiver.next());
        u64::try_from(ahead).ok().filter(|ahead| *ahead <= self.receiver.room())
    }

    /// Takes in a predicted segment, its timestamps aside.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "timestamps are looked at in a way of their own")]
    fn on_plain_segment(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let is_next = segment.seq == seq::wrap(self.peer.initial, next);
        let una = self.sender.una();
        let advance = segment.ack.wrapping_sub(seq::wrap(self.initial_sequence, una));
        let window = self.offered_window(segment);
        let len = u64::from(segment.len);
        if len > 0 {
            if advance != 0 || !self.sender.is_window(window) {
                return false;
            }
            if !is_next || !self.receiver.takes_next(len) {
                return self.on_data_around_a_hole(now, segment);
            }
            self.newest_start = self.newest_start.max(next);
            self.sender.on_no_news(now);
            self.receiver.take_next(now, len);
            return true;
        }
        let ack = una + u64::from(advance);
        if !is_next || !self.sender.may_expect_of_data(ack) {
            return false;
        }
        self.newest_start = next;
        self.largest_window = self.largest_window.max(window);
        self.sender.on_expected_ack(now, ack, window);
        true
    }

    /// Takes in data that leaves or fills a hole, if the data is inside the window; says whether it is.
    #[inline(never)]
    fn on_data_around_a_hole(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(ahead) = self.ahead(segment) else { return false };
        self.sender.on_no_news(now);
        let (start, len) = (self.receiver.next() + ahead, u64::from(segment.len));
        self.newest_start = self.newest_start.max(start);
        let plain = Incoming { start, len, fin: false, ce: false, cwr: false, closing: false };
        self.receiver.on_data(now, &plain);
        true
    }

    /// [`super::Fast::ready`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub(in crate::endpoint) fn ready(&mut self) -> NextSegment {
        if self.smooth {
            match self.sender.next_data() {
                NextData::Full => return NextSegment::Full,
                NextData::Nothing(_) if self.receiver.ack_due() => return NextSegment::Ack,
                NextData::Nothing(_) => return NextSegment::Nothing,
                NextData::Unclear => self.smooth = false,
            }
        }
        NextSegment::Other
    }

    /// [`super::Fast::full_segment`].
    #[inline(never)]
    pub(in crate::endpoint) fn full_segment(&mut self, now: Time, place: &mut Segment) -> (u32, bool) {
        debug_assert!(self.smooth && self.sender.peek_data() == NextData::Full, "only what may leave does");
        // All that may lead elsewhere is asked before anything is done.
        if self.is_plain() && self.receiver.is_settled() && self.sender.sends_as_usual() {
            let (start, len) = (self.sender.nxt(), self.sender.full_length());
            self.plain_header(start, len, place);
            (Segment::PLAIN_LENGTH + u32::from(len), self.sender.send_usual(now))
        } else {
            self.any_full_segment(now, place)
        }
    }

    #[inline(never)]
    fn any_full_segment(&mut self, now: Time, place: &mut Segment) -> (u32, bool) {
        let (start, len) = (self.sender.nxt(), self.sender.full_length());
        let ip_length = if self.is_plain() {
            self.plain_header(start, len, place);
            Segment::PLAIN_LENGTH + u32::from(len)
        } else {
            self.header(now, start, place);
            place.len = len;
            if self.options.ecn {
                place.ecn = Ecn::Ect0;
            }
            place.ip_length()
        };
        debug_assert_eq!(ip_length, place.ip_length(), "it has no options but timestamps");
        self.receiver.acknowledged_with_data();
        let last = self.sender.send_full(now);
        (ip_length, last && !self.receiver.ack_due())
    }

    /// [`super::Fast::pure_ack`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub(in crate::endpoint) fn predicted_ack(&mut self, now: Time, place: &mut Segment) -> u32 {
        let ip_length = if self.is_plain() && !self.receiver.has_blocks() {
            self.plain_ack(place);
            Segment::PLAIN_LENGTH
        } else {
            self.ack_with_options(now, place)
        };
        debug_assert_eq!(ip_length, place.ip_length(), "nothing of Quick-Start is to be said");
        ip_length
    }

    /// Whether neither timestamps nor ECN were agreed on. Headers then have no options but SACK blocks, and no flags but ACK.
    #[inline]
    pub(in crate::endpoint) fn is_plain(&self) -> bool {
        !(self.options.timestamps | self.options.ecn)
    }

    /// [`Endpoint::header`] of a segment of `len` bytes, if [`Endpoint::is_plain`].
    #[inline]
    pub(in crate::endpoint) fn plain_header(&mut self, start: u64, len: u16, place: &mut Segment) {
        let window = self.receiver.window();
        let next = self.receiver.next();
        self.last_ack_sent = next;
        *place = Segment {
            seq: seq::wrap(self.initial_sequence, start),
            ack: seq::wrap(self.peer.initial, next),
            len,
            window,
            flags: Flags::ACK,
            ..Segment::default()
        };
    }

    /// [`Endpoint::pure_ack`], if [`Endpoint::is_plain`] and there is nothing to say of SACK blocks or of Quick-Start.
    #[inline]
    fn plain_ack(&mut self, place: &mut Segment) {
        self.acks_sent += 1;
        self.plain_header(self.sender.nxt(), 0, place);
        self.receiver.acknowledged();
    }

    /// Writes an ACK with timestamps or SACK blocks. Gives its [`Segment::ip_length`].
    #[inline(never)]
    fn ack_with_options(&mut self, now: Time, place: &mut Segment) -> u32 {
        if self.is_plain() {
            self.plain_ack(place);
            self.put_blocks(MAX_SACK_BLOCKS, place);
            Segment::PLAIN_LENGTH + place.sack_length()
        } else {
            self.pure_ack(now, place);
            place.ip_length()
        }
    }
}

#[cfg(test)]
mod tests;
