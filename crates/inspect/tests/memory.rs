//! Captures may be larger than memory: what is held grows with the connections and with what is in flight, not with the
//! packets. Measured by the system's count of this process's pages, sampled as the capture is read.

#[expect(dead_code, reason = "the other tests make more of it")]
mod made;

use std::io::{self, Read};

use firstflight_inspect::{Tally, inspect};
use made::{ACK, From, PLAIN, SYN, Segment, framed, packet, pcap};

/// What a connection takes that has nothing in flight: its state and its place in the table.
const PER_CONNECTION: usize = 2_500;
/// The buffer of the file, the curve, the gaps of a round, and what the allocator keeps.
const CONSTANT: usize = 16 << 20;

/// A capture made while it is read.
struct Made<F> {
    next: F,
    packets: u32,
    count: u32,
    buffer: Vec<u8>,
    place: usize,
    most_pages: usize,
}

impl<F: FnMut(u32) -> Segment> Read for Made<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.place == self.buffer.len() {
            self.most_pages = self.most_pages.max(pages());
            let header = if self.count == 0 { 0 } else { 24 };
            let end = (self.count + 1_000).min(self.packets);
            let frame = |number: u32| {
                let frame = framed(101, false, &packet(&(self.next)(number), false));
                (u64::from(number) * 100_000, frame)
            };
            let frames: Vec<_> = (self.count..end).map(frame).collect();
            self.buffer = if frames.is_empty() { vec![] } else { pcap(PLAIN, &frames)[header..].to_vec() };
            (self.count, self.place) = (end, 0);
        }
        let piece = out.len().min(self.buffer.len() - self.place);
        out[..piece].copy_from_slice(&self.buffer[self.place..self.place + piece]);
        self.place += piece;
        Ok(piece)
    }
}

fn pages() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux counts pages");
    statm.split(' ').nth(1).expect("the second is the resident set").parse().expect("a number")
}

/// The most that was held while this capture was read, in bytes.
fn held(packets: u32, next: impl FnMut(u32) -> Segment) -> (usize, Tally) {
    let before = pages();
    let mut made = Made { next, packets, count: 0, buffer: Vec::new(), place: 0, most_pages: 0 };
    let tally = inspect(&mut made, false).expect("a capture").tally;
    ((made.most_pages - before) * 4_096, tally)
}

fn segment(from: From, flags: u8, seq: u32, ack: u32, len: usize) -> Segment {
    Segment { from, flags, seq, ack, options: vec![], len }
}

#[test]
fn memory_grows_with_connections_and_flight_and_not_with_packets() {
    // Acknowledged two by two, 64 segments in flight.
    let (transfer, tally) = held(400_000, |number| {
        let sent = |count: u32| 1001 + count * 20;
        if number % 3 < 2 {
            segment(From::Client, ACK, sent(number / 3 * 2 + number % 3), 501, 20)
        } else {
            segment(From::Server, ACK, 501, sent((number / 3 * 2).saturating_sub(64)), 0)
        }
    });
    assert_eq!(tally.tcp, 400_000);
    assert!(transfer < CONSTANT, "a transfer: {transfer} bytes");

    // The same segment again and again, and nobody answers.
    let (repeats, _) = held(1_000_000, |_| segment(From::Client, ACK, 1001, 501, 20));
    assert!(repeats < CONSTANT, "repeats: {repeats} bytes");

    // A connection with every packet: the same ends, another sequence number.
    let (flood, tally) = held(20_000, |number| segment(From::Client, SYN, number * 7 + 1, 0, 0));
    assert_eq!(tally.tcp, 20_000);
    let most = 20_000 * PER_CONNECTION + CONSTANT;
    assert!(flood < most, "a flood: {flood} bytes, {most} allowed");
    println!("a transfer {transfer}, repeats {repeats}, a flood of 20 000 connections {flood} bytes");
}
