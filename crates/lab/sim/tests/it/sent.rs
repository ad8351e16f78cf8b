//! The data that a link's transmitter has sent by an instant.

use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    CbrSpec, CoDelSpec, Discipline, Flow, FqCoDelSpec, LinkId, LinkSpec, LinkStats, Network, PieSpec,
    QueueLimit, RateTrace, RedSpec, Sim, Traffic,
};
use proptest::prelude::*;

type Net =
    Network<firstflight::schemes::SlowStart, firstflight::schemes::SlowStart, firstflight::avoidance::Reno>;

const RATE: u64 = 1_000_000;

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// Returns sources of these rates over one link, which start and stop at these instants.
fn network(link: LinkSpec, sources: &[(u64, u32, Time, Time)]) -> Net {
    // A second link after it makes the first pass its packets on.
    let second = LinkSpec::new(Some(Rate::from_bps(3 * RATE)), Span::from_millis(2));
    let mut network = Net::new(vec![link, second]);
    for (place, &(bps, packet, start, stop)) in sources.iter().enumerate() {
        let spec = CbrSpec { rate: Rate::from_bps(bps), packet, stop: Some(stop) };
        let forward = if place % 2 == 0 { vec![LinkId(0)] } else { vec![LinkId(0), LinkId(1)] };
        network.add(Flow {
            forward,
            reverse: Vec::new(),
            start,
            start_spread: Span::ZERO,
            traffic: Traffic::Cbr(spec),
            muted: false,
        });
    }
    network
}

fn stats(network: &Net, instants: &[u64]) -> Vec<[LinkStats; 2]> {
    let mut sim = Sim::new(network, 1, ()).expect("a network");
    let read = |nanos: &u64| {
        sim.run(at(*nanos));
        // An idle network stops at its last event.
        [0, 1].map(|link| sim.link(LinkId(link)).expect("a link"))
    };
    instants.iter().map(read).collect()
}

fn disciplines() -> [Discipline; 5] {
    [
        Discipline::DropTail,
        Discipline::Red(RedSpec::over(QueueLimit::Packets(20), 1_000)),
        Discipline::CoDel(CoDelSpec::default()),
        Discipline::FqCoDel(FqCoDelSpec::default()),
        Discipline::Pie(PieSpec::for_packets(1_000)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_link_never_exceeds_its_rate_and_finally_sends_all_accepted_bits(
        discipline in 0_usize..5,
        sources in prop::collection::vec((100_000_u64..2_000_000, 100_u32..1_500, 0_u64..400, 0_u64..600), 1..4),
        mut instants in prop::collection::vec(0_u64..1_200_000_000, 1..40),
    ) {
        let sources: Vec<_> = sources
            .into_iter()
            .map(|(bps, packet, from, long)| (bps, packet, at(from * 1_000_000), at((from + long) * 1_000_000)))
            .collect();
        let link = LinkSpec {
            queue: QueueLimit::Packets(20),
            discipline: disciplines()[discipline],
            ..LinkSpec::new(Some(Rate::from_bps(RATE)), Span::from_millis(5))
        };
        instants.sort_unstable();
        instants.push(3_000_000_000);
        let mut before = ([0, 0], 0);
        for (nanos, links) in instants.iter().zip(stats(&network(link, &sources), &instants)) {
            for (place, rate) in [(0, RATE), (1, 3 * RATE)] {
                let most = (rate * (nanos - before.1)).div_ceil(1_000_000_000) + 1;
                let sent = links[place].sent_bits;
                prop_assert!(sent >= before.0[place], "{sent} after {before:?}");
                prop_assert!(sent - before.0[place] <= most, "{sent} after {before:?}, {most} at most");
            }
            before = (links.map(|link| link.sent_bits), *nanos);
        }
        let end = stats(&network(LinkSpec::new(Some(Rate::from_bps(RATE)), Span::ZERO), &sources), &[9_000_000_000]);
        prop_assert_eq!(end[0][0].sent_bits, end[0][0].bytes * 8);
    }
}

#[test]
fn a_link_that_always_has_something_to_send_sends_at_its_rate() {
    for discipline in disciplines() {
        let link = LinkSpec {
            queue: QueueLimit::Packets(30),
            discipline,
            ..LinkSpec::new(Some(Rate::from_bps(RATE)), Span::from_millis(5))
        };
        let sources = [(RATE, 999, at(0), at(5_000_000_000)), (RATE, 501, at(0), at(5_000_000_000))];
        let instants: Vec<u64> = (1..400).map(|step| 100_000_000 + step * 10_000_019).collect();
        let all = stats(&network(link, &sources), &instants);
        for (pair, nanos) in all.windows(2).zip(instants.windows(2)) {
            let sent = pair[1][0].sent_bits - pair[0][0].sent_bits;
            let exact = RATE * (nanos[1] - nanos[0]) / 1_000_000_000;
            assert!(sent.abs_diff(exact) <= 2, "{discipline:?}: {sent} bits of {exact}");
        }
    }
}

#[test]
fn a_packet_in_transmission_counts_by_its_part_that_was_sent() {
    let link = LinkSpec::new(Some(Rate::from_bps(RATE)), Span::from_millis(5));
    // A packet of 1000 bytes, which takes 8 ms, every 100 ms.
    let sources = [(RATE / 100 * 8, 1_000, at(0), at(5_000_000_000))];
    let instants: Vec<u64> = (1..=201).map(|step| step * 1_000_000).collect();
    let all = stats(&network(link, &sources), &instants);
    let sent: Vec<u64> = all.windows(2).map(|pair| pair[1][0].sent_bits - pair[0][0].sent_bits).collect();
    assert_eq!(sent.iter().sum::<u64>(), 16_000);
    assert!(sent.iter().filter(|bits| **bits == 1_000).count() >= 14, "{sent:?}");
    assert!(sent.iter().all(|bits| *bits <= 1_000), "{sent:?}");
}

#[test]
fn along_a_trace_a_busy_link_sends_what_the_trace_carries() {
    let steps = [
        (at(0), Rate::from_bps(RATE)),
        (at(1_000_000_000), Rate::ZERO),
        (at(2_000_000_000), Rate::from_bps(2 * RATE)),
    ];
    let trace = RateTrace::new(&steps).expect("a trace");
    let link = LinkSpec {
        rates: Some(trace),
        queue: QueueLimit::Bytes(Bytes::new(100_000)),
        ..LinkSpec::new(Some(Rate::from_bps(RATE)), Span::from_millis(5))
    };
    let sources = [(4 * RATE, 1_000, at(0), at(5_000_000_000))];
    let all = stats(&network(link, &sources), &[500_000_000, 1_000_000_000, 1_700_000_000, 2_500_000_000]);
    let sent: Vec<u64> = all.windows(2).map(|pair| pair[1][0].sent_bits - pair[0][0].sent_bits).collect();
    for (found, exact) in sent.iter().zip([RATE / 2, 0, RATE]) {
        assert!(found.abs_diff(exact) <= 2, "{sent:?}");
    }
}
