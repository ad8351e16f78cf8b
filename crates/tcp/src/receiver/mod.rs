//! The receiver: what arrived, what to acknowledge, when, and how much window to offer.

mod ranges;
mod reassembly;

use firstflight::{Span, Time};

use crate::config::{AckPolicy, Config};
use crate::segment::MAX_SACK_BLOCKS;
use reassembly::Reassembly;

/// RFC 1122 section 4.2.3.2 allows up to 500 ms; BSD's and Windows' timer is 200 ms.
const DELAY: Span = Span::from_millis(200);
/// Linux `TCP_ATO_MIN`.
const LINUX_DELAY: Span = Span::from_millis(40);
/// FreeBSD 7, the HyStart paper's: `net.inet.tcp.delacktime` = 100 ms.
const FREEBSD_DELAY: Span = Span::from_millis(100);
/// Linux `TCP_MAX_QUICKACKS`.
const LINUX_QUICK_ACKS: u32 = 16;
/// Windows XP reports no SACK block and discards what arrives out of order past a limit of ranges (the HyStart
/// paper, section 3.2; it does not give the limit, and this one is ours).
const XP_RANGES: usize = 100;

/// Bytes of the heap that a range out of order takes at most, of many: sixteen in a list whose pieces are more than a
/// third full.
const RANGE_SIZE: usize = 48;

/// An ACK that a segment calls for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Due {
    #[default]
    Nothing,
    /// At the delayed-ACK timer.
    Later,
    Now,
}

/// The receiving half of an endpoint, in stream offsets. In this order lie together what hardly anything touches, what is out
/// of order, what data touches, and what every segment does.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    delay: Span,
    buffer: u64,
    queue: Reassembly,
    dsack: Option<(u64, u64)>,
    fin_at: Option<u64>,
    opening: Opening,
    /// By how much the edge moves at least.
    step: u64,
    mss: u64,
    /// Bytes not acknowledged yet, and the largest segment seen: a peer's full size.
    unacknowledged: u64,
    largest: u64,
    /// Bytes in order that the application has not taken.
    unread: u64,
    /// The highest offset that an offered window ever admitted.
    edge: u64,
    /// Next byte expected in order (`RCV.NXT`); past the FIN once it arrived.
    next: u64,
    delayed_at: Option<Time>,
    quick: u32,
    /// The window field offered last, and whether what it is made of has changed since.
    offered: u16,
    moved: bool,
    /// By how much the field is shifted.
    scale: u8,
    policy: AckPolicy,
    due: Due,
    sack: bool,
    reads_at_once: bool,
    /// Whether the application asked for delayed ACKs.
    lazy: bool,
    /// ECN: echo until CWR comes (RFC 3168 section 6.1.3).
    echo: bool,
    ece_last: bool,
}

/// What the window comes to whenever its edge moves, with so much in order that the application has not taken.
#[derive(Clone, Copy, Debug)]
struct Opening {
    /// `u64::MAX` if it is not known.
    unread: u64,
    /// How far ahead of the next byte the edge could be, and how far what the field says reaches.
    room: u64,
    reach: u64,
    field: u16,
}

const UNKNOWN: Opening = Opening { unread: u64::MAX, room: 0, reach: 0, field: 0 };

/// A segment in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) fin: bool,
    pub(crate) ce: bool,
    pub(crate) cwr: bool,
    /// Whether our own FIN is out.
    pub(crate) closing: bool,
}

impl Receiver {
    /// How many segments of `size` bytes wait out of order beyond an offset.
    pub(crate) fn segments_beyond(&self, from: u64, size: u64) -> u64 {
        self.queue.segments_beyond(from, size)
    }

