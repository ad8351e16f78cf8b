//! A single link, compared with arithmetic by hand and with a model that searches all packets.

use firstflight::{Rate, Span};
use proptest::prelude::*;

use super::*;
use crate::link::Expectation;
use crate::packet::{PacketId, Position};
use crate::quantity::Probability;
use crate::transmitter::BIT_NANOS;

const ID: LinkId = LinkId(3);

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn packet(number: u64, wire: u32) -> Descriptor {
    let id = PacketId(u32::try_from(number).expect("few packets"));
    Descriptor::segment(id, Position::default(), wire, false).in_place(number)
}

/// Enters a packet of flow 0. `quiet` says that its route ends at its sink, so that it needs no arrival event.
fn enter<W: Recorder>(
    link: &mut DropTail,
    now: Time,
    descriptor: Descriptor,
    quiet: bool,
    (flows, recorder): (&mut [FlowStats], &mut W),
) -> Result<(), DropCause> {
    let schedule = link.admit(now, (descriptor.wire(), descriptor.sequence()), || 0, recorder)?;
    link.make_room(now, flows, recorder);
    let fate = match (schedule.lost, quiet) {
        (true, _) => Fate::Lost,
        (false, true) => Fate::Sinks(0),
        (false, false) => Fate::Arrives,
    };
    link.take(now, descriptor, schedule, fate, recorder);
    Ok(())
}

/// The queue as the recorder observed it: time, bytes, packets.
#[derive(Default)]
struct Occupancy(Vec<(u64, u64, u32)>);

impl Recorder for Occupancy {
    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        assert_eq!(link, ID);
        self.0.push((at.nanos(), bytes.get(), packets));
    }
}

/// Fates of packets: the numbers dropped on arrival; number, arrival and loss of the others.
#[derive(Default, PartialEq, Debug)]
struct Outcome {
    dropped: Vec<u64>,
    arrived: Vec<(u64, u64, bool)>,
}

/// Enters packets, each at a time in nanoseconds and with a number of IP bytes, with an event for every arrival.
fn offer<W: Recorder>(link: &mut DropTail, offers: &[(u64, u32)], recorder: &mut W) -> Outcome {
    let mut outcome = Outcome::default();
    for (number, &(when, wire)) in (0u64..).zip(offers) {
        arrivals(link, at(when), recorder, &mut outcome);
        match enter(link, at(when), packet(number, wire), false, (&mut [], recorder)) {
            Err(_) => outcome.dropped.push(number),
            Ok(()) => assert!(link.set_event().is_some_and(|(_, first)| first <= number)),
        }
    }
    arrivals(link, Time::MAX, recorder, &mut outcome);
    outcome
}

fn arrivals<W: Recorder>(link: &mut DropTail, until: Time, recorder: &mut W, outcome: &mut Outcome) {
    while let Some((when, _)) = link.set_event().filter(|(when, _)| *when <= until) {
        link.catch_up(when, recorder);
        let transit = link.arrival(when, &mut []).expect("the link said so");
        outcome.arrived.push((u64::from(transit.descriptor.packet().0), when.nanos(), transit.is_lost()));
    }
}

fn link(spec: &LinkSpec) -> DropTail {
    DropTail::new(ID, spec, 1, false)
}

fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

fn times(outcome: &Outcome) -> Vec<u64> {
    outcome.arrived.iter().map(|(_, when, _)| *when).collect()
}

#[test]
fn a_packet_arrives_after_its_transmission_and_the_propagation() {
    let mut link = link(&LinkSpec::new(Some(mbps(100)), Span::from_millis(40)));
    let outcome = offer(&mut link, &[(7, 1_000), (7, 500), (1_000_000, 1_000)], &mut ());
    // The first two packets take 80 and 80 + 40 µs. The third takes 80 µs, because the link is idle.
    assert_eq!(times(&outcome), [40_080_007, 40_120_007, 41_080_000]);
}

#[test]
fn a_link_without_a_rate_is_a_delay_and_nothing_waits() {
    let spec = LinkSpec { queue: QueueLimit::Packets(1), ..LinkSpec::new(None, Span::from_micros(5)) };
    let mut link = link(&spec);
    let mut seen = Occupancy::default();
    let outcome = offer(&mut link, &[(1, 1_500), (1, 1_500), (1, 1_500)], &mut seen);
    assert_eq!(times(&outcome), [5_001, 5_001, 5_001]);
    assert!(seen.0.is_empty());
}

