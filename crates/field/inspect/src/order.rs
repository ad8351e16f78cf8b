//! Restores the order of a capture's packets. The queues of a network card and the processors and interfaces of a host pass packets on in
//! blocks. A file's order may then be wrong while its times are right. If a clock is stepped or a packet has a wrong time, times are wrong
//! while the order is right. If times go back in the file, the packets' sequence numbers and TCP timestamps decide between the two.
//!
//! Packets wait for a second, or until 16,384 of them wait, and are sorted by time within this window. If a packet belongs before one that
//! was already delivered, it stays out of order and is marked.

mod evidence;
mod outliers;

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::clock::DISORDER;
use crate::packet::{Packet, Stamp};

/// Length of the window in nanoseconds. Queues delay packets by less.
const WINDOW: u64 = 1_000_000_000;
/// Length of the window in packets. It bounds the memory.
const MAX_WAITING: usize = 16_384;
/// Number of packets examined after the point at which times go back.
const AHEAD: usize = 64;
/// Number of packets before this point with which they are compared.
const BEHIND: usize = 256;
/// Number of consecutive packets with a time or a later one after which this time counts as reached.
const SETTLED: usize = 4;

/// Errors of the packets' times and order, in the whole file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Number of packets that were moved before packets that precede them in the file.
    pub sorted: u64,
    /// Number of packets that belong before others by more than the window, so that their order is not known.
    pub displaced: u64,
    /// Number of packets with a wrong time, far from the times of the packets around them.
    pub wrong: u64,
    /// Number of times that the clock was set back.
    pub set_back: u64,
    /// Maximum time by which the clock was set back, in nanoseconds.
    pub farthest_back: u64,
}

/// A packet with its position in the file.
#[derive(Debug)]
struct Placed {
    number: u64,
    packet: Packet,
}

impl Placed {
    fn key(&self) -> (u64, u64) {
        (self.packet.at, self.number)
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Placed {}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Packets that wait for earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Packets from before the clock was set back. They no longer wait.
    before: VecDeque<Placed>,
    /// Waiting packets that came in the order of their times.
    straight: VecDeque<Placed>,
    /// Waiting packets that belong between those in `straight`.
    late: BinaryHeap<Reverse<Placed>>,
    /// Time of the last packet of a late block, and the time up to which later packets of the same block may follow.
    run: Option<(u64, u64)>,
    /// Packets from the point at which times went back, in the order of the file. They wait until the reason is known.
    undecided: Vec<Placed>,
    number: u64,
    /// Latest time of the packets in `straight`.
    newest: u64,
    /// Times of the last packets, and (`settled`) the latest time that counts as reached.
    last: [u64; SETTLED],
    settled: u64,
    /// Time of the last packet that was delivered.
    left: u64,
    pub(crate) times: Times,
}

impl Order {
    /// Adds the next packet of the file. [`Self::next`] returns the packets that are due.
    pub(crate) fn push(&mut self, packet: Packet) {
        self.number += 1;
        self.last.rotate_left(1);
        self.last[SETTLED - 1] = packet.at;
        self.settled = self.settled.max(self.last.into_iter().min().unwrap_or(0));
        self.place(Placed { number: self.number, packet });
        if self.undecided.len() == AHEAD {
            self.decide(false);
        }
    }

    /// Appends a packet after all others.
    fn put_straight(&mut self, one: Placed) {
        self.newest = one.packet.at;
        self.straight.push_back(one);
    }

    fn place(&mut self, one: Placed) {
        let at = one.packet.at;
        if !self.undecided.is_empty() {
            self.undecided.push(one);
        } else if at >= self.newest {
            self.put_straight(one);
        } else if let Some((_, until)) = self.run.filter(|(last, until)| (*last..=*until).contains(&at)) {
            self.put_late(one);
            self.run = Some((at, until));
        } else {
            self.undecided.push(one);
        }
    }

    /// Inserts a packet between packets that precede it in the file.
    fn put_late(&mut self, one: Placed) {
        self.times.sorted += 1;
        self.late.push(Reverse(one));
    }

