//! The agenda with this many pending events: the next one is found, and its device is set anew, to a random later
//! time.

use std::hint::black_box;

use criterion::BenchmarkId;
use firstflight::{Span, Time};
use firstflight_sim::parts::Agenda;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::Parts;

/// Maximum time between an event and the device's previous event.
const LATER: u64 = 1 << 20;
/// Number of random numbers drawn in advance, so that only the agenda is measured. They fit into the nearest cache
/// with the agenda.
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
