//! Processes the received segments of an open connection, and creates the segments to send.

use firstflight::{Avoidance, Span, Startup, Time};

use crate::clock;
use crate::receiver::Incoming;
use crate::segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
use crate::sender::{AckInput, Outgoing};
use crate::seq;

use super::sack_memory::{SackMemory, only_first_is_new};
use super::{Endpoint, State};

/// Minimum time between two challenge ACKs of a connection, as in Linux (`tcp_invalid_ratelimit`). RFC 5961 section 7 requires a rate limit
/// and gives ten in five seconds as an example.
const CHALLENGES_APART: Span = Span::from_millis(500);
/// How long a stored timestamp can be compared with others: slightly less than half the range of a clock that ticks once per millisecond
/// (RFC 7323 section 5.5).
const TIMESTAMPS_LAST: Span = Span::from_secs(24 * 24 * 3_600);

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    pub(super) fn on_established_segment(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let next = self.receiver.next();
        let ahead = seq::distance(self.peer.initial, segment.seq, next);
        if flags.has(Flags::RST) {
            // RFC 5961 section 3.2: a RST resets the connection only if it has exactly the next sequence number. Elsewhere in the window it
            // triggers a challenge ACK. Outside the window it is dropped.
            if ahead == 0 {
                self.abort();
            } else if self.is_inside(ahead) {
                self.challenge(now);
            }
            return;
        }
        if flags.has(Flags::SYN) {
            // A repeated SYN shows that the peer did not get the SYN-ACK.
            let again = self.state == State::SynReceived && segment.seq == self.peer.initial;
            if again && flags.has(Flags::ACK) && seq::distance(self.initial_sequence, segment.ack, 0) == 0 {
                // This SYN-ACK completes a simultaneous open.
                self.establish(now, segment);
                self.receiver.acknowledge_now();
            } else if again && !flags.has(Flags::ACK) {
                self.handshake.answer_again();
            } else {
                // RFC 5961 section 4.2: a SYN with any sequence number is answered with a challenge ACK.
                self.challenge(now);
            }
            return;
        }
        if !flags.has(Flags::ACK) {
            return;
        }
        if self.is_too_old(now, segment) {
            self.refuse(now, segment);
            return;
        }
        let initial = self.initial_sequence;
        if self.state == State::SynReceived {
            // Only the SYN was sent, so only one acknowledgement number is acceptable.
            if !self.is_inside(ahead) {
                return;
            }
            if seq::distance(initial, segment.ack, 0) != 0 {
                self.refused_ack = Some(segment.ack);
                return;
            }
            self.establish(now, segment);
        }
        // RFC 9293 section 3.10.7.4: a segment that lies completely outside the window is answered with an ACK, and its own ACK is ignored.
        // If its data arrived before, it is processed further, to be reported as a duplicate.
        let length = i64::from(segment.sequence_length());
        let beyond = ahead > 0 && !self.is_inside(ahead);
        let before = ahead + length < 0 || length == 0 && ahead < 0;
        if beyond || before && length == 0 {
            self.refuse(now, segment);
            return;
        }
        self.on_request(segment);
        let start = seq::unwrap(self.peer.initial, segment.seq, next);
        // RFC 5961 section 5.2: if a segment's ACK is for data never sent, or too old for the largest window, the whole segment is dropped
        // and answered with a challenge ACK. An attacker who does not know what was sent therefore cannot inject data.
        if !before && !self.take_ack(now, segment, start) {
            self.challenge(now);
            return;
        }
        if !before {
            self.note_timestamp(now, segment);
        }
        if self.quick_start.waits() {
            self.on_answer(now, segment);
        }
        if length == 0 {
            return;
        }
        match start {
            Some(start) => {
                self.receiver.on_data(
                    now,
                    &Incoming {
                        start,
                        len: u64::from(segment.len),
                        fin: flags.has(Flags::FIN),
                        ce: self.options.ecn && segment.ecn == Ecn::Ce,
                        cwr: flags.has(Flags::CWR),
                        closing: self.sender.fin_sent(),
                    },
                );
            }
            None => self.refuse(now, segment),
        }
    }

    /// Checks whether a segment lies in the receive window. `ahead` is its distance from the next expected byte.
    fn is_inside(&self, ahead: i64) -> bool {
        (0..=i64::try_from(self.receiver.room()).unwrap_or(i64::MAX)).contains(&ahead)
    }

    /// Answers an unacceptable segment with an ACK (RFC 9293 section 3.10.7.4). Data is always answered, because its sender lacks an ACK. A
    /// segment without data may itself be an answer to an ACK, so the rate of these answers is limited. Otherwise two endpoints that refuse
    /// each other's ACKs would never stop.
    fn refuse(&mut self, now: Time, segment: &Segment) {
        if segment.sequence_length() > 0 {
            self.receiver.acknowledge_now();
        } else {
            self.challenge(now);
        }
    }

    /// Sends the challenge ACK of RFC 5961, unless one was sent recently (section 7).
    fn challenge(&mut self, now: Time) {
        if self.challenged_at.is_none_or(|last| now.since(last) >= CHALLENGES_APART) {
            self.challenged_at = Some(now);
            self.receiver.acknowledge_now();
        }
    }

    /// Stores the timestamp of a segment that the next ACK acknowledges. The ACK echoes it (RFC 7323 section 4.3).
    pub(super) fn note_timestamp(&mut self, now: Time, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps
            && seq::distance(self.peer.initial, segment.seq, self.last_ack_sent) <= 0
        {
            self.recent_timestamp = timestamps.value;
            self.stamped_at = now;
        }
    }

    /// Checks whether a segment's timestamp shows that it is an old duplicate (PAWS, RFC 7323 section 5). If the stored timestamp was
    /// received too long ago, it may have wrapped, and the result is false (section 5.5).
    pub(super) fn is_too_old(&self, now: Time, segment: &Segment) -> bool {
        let is_older =
            |timestamps: Timestamps| timestamps.value.wrapping_sub(self.recent_timestamp) > u32::MAX / 2;
        self.options.timestamps
            && segment.timestamps.is_some_and(is_older)
            && now.since(self.stamped_at) <= TIMESTAMPS_LAST
    }

    pub(super) fn offered_window(&self, segment: &Segment) -> u64 {
        u64::from(segment.window) << self.peer.scale
    }

    /// Processes the acknowledgement of a segment that begins at the stream offset `start`. Returns false, without changing anything, if it
    /// is not acceptable.
    fn take_ack(&mut self, now: Time, segment: &Segment, start: Option<u64>) -> bool {
        let initial = self.initial_sequence;
        let una = self.sender.una();
        // RFC 5961 section 5.2: `SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT`. The lower bound is at least the stream's beginning.
        let acceptable = una.saturating_sub(self.largest_window)..=self.sender.nxt();
        let Some(ack) = seq::unwrap(initial, segment.ack, una).filter(|ack| acceptable.contains(ack)) else {
            return false;
        };
        let offered = self.offered_window(segment);
        self.largest_window = self.largest_window.max(offered);
        // RFC 9293 section 3.10.7.4: if a segment was sent before one that was already processed, its window is old and not used. As in
        // Linux, an ACK of more data is assumed to be sent later, wherever its segment begins (`tcp_may_update_window`). The segment may
        // begin before the stream, as a keep-alive does until there is data, because the window is counted from the segment's ACK.
        let start = start.unwrap_or(0);
        let window = if ack > una || ack == una && start >= self.newest_start {
            self.newest_start = start;
            offered
        } else {
            self.sender.window_offered()
        };
        let mut input = AckInput {
            ack,
            window,
            blocks: &[],
            dsack: None,
            carries_data: segment.sequence_length() > 0,
            ece: segment.flags.has(Flags::ECE),
            echo: segment.timestamps.filter(|_| self.options.timestamps).map(|timestamps| timestamps.echo),
        };
        if !self.options.sack || segment.sack_count == 0 {
            return self.sender.on_ack(now, &input);
        }
        let blocks = segment.sack_blocks();
        let before = self.sack_memory.of(una, self.sender.keeps_blocks());
        let mut all = core::array::from_fn(|i| blocks.get(i).copied().unwrap_or_default());
        let unclear = if only_first_is_new(blocks, before) { 1 } else { blocks.len() };
        let mut fresh = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        let offsets = |block: &SackBlock| {
            Some((seq::unwrap(initial, block.start, una)?, seq::unwrap(initial, block.end, una)?))
        };
        for (i, block) in blocks[..unclear].iter().enumerate() {
            if i > 0 && (*block == before[i] || *block == before[i - 1]) {
                continue;
            }
            all[i] = SackBlock::default();
            let Some((start, end)) = offsets(block).filter(|(start, end)| start < end) else { continue };
            if end > self.sender.nxt() {
                continue;
            }
            // RFC 2883 section 4: the first block reports a duplicate if it is below the cumulative ACK or within the second block.
            let within_second =
                || blocks.get(1).and_then(offsets).is_some_and(|(low, high)| low <= start && end <= high);
            if i == 0 && (end <= ack || within_second()) {
                input.dsack = Some((start, end));
                continue;
            }
            all[i] = *block;
            fresh[count] = (start, end);
            count += 1;
        }
        if count > 1 {
            fresh[..count].sort_unstable();
        }
        input.blocks = &fresh[..count];
        let acceptable = self.sender.on_ack(now, &input);
        // The blocks of an old ACK were not processed, so they are not stored.
        if acceptable && ack >= una {
            self.sack_memory = SackMemory { blocks: all, una };
        }
        acceptable
    }

    #[inline]
    pub(super) fn header(&mut self, now: Time, start: u64, place: &mut Segment) {
        let window = self.receiver.window();
        self.last_ack_sent = self.receiver.next();
        let mut flags = Flags::ACK;
        if self.options.ecn && self.receiver.ece() {
            flags = flags.with(Flags::ECE);
        }
        *place = Segment {
            seq: seq::wrap(self.initial_sequence, start),
            ack: seq::wrap(self.peer.initial, self.receiver.next()),
            window,
            flags,
            timestamps: self
                .options
                .timestamps
                .then(|| Timestamps { value: clock::stamp(now), echo: self.recent_timestamp }),
            ..Segment::default()
        };
    }

    pub(super) fn data_segment(&mut self, now: Time, outgoing: &Outgoing, place: &mut Segment) {
        self.header(now, outgoing.start, place);
        place.len = outgoing.len;
        if outgoing.fin {
            place.flags = place.flags.with(Flags::FIN);
            self.closed_first |= !self.receiver.fin_arrived();
        }
        if outgoing.push {
            place.flags = place.flags.with(Flags::PSH);
        }
        if outgoing.cwr {
            place.flags = place.flags.with(Flags::CWR);
        }
        // RFC 3168 section 6.1.5: retransmissions are not marked as ECN-capable.
        if self.options.ecn && !outgoing.sent.retransmission {
            place.ecn = Ecn::Ect0;
        }
        if self.sender.asks() && outgoing.len > 0 && !outgoing.sent.retransmission {
            place.quick_start.set_ip(self.request(now, outgoing.start + u64::from(outgoing.len)));
        }
        if self.quick_start.owes_response() {
            place.quick_start.set_response(self.quick_start.take_response());
        }
        self.receiver.acknowledged_with_data();
    }

    #[inline(never)]
    pub(super) fn pure_ack(&mut self, now: Time, place: &mut Segment) {
        self.acks_sent += 1;
        self.ack_segment(now, place);
    }

    #[inline]
    pub(super) fn ack_segment(&mut self, now: Time, place: &mut Segment) {
        self.header(now, self.sender.nxt(), place);
        if self.receiver.has_blocks() || self.quick_start.owes_response() {
            self.add_blocks(place);
        }
        self.receiver.acknowledged();
    }

    #[cold]
    fn add_blocks(&mut self, place: &mut Segment) {
        let responds = self.quick_start.owes_response();
        if responds {
            place.quick_start.set_response(self.quick_start.take_response());
        }
        // A header has room for four blocks, or for three blocks and one other option.
        let others = usize::from(self.options.timestamps) + usize::from(responds);
        let limit = MAX_SACK_BLOCKS - others;
        self.put_blocks(limit, place);
    }

    /// Writes at most `limit` SACK blocks to a segment.
    #[inline]
    pub(super) fn put_blocks(&mut self, limit: usize, place: &mut Segment) {
        let (initial, slots) = (self.peer.initial, &mut place.sack);
        let count = self.receiver.take_blocks(limit, |i, (start, end)| {
            slots[i] = SackBlock { start: seq::wrap(initial, start), end: seq::wrap(initial, end) };
        });
        place.sack_count = u8::try_from(count).unwrap_or(0);
    }
}
