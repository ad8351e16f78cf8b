//! A link with a source on its own.

use firstflight::{Rate, Span};

use super::super::Expectation;
use super::*;
use crate::network::{CbrSpec, LinkSpec, QueueLimit};
use crate::packet::{FlowId, LinkId};

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// Lets a link look: what is dropped came at this very instant. When, and whether it was a datagram.
fn look_in_turn(link: &mut DropTail, now: Time, dropped: &mut Vec<(u64, bool)>) {
    let mut flows = [FlowStats::default()];
    loop {
        let heard = (&mut flows[..], &mut ());
        if let Some(turned) = link.take_turns((now, u64::MAX), |_| true, |_, _| {}, heard) {
            assert_eq!(turned.at, now, "the drop of a datagram is told of late");
            dropped.push((turned.at.nanos(), true));
            continue;
        }
        let Some((when, parcel)) = link.take_expected(now, u64::MAX) else { break };
        if let Ok(trip) = link.admit(when, (parcel.wire(), parcel.sequence()), || 0, &mut ()) {
            link.take(when, parcel, trip, Fate::Arrives, &mut ());
        } else {
            assert_eq!(when, now, "the drop of what was expected is told of late");
            dropped.push((when.nanos(), false));
        }
    }
    link.catch_up(now, &mut ());
    link.set_event();
}

/// While half of the room was a source's, packets were expected; when its datagrams have filled that, half of what is left is.
#[test]
fn what_is_expected_is_looked_at_in_time_where_a_source_has_taken_its_half_of_the_room() {
    // One byte a microsecond; a datagram of ten a microsecond.
    let (slow, fast) = (Rate::from_bps(8_000_000), Rate::from_bps(80_000_000));
    let spec = LinkSpec { queue: QueueLimit::Packets(22), ..LinkSpec::new(Some(slow), Span::from_millis(1)) };
    let mut link = DropTail::new(LinkId(3), &spec, 1, false);
    let source = Cbr::new(FlowId(0), CbrSpec { rate: fast, packet: 10, stop: None }, at(1_000), 1);
    let first = source.next().expect("it never stops").nanos();
    link.take_on(source).expect("nothing is lost");
    assert_eq!(link.set_event(), Some((at(first + 10_000), 0)), "ten datagrams find room in any case");
    let mut dropped = Vec::new();
    // Somebody pauses: nine datagrams are let in, and eight of them wait.
    look_in_turn(&mut link, at(first + 8_500), &mut dropped);
    let expect = |link: &mut DropTail, numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            let id = PacketId(u32::try_from(number).expect("few packets"));
            let parcel = Parcel::segment(id, Step::default(), 10, false).in_place(number);
            match link.expect(at(first + 15_000 + 100 * number), parcel) {
                Expectation::Refused => panic!("they come in order"),
                Expectation::Taken => {}
                Expectation::EventMoved => drop(link.set_event()),
            }
        }
    };
    expect(&mut link, 1..=3);
    assert_eq!(link.event, Some((at(first + 10_000), 0)));
    look_in_turn(&mut link, at(first + 10_000), &mut dropped);
    // Nine wait. Five more datagrams come first, and then there is room for seven.
    expect(&mut link, 4..=8);
    while let Some((now, _)) = link.event.filter(|(now, _)| now.nanos() < first + 16_000) {
        look_in_turn(&mut link, now, &mut dropped);
    }
    assert_eq!(dropped, [(first + 15_800, false)]);
}
