//! The segments of an open connection: what arrives, and what leaves.

use firstflight::{Avoidance, Span, Startup, Time};

use crate::clock;
use crate::receiver::Incoming;
use crate::segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
use crate::sender::{AckInput, Outgoing};
use crate::seq;

use super::{Endpoint, State};

/// The least time between two challenge ACKs of a connection: Linux's (`tcp_invalid_ratelimit`). RFC 5961 section 7 wants them
/// throttled, for example to ten in five seconds.
const CHALLENGES_APART: Span = Span::from_millis(500);
/// How long a timestamp can be compared: little less than half the range of a clock that ticks once a millisecond (RFC 7323
/// section 5.5).
const TIMESTAMPS_LAST: Span = Span::from_secs(24 * 24 * 3_600);

/// The SACK blocks of the last ACK that had any, in its order. What lies in them is marked on the scoreboard. A block that was
/// not heeded is kept as an empty one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackMemory {
    pub(super) blocks: [SackBlock; MAX_SACK_BLOCKS],
    /// Up to where the stream was acknowledged then.
    pub(super) una: u64,
}

impl SackMemory {
    /// The blocks that say nothing new if an ACK repeats them while `una` is acknowledged. None if blocks are not `kept`, or if
    /// they are so old that their sequence numbers may have come round.
    pub(super) fn of(&self, una: u64, kept: bool) -> &[SackBlock; MAX_SACK_BLOCKS] {
        const NONE: &[SackBlock; MAX_SACK_BLOCKS] = &[SackBlock { start: 0, end: 0 }; MAX_SACK_BLOCKS];
        if kept && una - self.una < 1 << 30 { &self.blocks } else { NONE }
    }
}

