//! The receiver: processes arriving data, decides when to send which ACK, and computes the window to offer.

mod ranges;
mod reassembly;

use firstflight::{Span, Time};

use crate::config::{AckPolicy, Config};
use crate::segment::MAX_SACK_BLOCKS;
use reassembly::Reassembly;

/// Delay of an ACK. RFC 1122 section 4.2.3.2 allows up to 500 ms; the timer of BSD and Windows is 200 ms.
const DELAY: Span = Span::from_millis(200);
/// Delay of an ACK in Linux (`TCP_ATO_MIN`).
const LINUX_DELAY: Span = Span::from_millis(40);
/// Delay of an ACK in FreeBSD 7, which the HyStart paper uses (`net.inet.tcp.delacktime` = 100 ms).
const FREEBSD_DELAY: Span = Span::from_millis(100);
/// Delay of an ACK in QUIC, unless the peer says another (`max_ack_delay`, RFC 9000 section 18.2).
const QUIC_DELAY: Span = Span::from_millis(25);
/// Number of quick ACKs in Linux (`TCP_MAX_QUICKACKS`).
const LINUX_QUICK_ACKS: u32 = 16;
/// Number of out-of-order ranges above which Windows XP reports no SACK blocks and discards out-of-order data (the HyStart paper, section
/// 3.2). The paper does not give the number; this value is an assumption.
const XP_RANGES: usize = 100;

/// Maximum number of heap bytes per out-of-order range if there are many. A range has sixteen bytes, in a list whose pieces are more than a
/// third full.
const RANGE_SIZE: usize = 48;

/// Whether and when an ACK must be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Due {
    #[default]
    Nothing,
    /// When the delayed-ACK timer fires.
    Later,
    Now,
}

/// The receiving half of an endpoint. All positions are stream offsets. The order of the fields groups them by use: rarely used fields, the
/// out-of-order state, the fields for data, and the fields for every segment.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    delay: Span,
    buffer: u64,
    queue: Reassembly,
    dsack: Option<(u64, u64)>,
    fin_at: Option<u64>,
    opening: Opening,
    /// Minimum number of bytes by which the right edge of the window moves.
    step: u64,
    mss: u64,
    /// Number of bytes not acknowledged yet. `largest` is the largest segment seen, which shows the peer's full size.
    unacknowledged: u64,
    largest: u64,
    /// Number of bytes in order that the application has not read.
    unread: u64,
    /// The highest offset that any offered window has allowed.
    edge: u64,
    /// The next byte expected in order (`RCV.NXT`). Once the FIN arrived, the offset after the FIN.
    next: u64,
    delayed_at: Option<Time>,
    quick: u32,
    /// The last window field that was offered. `moved` says whether the values from which it is computed have changed since.
    offered: u16,
    moved: bool,
    /// The window scale shift of the window field.
    scale: u8,
    policy: AckPolicy,
    due: Due,
    sack: bool,
    reads_at_once: bool,
    /// Whether ACKs are delayed rather than quick, because the application requested it.
    lazy: bool,
    /// ECN: whether ACKs echo congestion until a CWR arrives (RFC 3168 section 6.1.3).
    echo: bool,
    ece_last: bool,
}

/// The last movement of the window's edge. Valid only for one number of unread bytes.
#[derive(Clone, Copy, Debug)]
struct Opening {
    /// Number of unread bytes for which the values are valid; `u64::MAX` if no values are known.
    unread: u64,
    /// Maximum distance of the edge from the next expected byte. `reach` is the distance that the rounded field expresses.
    room: u64,
    reach: u64,
    field: u16,
}

const UNKNOWN: Opening = Opening { unread: u64::MAX, room: 0, reach: 0, field: 0 };

/// An arriving segment in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) fin: bool,
    pub(crate) ce: bool,
    pub(crate) cwr: bool,
    /// Whether this side has sent its FIN.
    pub(crate) closing: bool,
}

impl Receiver {
    /// Returns the number of segments of `size` bytes that arrived out of order above an offset.
    pub(crate) fn segments_beyond(&self, from: u64, size: u64) -> u64 {
        self.queue.segments_beyond(from, size)
    }

