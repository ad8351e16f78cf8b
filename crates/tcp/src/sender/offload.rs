//! How Linux cuts what the application writes into segments, for segmentation offload (`tcp_sendmsg_locked`,
//! `tcp_write_xmit`): what is written waits in buffers of up to half of the peer's window, whole bursts of segments
//! leave together, and PSH stands where a write or a burst ends.
//!
//! It decides which segment leaves with which; windows and losses are decided where they are for every other host.

use std::collections::{BTreeSet, VecDeque};

use firstflight::{Rate, Span, Time};

use crate::config::Offload;

/// Linux `GSO_LEGACY_MAX_SIZE`: the most that one burst carries.
const LARGEST_BURST: u64 = 65_536;
/// What a buffer holds at most: a burst less the headers (`MAX_TCP_HEADER`).
const LARGEST_BUFFER: u64 = LARGEST_BURST - 1 - 320;
/// Linux `sk_pacing_shift`: a burst is at most what leaves in 1/1024 s at the pacing rate.
const BURST_TIME_SHIFT: u32 = 10;
/// Linux `tcp_tso_rtt_log`: on paths of less than 2^9 µs bursts may be larger.
const RTT_SHIFT: u32 = 9;
/// A burst waits for more only within a millisecond of the last one (`tcp_tso_should_defer`). On a clock that stands still
/// between events the millisecond itself is over: a kernel is always some microseconds later.
const DEFERS_WITHIN: Span = Span::from_millis(1);

/// A run of bytes that waits to be sent.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    push: bool,
}

/// What of the queue may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Try {
    /// Nothing was asked for.
    Nothing,
    /// One burst, in the middle of a write (`tcp_push_one`).
    One,
    /// All that fits.
    All,
}

/// The write queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    settings: Offload,
    buffers: VecDeque<Buffer>,
    /// Bytes of each write that is not in the buffers yet, and whether more was announced (`MSG_MORE`).
    writes: VecDeque<(u64, bool)>,
    /// Whether the write at the head has put something into the buffers.
    begun: bool,
    /// Where the bytes in the buffers end (`write_seq`).
    end: u64,
    /// Where the last PSH was put (`pushed_seq`).
    pushed: u64,
    /// Where PSH stands in what was sent and is not acknowledged.
    pushes: VecDeque<u64>,
    /// Where the buffers that were sent end: what is sent again leaves in bursts within one of them.
    cuts: BTreeSet<u64>,
    /// The end of the burst that is sent again.
    again: Option<u64>,
    /// The burst that is leaving, and whether its last segment has PSH.
    burst: Option<(u64, bool)>,
    tries: Try,
    /// The end of the last segment that was not full (`snd_sml`).
    small: u64,
    /// When the last burst left.
    last: Option<Time>,
    /// Bytes unacknowledged beyond which no buffer is begun (`sk_sndbuf`), and whether one waits for room.
    limit: u64,
    waits: bool,
    /// The widest congestion window that there was, in segments: `TCP_INIT_CWND` at least, which Linux has room for.
    widest: u64,
    /// Whether small segments wait for the acknowledgement of small ones (RFC 9293 section 3.7.4, as Minshall has
    /// it).
    pub(super) nagle: bool,
    /// Whether segments that are not full wait (`TCP_CORK`), and whether they do until something else happens, as more was
    /// announced.
    pub(super) cork: bool,
    held: bool,
    /// Whether nothing waits until more is written (`TCP_NAGLE_PUSH`).
    pushes_on: bool,
    /// Whether a segment is to leave as it is, and then whether the next one gets PSH.
    wakes: bool,
    push_next: bool,
    /// Bytes not sent beyond which no buffer is begun (`TCP_NOTSENT_LOWAT`).
    unsent_limit: u64,
}

