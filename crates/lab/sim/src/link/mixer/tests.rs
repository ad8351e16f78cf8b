use proptest::prelude::*;

use super::*;
use crate::disorder::Reorder;
use crate::packet::{PacketId, Position};

fn packet(number: u32) -> Descriptor {
    Descriptor::segment(PacketId(number), Position::default(), 1_500, false).in_place(u64::from(number))
}

/// Returns number and arrival of packets that enter at these instants, with an event for every arrival. A copy has the number of its
/// original.
fn offer(link: &mut Mixer, offers: impl IntoIterator<Item = u64>) -> Vec<(u32, u64)> {
    let mut arrived = Vec::new();
    for (number, when) in (0..).zip(offers) {
        until(link, when, &mut arrived);
        link.enter(Time::from_nanos(when), 0, packet(number));
    }
    until(link, u64::MAX, &mut arrived);
    assert!(link.passing.is_empty() && link.held.is_empty());
    arrived
}

fn until(link: &mut Mixer, end: u64, arrived: &mut Vec<(u32, u64)>) {
    while let Some((at, _)) = link.next_arrival().filter(|(at, _)| at.nanos() < end) {
        let transit = link.arrival(at).expect("the link said so");
        arrived.push((transit.descriptor.packet().0, at.nanos()));
        if let Some(descriptor) = link.take_twice() {
            link.enter_copy(at, descriptor);
        }
    }
}

fn mixer(share: (u64, u64), by: Displacement, duplicate: (u64, u64), seed: u64) -> Mixer {
    let share = Probability::ratio(share.0, share.1);
    let reorder = (!share.is_never()).then_some(Reorder { share, by });
    let disorder = Disorder { reorder, duplicate: Probability::ratio(duplicate.0, duplicate.1) };
    Mixer::new(disorder, Span::ZERO, seed)
}

fn packets(count: u32, hold: u64) -> Displacement {
    Displacement::Packets { count, hold: Span::from_nanos(hold) }
}

/// Returns, for each packet that is reordered as RFC 4737 section 3 defines it, by how many places it arrives later than it was sent (the
/// displacement of RFC 5236 section 4).
fn displacements(arrived: &[(u32, u64)]) -> Vec<usize> {
    let mut expected = 0;
    let mut late = Vec::new();
    for (place, (number, _)) in arrived.iter().enumerate() {
        if *number < expected {
            late.push(place - *number as usize);
        } else {
            expected = number + 1;
        }
    }
    late
}

#[test]
fn of_a_million_packets_the_asked_share_is_displaced_by_the_asked_number() {
    for (share, count) in [((1, 100), 3), ((1, 20), 1), ((1, 3), 8)] {
        let mut link = mixer(share, packets(count, 1 << 40), (0, 1), 5);
        let late = displacements(&offer(&mut link, (0..1_000_000).map(|packet| packet * 1_000)));
        #[expect(clippy::cast_precision_loss, reason = "they are small")]
        let ratio = late.len() as f64 / 1e6 * share.1 as f64 / share.0 as f64;
        assert!((ratio - 1.0).abs() < 0.02, "{share:?}: {ratio}");
        // The last ones have no packets after them.
        let early = late.iter().filter(|by| **by != count as usize).count();
        assert!(early <= 2 * count as usize, "{share:?}, {count}: {early}");
    }
}

#[test]
fn a_displaced_packet_arrives_by_the_asked_time_later_and_the_others_at_once() {
    let by = 5_500;
    let mut link = mixer((1, 50), Displacement::Time(Span::from_nanos(by)), (0, 1), 5);
    let arrived = offer(&mut link, (0..1_000_000).map(|packet| packet * 1_000));
    let late = arrived.iter().filter(|(number, at)| *at == u64::from(*number) * 1_000 + by).count();
    let at_once = arrived.iter().filter(|(number, at)| *at == u64::from(*number) * 1_000).count();
    assert_eq!(late + at_once, 1_000_000);
    assert!(late.abs_diff(20_000) < 400, "{late}");
    // Five packets enter while one is held, less those that are displaced themselves: with all five undisplaced, of a share of 0.98^5.
    let displaced = displacements(&arrived);
    assert_eq!(displaced.len(), late);
    assert!(displaced.iter().all(|by| (1..=5).contains(by)));
    assert!((displaced.iter().filter(|by| **by == 5).count() * 1_000 / late).abs_diff(904) < 10);
}

#[test]
fn a_packet_that_nothing_overtakes_is_held_for_a_limited_time() {
    let mut link = mixer((1, 1), packets(3, 50), (0, 1), 1);
    assert_eq!(offer(&mut link, [0, 10, 100]), [(0, 50), (1, 60), (2, 150)]);
}

#[test]
fn a_share_of_the_packets_arrives_twice_and_both_copies_together() {
    let mut link = mixer((0, 1), packets(1, 1), (1, 10), 3);
    let arrived = offer(&mut link, (0..100_000).map(|packet| packet * 1_000));
    let twice = arrived.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(arrived.len(), 100_000 + twice);
    assert!(twice.abs_diff(10_000) < 500, "{twice}");
}

#[test]
fn duplicates_do_not_move_the_draws_of_reordering() {
    let offers = || (0..10_000).map(|packet| packet * 1_000);
    let alone = offer(&mut mixer((1, 20), packets(3, 1 << 40), (0, 1), 9), offers());
    let mut with = offer(&mut mixer((1, 20), packets(3, 1 << 40), (1, 5), 9), offers());
    with.dedup();
    assert_eq!(with, alone);
}

proptest! {
    #[test]
    fn every_packet_arrives_once_and_none_before_it_entered(
        share in 0u64..=10,
        count in 1u32..6,
        span in 1u64..5_000,
        by_time in any::<bool>(),
        gaps in proptest::collection::vec(0u64..2_000, 1..200),
        seed in any::<u64>(),
    ) {
        let by = if by_time { Displacement::Time(Span::from_nanos(span)) } else { packets(count, span) };
        let offers: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let arrived = offer(&mut mixer((share, 10), by, (0, 1), seed), offers.iter().copied());
        let mut numbers: Vec<u32> = arrived.iter().map(|(number, _)| *number).collect();
        prop_assert!(arrived.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        for (number, at) in &arrived {
            let entered = offers[*number as usize];
            prop_assert!(entered <= *at && *at <= entered + span.max(1));
        }
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..u32::try_from(offers.len()).expect("few")));
    }
}
