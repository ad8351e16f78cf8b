//! A scoreboard as a list of packets, to compare with: the work of Linux before 2.6.15 for an ACK (`net/ipv4/tcp_input.c`).
//!
//! `tcp_sacktag_write_queue` walks the retransmission queue from its head to the end of each SACK block, `tcp_clean_rtx_queue` frees
//! acknowledged packets, `tcp_fastretrans_alert` marks lost ones from a hint on. The receiver's `tcp_data_queue` walks the out-of-order
//! queue back from its tail to a segment's place. Other parts of TCP are left out: no window, no timer.

use std::hint::black_box;

use firstflight_tcp::{Recovery, SackBlock, Segment};
use gungraun::prelude::*;

use crate::ACKS;
use crate::line::MSS;
use crate::receiver::{Missing, half_missing};
use crate::sender::{Moment, heard};

/// Placeholder for a missing neighbour.
const NOBODY: u32 = u32::MAX;

/// A packet of a list. A `struct sk_buff` of Linux 2.6 takes 200 bytes or more, of which a walk touches the link to the next one and the
/// control block.
#[derive(Clone, Copy)]
#[repr(C)]
struct Packet {
    next: u32,
    previous: u32,
    between: [u64; 7],
    seq: u32,
    end: u32,
    sacked: bool,
    lost: bool,
    behind: [u64; 21],
}

/// Packets in a list, in slots that are reused, the last freed one first.
#[derive(Clone)]
struct List {
    places: Vec<Packet>,
    free: Vec<u32>,
    head: u32,
    tail: u32,
}

impl List {
    /// Returns a list with room for this many packets.
    fn with_room(room: usize) -> Self {
        let empty = Packet {
            next: NOBODY,
            previous: NOBODY,
            between: [0; 7],
            seq: 0,
            end: 0,
            sacked: false,
            lost: false,
            behind: [0; 21],
        };
        let free = (0..u32::try_from(room).expect("few enough")).rev().collect();
        Self { places: vec![empty; room], free, head: NOBODY, tail: NOBODY }
    }

    fn at(&mut self, place: u32) -> &mut Packet {
        &mut self.places[place as usize]
    }

    /// Puts a packet after another one, or first.
    fn put_behind(&mut self, previous: u32, seq: u32, end: u32) -> u32 {
        let place = self.free.pop().expect("there is room");
        let next = if previous == NOBODY { self.head } else { self.at(previous).next };
        *self.at(place) = Packet { next, previous, seq, end, sacked: false, lost: false, ..*self.at(place) };
        if previous == NOBODY {
            self.head = place;
        } else {
            self.at(previous).next = place;
        }
        if next == NOBODY {
            self.tail = place;
        } else {
            self.at(next).previous = place;
        }
        place
    }

    fn pop_first(&mut self) {
        let head = self.head;
        let next = self.at(head).next;
        self.head = next;
        if next == NOBODY {
            self.tail = NOBODY;
        } else {
            self.at(next).previous = NOBODY;
        }
        self.free.push(head);
    }
}

/// A retransmission queue.
#[derive(Clone)]
pub(crate) struct Sender {
    list: List,
    /// The sequence number after the last packet.
    sent: u32,
    /// Number of lost packets, and the first one that may be found lost next.
    lost: u32,
    hint: u32,
    /// The end of the highest block.
    highest: u32,
}

impl Sender {
    /// Returns the packets from `first` to `end`, of which those within `sacked` are SACKed.
    fn filled(first: u32, end: u32, sacked: &[SackBlock]) -> Self {
        let mss = u32::from(MSS);
        let count = (end - first) / mss;
        // One packet is inserted for each that is freed.
        let mut list = List::with_room(count as usize + 16);
        for index in 0..count {
            let seq = first + index * mss;
            list.put_behind(list.tail, seq, seq + mss);
        }
        let mut sender = Self { hint: list.head, list, sent: first + count * mss, lost: 0, highest: first };
        // Slots are in the order of the list, as long as none was reused.
        for block in sacked.iter().filter(|block| block.end > first) {
            for seq in (block.start.max(first)..block.end).step_by(usize::from(MSS)) {
                sender.list.places[((seq - first) / mss) as usize].sacked = true;
            }
            sender.highest = sender.highest.max(block.end);
        }
        sender
    }

    /// Returns the same list with its packets in random slots.
    #[allow(dead_code, reason = "the benchmarks of instructions have no use for it, for it takes as many")]
    pub(crate) fn scattered(&self) -> Self {
        let mut order: Vec<u32> = (0..u32::try_from(self.list.places.len()).expect("few enough")).collect();
        // A linear congruential generator (Knuth's MMIX), and Fisher and Yates' shuffle.
        let mut state = 1_u64;
        for last in (1..order.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(last, ((state >> 33) % (last as u64 + 1)) as usize);
        }
        let to = |place: u32| if place == NOBODY { NOBODY } else { order[place as usize] };
        let mut places = self.list.places.clone();
        for (place, packet) in (0..).zip(&self.list.places) {
            let (next, previous) = (to(packet.next), to(packet.previous));
            places[to(place) as usize] = Packet { next, previous, ..*packet };
        }
        let free = self.list.free.iter().map(|place| to(*place)).collect();
        let list = List { places, free, head: to(self.list.head), tail: to(self.list.tail) };
        Self { list, hint: to(self.hint), ..self.clone() }
    }