/// What the queue must know of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) now: Time,
    pub(super) mss: u64,
    pub(super) una: u64,
    pub(super) nxt: u64,
    /// Where the peer's window ends, its size, and the greatest there was.
    pub(super) window_edge: u64,
    pub(super) window: u64,
    pub(super) window_greatest: u64,
    /// The congestion window, and what is in flight, in segments.
    pub(super) cwnd: u64,
    pub(super) in_flight: u64,
    pub(super) srtt: Option<Span>,
    pub(super) min_rtt: Option<Span>,
    /// What Linux would pace at.
    pub(super) rate: Option<Rate>,
    /// When the first outstanding segment left.
    pub(super) head_sent: Option<Time>,
    pub(super) recovering: bool,
    /// A FIN follows all that was written.
    pub(super) fin: bool,
    /// A tail loss probe asks: one segment leaves whatever the congestion window, and waits for nothing
    /// (`tcp_send_loss_probe`).
    pub(super) probing: bool,
    /// What is sent again leaves one by one: without SACK only the first segment is known to be lost, and is parted from
    /// its burst (`tcp_newreno_mark_lost`).
    pub(super) one_by_one: bool,
    /// The sender's own clock says when each segment leaves: none is put into a burst, and none waits for more.
    pub(super) on_a_clock: bool,
}

