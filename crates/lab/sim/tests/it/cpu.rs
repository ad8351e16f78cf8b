//! Hosts whose processors take time, across the network.

use firstflight::registry::{self, AnyController};
use firstflight::schemes::Initial;
use firstflight::{Rate, Span, Time};
use firstflight_sim::{
    Application, CpuSpec, Flow, FlowId, Function, Network, PathSpec, QueueLimit, Sim, TcpSpec, Traffic,
    single_path,
};
use firstflight_tcp::{Config, Recovery, Role};

/// The counts of a bulk flow after 20 s at 40 Mbit/s and 100 ms with a queue of one bandwidth-delay product.
struct Did {
    delivered: u64,
    timeouts: u64,
    sender: Option<[u64; 5]>,
    receiver_queue: Option<u64>,
    peak: u64,
}

fn run(cpu: Option<CpuSpec>) -> Did {
    let queue = QueueLimit::Packets(480);
    let path = PathSpec::symmetric(Rate::from_bps(40_000_000), Span::from_millis(100), queue);
    let topology = single_path(&path);
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme = registry::scheme("slow-start").unwrap().build(initial, &[]).unwrap();
    let restart = registry::restart("nssr").unwrap().build(initial, &[]).unwrap();
    let controller = AnyController::new(scheme, restart, registry::law("reno").unwrap().build());
    let config = Config { mss: 1_000, recovery: Recovery::Sack, ..Config::default() };
    let mut network = Network::new(topology.links);
    network.cpu = cpu;
    network.add(Flow {
        forward: topology.routes[0].forward.clone(),
        reverse: topology.routes[0].reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec {
            client: config,
            server: config,
            controller,
            application: Application::Bulk,
        })),
        muted: false,
    });
    let mut sim = Sim::new(&network, 1, ()).unwrap();
    sim.run(Time::ZERO + Span::from_secs(20));
    let sender = sim.cpu(FlowId(0), Role::Client);
    Did {
        delivered: sim.flow(FlowId(0)).unwrap().delivered_bytes,
        timeouts: sim.endpoint(FlowId(0), Role::Client).unwrap().stats().timeouts,
        sender: sender.map(|cpu| Function::ALL.map(|function| cpu.nanos(function))),
        receiver_queue: sim.cpu(FlowId(0), Role::Server).map(|cpu| cpu.nanos(Function::DataQueue)),
        peak: sender.map_or(0, firstflight_sim::CpuStats::busiest_second),
    }
}

fn costs(packet: u64, segment: u64) -> CpuSpec {
    CpuSpec { hints: false, packet: Span::from_nanos(packet), segment: Span::from_nanos(segment) }
}

#[test]
fn a_processor_that_takes_no_time_changes_nothing() {
    let (without, free) = (run(None), run(Some(costs(0, 0))));
    assert_eq!(without.sender, None);
    assert_eq!(free.sender, Some([0; 5]));
    assert_eq!((without.delivered, without.timeouts), (free.delivered, free.timeouts));
    assert_eq!(without.timeouts, 0);
}

#[test]
fn a_fast_processor_spends_time_on_blocks_and_loses_little_throughput() {
    let (without, fast) = (run(None), run(Some(costs(10, 100))));
    assert!(fast.delivered * 100 > without.delivered * 95, "{} of {}", fast.delivered, without.delivered);
    let [sacktag, clean, fastretrans, data_queue, other] = fast.sender.unwrap();
    assert!(sacktag > clean && clean > fastretrans && fastretrans > 0, "{:?}", fast.sender);
    assert!(other > 0 && data_queue == 0);
    assert_eq!(fast.receiver_queue, Some(0), "retransmissions fill the first hole, and walk over nothing");
}

#[test]
fn hints_spare_a_sender_walks_and_nothing_else() {
    let (list, hints) = (run(Some(costs(10, 100))), run(Some(CpuSpec { hints: true, ..costs(10, 100) })));
    let ([walked, ..], [spared, ..]) = (list.sender.unwrap(), hints.sender.unwrap());
    assert!(spared > 0 && spared * 2 < walked, "{spared} of {walked}: one walk for up to four blocks");
}

#[test]
fn a_slow_processor_saturates_and_causes_timeouts_and_lower_throughput() {
    let (without, slow) = (run(None), run(Some(costs(2_000, 100))));
    assert!(slow.timeouts > 0, "its timers go before ACKs that wait");
    assert!(slow.delivered * 4 < without.delivered * 3, "{} of {}", slow.delivered, without.delivered);
    assert_eq!(slow.peak, 1_000_000_000);
}