    /// Handles an ACK, and sends a packet for each that leaves the queue.
    fn on_ack(&mut self, ack: &Segment) {
        for block in ack.sack_blocks() {
            self.mark(*block);
        }
        while self.list.head != NOBODY && self.list.places[self.list.head as usize].end <= ack.ack {
            if self.hint == self.list.head {
                self.hint = self.list.places[self.list.head as usize].next;
            }
            self.list.pop_first();
            let (seq, end) = (self.sent, self.sent + u32::from(MSS));
            let tail = self.list.tail;
            self.list.put_behind(tail, seq, end);
            self.sent = end;
        }
        self.find_lost();
    }

    /// `tcp_sacktag_write_queue` for one block.
    fn mark(&mut self, block: SackBlock) {
        let mut place = self.list.head;
        while place != NOBODY {
            let packet = self.list.at(place);
            if packet.seq >= block.end {
                break;
            }
            if packet.seq >= block.start && packet.end <= block.end && !packet.sacked {
                packet.sacked = true;
            }
            place = packet.next;
        }
        self.highest = self.highest.max(block.end);
    }

    /// Marks packets lost that lie three packets below the highest block and are not SACKed (forward acknowledgement).
    fn find_lost(&mut self) {
        let upto = self.highest.saturating_sub(3 * u32::from(MSS));
        while self.hint != NOBODY && self.list.places[self.hint as usize].end <= upto {
            let packet = self.list.at(self.hint);
            if !packet.sacked && !packet.lost {
                packet.lost = true;
                self.lost += 1;
            }
            self.hint = self.list.at(self.hint).next;
        }
    }
}

/// An out-of-order queue.
#[derive(Clone)]
pub(crate) struct Receiver {
    list: List,
    /// The sequence number of the next byte in order.
    next: u32,
}

impl Receiver {
    /// Applies `tcp_data_queue`: a segment in order is delivered, with those that follow it in the queue; any other is inserted at its
    /// place, which is searched from the tail.
    fn on_segment(&mut self, seq: u32, end: u32) {
        if seq == self.next {
            self.next = end;
            while self.list.head != NOBODY && self.list.at(self.list.head).seq <= self.next {
                self.next = self.next.max(self.list.at(self.list.head).end);
                self.list.pop_first();
            }
            return;
        }
        let mut place = self.list.tail;
        while place != NOBODY && self.list.at(place).seq > seq {
            place = self.list.at(place).previous;
        }
        self.list.put_behind(place, seq, end);
    }
}

/// Out-of-order queues, and the segments that each of them receives.
pub(crate) type Queues = Vec<(Receiver, Vec<Segment>)>;

/// Returns the out-of-order queue of a window of which every second packet is missing, with the segments of [`crate::receiver`], repeated
/// to [`ACKS`] of them.
pub(crate) fn queues(window: u64, missing: Missing) -> Queues {
    let (_, segments) = half_missing(window, missing);
    let begin = match missing {
        Missing::Beyond => segments[0].seq - (u32::try_from(window).expect("few") + 1) * u32::from(MSS),
        Missing::Between => segments[0].seq - 2 * u32::from(MSS),
    };
    let room = usize::try_from(window).expect("few enough") / 2 + segments.len() + 1;
    let mut receiver = Receiver { list: List::with_room(room), next: begin };
    for index in (1..u32::try_from(window).expect("few")).step_by(2) {
        let seq = begin + index * u32::from(MSS);
        receiver.on_segment(seq, seq + u32::from(MSS));
    }
    let repeats = ACKS / segments.len();
    vec![(receiver, segments); repeats]
}

pub(crate) fn queue(mut work: Queues) -> Queues {
    for (receiver, segments) in &mut work {
        for segment in segments {
            receiver.on_segment(segment.seq, segment.seq + u32::from(segment.len));
        }
    }
    black_box(work)
}

/// Lists, and the ACKs that each of them handles.
pub(crate) type Work = Vec<(Sender, Vec<Segment>)>;

/// Returns the list at a moment, with its ACKs, repeated to [`ACKS`] of them.
pub(crate) fn work(window: u64, moment: Moment) -> Work {
    let heard = heard(Recovery::Sack, window, moment);
    let [first, end] = [heard.una, heard.nxt].map(|offset| u32::try_from(offset + 1).expect("below 4 GB"));
    let sender = Sender::filled(first, end, &heard.blocks);
    let acks: Vec<Segment> = heard.acks.into_iter().map(|(_, ack)| ack).collect();
    let repeats = ACKS / acks.len();
    vec![(sender, acks); repeats]
}

pub(crate) fn on_ack(mut work: Work) -> Work {
    for (sender, acks) in &mut work {
        for ack in acks {
            sender.on_ack(ack);
        }
    }
    black_box(work)
}

macro_rules! windows {
    ($name:ident, $moment:ident) => {
        #[library_benchmark]
        #[bench::w1e2(work(100, Moment::$moment))]
        #[bench::w1e3(work(1_000, Moment::$moment))]
        #[bench::w1e4(work(10_000, Moment::$moment))]
        #[bench::w1e5(work(100_000, Moment::$moment))]
        fn $name(work: Work) -> Work {
            on_ack(work)
        }
    };
}

windows!(list_open, Open);
windows!(list_sacks, Sacks);
windows!(list_repair, Repair);

macro_rules! queues {
    ($name:ident, $missing:ident) => {
        #[library_benchmark]
        #[bench::w1e2(queues(100, Missing::$missing))]
        #[bench::w1e3(queues(1_000, Missing::$missing))]
        #[bench::w1e4(queues(10_000, Missing::$missing))]
        #[bench::w1e5(queues(100_000, Missing::$missing))]
        fn $name(work: Queues) -> Queues {
            queue(work)
        }
    };
}

queues!(list_beyond, Beyond);
queues!(list_between, Between);