    pub(crate) fn new(config: &Config) -> Self {
        let delay = match config.ack_policy {
            AckPolicy::Every | AckPolicy::Delayed | AckPolicy::WindowsXp => DELAY,
            AckPolicy::Linux => LINUX_DELAY,
            AckPolicy::FreeBsd => FREEBSD_DELAY,
            AckPolicy::Packets(_) => QUIC_DELAY,
        };
        Self {
            policy: config.ack_policy,
            delay: config.ack_delay.unwrap_or(delay),
            sack: config.sack,
            buffer: config.receive_buffer,
            reads_at_once: config.reads_at_once,
            next: 0,
            unread: 0,
            queue: Reassembly::default(),
            edge: config.receive_buffer,
            offered: 0,
            moved: true,
            scale: 0,
            opening: UNKNOWN,
            step: u64::from(config.mss).min(config.receive_buffer / 2),
            fin_at: None,
            due: Due::Nothing,
            unacknowledged: 0,
            largest: 0,
            quick: LINUX_QUICK_ACKS,
            lazy: false,
            delayed_at: None,
            dsack: None,
            mss: u64::from(config.mss),
            echo: false,
            ece_last: false,
        }
    }

    /// Sets the scale of the windows to offer.
    pub(crate) fn set_scale(&mut self, scale: u8) {
        self.scale = scale;
    }

    /// Sets the negotiated segment size, SACK, and the scale of the windows to offer.
    pub(crate) fn establish(&mut self, mss: u16, sack: bool, scale: u8) {
        self.scale = scale;
        self.edge = self.edge.min(self.largest_window());
        self.offered = u16::MAX;
        self.mss = u64::from(mss);
        self.step = self.mss.min(self.buffer / 2);
        self.opening = UNKNOWN;
        self.moved = true;
        self.sack = sack;
    }

    /// Returns the maximum window that the window field can express.
    fn largest_window(&self) -> u64 {
        u64::from(u16::MAX) << self.scale
    }

    /// Returns the maximum distance of the window's edge from the next expected byte.
    fn free(&self) -> u64 {
        (self.buffer - self.unread.min(self.buffer)).min(self.largest_window())
    }

    /// Returns an estimate of the number of heap bytes.
    pub(crate) fn memory(&self) -> usize {
        self.queue.count() * RANGE_SIZE
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of payload bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.next - u64::from(self.fin_arrived())
    }

    /// Returns the number of bytes in order that the application has not read.
    pub(crate) fn unread(&self) -> u64 {
        self.unread
    }

    pub(crate) fn fin_arrived(&self) -> bool {
        self.fin_at.is_some_and(|at| self.next > at)
    }

    /// Checks whether the next `len` bytes, if they arrive without other information, change only the next offset and the pending
    /// acknowledgement.
    #[inline]
    pub(crate) fn takes_next(&self, len: u64) -> bool {
        self.next + len <= self.edge && self.fin_at.is_none() && !self.echo && self.queue.is_empty()
    }

    /// Processes the arrival of the next `len` bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most of what a receiver does, and it is little")]
    pub(crate) fn take_next(&mut self, now: Time, len: u64) {
        debug_assert!(self.takes_next(len), "anything else goes the longer way");
        self.next += len;
        self.moved = true;
        if !self.reads_at_once {
            self.unread += len;
        }
        if self.policy == AckPolicy::Every {
            self.count(len);
            self.due = Due::Now;
        } else {
            self.acknowledge_in_order(now, len, false, false, false);
        }
    }

    /// Processes a segment with data or a FIN.
    pub(crate) fn on_data(&mut self, now: Time, segment: &Incoming) {
        if segment.cwr {
            self.echo = false;
        }
        let data_end = segment.start + segment.len;
        // RFC 3168 section 6.1.5: a mark on data outside the window is ignored.
        if segment.ce && data_end > self.next && segment.start < self.edge {
            self.echo = true;
        }
        let fits = data_end <= self.edge;
        // A FIN below data that arrived does not end the stream.
        if segment.fin && fits && data_end >= self.next {
            self.fin_at.get_or_insert(data_end);
        }
        // A FIN at another offset than the first FIN is ignored.
        let end = data_end + u64::from(segment.fin && self.fin_at == Some(data_end));
        // Only data in the offered window and below the FIN is accepted.
        let admitted = match self.fin_at {
            Some(at) if at <= self.edge => end.min(at + 1),
            _ => data_end.min(self.edge),
        };
        if end <= self.next {
            // All of the segment arrived before. It is reported as a duplicate (RFC 2883 section 4).
            self.dsack = Some((segment.start, end));
            self.due = Due::Now;
            return;
        }
        if segment.start > self.next {
            self.out_of_order(segment.start, admitted);
            return;
        }
        // RFC 2883 section 4.1: a part of this segment arrived before, either its beginning or data above a hole.
        if segment.start < self.next {
            self.dsack = Some((segment.start, self.next));
        }
        if admitted <= self.next {
            self.due = Due::Now;
            return;
        }
        let had_hole = !self.queue.is_empty();
        let (joined, overlap) = self.queue.join(admitted);
        if overlap.is_some() {
            self.dsack = self.dsack.or(overlap);
        }
        let before = self.received();
        self.next = joined;
        self.moved = true;
        if !self.reads_at_once {
            self.unread += self.received() - before;
        }
        self.acknowledge_in_order(now, segment.len, segment.fin, segment.closing, had_hole);
    }

