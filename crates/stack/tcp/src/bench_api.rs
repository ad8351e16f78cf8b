//! Single parts of an endpoint, for benchmarks only. No other code should depend on them. They need the feature `bench`.

use firstflight::{Bytes, LostPacket, SendLimit, Span, Tag, Time};

use crate::config::Config;
use crate::receiver::{self, Incoming};
use crate::segment::MAX_SACK_BLOCKS;
use crate::sender::scoreboard::{self, Arrival, Transmission};

/// A receiver's acknowledgement: the next byte in order, and the SACK blocks above it, of which the most recent is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// The stream offset of the next byte in order.
    pub next: u64,
    /// SACK blocks as stream offsets. The first [`Ack::count`] are valid.
    pub blocks: [(u64, u64); MAX_SACK_BLOCKS],
    /// Number of valid blocks.
    pub count: usize,
}

impl Ack {
    /// Returns the valid blocks.
    #[inline]
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }
}

/// The receiving half of an endpoint: reassembly, the SACK blocks to report, and the delayed-ACK timer.
#[derive(Clone, Debug)]
pub struct Receiver(receiver::Receiver);

impl Receiver {
    /// Creates a receiver that has received nothing.
    pub fn new(config: &Config) -> Self {
        Self(receiver::Receiver::new(config))
    }

    /// Processes `len` bytes that begin at the stream offset `start`. Returns the ACK to send, if one is due.
    #[inline]
    pub fn on_segment(&mut self, now: Time, start: u64, len: u64) -> Option<Ack> {
        if start == self.0.next() && self.0.takes_next(len) {
            self.0.take_next(now, len);
        } else {
            let nothing_else = Incoming { start, len, fin: false, ce: false, cwr: false, closing: false };
            self.0.on_data(now, &nothing_else);
        }
        if !self.0.ack_due() {
            return None;
        }
        let mut ack = Ack { next: self.0.next(), ..Ack::default() };
        if self.0.has_blocks() {
            ack.count = self.0.take_blocks(MAX_SACK_BLOCKS, |i, block| ack.blocks[i] = block);
        }
        self.0.acknowledged();
        Some(ack)
    }
}

/// The sender's scoreboard, with the lists that processing an ACK fills.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    board: scoreboard::Scoreboard,
    arrivals: Vec<Arrival>,
    lost: Vec<LostPacket>,
    packet: u64,
    newest: u64,
}

impl Scoreboard {
    /// Creates an empty scoreboard. Losses are detected as by default: by the rules of RFC 6675 and of RACK.
    #[expect(clippy::new_without_default, reason = "no value of it is the usual one")]
    pub fn new() -> Self {
        Self {
            board: scoreboard::Scoreboard::new(true),
            arrivals: Vec::new(),
            lost: Vec::new(),
            packet: 0,
            newest: 0,
        }
    }

    /// Records the transmission of `len` bytes of new data that begin at the stream offset `start`.
    #[inline]
    pub fn send(&mut self, now: Time, start: u64, len: u16) {
        let how = self.transmission(now);
        self.board.sent(start, len, false, &how);
    }

    /// Marks the data that an ACK acknowledges, and then the losses. A segment is lost if three segments above it are SACKed, or if it was
    /// sent before a delivered packet and at least `patience` ago. Returns the number of segments that were found lost.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, patience: Span) -> usize {
        self.arrivals.clear();
        self.lost.clear();
        self.board.acknowledge(ack.next, |arrival| self.arrivals.push(arrival));
        for &(start, end) in ack.blocks() {
            self.board.sack(start, end, |arrival| self.arrivals.push(arrival));
        }
        for arrival in &self.arrivals {
            self.newest = self.newest.max(arrival.delivered.packet);
        }
        self.board.mark_lost_by_sacks(&mut self.lost);
        self.board.mark_overdue(self.newest, now - patience, &mut self.lost);
        self.lost.len()
    }

    /// Retransmits the first lost segment. Returns its stream offset; `None` if no segment is lost.
    #[inline]
    pub fn send_again(&mut self, now: Time) -> Option<u64> {
        let range = self.board.next_lost()?;
        let how = self.transmission(now);
        self.board.resent(&range, &how);
        Some(range.start)
    }

    /// Returns the number of bytes in the network.
    pub fn pipe(&self) -> Bytes {
        self.board.pipe()
    }

    fn transmission(&mut self, now: Time) -> Transmission {
        self.packet += 1;
        Transmission {
            at: now,
            packet: self.packet,
            tag: Tag(0),
            limit: SendLimit::Window,
            delivered: Bytes::ZERO,
            since_delivery: 0,
            since_first_sent: 0,
        }
    }
}
