//! The cost of each part that handles every packet, measured separately: nanoseconds of CPU time per operation.

#[path = "../common/cpu.rs"]
mod cpu;
mod events;
mod links;
mod pacer;
mod ports;
mod repair;

use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{Bencher, Criterion, criterion_group, criterion_main};

use cpu::CpuTime;

type Parts = Criterion<CpuTime>;

/// Measures one of many operations. Each call of `some` performs several and returns their number.
fn one_of_many(bencher: &mut Bencher<'_, CpuTime>, mut some: impl FnMut() -> u64) {
    bencher.iter_custom(|wanted| {
        let (mut done, before) = (0, CpuTime.start());
        while done < wanted {
            done += some();
        }
        let taken = u128::from(CpuTime.end(before));
        u64::try_from(taken * u128::from(wanted) / u128::from(done.max(1))).unwrap_or(u64::MAX)
    });
}

fn parts() -> Parts {
    let config = Criterion::default().with_measurement(CpuTime).sample_size(20);
    config.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2)).without_plots()
}

criterion_group! {
    name = group;
    config = parts();
    targets = events::benches, links::benches, repair::benches, pacer::benches, ports::benches
}
criterion_main!(group);
