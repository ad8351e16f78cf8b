//! Parts of an endpoint each by itself, for benchmarks: what nobody else is to build upon. The feature `bench` has them.

use firstflight::{Bytes, LostPacket, SendLimit, Span, Tag, Time};

use crate::config::Config;
use crate::receiver::{self, Incoming};
use crate::segment::MAX_SACK_BLOCKS;
use crate::sender::scoreboard::{self, Arrival, Transmission};

/// What a receiver says: the next byte in order, and the blocks beyond it, the most recent first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// The next byte in order.
    pub next: u64,
    /// Blocks of stream offsets; the first [`Ack::count`] are there.
    pub blocks: [(u64, u64); MAX_SACK_BLOCKS],
    /// How many blocks there are.
    pub count: usize,
}

impl Ack {
    /// The blocks that are there.
    #[inline]
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }
}

/// The receiving half: reassembly, what is to be reported, the delayed ACK's timer.
#[derive(Clone, Debug)]
pub struct Receiver(receiver::Receiver);

impl Receiver {
    /// Before the first byte.
    pub fn new(config: &Config) -> Self {
        Self(receiver::Receiver::new(config))
    }

    /// `len` bytes from `start` on arrive; the ACK that leaves if one is due.
    #[inline]
    pub fn hear(&mut self, now: Time, start: u64, len: u64) -> Option<Ack> {
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

/// The sender's scoreboard, with the lists that an ACK fills.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    board: scoreboard::Scoreboard,
    arrivals: Vec<Arrival>,
    lost: Vec<LostPacket>,
    packet: u64,
    newest: u64,
}

impl Scoreboard {
    /// Nothing is outstanding. Losses are found as by default: by RFC 6675's rule and by RACK's.
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

    /// New data of `len` bytes from `start` on leaves.
    #[inline]
    pub fn send(&mut self, now: Time, start: u64, len: u16) {
        let how = self.transmission(now);
        self.board.sent(start, len, false, &how);
    }

    /// What an ACK says is marked, and then lost what no ACK came for: neither after three others, nor for longer than
    /// `patience`. How many segments were found lost.
    #[inline]
    pub fn hear(&mut self, now: Time, ack: &Ack, patience: Span) -> usize {
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

    /// The lost segment that is to be sent again first leaves again; where it begins.
    #[inline]
    pub fn send_again(&mut self, now: Time) -> Option<u64> {
        let range = self.board.next_lost()?;
        let how = self.transmission(now);
        self.board.resent(&range, &how);
        Some(range.start)
    }

    /// Bytes in the network.
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
