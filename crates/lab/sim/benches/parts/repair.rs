//! Reassembly and the scoreboard, each separately and both together: in order, and with a quarter of the window
//! missing.

use std::hint::black_box;

use criterion::BenchmarkId;
use firstflight::{Span, Time};
use firstflight_tcp::bench_api::{Ack, Receiver, Scoreboard};
use firstflight_tcp::{AckPolicy, Config, MAX_SACK_BLOCKS};

use crate::Parts;

const LEN: u16 = 1_000;
/// The time from one arrival to the next.
const APART: Span = Span::from_micros(1);
/// Number of segments in a group, the first of which is lost at its first transmission.
const GROUP: u64 = 4;
const WINDOWS: [u64; 2] = [1_000, 65_536];

/// An endless stream of arrivals: of each group all segments except the first, and then the missing segment of the
/// group one window earlier. A quarter of the window is therefore always missing, three of four segments arrive out
/// of order, and the fourth extends the in-order data by one group.
#[derive(Clone, Debug)]
struct Stream {
    window: u64,
    /// The group that arrives, and the number of its segments that have arrived, including the missing one.
    group: u64,
    place: u64,
}

impl Stream {
    fn new(window: u64) -> Self {
        Self { window, group: 0, place: 0 }
    }

    /// Returns the next segment to arrive; `None` in the place of a missing segment until the first window is over.
    fn next(&mut self) -> Option<u64> {
        if self.place == GROUP {
            (self.group, self.place) = (self.group + 1, 0);
        }
        self.place += 1;
        let first = self.group * GROUP;
        if self.place < GROUP { Some(first + self.place) } else { first.checked_sub(self.window) }
    }

    /// The receiver's ACK.
    fn ack(&self) -> Ack {
        let all = (self.group + u64::from(self.place == GROUP)) * GROUP;
        let mut ack = Ack { next: bytes(all.saturating_sub(self.window)), ..Ack::default() };
        let groups = (0..=self.group).rev().take(MAX_SACK_BLOCKS);
        for (block, first) in ack.blocks.iter_mut().zip(groups.map(|group| group * GROUP)) {
            let end = if first == self.group * GROUP { first + self.place + 1 } else { first + GROUP };
            *block = (bytes(first + 1), bytes(end.min(first + GROUP)));
            ack.count += 1;
        }
        ack
    }

    fn now(&self) -> Time {
        Time::ZERO + APART * (self.group * GROUP + self.place)
    }

    /// Returns whether the whole window contains holes.
    fn is_under_way(&self) -> bool {
        self.group * GROUP >= self.window
    }
}

const fn bytes(segments: u64) -> u64 {
    segments * LEN as u64
}

fn receiver() -> Receiver {
    let config =
        Config { mss: LEN, ack_policy: AckPolicy::Every, receive_buffer: 1 << 30, ..Config::default() };
    Receiver::new(&config)
}

fn on_ack(receiver: &mut Receiver, now: Time, segment: u64) -> Ack {
    receiver.on_segment(now, bytes(segment), u64::from(LEN)).expect("every segment is acknowledged")
}

/// The sender of a stream.
struct Sender {
    board: Scoreboard,
    window: u64,
    next: u64,
}

impl Sender {
    fn new(window: u64) -> Self {
        let mut sender = Self { board: Scoreboard::new(), window, next: 0 };
        sender.fill(Time::ZERO, 0);
        sender
    }

    /// Handles an ACK: marks segments, retransmits lost segments, and sends as much new data as was acknowledged.
    #[inline]
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        // A missing segment arrives after a window. RACK waits for a quarter more.
        self.board.on_ack(now, ack, APART * (self.window + self.window / 4));
        while let Some(start) = self.board.send_again(now) {
            black_box(start);
        }
        self.fill(now, ack.next / u64::from(LEN));
    }

    fn fill(&mut self, now: Time, in_order: u64) {
        while self.next < in_order + self.window + GROUP {
            self.board.send(now, bytes(self.next), LEN);
            self.next += 1;
        }
    }
}

/// A stream under way, with both of its ends.
fn under_way(window: u64) -> (Stream, Receiver, Sender) {
    let (mut stream, mut receiver, mut sender) = (Stream::new(window), receiver(), Sender::new(window));
    while !stream.is_under_way() || stream.place < GROUP {
        if let Some(segment) = stream.next() {
            let ack = on_ack(&mut receiver, stream.now(), segment);
            assert_eq!(ack, stream.ack(), "segment {segment}");
            sender.on_ack(stream.now(), &ack);
        }
    }
    (stream, receiver, sender)
}

pub(crate) fn benches(criterion: &mut Parts) {
    let mut group = criterion.benchmark_group("reassembly, a segment");
    group.bench_function("in order", |bencher| {
        let (mut receiver, mut segment) = (receiver(), 0);
        bencher.iter(|| {
            segment += 1;
            on_ack(&mut receiver, Time::ZERO + APART * segment, segment - 1)
        });
    });
    for window in WINDOWS {
        group.bench_function(BenchmarkId::new("a quarter missing", window), |bencher| {
            let (mut stream, mut receiver, _) = under_way(window);
            bencher.iter(|| {
                let segment = stream.next()?;
                Some(on_ack(&mut receiver, stream.now(), segment))
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("scoreboard with a quarter missing, an ACK");
    for window in WINDOWS {
        group.bench_function(BenchmarkId::new("sender", window), |bencher| {
            let (mut stream, _, mut sender) = under_way(window);
            bencher.iter(|| {
                stream.next();
                sender.on_ack(stream.now(), &stream.ack());
            });
        });
        group.bench_function(BenchmarkId::new("sender and receiver", window), |bencher| {
            let (mut stream, mut receiver, mut sender) = under_way(window);
            bencher.iter(|| {
                let segment = stream.next()?;
                let ack = on_ack(&mut receiver, stream.now(), segment);
                sender.on_ack(stream.now(), &ack);
                Some(ack.next)
            });
        });
    }
    group.finish();
}