    fn out_of_order(&mut self, start: u64, end: u64) {
        // RFC 5681 section 4.2: an out-of-order segment is acknowledged at once.
        self.due = Due::Now;
        self.quick = self.quick.max(LINUX_QUICK_ACKS);
        let full = self.policy == AckPolicy::WindowsXp && self.queue.count() >= XP_RANGES;
        if start >= end || full {
            return;
        }
        // Data above the limit is not kept (RFC 2018 section 8 allows this), so that tiny segments cannot exhaust the memory. The limit is
        // the number of ranges that full segments could create in the window.
        let beyond = (self.queue.count() as u64).saturating_sub(63);
        if beyond * self.mss > self.buffer {
            return;
        }
        self.dsack = self.queue.insert(start, end);
    }

    #[inline]
    fn acknowledge_in_order(&mut self, now: Time, len: u64, fin: bool, closing: bool, had_hole: bool) {
        self.count(len);
        let quick = match self.policy {
            AckPolicy::Every => true,
            AckPolicy::Linux => {
                let left = self.quick;
                self.quick = left.saturating_sub(1);
                left > 0 && !self.lazy
            }
            AckPolicy::Delayed | AckPolicy::FreeBsd | AckPolicy::WindowsXp | AckPolicy::Packets(_) => false,
        };
        // Congestion marks must be echoed without delay (RFC 3168 section 6.1.3), and a FIN is acknowledged at once. But if a FIN closes an
        // open connection, Linux delays its ACK as for data, because the application will answer (it "enters pingpong mode"). The delay is
        // zero before the first data arrives.
        let lazy = self.policy == AckPolicy::Linux && fin && !closing;
        let urgent = had_hole || fin && !lazy || self.echo != self.ece_last;
        // RFC 5681 section 4.2 requires an ACK for at least every second full segment. Linux (`__tcp_ack_snd_check`) sends one as soon as
        // more than a full segment is unacknowledged, so that a short last segment after a full one does not wait.
        let is_full = match self.policy {
            AckPolicy::Packets(count) => self.unacknowledged >= self.largest * u64::from(count),
            _ => self.unacknowledged > self.largest,
        };
        if quick && !lazy || urgent || is_full && !(lazy && len == 0) {
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::Later;
            let delay = if lazy && self.largest == 0 { Span::ZERO } else { self.delay };
            self.delayed_at = Some(now + delay);
        }
    }

    #[inline]
    fn count(&mut self, len: u64) {
        // Because of its options, the peer's full segments may be smaller than those of this side. The largest segment received is taken as
        // full.
        self.largest = self.largest.max(len).min(self.mss);
        self.unacknowledged += len;
    }

    /// Makes an ACK due now.
    pub(crate) fn acknowledge_now(&mut self) {
        self.due = Due::Now;
    }

    /// Sets whether quick ACKs may be sent. If so, a delayed ACK is sent now, unless there is data to read, because its reader may answer
    /// (Linux `TCP_QUICKACK`, `tcp_cleanup_rbuf`).
    pub(crate) fn set_quick_ack(&mut self, on: bool) {
        self.lazy = !on;
        if on && self.due == Due::Later && self.unread == 0 {
            self.due = Due::Now;
        }
    }

