//! Networks of unresponsive traffic, through the public interface.

use firstflight::avoidance::Reno;
use firstflight::schemes::SlowStart;
use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    Batch, CbrSpec, DropCause, Flow, FlowFault, FlowId, FlowStats, LinkFault, LinkId, LinkSpec, Network,
    NetworkError, Packet, PathSpec, Probability, QueueLimit, Recorder, Sim, Stop, Traffic, dumbbell,
    in_a_row, single_path,
};
use proptest::prelude::*;

type Net = Network<SlowStart, SlowStart, Reno>;

fn secs(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn cbr(links: &[u32], bps: u64, packet: u32) -> Flow<SlowStart, SlowStart, Reno> {
    Flow {
        forward: links.iter().copied().map(LinkId).collect(),
        reverse: Vec::new(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Cbr(CbrSpec { rate: Rate::from_bps(bps), packet, stop: None }),
        muted: false,
    }
}

fn one_link(spec: LinkSpec) -> Net {
    Net::new(vec![spec])
}

fn free(delay: Span) -> LinkSpec {
    LinkSpec::new(None, delay)
}

/// Every drop: when, which link, which flow's packet, why.
#[derive(Default, PartialEq, Debug, Clone)]
struct Drops(Vec<(u64, u32, u32, u64, DropCause)>);

impl Recorder for Drops {
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        self.0.push((at.nanos(), link.0, packet.flow.0, packet.number, cause));
    }
}

impl Drops {
    fn of(&self, flow: FlowId) -> Vec<u64> {
        self.0.iter().filter(|drop| drop.2 == flow.0).map(|drop| drop.3).collect()
    }
}

fn run(network: &Net, seed: u64, until: Time) -> (Drops, Vec<FlowStats>) {
    let mut sim = Sim::new(network, seed, Drops::default()).expect("a possible network");
    sim.run(until);
    let stats = (0u32..).zip(&network.flows).map(|(id, _)| sim.flow(FlowId(id)).unwrap()).collect();
    (sim.into_recorder(), stats)
}

#[test]
fn a_constant_bit_rate_is_exact_and_the_seed_moves_its_phase() {
    let mut network = one_link(free(Span::ZERO));
    let flow = network.add(cbr(&[0], 7_000_000, 1_000));
    let interval = 8_000 * 1_000_000_000 / 7_000_000;
    let mut phases = Vec::new();
    for seed in 0..50 {
        let mut sim = Sim::new(&network, seed, ()).unwrap();
        sim.run(secs(1));
        let first = sim.flow(flow).unwrap().started.unwrap().nanos();
        assert!(first < interval);
        phases.push(first);
        // 875 packets a second, whatever the phase; in 8 seconds from the first packet exactly 7000 more.
        sim.run(Time::from_nanos(first + 8_000_000_000 - 1));
        assert_eq!(sim.flow(flow).unwrap().data_sent, 7_000);
        sim.run(Time::from_nanos(first + 8_000_000_000));
        assert_eq!(sim.flow(flow).unwrap().data_sent, 7_001);
    }
    phases.sort_unstable();
    phases.dedup();
    assert_eq!(phases.len(), 50);
    assert!(phases[0] < interval / 5 && phases[49] > interval * 4 / 5);
}

#[test]
fn cbr_keeps_to_its_start_and_stop() {
    let mut network = one_link(free(Span::ZERO));
    let mut flow = cbr(&[0], 8_000_000, 1_000);
    flow.start = secs(2);
    let Traffic::Cbr(spec) = &mut flow.traffic else { unreachable!() };
    spec.stop = Some(secs(3));
    let flow = network.add(flow);
    let mut sim = Sim::new(&network, 1, ()).unwrap();
    assert_eq!(sim.run(secs(10)), Stop::Idle);
    let stats = sim.flow(flow).unwrap();
    assert_eq!(stats.data_sent, 1_000);
    assert!(stats.started.unwrap() >= secs(2));
    assert!(sim.now() < secs(3));
}

#[test]
fn the_start_of_a_flow_is_spread_by_the_seed() {
    let mut network = one_link(free(Span::ZERO));
    let mut flow = cbr(&[0], 8_000_000, 1_000);
    flow.start = secs(1);
    flow.start_spread = Span::from_secs(1);
    let flow = network.add(flow);
    let starts: Vec<u64> = (0..100)
        .map(|seed| {
            let mut sim = Sim::new(&network, seed, ()).unwrap();
            sim.run(secs(3));
            sim.flow(flow).unwrap().started.unwrap().nanos()
        })
        .collect();
    assert!(starts.iter().all(|start| (1_000_000_000..2_001_000_001).contains(start)));
    let mean = starts.iter().sum::<u64>() / 100;
    // Standard deviation of the mean: 0.029 s; five of them.
    assert!(mean.abs_diff(1_500_000_000) < 145_000_000, "{mean}");
}

fn congested() -> Net {
    let path = PathSpec {
        loss: Probability::from_ppm(20_000),
        jitter: Span::from_micros(300),
        access_rate: Some(Rate::from_bps(30_000_000)),
        ..PathSpec::symmetric(Rate::from_bps(10_000_000), Span::from_millis(20), QueueLimit::Packets(20))
    };
    let topology = dumbbell(&path, 3);
    let mut network = Net::new(topology.links);
    for (route, bps) in topology.routes.into_iter().zip([3_000_000, 4_000_000, 5_000_000]) {
        let mut flow = cbr(&[], bps, 1_000);
        flow.forward = route.forward;
        network.add(flow);
    }
    network
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let network = congested();
    let first = run(&network, 1, secs(20));
    assert_eq!(first, run(&network, 1, secs(20)));
    assert_ne!(first.0, run(&network, 2, secs(20)).0);
    assert!(first.0.0.iter().any(|drop| drop.4 == DropCause::Queue));
    assert!(first.0.0.iter().any(|drop| drop.4 == DropCause::Random));
}

#[test]
fn stopping_on_the_way_changes_nothing() {
    let network = congested();
    let mut sim = Sim::new(&network, 1, Drops::default()).unwrap();
    for step in 1..=2_000 {
        sim.run(Time::from_nanos(step * 1_000_000));
    }
    let stats: Vec<FlowStats> = (0..3).map(|id| sim.flow(FlowId(id)).unwrap()).collect();
    let links: Vec<_> = (0..5).map(|id| sim.link(LinkId(id)).unwrap()).collect();
    let mut whole = Sim::new(&network, 1, Drops::default()).unwrap();
    whole.run(secs(2));
    assert_eq!(links, (0..5).map(|id| whole.link(LinkId(id)).unwrap()).collect::<Vec<_>>());
    assert_eq!((sim.into_recorder(), stats), run(&network, 1, secs(2)));
}

#[test]
fn every_packet_is_delivered_dropped_or_on_its_way() {
    let mut network = congested();
    for flow in &mut network.flows {
        let Traffic::Cbr(spec) = &mut flow.traffic else { unreachable!() };
        spec.stop = Some(secs(5));
    }
    let mut sim = Sim::new(&network, 3, ()).unwrap();
    assert_eq!(sim.run(secs(6)), Stop::Idle);
    for id in 0..3 {
        let stats = sim.flow(FlowId(id)).unwrap();
        let dropped = stats.data_dropped_by_queue + stats.data_dropped_at_random;
        assert!(dropped > 0);
        assert_eq!(stats.data_sent, dropped + stats.delivered_bytes / 1_000);
    }
}

#[test]
fn another_flow_does_not_move_the_random_numbers_of_the_first() {
    let lossy = LinkSpec { loss: Probability::from_ppm(50_000), ..free(Span::from_millis(1)) };
    let mut alone = one_link(lossy);
    let flow = alone.add(cbr(&[0], 10_000_000, 1_000));
    let mut both = alone.clone();
    let other = both.add(cbr(&[0], 13_000_000, 700));
    let (drops, stats) = run(&alone, 9, secs(5));
    let (drops_of_both, stats_of_both) = run(&both, 9, secs(5));
    assert!(drops.of(flow).len() > 200);
    assert_eq!(drops.of(flow), drops_of_both.of(flow));
    assert_eq!(stats[0], stats_of_both[0]);
    // In the other order as well: muting the first flow leaves the second as it was.
    both.mute(flow);
    let (drops_muted, stats_muted) = run(&both, 9, secs(5));
    assert_eq!(stats_muted[0], FlowStats::default());
    assert_eq!(drops_muted.of(other), drops_of_both.of(other));
    assert_eq!(stats_muted[1], stats_of_both[1]);
}

#[test]
fn a_dumbbell_shares_the_bottleneck_and_the_way_back() {
    let mut path = PathSpec::symmetric(
        Rate::from_bps(1_000_000),
        Span::from_nanos(81),
        QueueLimit::Bytes(Bytes::new(9_000)),
    );
    assert_eq!((path.forward_delay.nanos(), path.reverse_delay.nanos()), (40, 41));
    let single = single_path(&path);
    assert_eq!((single.links.len(), single.routes.len()), (2, 1));
    assert_eq!(single.routes[0].forward, [single.bottlenecks[0]]);
    path.access_rate = Some(Rate::from_bps(5_000_000));
    let topology = dumbbell(&path, 2);
    assert_eq!(topology.links.len(), 4);
    assert_eq!(topology.links[0].queue, path.queue);
    assert_eq!(topology.routes[0].reverse, topology.routes[1].reverse);
    assert_ne!(topology.routes[0].forward[0], topology.routes[1].forward[0]);
    assert_eq!(topology.routes[0].forward[1], topology.bottlenecks[0]);
    assert_eq!(topology.routes[1].forward[1], topology.bottlenecks[0]);
}

#[test]
fn bottlenecks_in_a_row_share_the_propagation_and_are_crossed_in_order() {
    let mut path =
        PathSpec::symmetric(Rate::from_bps(1_000_000), Span::from_nanos(101), QueueLimit::Packets(9));
    path.access_rate = Some(Rate::from_bps(5_000_000));
    path.ack_batch = Some(Batch::Every(Span::from_millis(5)));
    let topology = in_a_row(&path, 3, &[(0, 3), (1, 2), (0, 1)]);
    let ids = |ids: &[u32]| -> Vec<LinkId> { ids.iter().map(|id| LinkId(*id)).collect() };
    assert_eq!(topology.bottlenecks, ids(&[0, 1, 2]));
    let delays = |links: &[LinkId]| -> Vec<u64> {
        links.iter().map(|id| topology.links[id.0 as usize].delay.nanos()).collect()
    };
    let [through, second, first] = &topology.routes[..] else { panic!("three routes") };
    // Three forward links, three return links, the batches, three access links.
    assert_eq!((&through.forward, &through.reverse), (&ids(&[7, 0, 1, 2]), &ids(&[5, 4, 3, 6])));
    assert_eq!((&second.forward, &second.reverse), (&ids(&[8, 1]), &ids(&[4])), "no batches elsewhere");
    assert_eq!((&first.forward, &first.reverse), (&ids(&[9, 0]), &ids(&[3, 6])));
    assert_eq!(delays(&through.forward), [0, 18, 16, 16]);
    assert_eq!(delays(&through.reverse), [17, 17, 17, 0]);
    assert!(topology.links[..3].iter().all(|link| link.queue == path.queue && link.rate == Some(path.rate)));
}

#[test]
fn impossible_networks_are_refused_by_name() {
    let refused = |network: &Net| Sim::new(network, 1, ()).expect_err("impossible");
    let link = |spec| refused(&one_link(spec));
    let rate = |bps| LinkSpec::new(Some(Rate::from_bps(bps)), Span::ZERO);
    assert_eq!(link(rate(0)), NetworkError::Link { link: 0, fault: LinkFault::ZeroRate });
    assert_eq!(link(rate(1 << 60)), NetworkError::Link { link: 0, fault: LinkFault::HugeRate });
    let nothing = LinkSpec { queue: QueueLimit::Packets(0), ..rate(1) };
    assert_eq!(link(nothing), NetworkError::Link { link: 0, fault: LinkFault::ZeroQueue });
    let flow = |flow| {
        let mut network = one_link(free(Span::ZERO));
        network.add(flow);
        refused(&network)
    };
    let fault = |fault| NetworkError::Flow { flow: 0, fault };
    assert_eq!(flow(cbr(&[1], 1, 1)), fault(FlowFault::UnknownLink { link: 1 }));
    assert_eq!(flow(cbr(&[], 1, 1)), fault(FlowFault::NoRoute));
    assert_eq!(flow(cbr(&[0], 0, 1)), fault(FlowFault::ZeroRate));
    assert_eq!(flow(cbr(&[0], 1, 0)), fault(FlowFault::ZeroPacket));
    assert_eq!(flow(cbr(&[0], 1, 70_000)), fault(FlowFault::HugePacket));
    assert_eq!(flow(cbr(&[0], 1 << 60, 1)), fault(FlowFault::HugeRate));
}

proptest! {
    /// Two consecutive links, of which the second is slower: the arrivals are what the second can carry.
    #[test]
    fn datagrams_that_arrived_are_counted_exactly_at_any_instant(
        bps in 1_000_000u64..50_000_000,
        stop_at in 1u64..200_000_000,
        seed in 0u64..1_000,
    ) {
        let mut network = Net::new(vec![
            LinkSpec::new(Some(Rate::from_bps(80_000_000)), Span::from_millis(3)),
            LinkSpec::new(None, Span::from_millis(4)),
        ]);
        let flow = network.add(cbr(&[0, 1], bps, 1_000));
        let mut sim = Sim::new(&network, seed, ()).unwrap();
        sim.run(Time::from_nanos(stop_at));
        let stats = sim.flow(flow).unwrap();
        // A datagram arrives 100 µs and 7 ms after its transmission.
        let arrived = stats.started.map_or(0, |first| {
            let Some(late) = stop_at.checked_sub(first.nanos() + 7_100_000) else { return 0 };
            // The k-th is sent floor(k · 8000 · 10^9 / bps) after the first.
            ((late + 1) * bps).div_ceil(8_000_000_000_000)
        });
        prop_assert_eq!(stats.delivered_bytes, arrived * 1_000);
    }
}
