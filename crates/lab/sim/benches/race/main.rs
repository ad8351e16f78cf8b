//! How fast a race runs: packet-hops per CPU second over the built-in path of `firstflight race`.

#[path = "../common/cpu.rs"]
mod cpu;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use firstflight::registry::{self, AnyLaw, AnyRestart, AnyScheme};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Controller, Rate, Span, Time};
use firstflight_sim::{
    Application, CbrSpec, Flow, Network, PathSpec, QueueLimit, Sim, TcpSpec, Topology, Traffic, dumbbell,
};
use firstflight_tcp::{AckPolicy, Config};

type Net = Network<AnyScheme, AnyRestart, AnyLaw>;

const PACKET: u32 = 1_000;
const MSS: u16 = 960;

fn main_flow(topology: &Topology, route: usize) -> Flow<AnyScheme, AnyRestart, AnyLaw> {
    let initial = Initial { segments: 2, ssthresh: Some(Bytes::new(20_000 * u64::from(MSS))) };
    let scheme = registry::scheme("slow-start").and_then(|entry| entry.build(initial, &[]).ok());
    let controller = Controller::new(
        scheme.expect("slow start is registered"),
        registry::restart("rfc5681").expect("registered").build(initial, &[]).expect("no settings"),
        registry::law("reno").expect("registered").build(),
    );
    let config = Config { mss: MSS, ack_policy: AckPolicy::Every, ..Config::default() };
    Flow {
        forward: topology.routes[route].forward.clone(),
        reverse: topology.routes[route].reverse.clone(),
        start: Time::ZERO + Span::from_secs(1),
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec {
            client: config,
            server: config,
            controller,
            application: Application::Bulk,
        })),
        muted: false,
    }
}

/// 100 Mbit/s, 80 ms, a queue of 1000 packets, 40 Mbit/s of CBR, 1000-byte packets.
fn built_in_path() -> Net {
    let path =
        PathSpec::symmetric(Rate::from_bps(100_000_000), Span::from_millis(80), QueueLimit::Packets(1_000));
    let topology = dumbbell(&path, 2);
    let mut network = Net::new(topology.links.clone());
    network.add(main_flow(&topology, 0));
    network.add(Flow {
        start: Time::ZERO,
        traffic: Traffic::Cbr(CbrSpec { rate: Rate::from_bps(40_000_000), packet: PACKET, stop: None }),
        ..main_flow(&topology, 1)
    });
    network
}

/// Runs 50 s of the flow. Returns its packet-hops.
fn race(network: &Net) -> u64 {
    let mut sim = Sim::new(network, 1, ()).expect("the built-in path is possible");
    sim.run(Time::ZERO + Span::from_secs(51));
    sim.packet_hops()
}

fn benches(criterion: &mut Criterion<cpu::CpuTime>) {
    let network = built_in_path();
    let hops = race(&network);
    println!("the race is {hops} packet-hops");
    let mut group = criterion.benchmark_group("race");
    group.throughput(Throughput::Elements(hops));
    group.bench_function("slow-start", |bencher| bencher.iter(|| race(&network)));
    group.finish();
}

criterion_group! {
    name = group;
    config = Criterion::default().with_measurement(cpu::CpuTime).sample_size(20);
    targets = benches
}
criterion_main!(group);
