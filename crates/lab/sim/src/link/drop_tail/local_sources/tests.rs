//! A single link with a source that it serves itself.

use firstflight::{Bytes, Rate, Span};
use proptest::prelude::*;

use super::*;
use crate::link::Expectation;
use crate::packet::{FlowId, LinkId};
use crate::quantity::QueueLimit;
use crate::source::CbrSpec;
use crate::spec::LinkSpec;

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// Lets the link process its arrivals. Each drop must be at this instant. Records the instant of each drop, and whether
/// a datagram was dropped.
fn look_in_turn(link: &mut DropTail, now: Time, dropped: &mut Vec<(u64, bool)>) {
    let mut record = Vec::new();
    look(link, now, &mut [FlowStats::default(); 2], &mut record);
    for (came, is_datagram) in record {
        assert_eq!(came, now, "a drop is told of late; of a datagram: {is_datagram}");
        dropped.push((came.nanos(), is_datagram));
    }
}

/// Packets were announced while half of the room was the source's. When its datagrams have filled that half, the
/// source has half of the remaining room.
#[test]
fn expected_packets_are_examined_in_time_when_a_source_fills_its_share() {
    // One byte a microsecond. A datagram of ten bytes comes every microsecond.
    let (slow, fast) = (Rate::from_bps(8_000_000), Rate::from_bps(80_000_000));
    let spec = LinkSpec { queue: QueueLimit::Packets(22), ..LinkSpec::new(Some(slow), Span::from_millis(1)) };
    let mut link = DropTail::new(LinkId(3), &spec, 1, false);
    let source = Cbr::new(FlowId(0), CbrSpec { rate: fast, packet: 10, stop: None }, at(1_000), 1);
    let first = source.next().expect("it never stops").nanos();
    link.take_on(source).expect("nothing is lost");
    assert_eq!(link.set_event(), Some((at(first + 10_000), 0)), "ten datagrams find room in any case");
    let mut dropped = Vec::new();
    // After a pause nine datagrams are admitted, and eight of them wait.
    look_in_turn(&mut link, at(first + 8_500), &mut dropped);
    let expect = |link: &mut DropTail, numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            let id = PacketId(u32::try_from(number).expect("few packets"));
            let descriptor = Descriptor::segment(id, Position::default(), 10, false).in_place(number);
            match link.expect(at(first + 15_000 + 100 * number), descriptor) {
                Expectation::Refused => panic!("they come in order"),
                Expectation::Taken => {}
                Expectation::EventMoved => drop(link.set_event()),
            }
        }
    };
    expect(&mut link, 1..=3);
    assert_eq!(link.event, Some((at(first + 10_000), 0)));
    look_in_turn(&mut link, at(first + 10_000), &mut dropped);
    // Nine datagrams wait. Five additional ones arrive first, and then there is room for seven.
    expect(&mut link, 4..=8);
    while let Some((now, _)) = link.event.filter(|(now, _)| now.nanos() < first + 16_000) {
        look_in_turn(&mut link, now, &mut dropped);
    }
    assert_eq!(dropped, [(first + 15_800, false)]);
}

/// Returns the state of a link and of its source's flow at `now`, after the link has processed its arrivals.
fn seen(link: &mut DropTail, now: Time, flows: &mut [FlowStats]) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut arrived = Vec::new();
    while let Some(transit) = link.arrival(now, flows) {
        arrived.push(transit.arrives);
    }
    link.settle(now, flows, &mut ());
    let ahead = (link.datagram, link.transmitter.free_at(), link.last_arrival(), link.waiting());
    (arrived, ahead, link.stats(now), link.accepted_by(now), flows[0])
}

/// Lets the link process its arrivals, whenever the packets arrived.
fn look(link: &mut DropTail, now: Time, flows: &mut [FlowStats], dropped: &mut Vec<(Time, bool)>) {
    loop {
        if let Some(turned) = link.admit_in_turn((now, u64::MAX), |_| true, |_, _| {}, (flows, &mut ())) {
            dropped.push((turned.at, true));
            continue;
        }
        let Some((when, descriptor)) = link.take_expected(now, u64::MAX) else { break };
        if let Ok(schedule) = link.admit(when, (descriptor.wire(), descriptor.sequence()), || 1, &mut ()) {
            link.make_room(when, flows, &mut ());
            link.take(when, descriptor, schedule, Fate::Arrives, &mut ());
        } else {
            dropped.push((when, false));
        }
    }
    link.catch_up(now, &mut ());
    link.set_event();
}

proptest! {
    /// Rows of datagrams, and datagrams between packets, compared with a link that processes each arrival separately.
    #[test]
    fn batched_datagrams_are_admitted_as_if_processed_individually(
        (link_rate, share) in (10_000u64..1_000_000_000, prop_oneof![1u64..130, Just(100)]),
        (datagram, others) in (40u32..2_000, prop_oneof![Just(None), (40u32..2_000).prop_map(Some)]),
        delay in 0u64..50_000_000,
        queue in prop_oneof![
            Just(QueueLimit::Unlimited),
            (1u32..40).prop_map(QueueLimit::Packets),
            (1_000u64..40_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
        ],
        seed in 0u64..4,
        stop in proptest::option::of(0u64..400),
        looks in proptest::collection::vec((1u64..120, 0usize..4), 1..12),
    ) {
        let spec = LinkSpec { queue, ..LinkSpec::new(Some(Rate::from_bps(link_rate)), Span::from_nanos(delay)) };
        let rate = Rate::from_bps((link_rate * share / 100).max(1));
        let mut late = DropTail::new(LinkId(3), &spec, 1, false);
        let source = |stop| Cbr::new(FlowId(0), CbrSpec { rate, packet: datagram, stop }, at(1_000), seed);
        let interval = source(None).interval();
        let stop = stop.map(|count| at(1_000 + count * interval));
        late.take_on(source(stop)).expect("nothing is lost");
        late.set_event();
        let mut in_turn = late.clone();
        let mut flows = ([FlowStats::default(); 2], [FlowStats::default(); 2]);
        let (mut now, mut number) = (at(1_000), 0);
        for (intervals, packets) in looks {
            for place in 0..packets as u64 {
                number += 1;
                let came = now + Span::from_nanos((place + 1) * interval * intervals / 5);
                let id = PacketId(u32::try_from(number).expect("few packets"));
                let descriptor = Descriptor::segment(id, Position::default(), others.unwrap_or(datagram), false);
                for link in [&mut late, &mut in_turn] {
                    link.expect(came, descriptor.in_place(number));
                }
            }
            let until = now + Span::from_nanos(intervals * interval + intervals);
            let mut dropped = (Vec::new(), Vec::new());
            while let Some(next) = Some(in_turn.datagram).filter(|next| *next != NEVER && *next <= until) {
                look(&mut in_turn, next, &mut flows.1, &mut dropped.1);
            }
            now = until;
            look(&mut in_turn, now, &mut flows.1, &mut dropped.1);
            look(&mut late, now, &mut flows.0, &mut dropped.0);
            let one_by_one = seen(&mut in_turn, now, &mut flows.1);
            prop_assert_eq!(seen(&mut late, now, &mut flows.0), one_by_one);
            prop_assert_eq!(dropped.0, dropped.1);
        }
    }
}
