//! The receiver: what arrived, what to acknowledge, when, and how much window to offer.

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

/// An ACK that a segment calls for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Due {
    #[default]
    Nothing,
    /// At the delayed-ACK timer.
    Later,
    Now,
}

/// The receiving half of an endpoint, in stream offsets.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    policy: AckPolicy,
    delay: Span,
    sack: bool,
    buffer: u64,
    reads_at_once: bool,
    /// Next byte expected in order (`RCV.NXT`); past the FIN once it arrived.
    next: u64,
    /// Bytes in order that the application has not taken.
    unread: u64,
    queue: Reassembly,
    /// The highest offset that an offered window ever admitted.
    edge: u64,
    fin_at: Option<u64>,
    due: Due,
    /// Full segments not acknowledged yet.
    unacknowledged: u32,
    quick: u32,
    delayed_at: Option<Time>,
    dsack: Option<(u64, u64)>,
    mss: u64,
    /// ECN: echo until CWR comes (RFC 3168 section 6.1.3).
    echo: bool,
    ece_last: bool,
}

/// A segment in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) fin: bool,
    pub(crate) ce: bool,
    pub(crate) cwr: bool,
}

impl Receiver {
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
            fin_at: None,
            due: Due::Nothing,
            unacknowledged: 0,
            quick: LINUX_QUICK_ACKS,
            delayed_at: None,
            dsack: None,
            mss: u64::from(config.mss),
            echo: false,
            ece_last: false,
        }
    }

    /// What the handshake agreed on.
    pub(crate) fn establish(&mut self, mss: u16, sack: bool) {
        self.mss = u64::from(mss);
        self.sack = sack;
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// In-order payload bytes received.
    pub(crate) fn received(&self) -> u64 {
        self.next - u64::from(self.fin_arrived())
    }

    pub(crate) fn fin_arrived(&self) -> bool {
        self.fin_at.is_some_and(|at| self.next > at)
    }

    /// A segment with data or a FIN arrived.
    pub(crate) fn on_data(&mut self, now: Time, segment: &Incoming) {
        if segment.cwr {
            self.echo = false;
        }
        if segment.ce {
            self.echo = true;
        }
        let end = segment.start + segment.len + u64::from(segment.fin);
        if segment.fin && end <= self.edge.saturating_add(1) {
            self.fin_at = Some(self.fin_at.unwrap_or(end - 1));
        }
        let admitted = end.min(self.edge.saturating_add(u64::from(segment.fin)));
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
        if admitted <= self.next {
            self.due = Due::Now;
            return;
        }
        let had_hole = !self.queue.is_empty();
        let joined = self.queue.join(admitted);
        let fresh = joined - self.next;
        self.next = joined;
        if !self.reads_at_once {
            self.unread += fresh;
        }
        self.acknowledge_in_order(now, segment, had_hole);
    }

    fn out_of_order(&mut self, start: u64, end: u64) {
        // RFC 5681 section 4.2: a segment out of order is acknowledged at once.
        self.due = Due::Now;
        self.quick = self.quick.max(LINUX_QUICK_ACKS);
        let full = self.policy == AckPolicy::WindowsXp && self.queue.count() >= XP_RANGES;
        if start >= end || full {
            return;
        }
        self.dsack = self.queue.insert(start, end);
    }

    fn acknowledge_in_order(&mut self, now: Time, segment: &Incoming, had_hole: bool) {
        self.unacknowledged += u32::from(segment.len >= self.mss);
        let quick = match self.policy {
            AckPolicy::Every => true,
            AckPolicy::Linux => {
                let left = self.quick;
                self.quick = left.saturating_sub(1);
                left > 0
            }
            AckPolicy::Delayed | AckPolicy::FreeBsd | AckPolicy::WindowsXp => false,
        };
        // RFC 3168 section 6.1.3 wants marks echoed without delay; a FIN closes at once.
        let urgent = had_hole || segment.fin || self.echo != self.ece_last;
        if quick || urgent || self.unacknowledged >= 2 {
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::Later;
            self.delayed_at = Some(now + self.delay);
        }
    }

    /// An unacceptable segment arrived: it is answered with an ACK.
    pub(crate) fn challenge(&mut self) {
        self.due = Due::Now;
    }

    /// The application took `bytes`; how many there were. Offers the window again once it has opened by half
    /// of the buffer or two segments (RFC 9293 section 3.8.6.2.2).
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.unread);
        self.unread -= taken;
        let opened = (self.next + self.buffer - self.unread).saturating_sub(self.edge);
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
        }
    }

    /// The window to offer, in bytes. Its right edge never moves back, and moves on only in steps worth
    /// offering (RFC 9293 section 3.8.6.2.2).
    pub(crate) fn window(&mut self) -> u64 {
        let edge = self.next + self.buffer - self.unread.min(self.buffer);
        let step = self.mss.min(self.buffer / 2);
        if edge >= self.edge.saturating_add(step) {
            self.edge = edge;
        }
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

    /// The blocks to report, a duplicate first (RFC 2883); taking them forgets the duplicate.
    pub(crate) fn take_blocks(&mut self, limit: usize, blocks: &mut [(u64, u64); MAX_SACK_BLOCKS]) -> usize {
        let duplicate = self.dsack.take();
        let suppressed = self.policy == AckPolicy::WindowsXp && self.queue.count() >= XP_RANGES;
        if !self.sack || suppressed {
            return 0;
        }
        let limit = limit.min(MAX_SACK_BLOCKS);
        let all = duplicate.into_iter().chain(self.queue.report(limit)).take(limit);
        let mut count = 0;
        for block in all {
            blocks[count] = block;
            count += 1;
        }
        count
    }

    /// Whether SACK blocks wait to be reported, so that a data segment cannot stand for the ACK.
    pub(crate) fn has_blocks(&self) -> bool {
        self.sack && (self.dsack.is_some() || !self.queue.is_empty())
    }
}