    pub(crate) fn new(config: &Config) -> Self {
        let delay = match config.ack_policy {
            AckPolicy::Every | AckPolicy::Delayed | AckPolicy::WindowsXp => DELAY,
            AckPolicy::Linux => LINUX_DELAY,
            AckPolicy::FreeBsd => FREEBSD_DELAY,
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

    /// What the handshake agreed on: segments, SACK, and by how much the windows offered are scaled.
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

    /// What the field can say at most.
    fn largest_window(&self) -> u64 {
        u64::from(u16::MAX) << self.scale
    }

    /// How far ahead of the next byte the window may reach.
    fn free(&self) -> u64 {
        (self.buffer - self.unread.min(self.buffer)).min(self.largest_window())
    }

    /// Bytes of the heap, about.
    pub(crate) fn memory(&self) -> usize {
        self.queue.count() * RANGE_SIZE
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// In-order payload bytes received.
    pub(crate) fn received(&self) -> u64 {
        self.next - u64::from(self.fin_arrived())
    }

    /// In-order bytes that the application has not taken.
    pub(crate) fn unread(&self) -> u64 {
        self.unread
    }

    pub(crate) fn fin_arrived(&self) -> bool {
        self.fin_at.is_some_and(|at| self.next > at)
    }

    /// Whether the next `len` bytes, with nothing else to say, would change nothing but what is next and what is to be
    /// acknowledged.
    #[inline]
    pub(crate) fn takes_next(&self, len: u64) -> bool {
        self.next + len <= self.edge && self.fin_at.is_none() && !self.echo && self.queue.is_empty()
    }

    /// They arrived.
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

    /// A segment with data or a FIN arrived.
    pub(crate) fn on_data(&mut self, now: Time, segment: &Incoming) {
        if segment.cwr {
            self.echo = false;
        }
        let data_end = segment.start + segment.len;
        // RFC 3168 section 6.1.5: what lies outside of the window marks nothing.
        if segment.ce && data_end > self.next && segment.start < self.edge {
            self.echo = true;
        }
        let fits = data_end <= self.edge;
        // One inside what arrived is no end of it.
        if segment.fin && fits && data_end >= self.next {
            self.fin_at.get_or_insert(data_end);
        }
        // Nor is one elsewhere than the first: it takes no place.
        let end = data_end + u64::from(segment.fin && self.fin_at == Some(data_end));
        // Nothing counts beyond the window offered, nor beyond the FIN.
        let admitted = match self.fin_at {
            Some(at) if at <= self.edge => end.min(at + 1),
            _ => data_end.min(self.edge),
        };
        if end <= self.next {
            // All of it arrived before: RFC 2883 section 4 reports the duplicate.
            self.dsack = Some((segment.start, end));
            self.due = Due::Now;
            return;
        }
        if segment.start > self.next {
            self.out_of_order(segment.start, admitted);
            return;
        }
        // RFC 2883 section 4.1: a part of what came now had come before, the lower end of it or what lay above a hole.
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
        // RFC 5681 section 4.2: a segment out of order is acknowledged at once.
        self.due = Due::Now;
        self.quick = self.quick.max(LINUX_QUICK_ACKS);
        let full = self.policy == AckPolicy::WindowsXp && self.queue.count() >= XP_RANGES;
        if start >= end || full {
            return;
        }
        // As many ranges as full segments could make in the window; beyond it what arrives is not kept (RFC 2018
        // section 8 allows it), so that tiny segments cannot fill the memory.
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
            AckPolicy::Delayed | AckPolicy::FreeBsd | AckPolicy::WindowsXp => false,
        };
        // RFC 3168 section 6.1.3 wants marks echoed without delay; a FIN closes at once.
        // Linux answers the FIN that closes an open connection as it answers data, since the application will (it "enters
        // pingpong mode"): after its delay, which is none before any data came.
        let lazy = self.policy == AckPolicy::Linux && fin && !closing;
        let urgent = had_hole || fin && !lazy || self.echo != self.ece_last;
        // RFC 5681 section 4.2 wants one for every second full segment at least. Linux (`__tcp_ack_snd_check`) has one for
        // whatever is more than a full segment, so that the short end of a transfer does not wait behind one.
        let more_than_one = self.unacknowledged > self.largest;
        if quick && !lazy || urgent || more_than_one && !(lazy && len == 0) {
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::Later;
            let delay = if lazy && self.largest == 0 { Span::ZERO } else { self.delay };
            self.delayed_at = Some(now + delay);
        }
    }

    #[inline]
    fn count(&mut self, len: u64) {
        // A peer's full segments may be smaller than ours, for its options' sake: the largest seen counts as full.
        self.largest = self.largest.max(len).min(self.mss);
        self.unacknowledged += len;
    }

    /// An ACK is to leave, whatever arrived.
    pub(crate) fn acknowledge_now(&mut self) {
        self.due = Due::Now;
    }

    /// Whether ACKs may be quick; if they may, one that is delayed leaves now, unless there is data to read, whose reader
    /// may answer (Linux `TCP_QUICKACK`, `tcp_cleanup_rbuf`).
    pub(crate) fn set_quick_ack(&mut self, on: bool) {
        self.lazy = !on;
        if on && self.due == Due::Later && self.unread == 0 {
            self.due = Due::Now;
        }
    }

    /// The application took `bytes`; how many there were. Offers the window again once it has opened by half
    /// of the buffer or two segments (RFC 9293 section 3.8.6.2.2) beyond what the field said last, which is less than what is
    /// taken where it was rounded down.
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
            // Linux leaves off delaying once a delay ran out (`tcp_delack_timer_handler`).
            self.lazy = false;
        }
    }

    /// Whether nothing arrived since an ACK left, so that the field to offer is what it was and no ACK is due.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        !self.moved && self.due == Due::Nothing
    }

    /// The window field to offer. Its right edge never moves back, for which it is rounded up to
    /// the scale, as Linux does, and moves on only in steps worth offering (RFC 9293 section 3.8.6.2.2). Rounding may move
    /// the edge with every segment while nothing is read; so where it would lie more than a unit of the scale beyond the
    /// buffer, the field is rounded down, and what was offered goes on to be taken.
    #[inline]
    pub(crate) fn window(&mut self) -> u16 {
        if self.moved {
            self.moved = false;
            let opening = &self.opening;
            // Mostly what arrived has moved the edge by a segment, and the field is what it was.
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

    /// The first stretch between `start` and `end` that may arrive and did not.
    pub(crate) fn missing(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        self.queue.gap(start.max(self.next), end.min(self.edge))
    }

    /// Bytes that the window offered admits.
    pub(crate) fn room(&self) -> u64 {
        self.edge.saturating_sub(self.next)
    }

    /// Whether to set ECE.
    pub(crate) fn ece(&self) -> bool {
        self.echo
    }

    /// An ACK left, with or without data.
    pub(crate) fn acknowledged(&mut self) {
        self.due = Due::Nothing;
        self.unacknowledged = 0;
        self.delayed_at = None;
        self.ece_last = self.echo;
    }

    /// Data left that acknowledges, without room for SACK blocks.
    #[inline]
    pub(crate) fn acknowledged_with_data(&mut self) {
        // With nothing due, nothing arrived since an ACK left.
        let waits = self.due != Due::Nothing;
        debug_assert!(waits || self.unacknowledged == 0 && self.delayed_at.is_none(), "{self:?}");
        if waits && !self.has_blocks() {
            self.acknowledged();
        }
    }

    /// Gives the blocks to report to `put`, a duplicate first (RFC 2883), and says how many; taking them forgets the duplicate.
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

    /// Whether SACK blocks wait to be reported, so that a data segment cannot stand for the ACK.
    pub(crate) fn has_blocks(&self) -> bool {
        self.sack && (self.dsack.is_some() || !self.queue.is_empty())
    }
}

#[cfg(test)]
mod tests;