    /// Decides why times went back. `is_end` says that the file has no more packets.
    fn decide(&mut self, is_end: bool) {
        let earliest = self.undecided.iter().map(|one| one.packet.at).min().unwrap_or(0);
        let from = self.straight.partition_point(|one| one.packet.at <= earliest);
        let overlap_from = from.max(self.straight.len().saturating_sub(BEHIND));
        let packets = |range| self.straight.range(range).map(|one| &one.packet).collect::<Vec<&Packet>>();
        let context = packets(overlap_from.saturating_sub(AHEAD)..overlap_from);
        let overlap = packets(overlap_from..self.straight.len());
        let undecided: Vec<&Packet> = self.undecided.iter().map(|one| &one.packet).collect();
        let is_far = self.newest.saturating_sub(earliest) > WINDOW;
        if evidence::times_are_true(&context, &overlap, &undecided, is_far) {
            let (until, mut last) = (self.newest, 0);
            for one in std::mem::take(&mut self.undecided) {
                last = one.packet.at;
                if last >= self.newest { self.put_straight(one) } else { self.put_late(one) }
            }
            self.run = Some((last, until));
        } else if !self.correct(from, is_end) {
            self.follow_file();
        }
    }

    /// Corrects wrong times: each becomes the time of the next packet. Returns false and does nothing if too many times are wrong, because
    /// the clock was then set.
    fn correct(&mut self, from: usize, is_end: bool) -> bool {
        let from = from.saturating_sub(outliers::CONTEXT).max(self.straight.len().saturating_sub(BEHIND));
        let all = self.straight.range(from..).chain(&self.undecided);
        let times: Vec<u64> = all.map(|one| one.packet.at).collect();
        let Some(corrected) = outliers::corrected(&times, is_end) else { return false };
        let mut all: Vec<Placed> = self.straight.drain(from..).collect();
        all.append(&mut self.undecided);
        let later = all.split_off(corrected.len());
        for (mut one, at) in all.into_iter().zip(corrected) {
            if one.packet.at != at {
                (one.packet.at, one.packet.stamp) = (at, Stamp::Wrong);
                self.times.wrong += 1;
            }
            self.put_straight(one);
        }
        self.run = None;
        for one in later {
            self.place(one);
        }
        true
    }

    /// Keeps the order of the file, for the case that this order is right and too many times are wrong to identify them. If a time goes
    /// back by much, the clock was set back or another capture follows; the packets before it then no longer wait. If a time goes back by
    /// little, it is replaced by the time of the previous packet.
    fn follow_file(&mut self) {
        for mut one in std::mem::take(&mut self.undecided) {
            let back = self.newest.saturating_sub(one.packet.at);
            if back > DISORDER {
                self.begin_again(back);
            } else if back > 0 {
                (one.packet.at, one.packet.stamp) = (self.newest, Stamp::Wrong);
                self.times.wrong += 1;
            }
            self.put_straight(one);
        }
        self.run = None;
    }

    fn begin_again(&mut self, back: u64) {
        self.times.set_back += 1;
        self.times.farthest_back = self.times.farthest_back.max(back);
        while let Some(one) = self.earliest() {
            self.before.push_back(one);
        }
        self.left = 0;
        self.settled = self.last.into_iter().min().unwrap_or(0);
    }

    /// Removes and returns the waiting packet with the earliest time.
    fn earliest(&mut self) -> Option<Placed> {
        match (self.straight.front(), self.late.peek()) {
            (Some(one), Some(Reverse(late))) if late < one => self.late.pop().map(|Reverse(late)| late),
            (None, Some(_)) => self.late.pop().map(|Reverse(late)| late),
            _ => self.straight.pop_front(),
        }
    }

    /// Returns the next packet that is due, or `None`. At the end of the file all packets are due.
    pub(crate) fn next(&mut self, is_end: bool) -> Option<Packet> {
        while is_end && !self.undecided.is_empty() {
            self.decide(true);
        }
        if let Some(one) = self.before.pop_front() {
            return Some(one.packet);
        }
        let late = self.late.peek().map(|Reverse(late)| late.packet.at);
        let first = self.straight.front().map(|one| one.packet.at).into_iter().chain(late).min()?;
        let waiting = self.straight.len() + self.late.len() + self.undecided.len();
        if !is_end && first.saturating_add(WINDOW) >= self.settled && waiting <= MAX_WAITING {
            return None;
        }
        let mut packet = self.earliest()?.packet;
        if packet.at.saturating_add(DISORDER) < self.left {
            packet.stamp = Stamp::Displaced;
            self.times.displaced += 1;
        }
        self.left = self.left.max(packet.at);
        Some(packet)
    }
}
