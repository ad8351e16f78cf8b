//! The pacer: the instant of a packet, the packet itself, and the plan after the next event.

use std::hint::black_box;

use firstflight::{Bytes, Pacer, Pacing, Plan, Rate, Span, Tag, Time};

use crate::Parts;

const WIRE: Bytes = Bytes::new(1_000);

/// Sends a packet as soon as it may leave; `None` if none may.
#[inline]
fn send(pacer: &mut Pacer, plan: &Plan, now: &mut Time) -> Option<Time> {
    *now = pacer.ready_at(WIRE, false)?.max(*now);
    pacer.sent(*now, WIRE);
    pacer.adopt(black_box(plan));
    Some(*now)
}

pub(crate) fn benches(criterion: &mut Parts) {
    let window = Plan::ack_clocked(Bytes::new(1_000_000), None);
    let mut group = criterion.benchmark_group("pacer, a packet");

    group.bench_function("at a rate", |bencher| {
        let pacing = Pacing::Rate { rate: Rate::from_bps(123_456_789), burst: WIRE * 10 };
        let plan = Plan { pacing, ..window };
        let (mut pacer, mut now) = (Pacer::new(), Time::ZERO);
        pacer.adopt(&plan);
        bencher.iter(|| send(&mut pacer, &plan, &mut now));
    });

    group.bench_function("in trains of 32", |bencher| {
        let pacing = Pacing::Train { packets: 32, gap: Span::from_micros(80) };
        let mut plan = Plan { pacing, tag: Tag(1), ..window };
        let (mut pacer, mut now) = (Pacer::new(), Time::ZERO);
        pacer.adopt(&plan);
        bencher.iter(|| {
            if pacer.train_left() == 0 {
                plan.tag = Tag(plan.tag.0.wrapping_add(1));
                pacer.adopt(&plan);
            }
            send(&mut pacer, &plan, &mut now)
        });
    });

    group.finish();
}