#[test]
fn a_queue_of_n_packets_holds_n_with_the_one_in_transmission() {
    let spec = LinkSpec { queue: QueueLimit::Packets(3), ..LinkSpec::new(Some(mbps(8)), Span::ZERO) };
    let mut link = link(&spec);
    // The link sends one byte per microsecond: the first transmission ends at 10,000 ns.
    let offers = [(0, 10), (0, 10), (0, 10), (0, 10), (9_999, 10), (10_001, 10), (10_001, 10)];
    let outcome = offer(&mut link, &offers, &mut ());
    assert_eq!(outcome.dropped, [3, 4, 6]);
    assert_eq!(link.stats(at(50_000)).dropped_by_queue, 3);
    assert_eq!(link.stats(at(50_000)).peak_packets, 2);
}

#[test]
fn an_arrival_precedes_a_simultaneous_end_of_transmission() {
    let spec = LinkSpec { queue: QueueLimit::Packets(2), ..LinkSpec::new(Some(mbps(8)), Span::ZERO) };
    for (when, dropped) in [(9_999, true), (10_000, true), (10_001, false)] {
        let outcome = offer(&mut link(&spec), &[(0, 10), (0, 10), (when, 10)], &mut ());
        assert_eq!(outcome.dropped == [2], dropped, "at {when}");
    }
}

#[test]
fn a_queue_of_n_bytes_takes_a_packet_only_whole() {
    let spec =
        LinkSpec { queue: QueueLimit::Bytes(Bytes::new(25)), ..LinkSpec::new(Some(mbps(8)), Span::ZERO) };
    let mut link = link(&spec);
    // The first is larger than the queue but does not wait; 10 + 10 wait; 6 would make 26; 5 fills it.
    let outcome = offer(&mut link, &[(0, 30), (0, 10), (0, 10), (0, 6), (0, 5), (0, 1)], &mut ());
    assert_eq!(outcome.dropped, [3, 5]);
    assert_eq!(link.stats(at(100_000)).peak_bytes, 25);
}

#[test]
fn the_integral_of_the_queue_is_exact_at_every_instant() {
    let mut link = link(&LinkSpec::new(Some(mbps(8)), Span::ZERO));
    for number in 0..3 {
        enter(&mut link, at(0), packet(number, 10), false, (&mut [], &mut ())).expect("no limit");
    }
    // Two wait for 10 µs, then one for 10 µs, then none.
    for (when, packet_nanos) in [(5_000, 10_000), (10_000, 20_000), (15_000, 25_000), (40_000, 30_000)] {
        link.catch_up(at(when), &mut ());
        let stats = link.stats(at(when));
        assert_eq!((stats.packet_nanos, stats.byte_nanos), (packet_nanos, 10 * packet_nanos), "at {when}");
    }
}

#[test]
fn random_loss_takes_its_share_and_lost_packets_take_their_time() {
    let spec = LinkSpec { loss: Probability::ratio(1, 50), ..LinkSpec::new(Some(mbps(8)), Span::ZERO) };
    let mut lossy = link(&spec);
    let offers: Vec<(u64, u32)> = (0..100_000).map(|n| (n * 10_000, 10)).collect();
    let outcome = offer(&mut lossy, &offers, &mut ());
    let lost = outcome.arrived.iter().filter(|(_, _, lost)| *lost).count();
    // 2000 losses are expected, with a standard deviation of 44.3; the test allows five of them.
    assert!(lost.abs_diff(2_000) < 222, "{lost}");
    assert_eq!(lossy.stats(Time::MAX).dropped_at_random, lost as u64);
    assert!(outcome.arrived.iter().all(|(number, when, _)| *when == (number + 1) * 10_000));
}

#[test]
fn loss_of_one_loses_all_and_of_none_loses_nothing() {
    for (loss, lost) in [(Probability::ratio(1, 1), 1_000), (Probability::NEVER, 0)] {
        let mut link = link(&LinkSpec { loss, ..LinkSpec::new(None, Span::from_nanos(1)) });
        let offers = [(0, 10); 1_000];
        let outcome = offer(&mut link, &offers, &mut ());
        assert_eq!(outcome.arrived.iter().filter(|(_, _, lost)| *lost).count(), lost);
    }
}

