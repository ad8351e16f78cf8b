//! Header prediction (Jacobson 1990, and every kernel since 4.3BSD-Reno). The expected segment is data, or the acknowledgement of
//! outstanding data, without other information. It is processed with the same result as on the full path, and releases the same segments.

use firstflight::{Avoidance, Startup, Time};

use crate::receiver::Incoming;
use crate::segment::{Ecn, Flags, MAX_SACK_BLOCKS, Segment};
use crate::sender::NextData;
use crate::seq;

use super::NextSegment;
use crate::endpoint::{Endpoint, State};

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Checks whether header prediction may be used. The connection must be open, the FIN of this side not acknowledged, and the sender
    /// calm (nothing to repair). No segment of the handshake, of Quick-Start or of a zero-window probe may be due.
    fn can_predict(&self) -> bool {
        self.state == State::Open
            && !(self.handshake.due | self.handshake.window_due | self.probe_window | self.all_acknowledged)
            && self.quick_start.is_idle()
            && self.sender.fast_path_ok()
    }

    /// Checks whether header prediction may be used from now on, and stores the result in `predicting`. To be called while `predicting` is
    /// false. During a fast recovery, checks [`Endpoint::is_in_repair`] and stores that result instead.
    #[inline]
    pub(in crate::endpoint) fn enter_fast_path(&mut self) -> bool {
        if !self.in_repair {
            self.look_closer();
        }
        self.predicting
    }

    #[inline(never)]
    fn look_closer(&mut self) {
        if self.sender.recovering() {
            self.in_repair = self.is_in_repair();
        } else {
            self.predicting = self.can_predict();
        }
    }

    /// Discards the stored results `predicting` and `in_repair`.
    #[inline]
    pub(in crate::endpoint) fn leave_fast_path(&mut self) {
        (self.predicting, self.in_repair) = (false, false);
    }

    /// Processes a segment if header prediction can. Returns false if it cannot. In this case the full path repeats everything that was
    /// changed here.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub(in crate::endpoint) fn on_predicted_segment(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.can_predict(), "nothing else is predicted");
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

    /// Processes a predicted segment with timestamps. Stores the timestamps only if the rest of the segment is as predicted.
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

    /// Returns how many bytes after the next expected byte a segment starts. Returns `None` if it does not start in the window.
    fn ahead(&self, segment: &Segment) -> Option<u64> {
        let ahead = seq::distance(self.peer.initial, segment.seq, self.receiver.next());
        u64::try_from(ahead).ok().filter(|ahead| *ahead <= self.receiver.room())
    }

    /// Processes the parts of a predicted segment other than its timestamps.
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

    /// Processes data that creates or fills a hole. Returns false if the data is outside the window; nothing is then changed.
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

    /// Implements [`super::Fast::ready`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub(in crate::endpoint) fn ready(&mut self) -> NextSegment {
        if self.predicting {
            match self.sender.next_data() {
                NextData::Full => return NextSegment::Full,
                NextData::Nothing(_) if self.receiver.ack_due() => return NextSegment::Ack,
                NextData::Nothing(_) => return NextSegment::Nothing,
                NextData::Unclear => self.predicting = false,
            }
        }
        NextSegment::Other
    }

    /// Implements [`super::Fast::full_segment`].
    #[inline(never)]
    pub(in crate::endpoint) fn full_segment(&mut self, now: Time, place: &mut Segment) -> (u32, bool) {
        debug_assert!(
            self.predicting && self.sender.peek_data() == NextData::Full,
            "only what may leave does"
        );
        // All conditions are checked before anything is changed.
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

    /// Implements [`super::Fast::pure_ack`].
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

    /// Checks whether the connection uses neither timestamps nor ECN. Headers then have no options except SACK blocks, and no flags except
    /// ACK.
    #[inline]
    pub(in crate::endpoint) fn is_plain(&self) -> bool {
        !(self.options.timestamps | self.options.ecn)
    }

    /// Writes the header of a segment of `len` bytes, as [`Endpoint::header`] does, if [`Endpoint::is_plain`].
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

    /// Writes an ACK, as [`Endpoint::pure_ack`] does, if [`Endpoint::is_plain`] and there are no SACK blocks and no Quick-Start option to
    /// send.
    #[inline]
    fn plain_ack(&mut self, place: &mut Segment) {
        self.acks_sent += 1;
        self.plain_header(self.sender.nxt(), 0, place);
        self.receiver.acknowledged();
    }

    /// Writes an ACK with timestamps or SACK blocks. Returns its [`Segment::ip_length`].
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