impl Queue {
    pub(super) fn new(settings: Offload) -> Self {
        Self {
            settings,
            buffers: VecDeque::new(),
            writes: VecDeque::new(),
            begun: false,
            end: 0,
            pushed: 0,
            pushes: VecDeque::new(),
            cuts: BTreeSet::new(),
            again: None,
            burst: None,
            tries: Try::All,
            small: 0,
            last: None,
            limit: u64::MAX,
            waits: false,
            widest: 10,
            nagle: true,
            cork: false,
            held: false,
            pushes_on: false,
            wakes: false,
            push_next: false,
            unsent_limit: u64::MAX,
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        if bytes > 0 {
            self.writes.push_back((bytes, false));
        }
    }

    /// The next segment's payload, or `None` if nothing may leave; then whether it is the congestion window that
    /// forbids it.
    pub(super) fn next(&mut self, at: &Situation) -> Result<u64, Limit> {
        self.forget(at.una);
        if let Some((end, _)) = self.burst
            && at.nxt < end
        {
            return Ok(at.mss.min(end - at.nxt));
        }
        self.burst = None;
        let mut limit = Limit::Application;
        loop {
            if self.tries != Try::Nothing || at.probing {
                match self.begin_burst(at) {
                    Ok(len) => return Ok(len),
                    Err(why) => limit = why,
                }
            }
            if !self.take_in(at) {
                // What comes next, an ACK or a timer, may try all again.
                self.tries = Try::All;
                return Err(limit);
            }
        }
    }

    /// A segment of a burst left; whether it has PSH.
    pub(super) fn sent(&mut self, now: Time, end: u64, mss: u64, payload: u64) -> bool {
        self.last = Some(now);
        if payload < mss {
            self.small = end;
        }
        let woken = std::mem::take(&mut self.push_next);
        let Some((burst_end, many)) = self.burst else {
            self.cuts.insert(end);
            return woken || self.is_pushed(end);
        };
        self.cuts.insert(burst_end);
        let ends = end >= burst_end;
        if ends {
            self.burst = None;
            if self.tries == Try::One {
                self.tries = Try::Nothing;
            }
        }
        woken || ends && many || self.is_pushed(end)
    }

    /// A sent buffer is parted at `at`: a SACK block ends or begins there.
    pub(super) fn cut(&mut self, at: u64) {
        if self.cuts.last().is_some_and(|last| at < *last) {
            self.cuts.insert(at);
        }
    }

    /// `[start, end)` left again (`tcp_xmit_retransmit_queue`): a burst of as many segments as fit the window, of one
    /// buffer; whether it has PSH.
    pub(super) fn resent(&mut self, at: &Situation, start: u64, end: u64) -> bool {
        if let Some(last) = self.again.filter(|last| start < *last) {
            if end >= last {
                self.again = None;
            }
            return end >= last || self.is_pushed(end);
        }
        self.again = None;
        let buffer = self.cuts.range(start + 1..).next().map_or(end, |cut| *cut);
        let most = if at.one_by_one { 1 } else { self.most_segments(at) };
        let most = at.cwnd.saturating_sub(at.in_flight).min(most).max(1);
        let burst = buffer.min(start + most * at.mss).max(end);
        self.cuts.insert(burst);
        if burst > end {
            self.again = Some(burst);
        }
        burst == end && self.is_pushed(end)
    }

    /// Whether PSH stands at `end`.
    pub(super) fn is_pushed(&self, end: u64) -> bool {
        self.pushes.contains(&end)
    }

    fn forget(&mut self, una: u64) {
        while self.pushes.front().is_some_and(|end| *end <= una) {
            self.pushes.pop_front();
        }
        while self.cuts.first().is_some_and(|end| *end <= una) {
            self.cuts.pop_first();
        }
    }

    fn drop_head(&mut self) {
        if let Some(head) = self.buffers.pop_front()
            && head.push
        {
            self.pushes.push_back(head.end);
        }
    }

    /// `tcp_write_xmit`: cuts the next burst off the queue; gives its first segment's payload.
    fn begin_burst(&mut self, at: &Situation) -> Result<u64, Limit> {
        let Some(&Buffer { end, .. }) = self.buffers.front() else { return Err(Limit::Application) };
        // `tcp_cwnd_test`: at least two bursts a window.
        if at.in_flight >= at.cwnd && !at.probing {
            return Err(Limit::Window);
        }
        let most = self.most_segments(at);
        let quota = if at.probing || at.on_a_clock {
            1
        } else {
            (at.cwnd / 2).max(1).min(at.cwnd - at.in_flight).min(most)
        };
        self.grow_head(quota * at.mss - (end - at.nxt).min(quota * at.mss));
        let Some(&Buffer { end, .. }) = self.buffers.front() else { return Err(Limit::Application) };
        let last = self.buffers.len() == 1;
        let len = end - at.nxt;
        let room = at.window_edge - at.nxt;
        if self.push_next && room > 0 && len.min(at.mss) > room {
            // What waited long enough for the window fills it (`tcp_write_wakeup`).
            self.buffers[0].push = true;
            self.burst = Some((at.window_edge, false));
            return Ok(room);
        }
        // `tcp_snd_wnd_test`.
        if at.nxt + len.min(at.mss) > at.window_edge {
            return Err(Limit::Receiver);
        }
        // In the middle of a write nothing waits for a full segment (`TCP_NAGLE_PUSH`).
        let patient = last && !self.begun && !at.fin && !at.probing;
        if len <= at.mss {
            if patient && self.waits(len < at.mss, at) {
                return Err(Limit::Application);
            }
        } else if self.tries != Try::One && !at.probing && !at.on_a_clock && self.defers(at, len, last, most)
        {
            return Err(Limit::Window);
        }
        let take = if len > at.mss { self.split_point(at, len, last, quota, patient) } else { len };
        if take == 0 {
            return Err(Limit::Application);
        }
        self.burst = Some((at.nxt + take, take > at.mss));
        if take == len {
            self.drop_head();
        }
        Ok(at.mss.min(take))
    }

    /// `tcp_grow_skb`: a head that is smaller than what may leave takes bytes from the buffer behind it.
    fn grow_head(&mut self, missing: u64) {
        let (Some(&head), Some(&next)) = (self.buffers.front(), self.buffers.get(1)) else { return };
        if missing == 0 {
            return;
        }
        if head.end + missing >= next.end {
            self.buffers.pop_front();
            self.buffers[0].push |= head.push;
        } else {
            self.buffers[0].end = head.end + missing;
        }
    }

    /// `tcp_nagle_check`.
    fn waits(&self, partial: bool, at: &Situation) -> bool {
        let small_is_out = at.nxt > at.una && self.small > at.una && self.small <= at.nxt;
        partial && !self.pushes_on && (self.cork || self.held || self.nagle && small_is_out)
    }

    /// `tcp_mss_split_point`.
    fn split_point(&self, at: &Situation, len: u64, last: bool, quota: u64, patient: bool) -> u64 {
        let (room, most) = (at.window_edge - at.nxt, quota * at.mss);
        if most <= room && !last {
            return most.min(len);
        }
        let needed = len.min(room);
        if most <= needed {
            return most;
        }
        let partial = needed % at.mss;
        if patient && self.waits(partial != 0, at) { needed - partial } else { needed }
    }

    /// `tcp_tso_should_defer`: whether a larger burst may be had by waiting for the next ACK.
    fn defers(&self, at: &Situation, len: u64, last: bool, most: u64) -> bool {
        if at.recovering || self.last.is_none_or(|last| at.now.since(last) >= DEFERS_WITHIN) {
            return false;
        }
        let (send, congestion) = (at.window_edge - at.nxt, (at.cwnd - at.in_flight) * at.mss);
        let limit = send.min(congestion);
        if limit >= most * at.mss || !last && limit >= len {
            return false;
        }
        let chunk = at.window.min(at.cwnd * at.mss).checked_div(u64::from(self.settings.window_divisor));
        // Without a divisor: more than three segments are not waited for (`tcp_max_tso_deferred_mss`).
        if chunk.map_or(limit > 3 * at.mss, |chunk| limit >= chunk) {
            return false;
        }
        let (Some(head), Some(srtt)) = (at.head_sent, at.srtt) else { return false };
        // An ACK that is far off is not waited for.
        if head + srtt > at.now + (srtt / 2).min(DEFERS_WITHIN) {
            return false;
        }
        let bound = if congestion < send { congestion <= len } else { send <= len };
        bound || !(at.fin && last)
    }

    /// `tcp_tso_autosize`.
    fn most_segments(&self, at: &Situation) -> u64 {
        let paced = at.rate.map_or(LARGEST_BURST, |rate| (rate.bps() / 8) >> BURST_TIME_SHIFT);
        let micros = at.min_rtt.map_or(u64::from(u32::MAX), |rtt| rtt.nanos() / 1_000);
        let shift = u32::try_from(micros >> RTT_SHIFT).unwrap_or(u32::MAX);
        let near = LARGEST_BURST.checked_shr(shift).unwrap_or(0);
        ((paced + near).min(LARGEST_BURST) / at.mss).max(u64::from(self.settings.min_segments))
    }

    /// `tcp_sendmsg_locked`: moves a part of a write into the buffers, as far as one of the places where Linux tries to
    /// send. Whether anything is left to try.
    fn take_in(&mut self, at: &Situation) -> bool {
        let size = buffer_size(at);
        while let Some((left, more)) = self.writes.front().copied() {
            // Who waits for memory sleeps until there is enough, be there room in the last buffer or not.
            if self.waits && !self.has_room(at) {
                return false;
            }
            let begin = self.buffers.len().checked_sub(2).map_or(at.nxt, |before| self.buffers[before].end);
            let tail = self.buffers.back().map(|tail| tail.end - begin.max(at.nxt));
            let room = tail.map_or(0, |len| size.saturating_sub(len));
            let take = if room > 0 { room.min(left) } else { size.min(left) };
            if room == 0 && !self.has_room(at) {
                return false;
            }
            if room == 0 {
                self.buffers.push_back(Buffer { end: self.end, push: false });
            }
            self.end += take;
            self.pushes_on = false;
            if let Some(tail) = self.buffers.back_mut() {
                tail.end = self.end;
                tail.push &= self.begun;
            }
            self.begun = true;
            if take == left {
                // The end of the write: `tcp_push`.
                self.writes.pop_front();
                self.begun = false;
                self.held = more;
                if !more || self.end > self.pushed + at.window_greatest / 2 {
                    self.mark();
                }
                self.tries = Try::All;
                return true;
            }
            self.writes[0].0 = left - take;
            let begin = self.buffers.len().checked_sub(2).map_or(at.nxt, |before| self.buffers[before].end);
            if self.end - begin.max(at.nxt) < size {
                continue;
            }
            if self.end > self.pushed + at.window_greatest / 2 {
                self.mark();
                self.tries = Try::All;
                return true;
            }
            if self.buffers.len() == 1 {
                self.tries = Try::One;
                return true;
            }
        }
        false
    }

    /// Whether another buffer may be begun: once the limit is reached, not before a third of it is free
    /// (`sk_stream_write_space`).
    fn has_room(&mut self, at: &Situation) -> bool {
        let held = self.end - at.una.min(self.end);
        let unsent = self.end - at.nxt.min(self.end);
        let limit = self.limit_at(at);
        self.waits = if self.waits {
            held > limit / 3 * 2 || unsent.saturating_mul(2) >= self.unsent_limit
        } else {
            held >= limit || unsent >= self.unsent_limit
        };
        !self.waits
    }

    /// Bytes unacknowledged beyond which no buffer is begun. A send buffer grows with the window and never shrinks with it
    /// (`tcp_sndbuf_expand`).
    fn limit_at(&mut self, at: &Situation) -> u64 {
        if self.settings.buffer_follows_window {
            self.widest = self.widest.max(at.cwnd);
            self.limit.min(self.widest * at.mss * 2)
        } else {
            self.limit
        }
    }

    /// More was announced with the last write.
    pub(super) fn more_follows(&mut self) {
        if let Some(last) = self.writes.back_mut() {
            last.1 = true;
        }
    }

    /// Something else than a write happened that sends.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// Nothing waits until more is written.
    pub(super) fn push(&mut self) {
        self.held = false;
        self.pushes_on = true;
        self.tries = Try::All;
    }

    /// What was held back waits no longer than for an RTO: a segment leaves as it is, with PSH (`tcp_write_wakeup`).
    pub(super) fn wake_up(&mut self) {
        self.wakes = true;
    }

    /// Whether a segment is to leave as it is; asking clears it.
    pub(super) fn take_wake(&mut self) -> bool {
        self.push_next = std::mem::take(&mut self.wakes);
        self.push_next
    }

    pub(super) fn set_unsent_limit(&mut self, bytes: u64) {
        self.unsent_limit = bytes;
    }

    /// Whether more of the burst follows what was sent last.
    pub(super) fn is_in_burst(&self) -> bool {
        self.burst.is_some()
    }

    /// Bytes written that found no room.
    pub(super) fn untaken(&self) -> u64 {
        self.writes.iter().map(|(bytes, _)| bytes).sum()
    }

    /// Timers push no new data, a probe aside: what was put off waits for an ACK or a write.
    pub(super) fn wait(&mut self) {
        self.tries = Try::Nothing;
    }

    /// Gives up what found no room.
    pub(super) fn drop_untaken(&mut self) {
        self.writes.clear();
        if core::mem::take(&mut self.begun) {
            self.mark();
        }
    }

    pub(super) fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// Moves all that finds room into the buffers, while nothing may leave.
    pub(super) fn take_in_all(&mut self, at: &Situation) {
        while self.take_in(at) {}
        self.tries = Try::All;
    }

    /// `tcp_mark_push`.
    fn mark(&mut self) {
        if let Some(tail) = self.buffers.back_mut() {
            tail.push = true;
        }
        self.pushed = self.end;
    }
}

/// Why nothing leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Application,
    Window,
    Receiver,
}

/// `tcp_xmit_size_goal`: whole segments up to half of the greatest window.
fn buffer_size(at: &Situation) -> u64 {
    let half = if at.window_greatest > 536 { at.window_greatest / 2 } else { at.window_greatest };
    let bound = if half > 0 { LARGEST_BUFFER.min(half.max(48)) } else { LARGEST_BUFFER };
    (bound / at.mss * at.mss).max(at.mss)
}

#[cfg(test)]
mod tests;