#[test]
fn jitter_spreads_arrivals_over_its_whole_range_and_keeps_the_order() {
    let spec = LinkSpec { jitter: Span::from_micros(100), ..LinkSpec::new(None, Span::from_micros(500)) };
    let mut link = link(&spec);
    // Packets are so far apart that none can catch up with the previous one.
    let apart: Vec<(u64, u32)> = (0..1_000).map(|n| (n * 200_000, 10)).collect();
    let outcome = offer(&mut link, &apart, &mut ());
    let extra = outcome.arrived.iter().map(|(number, when, _)| when - number * 200_000 - 500_000);
    let (least, most) = extra.fold((u64::MAX, 0), |(least, most), x| (least.min(x), most.max(x)));
    assert!(least < 1_000 && most > 99_000 && most <= 100_000, "{least} {most}");
    // Packets are close together, and none overtakes another.
    let close: Vec<(u64, u32)> = (0..1_000).map(|n| (1_000_000_000 + n * 100, 10)).collect();
    let outcome = offer(&mut link, &close, &mut ());
    assert!(outcome.arrived.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
}

#[test]
fn quiet_packets_are_no_events_and_are_taken_in_their_turn() {
    let mut link = link(&LinkSpec::new(Some(mbps(8)), Span::ZERO));
    let mut flows = [FlowStats::default()];
    let mut sunk = |link: &mut DropTail, when| {
        link.catch_up(at(when), &mut ());
        link.sink(at(when), &mut flows);
        flows[0].delivered_bytes
    };
    for (number, quiet, event) in [(0, true, None), (1, false, Some(20_000)), (2, true, Some(20_000))] {
        enter(&mut link, at(0), packet(number, 10), quiet, (&mut [], &mut ())).expect("no limit");
        assert_eq!(link.set_event(), event.map(|when| (at(when), 1)));
    }
    assert_eq!(sunk(&mut link, 9_999), 0);
    assert_eq!(sunk(&mut link, 30_000), 10, "the one ahead of the last is an event");
    assert_eq!(link.arrival(at(30_000), &mut []).map(|p| p.descriptor.packet().0), Some(1));
    assert_eq!(sunk(&mut link, 30_000), 20);
}

#[test]
fn quiet_packets_that_arrived_make_room_for_others() {
    let mut link = link(&LinkSpec::new(Some(mbps(8)), Span::ZERO));
    let mut flows = [FlowStats::default()];
    for number in 0..1_000 {
        let now = at(number * 10_000);
        enter(&mut link, now, packet(number, 10), true, (&mut flows, &mut ())).expect("no limit");
        assert!(link.ring.end() - link.ring.head() <= 16, "as many as there are places at first");
    }
    link.catch_up(at(10_000_000), &mut ());
    link.sink(at(10_000_000), &mut flows);
    assert_eq!(flows[0].delivered_bytes, 10_000);
}

/// Returns the outcome of a FIFO link written for clarity, not speed: rational time in units of 1 / rate ns, and a
/// search of all past packets for each packet.
fn model(rate: u64, limit: QueueLimit, offers: &[(u64, u32)]) -> (Outcome, u128) {
    let (r, bits) = (u128::from(rate), |wire: u32| u128::from(wire) * u128::from(BIT_NANOS));
    let mut outcome = Outcome::default();
    // Start, end, size, and whether it started on arrival.
    let mut accepted: Vec<(u128, u128, u32, bool)> = Vec::new();
    let mut waits = 0;
    for (number, &(when, wire)) in (0u64..).zip(offers) {
        let now = u128::from(when);
        // The clock is whole nanoseconds. An arrival comes before transmissions that end or start at its instant.
        let here = accepted.iter().filter(|(_, end, ..)| end / r >= now);
        let waiting = accepted.iter().filter(|(start, _, _, at_once)| start / r >= now && !at_once);
        let at_once = accepted.last().is_none_or(|(_, end, ..)| end / r < now);
        let room = match limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(n) => here.count() < n as usize,
            QueueLimit::Bytes(n) => {
                waiting.map(|(_, _, w, _)| u64::from(*w)).sum::<u64>() + u64::from(wire) <= n.get()
            }
        };
        if !room && !at_once {
            outcome.dropped.push(number);
            continue;
        }
        let start = accepted.last().map_or(0, |(_, end, ..)| *end).max(now * r);
        let end = start + bits(wire);
        accepted.push((start, end, wire, at_once));
        waits += start / r - now;
        outcome.arrived.push((number, u64::try_from(end / r).unwrap(), false));
    }
    (outcome, waits)
}

/// Enters packets into a link that does not report drops in order of time. Expected ones are announced `lead`
/// nanoseconds before their arrival, and the link processes them at its own events. The others enter unannounced, and
/// their route ends here.
fn offer_late(link: &mut DropTail, offers: &[(u64, u32, bool)], lead: u64) -> Outcome {
    link.set_drops_in_turn(false);
    let mut outcome = Outcome::default();
    let record = |&(number, (when, _, expected)): &(u64, (u64, u32, bool))| {
        (if expected { when.saturating_sub(lead) } else { when }, number)
    };
    let mut offers: Vec<_> = (0u64..).zip(offers.iter().copied()).collect();
    offers.sort_by_key(record);
    for offer in offers {
        let (now, (number, (when, wire, expected))) = (record(&offer).0, offer);
        looks(link, at(now), &mut outcome);
        if expected {
            match link.expect(at(when), packet(number, wire)) {
                Expectation::Refused => panic!("they come in order"),
                Expectation::Taken => {}
                Expectation::EventMoved => drop(link.set_event()),
            }
            continue;
        }
        let_in(link, (at(now), number), &mut outcome);
        match enter(link, at(now), packet(number, wire), true, (&mut [FlowStats::default()], &mut ())) {
            Err(_) => outcome.dropped.push(number),
            Ok(()) if link.doubts_since_entry() => drop(link.set_event()),
            Ok(()) => {}
        }
    }
    looks(link, Time::MAX, &mut outcome);
    outcome.dropped.sort_unstable();
    outcome
}

