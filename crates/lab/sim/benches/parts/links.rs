//! Segments over drop-tail links, with their events and without hosts.

use std::hint::black_box;

use criterion::{Bencher, BenchmarkGroup};
use firstflight::{Rate, Span, Time};
use firstflight_sim::parts::Links;
use firstflight_sim::{LinkSpec, QueueLimit};

use crate::cpu::CpuTime;
use crate::{Parts, one_of_many};

/// 1000 bytes on the wire, 80 microseconds at 100 Mbit/s.
const PAYLOAD: u16 = 960;
const TAKES: Span = Span::from_micros(80);

/// A link that sends a segment in [`TAKES`]: 10 ms, a queue of 1000 packets.
fn link() -> LinkSpec {
    let rate = Rate::from_bps(100_000_000);
    LinkSpec { queue: QueueLimit::Packets(1_000), ..LinkSpec::new(Some(rate), Span::from_millis(10)) }
}

/// Links, and segments that enter at regular intervals.
struct Line {
    links: Links,
    now: Time,
    every: Span,
}

impl Line {
    /// Enters `waiting` segments at once, before those that enter every `every`.
    fn new(links: &[LinkSpec], waiting: u64, every: Span) -> Self {
        let mut links = Links::new(links);
        for _ in 0..waiting {
            links.send(Time::ZERO, PAYLOAD);
        }
        Self { links, now: Time::ZERO, every }
    }

    /// Enters the next segment. Returns the number that arrived since the previous one.
    fn step(&mut self) -> u64 {
        self.now = self.now + self.every;
        let arrived = self.links.run(self.now);
        self.links.send(self.now, PAYLOAD);
        arrived
    }

    /// Runs until the links are as full as they get.
    fn warmed_up(mut self) -> Self {
        for _ in 0..20_000 {
            self.step();
        }
        self
    }
}

fn measure(
    group: &mut BenchmarkGroup<'_, CpuTime>,
    name: &str,
    line: impl Fn() -> Line,
    measured: impl Fn(&mut Bencher<'_, CpuTime>, &mut Line),
) {
    // Nothing is dropped unless more enters than the links can send.
    let mut tried = line().warmed_up();
    assert_eq!(tried.links.dropped(tried.now) > 0, tried.every < TAKES, "{name}");
    group.bench_function(name, |bencher| measured(bencher, &mut line().warmed_up()));
}

pub(crate) fn benches(criterion: &mut Parts) {
    let one = [link()];
    let six = [(); 6].map(|()| link());
    let (idle, even, over) = (TAKES + TAKES / 4, TAKES, TAKES / 2);

    let mut group = criterion.benchmark_group("link, a packet");
    let each = |bencher: &mut Bencher<'_, CpuTime>, line: &mut Line| bencher.iter(|| line.step());
    measure(&mut group, "idle", || Line::new(&one, 0, idle), each);
    measure(&mut group, "busy: 500 wait", || Line::new(&one, 500, even), each);
    measure(&mut group, "full: half are dropped", || Line::new(&one, 0, over), each);
    group.finish();

    let mut group = criterion.benchmark_group("six links in a row, a hop");
    let hop = |bencher: &mut Bencher<'_, CpuTime>, line: &mut Line| {
        one_of_many(bencher, || {
            let before = line.links.hops();
            for _ in 0..1_000 {
                black_box(line.step());
            }
            line.links.hops() - before
        });
    };
    measure(&mut group, "idle", || Line::new(&six, 0, idle), hop);
    measure(&mut group, "the first busy: 500 wait", || Line::new(&six, 500, even), hop);
    group.finish();
}
