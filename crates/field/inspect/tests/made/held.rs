//! Memory held while a capture is read, from the system's count of this process's pages.

use std::io::{self, Read};

use firstflight_inspect::{Tally, inspect};

use crate::made::{From, PLAIN, Segment, framed, packet, pcap};

/// Memory of a connection with nothing in flight: its state and its entry in the table.
pub(crate) const PER_CONNECTION: usize = 2_500;
/// Memory of the file buffer, the curve, the gaps of a round, and the allocator's reserve.
pub(crate) const CONSTANT: usize = 16 << 20;

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
            let end = (self.count + 100).min(self.packets);
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

/// Returns the maximum memory held while this capture was read, in bytes.
pub(crate) fn held(packets: u32, next: impl FnMut(u32) -> Segment) -> (usize, Tally) {
    let before = pages();
    let mut made = Made { next, packets, count: 0, buffer: Vec::new(), place: 0, most_pages: 0 };
    let tally = inspect(&mut made, false).expect("a capture").tally;
    ((made.most_pages - before) * 4_096, tally)
}

pub(crate) fn segment(from: From, flags: u8, seq: u32, ack: u32, len: usize) -> Segment {
    Segment { from, flags, seq, ack, options: vec![], len }
}