/// Admits the packets that were announced for instants up to this event.
fn let_in(link: &mut DropTail, (now, sequence): (Time, u64), outcome: &mut Outcome) {
    while let Some((when, descriptor)) = link.take_expected(now, sequence) {
        if enter(link, when, descriptor, false, (&mut [FlowStats::default()], &mut ())).is_err() {
            outcome.dropped.push(descriptor.sequence());
        }
    }
}

/// Handles the link's events up to this instant.
fn looks(link: &mut DropTail, until: Time, outcome: &mut Outcome) {
    while let Some((now, _)) = link.event.filter(|(now, _)| *now <= until) {
        let_in(link, (now, u64::MAX), outcome);
        link.catch_up(now, &mut ());
        if let Some(transit) = link.arrival(now, &mut [FlowStats::default()]) {
            assert_eq!(transit.arrives, now, "the link looks too late");
            outcome.arrived.push((transit.descriptor.sequence(), now.nanos(), false));
        }
        link.set_event();
    }
}

fn limit() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..8).prop_map(QueueLimit::Packets),
        (1u64..8_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
    ]
}

proptest! {
    #[test]
    fn a_link_does_what_the_plain_model_does(
        rate in 1_000u64..2_000_000_000,
        queue in limit(),
        gaps in proptest::collection::vec((0u64..2_000_000, 1u32..1_600), 1..120),
    ) {
        let mut when = 0;
        let offers: Vec<(u64, u32)> = gaps.iter().map(|(gap, wire)| { when += gap / 20; (when, *wire) }).collect();
        let mut link = link(&LinkSpec { queue, ..LinkSpec::new(Some(Rate::from_bps(rate)), Span::ZERO) });
        let mut seen = Occupancy::default();
        let outcome = offer(&mut link, &offers, &mut seen);
        let (expected, waits) = model(rate, queue, &offers);
        prop_assert_eq!(&outcome, &expected);
        prop_assert_eq!(link.stats(Time::MAX).packet_nanos, waits);
        prop_assert!(seen.0.windows(2).all(|w| w[0].0 <= w[1].0), "in order of time");
        prop_assert!(seen.0.last().is_none_or(|last| (last.1, last.2) == (0, 0)), "in the end all is sent");
        let peak = seen.0.iter().map(|(_, bytes, _)| *bytes).max().unwrap_or(0);
        prop_assert_eq!(link.stats(Time::MAX).peak_bytes, peak);
    }

    #[test]
    fn the_long_run_rate_is_exact(rate in 1_000u64..100_000_000_000, wire in 1u32..9_000, count in 1u64..2_000) {
        let mut link = link(&LinkSpec::new(Some(Rate::from_bps(rate)), Span::ZERO));
        let offers = vec![(0, wire); usize::try_from(count).unwrap()];
        let last = offer(&mut link, &offers, &mut ()).arrived.last().map(|(_, when, _)| u128::from(*when));
        let exact = u128::from(count) * u128::from(wire) * u128::from(BIT_NANOS) / u128::from(rate);
        prop_assert_eq!(last, Some(exact));
    }
}

proptest! {
    // A failure needs a few packets of particular sizes and instants.
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn expected_packets_arrive_as_in_the_plain_model_despite_late_drop_reports(
        rate in 100_000u64..200_000_000,
        queue in limit(),
        lead in 0u64..3_000_000,
        gaps in proptest::collection::vec((1u64..100_000, prop_oneof![1u32..60, 400u32..1_600], any::<bool>()), 1..120),
    ) {
        let mut when = 0;
        let mut offer = |&(gap, wire, expected): &(u64, u32, bool)| {
            when += gap;
            (when, if expected { wire } else { wire / 30 + 1 }, expected)
        };
        let offers: Vec<_> = gaps.iter().map(&mut offer).collect();
        let mut link = link(&LinkSpec { queue, ..LinkSpec::new(Some(Rate::from_bps(rate)), Span::ZERO) });
        let outcome = offer_late(&mut link, &offers, lead);
        let all: Vec<_> = offers.iter().map(|(when, wire, _)| (*when, *wire)).collect();
        let (mut model, _) = model(rate, queue, &all);
        model.arrived.retain(|(number, ..)| gaps[usize::try_from(*number).unwrap()].2);
        prop_assert_eq!(outcome, model);
    }
}
