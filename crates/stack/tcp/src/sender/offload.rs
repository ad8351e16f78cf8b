//! Divides written data into segments as Linux does for segmentation offload (`tcp_sendmsg_locked`, `tcp_write_xmit`). Written data waits
//! in buffers of up to half of the peer's window, whole bursts of segments are sent together, and PSH marks the end of a write or a burst.
//!
//! This module only decides which segments are sent together. The code that decides about windows and losses is the same as for other
//! hosts.

use std::collections::{BTreeSet, VecDeque};

use firstflight::{Rate, Span, Time};

use crate::config::Offload;

/// Maximum number of bytes of one burst (Linux `GSO_LEGACY_MAX_SIZE`).
const LARGEST_BURST: u64 = 65_536;
/// Maximum number of bytes of a buffer: a burst without the headers (`MAX_TCP_HEADER`).
const LARGEST_BUFFER: u64 = LARGEST_BURST - 1 - 320;
/// A burst has at most the data of 1/1024 s at the pacing rate (Linux `sk_pacing_shift`).
const BURST_TIME_SHIFT: u32 = 10;
/// If the RTT is below 2^9 µs, bursts may be larger (Linux `tcp_tso_rtt_log`).
const RTT_SHIFT: u32 = 9;
/// A burst waits for more data only within a millisecond after the last one (`tcp_tso_should_defer`). After exactly one millisecond it no
/// longer waits: this clock does not advance between events, but a kernel would be some microseconds later.
const DEFERS_WITHIN: Span = Span::from_millis(1);

/// A range of bytes that waits to be sent.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    push: bool,
}

/// How much of the queue may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Try {
    /// Nothing, because no transmission was requested.
    Nothing,
    /// One burst, in the middle of a write (`tcp_push_one`).
    One,
    /// Everything that fits the windows.
    All,
}

/// The queue of written data.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    settings: Offload,
    buffers: VecDeque<Buffer>,
    /// For each write, the number of its bytes that are not in the buffers yet, and whether more was announced (`MSG_MORE`).
    writes: VecDeque<(u64, bool)>,
    /// Whether a part of the first write in `writes` is already in the buffers.
    begun: bool,
    /// End of the bytes in the buffers, as a stream offset (`write_seq`).
    end: u64,
    /// Stream offset at which PSH was last set (`pushed_seq`).
    pushed: u64,
    /// Stream offsets with PSH in data that was sent and is not acknowledged.
    pushes: VecDeque<u64>,
    /// Ends of the buffers that were sent. A burst of retransmissions does not cross them.
    cuts: BTreeSet<u64>,
    /// End of the burst that is being retransmitted.
    again: Option<u64>,
    /// End of the burst that is being sent, and whether its last segment has PSH.
    burst: Option<(u64, bool)>,
    tries: Try,
    /// End of the last segment that was not full (`snd_sml`).
    small: u64,
    /// Time at which the last burst was sent.
    last: Option<Time>,
    /// Number of unacknowledged bytes above which no new buffer is begun (`sk_sndbuf`). `waits` says whether a write waits for room.
    limit: u64,
    waits: bool,
    /// Maximum congestion window so far, in segments. It is at least `TCP_INIT_CWND`, for which Linux has room.
    widest: u64,
    /// Whether a small segment waits until earlier small segments are acknowledged (RFC 9293 section 3.7.4, in Minshall's variant).
    pub(super) nagle: bool,
    /// Whether segments that are not full wait (`TCP_CORK`). `held` says whether they wait for another event because more data was
    /// announced.
    pub(super) cork: bool,
    held: bool,
    /// Whether no segment waits until more data is written (`TCP_NAGLE_PUSH`).
    pushes_on: bool,
    /// Whether a segment must be sent although it is not full. `push_next` then says whether the next segment gets PSH.
    wakes: bool,
    push_next: bool,
    /// Number of unsent bytes above which no new buffer is begun (`TCP_NOTSENT_LOWAT`).
    unsent_limit: u64,
}

