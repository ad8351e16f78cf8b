//! The queue of events with so many pending: the next is found, and its device set anew, later by chance.

use std::hint::black_box;

use criterion::BenchmarkId;
use firstflight::{Span, Time};
use firstflight_sim::parts::Agenda;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::Parts;

/// By how much an event is later than the one that its device had, at most.
const LATER: u64 = 1 << 20;
/// Draws are made before, so that only the queue counts; they fit beside it into the nearest cache.
const DRAWS: usize = 2_048;

pub(crate) fn benches(criterion: &mut Parts) {
    let mut group = criterion.benchmark_group("event queue, next and set anew");
    for pending in [16, 1_000, 16_000] {
        group.bench_function(BenchmarkId::from_parameter(pending), |bencher| {
            let mut random = Pcg64Mcg::new(pending as u128);
            let draws: Vec<Span> =
                (0..DRAWS).map(|_| Span::from_nanos(1 + random.next_u64() % LATER)).collect();
            let mut agenda = Agenda::new(pending);
            let mut sequence = 0;
            for (device, later) in (0..pending).zip(draws.iter().cycle()) {
                sequence += 1;
                agenda.set(device, Time::ZERO + *later, sequence);
            }
            let mut draws = draws.iter().cycle();
            bencher.iter(|| {
                let (at, _, device) = agenda.next()?;
                sequence += 1;
                agenda.set(device, at + *draws.next()?, sequence);
                Some(black_box(device))
            });
        });
    }
    group.finish();
}