    /// Lets the application read up to `bytes` bytes. Returns the number of bytes read. An ACK with the new window becomes due once the
    /// window exceeds the last offered one by half of the buffer or two segments (RFC 9293 section 3.8.6.2.2). The last offered window may
    /// end below the accepted edge, if the field was rounded down.
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.unread);
        self.unread -= taken;
        self.moved = true;
        let said = self.edge.min(self.next + (u64::from(self.offered) << self.scale));
        let opened = self.next.saturating_add(self.free()).saturating_sub(said);
        if taken > 0 && opened >= (2 * self.mss).min(self.buffer / 2).max(1) {
            self.due = Due::Now;
        }
        taken
    }

    pub(crate) fn ack_due(&self) -> bool {
        self.due == Due::Now
    }

    pub(crate) fn timer(&self) -> Option<Time> {
        self.delayed_at
    }

    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.delayed_at.is_some_and(|at| at <= now) {
            self.delayed_at = None;
            self.due = Due::Now;
            // Linux no longer delays ACKs once a delay has ended without data to send (`tcp_delack_timer_handler`).
            self.lazy = false;
        }
    }

    /// Checks whether nothing arrived since the last ACK. In this case the window field is unchanged and no ACK is due.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        !self.moved && self.due == Due::Nothing
    }

    /// Returns the window field to offer. The right edge never moves back, so the field is rounded up to the scale, as in Linux. The edge
    /// moves forward only in large enough steps (RFC 9293 section 3.8.6.2.2). While nothing is read, rounding up could move the edge with
    /// every segment. If the edge would exceed the buffer by more than a unit of the scale, the field is therefore rounded down; data in
    /// the window offered before is still accepted.
    #[inline]
    pub(crate) fn window(&mut self) -> u16 {
        if self.moved {
            self.moved = false;
            let opening = &self.opening;
            // In most cases the arrived data moved the edge by a segment, and the field is unchanged.
            if opening.unread == self.unread && self.next + opening.room >= self.edge + self.step {
                self.edge = self.next + opening.reach;
                self.offered = opening.field;
            } else {
                self.offered = self.new_window();
            }
        }
        self.offered
    }

    #[inline(never)]
    fn new_window(&mut self) -> u16 {
        let room = self.free();
        let edge = self.next.saturating_add(room);
        let moves = edge >= self.edge.saturating_add(self.step);
        if moves {
            self.edge = edge;
        }
        let (offered, unit) = (self.edge.saturating_sub(self.next), 1 << self.scale);
        let up = offered.div_ceil(unit);
        let fits = up.saturating_mul(unit) < room.saturating_add(unit);
        let field = u16::try_from(if fits { up } else { offered / unit }).unwrap_or(u16::MAX);
        self.edge = self.edge.max(self.next + (u64::from(field) << self.scale));
        if moves && u32::try_from(room).is_ok() {
            self.opening = Opening { unread: self.unread, room, reach: self.edge - self.next, field };
        }
        field
    }

    /// Returns the first range between `start` and `end` that the window allows and that has not arrived; `None` if there is none.
    pub(crate) fn missing(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        self.queue.gap(start.max(self.next), end.min(self.edge))
    }

    /// Returns the number of bytes that the offered window allows.
    pub(crate) fn room(&self) -> u64 {
        self.edge.saturating_sub(self.next)
    }

    /// Checks whether the next ACK sets ECE.
    pub(crate) fn ece(&self) -> bool {
        self.echo
    }

    /// Records that an ACK was sent, with or without data.
    pub(crate) fn acknowledged(&mut self) {
        self.due = Due::Nothing;
        self.unacknowledged = 0;
        self.delayed_at = None;
        self.ece_last = self.echo;
    }

    /// Records that data was sent that also acknowledges, but has no room for SACK blocks.
    #[inline]
    pub(crate) fn acknowledged_with_data(&mut self) {
        // If no ACK is due, nothing arrived since the last ACK.
        let waits = self.due != Due::Nothing;
        debug_assert!(waits || self.unacknowledged == 0 && self.delayed_at.is_none(), "{self:?}");
        if waits && !self.has_blocks() {
            self.acknowledged();
        }
    }

    /// Passes the SACK blocks to report to `put`, at most `limit`. A duplicate comes first (RFC 2883), and is then cleared. Returns the
    /// number of blocks.
    #[inline]
    pub(crate) fn take_blocks(&mut self, limit: usize, mut put: impl FnMut(usize, (u64, u64))) -> usize {
        let duplicate = self.dsack.take();
        let suppressed = self.policy == AckPolicy::WindowsXp && self.queue.count() >= XP_RANGES;
        if !self.sack || suppressed {
            return 0;
        }
        let limit = limit.min(MAX_SACK_BLOCKS);
        let mut count = 0;
        if let Some(duplicate) = duplicate.filter(|_| limit > 0) {
            put(0, duplicate);
            count = 1;
        }
        for block in self.queue.report(limit - count) {
            put(count, block);
            count += 1;
        }
        count
    }

    /// Checks whether there are SACK blocks to report. If so, a data segment cannot replace the ACK.
    pub(crate) fn has_blocks(&self) -> bool {
        self.sack && (self.dsack.is_some() || !self.queue.is_empty())
    }
}

#[cfg(test)]
mod tests;