/// The state of the connection that the queue needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) now: Time,
    pub(super) mss: u64,
    pub(super) una: u64,
    pub(super) nxt: u64,
    /// The end of the peer's window. The other fields are its size and its maximum size so far.
    pub(super) window_edge: u64,
    pub(super) window: u64,
    pub(super) window_greatest: u64,
    /// The congestion window in segments. `in_flight` is the number of segments in flight.
    pub(super) cwnd: u64,
    pub(super) in_flight: u64,
    pub(super) srtt: Option<Span>,
    pub(super) min_rtt: Option<Span>,
    /// The rate at which Linux would pace.
    pub(super) rate: Option<Rate>,
    /// The time at which the first outstanding segment was sent.
    pub(super) head_sent: Option<Time>,
    pub(super) recovering: bool,
    /// Whether a FIN follows all written data.
    pub(super) fin: bool,
    /// Whether a tail loss probe is sent: one segment, without waiting and regardless of the congestion window (`tcp_send_loss_probe`).
    pub(super) probing: bool,
    /// Whether retransmissions are single segments. Without SACK only the first segment is known to be lost, and it is separated from its
    /// burst (`tcp_newreno_mark_lost`).
    pub(super) one_by_one: bool,
    /// Whether the sender's own pacer times each segment. Segments are then sent without bursts and do not wait for more data.
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

    /// Returns the payload length of the next segment. The error is the limit because of which nothing may be sent.
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
                // After the next event, an ACK or a timer, everything may be tried again.
                self.tries = Try::All;
                return Err(limit);
            }
        }
    }

    /// Records the transmission of a segment of a burst. Returns whether it has PSH.
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

    /// Splits a sent buffer at the stream offset `at`, where a SACK block begins or ends.
    pub(super) fn cut(&mut self, at: u64) {
        if self.cuts.last().is_some_and(|last| at < *last) {
            self.cuts.insert(at);
        }
    }

    /// Records the retransmission of the data from `start` to `end` (`tcp_xmit_retransmit_queue`). A burst has as many segments as fit the
    /// window, within one buffer. Returns whether the segment has PSH.
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

    /// Checks whether the segment that ends at `end` has PSH.
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

    /// Takes the next burst from the queue (`tcp_write_xmit`). Returns the payload length of its first segment.
    fn begin_burst(&mut self, at: &Situation) -> Result<u64, Limit> {
        let Some(&Buffer { end, .. }) = self.buffers.front() else { return Err(Limit::Application) };
        // `tcp_cwnd_test`: a window has at least two bursts.
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
            // The data has waited long enough for the window. As much as fits is sent (`tcp_write_wakeup`).
            self.buffers[0].push = true;
            self.burst = Some((at.window_edge, false));
            return Ok(room);
        }
        // `tcp_snd_wnd_test`: the segment must fit the peer's window.
        if at.nxt + len.min(at.mss) > at.window_edge {
            return Err(Limit::Receiver);
        }
        // In the middle of a write, a segment that is not full does not wait (`TCP_NAGLE_PUSH`).
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

    /// Extends the first buffer with bytes of the second if it is smaller than what may be sent (`tcp_grow_skb`).
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

    /// Checks whether a segment must wait because it is not full (`tcp_nagle_check`).
    fn waits(&self, partial: bool, at: &Situation) -> bool {
        let small_is_out = at.nxt > at.una && self.small > at.una && self.small <= at.nxt;
        partial && !self.pushes_on && (self.cork || self.held || self.nagle && small_is_out)
    }

    /// Returns how many bytes of the first buffer may be sent as a burst (`tcp_mss_split_point`).
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

    /// Checks whether the burst waits because it may be larger after the next ACK (`tcp_tso_should_defer`).
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
        // If there is no divisor, a burst of more than three segments does not wait (`tcp_max_tso_deferred_mss`).
        if chunk.map_or(limit > 3 * at.mss, |chunk| limit >= chunk) {
            return false;
        }
        let (Some(head), Some(srtt)) = (at.head_sent, at.srtt) else { return false };
        // If the next ACK is not expected soon, the burst does not wait for it.
        if head + srtt > at.now + (srtt / 2).min(DEFERS_WITHIN) {
            return false;
        }
        let bound = if congestion < send { congestion <= len } else { send <= len };
        bound || !(at.fin && last)
    }

    /// Returns the maximum number of segments of a burst (`tcp_tso_autosize`).
    fn most_segments(&self, at: &Situation) -> u64 {
        let paced = at.rate.map_or(LARGEST_BURST, |rate| (rate.bps() / 8) >> BURST_TIME_SHIFT);
        let micros = at.min_rtt.map_or(u64::from(u32::MAX), |rtt| rtt.nanos() / 1_000);
        let shift = u32::try_from(micros >> RTT_SHIFT).unwrap_or(u32::MAX);
        let near = LARGEST_BURST.checked_shr(shift).unwrap_or(0);
        ((paced + near).min(LARGEST_BURST) / at.mss).max(u64::from(self.settings.min_segments))
    }

    /// Moves a part of a write into the buffers, up to one of the points at which Linux tries to send (`tcp_sendmsg_locked`). Returns
    /// whether there is something to send.
    fn take_in(&mut self, at: &Situation) -> bool {
        let size = buffer_size(at);
        while let Some((left, more)) = self.writes.front().copied() {
            // If a write waits for memory, it waits until enough is free, even if the last buffer has room.
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
                // At the end of the write, does what `tcp_push` does.
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

    /// Checks whether another buffer may be begun. Once the limit was reached, a third of it must be free (`sk_stream_write_space`).
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

    /// Returns the number of unacknowledged bytes above which no new buffer is begun. The send buffer grows with the window but does not
    /// shrink with it (`tcp_sndbuf_expand`).
    fn limit_at(&mut self, at: &Situation) -> u64 {
        if self.settings.buffer_follows_window {
            self.widest = self.widest.max(at.cwnd);
            self.limit.min(self.widest * at.mss * 2)
        } else {
            self.limit
        }
    }

    /// Records that the application announced more data with the last write.
    pub(super) fn more_follows(&mut self) {
        if let Some(last) = self.writes.back_mut() {
            last.1 = true;
        }
    }

    /// Releases held segments, because an event other than a write makes the sender send.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// Sends data that waits until more is written without waiting longer.
    pub(super) fn push(&mut self) {
        self.held = false;
        self.pushes_on = true;
        self.tries = Try::All;
    }

    /// Lets a held segment be sent although it is not full, with PSH (`tcp_write_wakeup`). To be called when it has waited for an RTO.
    pub(super) fn wake_up(&mut self) {
        self.wakes = true;
    }

    /// Returns whether a segment must be sent although it is not full, and clears this request.
    pub(super) fn take_wake(&mut self) -> bool {
        self.push_next = std::mem::take(&mut self.wakes);
        self.push_next
    }

    pub(super) fn set_unsent_limit(&mut self, bytes: u64) {
        self.unsent_limit = bytes;
    }

    /// Checks whether the burst of the last sent segment has more segments to follow.
    pub(super) fn is_in_burst(&self) -> bool {
        self.burst.is_some()
    }

    /// Returns the number of written bytes for which there is no room in the buffers.
    pub(super) fn unqueued_bytes(&self) -> u64 {
        self.writes.iter().map(|(bytes, _)| bytes).sum()
    }

    /// Holds back new data until an ACK or a write. Timers, except that of a probe, then send no new data.
    pub(super) fn wait(&mut self) {
        self.tries = Try::Nothing;
    }

    /// Discards the written data for which there is no room in the buffers.
    pub(super) fn drop_unqueued(&mut self) {
        self.writes.clear();
        if core::mem::take(&mut self.begun) {
            self.mark();
        }
    }

    pub(super) fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// Moves all data for which there is room into the buffers, while nothing may be sent.
    pub(super) fn take_in_all(&mut self, at: &Situation) {
        while self.take_in(at) {}
        self.tries = Try::All;
    }

    /// Sets PSH on the last buffer (`tcp_mark_push`).
    fn mark(&mut self) {
        if let Some(tail) = self.buffers.back_mut() {
            tail.push = true;
        }
        self.pushed = self.end;
    }
}

/// The reason why nothing is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Application,
    Window,
    Receiver,
}

/// Returns the size of a buffer (`tcp_xmit_size_goal`): whole segments, up to half of the maximum window.
fn buffer_size(at: &Situation) -> u64 {
    let half = if at.window_greatest > 536 { at.window_greatest / 2 } else { at.window_greatest };
    let bound = if half > 0 { LARGEST_BUFFER.min(half.max(48)) } else { LARGEST_BUFFER };
    (bound / at.mss * at.mss).max(at.mss)
}

#[cfg(test)]
mod tests;