/// Whether all blocks of an ACK but the first are repeated: each was on the ACK `before`, in the same place or in the one
/// before it. In most ACKs they are.
#[inline]
pub(super) fn only_first_is_new(told: &[SackBlock], before: &[SackBlock; MAX_SACK_BLOCKS]) -> bool {
    let stood =
        |places: usize| (1..MAX_SACK_BLOCKS).all(|i| told.get(i).is_none_or(|it| *it == before[i - places]));
    stood(0) || stood(1)
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    pub(super) fn on_established_segment(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let next = self.receiver.next();
        let ahead = seq::distance(self.peer.initial, segment.seq, next);
        if flags.has(Flags::RST) {
            // RFC 5961 section 3.2: only a reset at exactly the next sequence number counts; elsewhere in the window it is
            // answered, outside of it not.
            if ahead == 0 {
                self.abort();
            } else if self.is_inside(ahead) {
                self.challenge(now);
            }
            return;
        }
        if flags.has(Flags::SYN) {
            // A SYN again: the peer did not get our answer.
            let again = self.state == State::SynReceived && segment.seq == self.peer.initial;
            if again && flags.has(Flags::ACK) && seq::distance(self.initial_sequence, segment.ack, 0) == 0 {
                // The other half of a simultaneous open.
                self.establish(now, segment);
                self.receiver.acknowledge_now();
            } else if again && !flags.has(Flags::ACK) {
                self.handshake.answer_again();
            } else {
                // RFC 5961 section 4.2: whatever its sequence number.
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
            // Nothing but the SYN was sent, so there is one acceptable acknowledgement.
            if !self.is_inside(ahead) {
                return;
            }
            if seq::distance(initial, segment.ack, 0) != 0 {
                self.refused_ack = Some(segment.ack);
                return;
            }
            self.establish(now, segment);
        }
        // RFC 9293 section 3.10.7.4: a segment wholly outside the window is answered and its ACK not heard. Data
        // that arrived before goes on, to be reported as a duplicate.
        let length = i64::from(segment.sequence_length());
        let beyond = ahead > 0 && !self.is_inside(ahead);
        let before = ahead + length < 0 || length == 0 && ahead < 0;
        if beyond || before && length == 0 {
            self.refuse(now, segment);
            return;
        }
        self.hear_request(segment);
        let start = seq::unwrap(self.peer.initial, segment.seq, next);
        // RFC 5961 section 5.2: a segment whose ACK is of data never sent, or older than the largest window, is answered
        // and nothing of it is heard, so that data cannot be slipped in by who does not know what was sent.
        if !before && !self.take_ack(now, segment, start) {
            self.challenge(now);
            return;
        }
        if !before {
            self.note_timestamp(now, segment);
        }
        if self.quick_start.waits() {
            self.hear_answer(now, segment);
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

    /// Whether a segment that begins so far `ahead` of the next byte expected lies in the window.
    fn is_inside(&self, ahead: i64) -> bool {
        (0..=i64::try_from(self.receiver.room()).unwrap_or(i64::MAX)).contains(&ahead)
    }

    /// Answers an unacceptable segment with an ACK (RFC 9293 section 3.10.7.4). Data is always answered, for its sender lacks
    /// an ACK. A segment without data may answer an ACK of ours, so the answer is throttled: two endpoints that refuse each
    /// other's ACKs would go on for ever.
    fn refuse(&mut self, now: Time, segment: &Segment) {
        if segment.sequence_length() > 0 {
            self.receiver.acknowledge_now();
        } else {
            self.challenge(now);
        }
    }

    /// Sends the challenge ACK of RFC 5961, unless one left not long ago (section 7).
    fn challenge(&mut self, now: Time) {
        if self.challenged_at.is_none_or(|last| now.since(last) >= CHALLENGES_APART) {
            self.challenged_at = Some(now);
            self.receiver.acknowledge_now();
        }
    }

    /// Keeps the timestamp of a segment that the next ACK answers, to be echoed (RFC 7323 section 4.3).
    pub(super) fn note_timestamp(&mut self, now: Time, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps
            && seq::distance(self.peer.initial, segment.seq, self.last_ack_sent) <= 0
        {
            self.recent_timestamp = timestamps.value;
            self.stamped_at = now;
        }
    }

    /// Whether a timestamp shows a segment to be an old duplicate (PAWS, RFC 7323 section 5). A timestamp that was heard too
    /// long ago may have been overtaken, and proves nothing (section 5.5).
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

    /// Takes in the acknowledgement of a segment that begins at `start`. Says whether it was acceptable; if not, nothing was
    /// done.
    fn take_ack(&mut self, now: Time, segment: &Segment, start: Option<u64>) -> bool {
        let initial = self.initial_sequence;
        let una = self.sender.una();
        // RFC 5961 section 5.2: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT. Nothing of the stream is older than its beginning.
        let acceptable = una.saturating_sub(self.largest_window)..=self.sender.nxt();
        let Some(ack) = seq::unwrap(initial, segment.ack, una).filter(|ack| acceptable.contains(ack)) else {
            return false;
        };
        let offered = self.offered_window(segment);
        self.largest_window = self.largest_window.max(offered);
        // RFC 9293 section 3.10.7.4: one that left before another that was heard has an old window. Like Linux we take what
        // acknowledges more to have left later, wherever it begins (`tcp_may_update_window`): before the stream too, as a
        // keep-alive does until there is data, for what is offered counts from what is acknowledged with it.
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
        let told = segment.sack_blocks();
        let before = self.sack_memory.of(una, self.sender.keeps_blocks());
        let mut all = core::array::from_fn(|i| told.get(i).copied().unwrap_or_default());
        let unclear = if only_first_is_new(told, before) { 1 } else { told.len() };
        let mut fresh = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        let offsets = |block: &SackBlock| {
            Some((seq::unwrap(initial, block.start, una)?, seq::unwrap(initial, block.end, una)?))
        };
        for (i, block) in told[..unclear].iter().enumerate() {
            if i > 0 && (*block == before[i] || *block == before[i - 1]) {
                continue;
            }
            all[i] = SackBlock::default();
            let Some((start, end)) = offsets(block).filter(|(start, end)| start < end) else { continue };
            if end > self.sender.nxt() {
                continue;
            }
            // RFC 2883 section 4: below the cumulative ACK, or within the block that follows.
            let within_second =
                || told.get(1).and_then(offsets).is_some_and(|(low, high)| low <= start && end <= high);
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
        // An old ACK's were left out.
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
        // RFC 3168 section 6.1.5: retransmissions are not ECN-capable.
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
        // A header has room for four blocks, or for three and one of the other two options.
        let others = usize::from(self.options.timestamps) + usize::from(responds);
        let limit = MAX_SACK_BLOCKS - others;
        self.put_blocks(limit, place);
    }

    /// Puts at most `limit` SACK blocks into a segment.
    #[inline]
    pub(super) fn put_blocks(&mut self, limit: usize, place: &mut Segment) {
        let (initial, slots) = (self.peer.initial, &mut place.sack);
        let count = self.receiver.take_blocks(limit, |i, (start, end)| {
            slots[i] = SackBlock { start: seq::wrap(initial, start), end: seq::wrap(initial, end) };
        });
        place.sack_count = u8::try_from(count).unwrap_or(0);
    }
}
