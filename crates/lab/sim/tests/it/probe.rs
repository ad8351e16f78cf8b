//! Trains over a simulated path.

use firstflight::avoidance::Reno;
use firstflight::probe::{Control, Ending, Setting};
use firstflight::schemes::SlowStart;
use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    CbrSpec, Flow, FlowId, LinkId, Network, PathSpec, ProbeSpec, Probing, QueueLimit, Sim, Stop, Traffic,
    single_path,
};

type Net = Network<SlowStart, SlowStart, Reno>;

const PACKET: u32 = 1_000;

/// Returns a probing of 10 Mbit/s and 40 ms, with an access link of ten times the rate and this much constant-rate
/// cross traffic.
fn network(setting: Setting, cross: u64, queue: QueueLimit) -> Net {
    let path = PathSpec {
        access_rate: Some(Rate::from_bps(100_000_000)),
        ..PathSpec::symmetric(Rate::from_bps(10_000_000), Span::from_millis(40), queue)
    };
    let topology = single_path(&path);
    let mut network = Net::new(topology.links);
    let route = topology.routes.into_iter().next().expect("a route");
    let flow = |forward, reverse, start, traffic| Flow {
        forward,
        reverse,
        start,
        start_spread: Span::ZERO,
        traffic,
        muted: false,
    };
    let spec = ProbeSpec::new(setting).expect("a setting");
    let start = Time::ZERO + Span::from_secs(1);
    network.add(flow(route.forward, route.reverse, start, Traffic::Probe(Box::new(spec))));
    if cross > 0 {
        let spec = CbrSpec { rate: Rate::from_bps(cross), packet: PACKET, stop: None };
        network.add(flow(vec![LinkId(0)], vec![], Time::ZERO, Traffic::Cbr(spec)));
    }
    network
}

fn probe(network: &Net, seed: u64) -> Probing {
    let mut sim = Sim::new(network, seed, ()).expect("a network");
    let stop = sim.run_until_ended(FlowId(0), Time::ZERO + Span::from_secs(60));
    assert_eq!(stop, Stop::Finished, "a probing ends");
    sim.probing(FlowId(0)).expect("it is a probing").clone()
}

fn setting(control: Control) -> Setting {
    Setting::of(control, Bytes::new(PACKET.into()))
}

#[test]
fn probe_trains_leave_with_the_requested_gap_one_per_round_trip() {
    let gap = Span::from_micros(1_500);
    let probing = probe(&network(setting(Control::Gap(gap)), 0, QueueLimit::Packets(100)), 1);
    let [burst, train] = probing.trains.as_slice() else { panic!("{:?}", probing.trains) };
    assert_eq!(burst.departures, Span::ZERO, "back to back");
    assert_eq!(burst.arrival_gap(), Some(Span::from_micros(800)), "a packet takes 0.8 ms");
    assert_eq!((train.source_gap(), train.arrival_gap()), (Some(gap), Some(gap)));
    // The last of sixteen packets is 0.8 ms after the previous one, plus the RTT, plus an access link in each
    // direction.
    let round = train.began.since(burst.began);
    assert!(round > Span::from_millis(52) && round < Span::from_millis(54), "{round:?}");
}

#[test]
fn beside_constant_traffic_the_turning_point_is_at_what_it_leaves() {
    for seed in 1..=20 {
        let probing = probe(&network(setting(Control::Bracket), 3_600_000, QueueLimit::Packets(200)), seed);
        let found = probing.prober.estimate();
        assert_eq!(found.ending, Some(Ending::Turned), "{found:?}");
        assert_eq!(found.capacity, Some(Rate::from_bps(10_000_000)));
        let ptr = found.ptr.expect("a turning point").bps();
        assert!(ptr.abs_diff(6_400_000) < 800_000, "{ptr} with seed {seed}");
    }
}

#[test]
fn drops_of_a_short_queue_count_as_lost_and_probing_continues() {
    let probing = probe(&network(setting(Control::Bracket), 0, QueueLimit::Packets(14)), 1);
    let found = probing.prober.estimate();
    assert!(found.lost > 0, "{found:?}");
    assert_eq!(found.ending, Some(Ending::Turned));
    assert_eq!(probing.trains.iter().map(|train| u32::from(train.lost)).sum::<u32>(), found.lost);
}

#[test]
fn a_seed_gives_the_same_trains_again() {
    let network = network(setting(Control::Paper), 5_000_000, QueueLimit::Packets(200));
    assert_eq!(probe(&network, 7).trains, probe(&network, 7).trains);
}
