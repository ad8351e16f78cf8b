//! TCP across the network, through the public interface.

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Bytes, Controller, Rate, Sent, Span, Time};
use firstflight_sim::{
    Application, DropCause, End, Flow, FlowFault, FlowId, FlowStats, LinkId, LinkSpec, Network, NetworkError,
    Packet, PathSpec, Probability, QueueLimit, Recorder, Sim, Stop, TcpSpec, Traffic, single_path,
};
use firstflight_tcp::{AckPolicy, Config, EndpointEvent, Flags, Recovery, Role, Segment, Snapshot};
use proptest::prelude::*;

type Net = Network<SlowStart, SlowStart, Reno>;

const FLOW: FlowId = FlowId(0);

fn secs(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn tcp(application: Application, config: Config) -> Traffic<SlowStart, SlowStart, Reno> {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), SlowStart::new(initial), Reno::new());
    Traffic::Tcp(Box::new(TcpSpec { client: config, server: config, controller, application }))
}

fn over(path: &PathSpec, application: Application, config: Config) -> Net {
    let topology = single_path(path);
    let mut network = Net::new(topology.links);
    network.add(Flow {
        forward: topology.routes[0].forward.clone(),
        reverse: topology.routes[0].reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: tcp(application, config),
        muted: false,
    });
    network
}

/// 8 Mbit/s, so a byte a microsecond; 20 ms; room for a bandwidth-delay product.
fn path() -> PathSpec {
    PathSpec::symmetric(
        Rate::from_bps(8_000_000),
        Span::from_millis(20),
        QueueLimit::Bytes(Bytes::new(20_000)),
    )
}

fn every() -> Config {
    Config { mss: 960, ack_policy: AckPolicy::Every, ..Config::default() }
}

/// Records all events that it observes.
#[derive(Default, Clone, PartialEq, Debug)]
struct Trace {
    sent: Vec<(u64, Role, u64, u64, Segment)>,
    arrived: Vec<(u64, Role, Segment)>,
    dropped: Vec<(u64, Role, u64, DropCause)>,
    delivered: Vec<(u64, u64)>,
    events: Vec<(u64, Role, EndpointEvent)>,
    states: Vec<(u64, Role, u64)>,
    queue: Vec<(u64, u32, u64, u32)>,
}

impl Recorder for Trace {
    fn sent(&mut self, at: Time, _: FlowId, side: Role, number: u64, segment: &Segment, sent: Option<&Sent>) {
        assert!(sent.is_some() || segment.len == 0);
        self.sent.push((at.nanos(), side, number, u64::from(segment.ip_length()), *segment));
    }

    fn arrived(&mut self, at: Time, _: FlowId, side: Role, segment: &Segment) {
        self.arrived.push((at.nanos(), side, *segment));
    }

    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, cause: DropCause) {
        self.dropped.push((at.nanos(), packet.from, packet.number, cause));
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        self.queue.push((at.nanos(), link.0, bytes.get(), packets));
    }

    fn state(&mut self, at: Time, _: FlowId, side: Role, snapshot: impl Fn() -> Snapshot) {
        self.states.push((at.nanos(), side, snapshot().cwnd.get()));
    }

    fn event(&mut self, at: Time, _: FlowId, side: Role, event: &EndpointEvent, _: impl Fn() -> Snapshot) {
        self.events.push((at.nanos(), side, *event));
    }

    fn delivered(&mut self, at: Time, _: FlowId, bytes: u64) {
        self.delivered.push((at.nanos(), bytes));
    }
}

fn traced(network: &Net, seed: u64, until: Time) -> (Trace, FlowStats) {
    let mut sim = Sim::new(network, seed, Trace::default()).expect("a possible network");
    sim.run(until);
    let stats = sim.flow(FLOW).unwrap();
    (sim.into_recorder(), stats)
}

/// Indices of the packets of one side that carry payload.
fn data(trace: &Trace) -> impl Iterator<Item = &(u64, Role, u64, u64, Segment)> {
    trace.sent.iter().filter(|(_, side, _, _, segment)| *side == Role::Client && segment.len > 0)
}

#[test]
fn handshake_and_first_flight_take_exactly_the_path_time() {
    let network = over(&path(), Application::Sized(2 * 960), every());
    let mut sim = Sim::new(&network, 1, Trace::default()).unwrap();
    assert_eq!(sim.run_until_ended(FLOW, secs(10)), Stop::Finished);
    let finished = sim.now();
    let stats = sim.flow(FLOW).unwrap();
    let trace = sim.recorder();
    let (syn_at, _, _, syn_wire, syn) = trace.sent[0];
    assert_eq!((syn_at, syn.flags), (0, Flags::SYN));
    // The SYN takes its bytes in microseconds and 10 ms; the SYN-ACK 10 ms; the data is sent then.
    let established = (syn_wire + 20_000) * 1_000;
    assert_eq!(stats.started, Some(Time::ZERO));
    assert_eq!(stats.first_data, Some(Time::from_nanos(established)));
    // The segments that the client sends at that instant are back to back, the last byte of data last or before a
    // FIN.
    let flight = trace.sent.iter().filter(|(at, side, ..)| *at == established && *side == Role::Client);
    let mut ends = established;
    let mut last_data = 0;
    for (_, _, _, wire, segment) in flight {
        ends += wire * 1_000;
        last_data = if segment.len > 0 { ends } else { last_data };
    }
    assert_eq!(finished.nanos(), last_data + 10_000_000);
    assert_eq!(stats.finished(), Some(finished));
    assert_eq!(trace.delivered.last(), Some(&(finished.nanos(), 2 * 960)));
}

#[test]
fn a_sized_transfer_closes_both_ways_and_then_nothing_happens_any_more() {
    let network = over(&path(), Application::Sized(100_000), every());
    let mut sim = Sim::new(&network, 1, Trace::default()).unwrap();
    assert_eq!(sim.run(secs(3_600)), Stop::Idle);
    assert!(sim.now() < secs(300));
    for side in [Role::Client, Role::Server] {
        let closed =
            sim.recorder().events.iter().filter(|(_, s, h)| (*s, *h) == (side, EndpointEvent::Closed));
        assert_eq!(closed.count(), 1, "{side:?}");
    }
    assert_eq!(sim.flow(FLOW).unwrap().delivered_bytes, 100_000);
}

#[test]
fn a_transfer_with_all_packets_lost_ends_with_connection_abort() {
    let mut network = over(&path(), Application::Sized(100_000), every());
    network.links[0].loss = Probability::from_ppm(1_000_000);
    let mut sim = Sim::new(&network, 1, Trace::default()).unwrap();
    assert_eq!(sim.run_until_ended(FLOW, secs(3_600)), Stop::Aborted);
    let stats = sim.flow(FLOW).unwrap();
    assert_eq!(sim.now(), secs(127), "after seven SYNs, RFC 6298's second doubled each time");
    assert_eq!(stats.end, Some(End::Aborted(sim.now())));
    assert_eq!((stats.finished(), stats.aborted(), stats.ended()), (None, Some(sim.now()), Some(sim.now())));
}

#[test]
fn a_bulk_flow_fills_a_path_with_a_queue_of_one_bdp() {
    let network = over(&path(), Application::Bulk, every());
    let (trace, stats) = traced(&network, 1, secs(60));
    // 8 Mbit/s carry 960 bytes of payload in 1000: 57.6 MB in a minute, and not a byte more.
    assert!(stats.delivered_bytes <= 57_600_000);
    assert!(stats.delivered_bytes >= 57_600_000 * 95 / 100, "{}", stats.delivered_bytes);
    assert!(stats.data_dropped_by_queue > 0, "slow start overshoots");
    assert_eq!(stats.data_sent, data(&trace).count() as u64);
}

#[test]
fn watching_does_not_change_a_run() {
    let mut lossy = path();
    lossy.loss = Probability::from_ppm(5_000);
    lossy.jitter = Span::from_micros(500);
    let network = over(&lossy, Application::Bulk, every());
    let (first, stats) = traced(&network, 5, secs(20));
    let mut unwatched = Sim::new(&network, 5, ()).unwrap();
    unwatched.run(secs(20));
    assert_eq!(unwatched.flow(FLOW), Some(stats));
    let mut two = Sim::new(&network, 5, (Trace::default(), Some(Trace::default()))).unwrap();
    two.run(secs(20));
    let (one, other) = two.into_recorder();
    assert_eq!((&one, other.as_ref()), (&first, Some(&first)));
    assert_ne!(traced(&network, 6, secs(20)).0, first);
}

#[test]
fn the_record_is_whole_and_in_order_of_time() {
    let mut lossy = path();
    lossy.loss = Probability::from_ppm(5_000);
    let mut network = over(&lossy, Application::Sized(3_000_000), every());
    network.links[1].loss = Probability::from_ppm(5_000);
    let mut sim = Sim::new(&network, 3, Trace::default()).unwrap();
    assert_eq!(sim.run(secs(3_600)), Stop::Idle);
    let stats = sim.flow(FLOW).unwrap();
    let links = [0, 1].map(|id| sim.link(LinkId(id)).unwrap());
    let trace = sim.into_recorder();
    // With nothing in transit, everything sent has arrived or was dropped, on both sides.
    for side in [Role::Client, Role::Server] {
        let sent: Vec<u64> = trace.sent.iter().filter(|s| s.1 == side).map(|s| s.2).collect();
        assert!(sent.iter().zip(0..).all(|(number, index)| *number == index));
        let arrived = trace.arrived.iter().filter(|a| a.1 == side.other()).count();
        let dropped = trace.dropped.iter().filter(|d| d.1 == side).count();
        assert_eq!(sent.len(), arrived + dropped, "{side:?}");
        assert!(dropped > 0, "{side:?}");
    }
    let all = trace.sent.len() as u64;
    assert_eq!(stats.data_sent + stats.control_sent, all);
    let dropped = stats.data_dropped_by_queue + stats.data_dropped_at_random + stats.control_dropped;
    assert_eq!(dropped, trace.dropped.len() as u64);
    let by_links = |count: fn(&firstflight_sim::LinkStats) -> u64| links.iter().map(count).sum::<u64>();
    assert_eq!(by_links(|link| link.dropped_by_queue + link.dropped_at_random), dropped);
    assert_eq!(by_links(|link| link.packets + link.dropped_by_queue), all);
    assert!(trace.sent.is_sorted_by_key(|s| s.0));
    assert!(trace.arrived.is_sorted_by_key(|a| a.0));
    assert!(trace.dropped.is_sorted_by_key(|d| d.0));
    assert!(trace.delivered.is_sorted() && trace.delivered.last().map(|d| d.1) == Some(3_000_000));
    let bottleneck: Vec<_> = trace.queue.iter().filter(|q| q.1 == 0).collect();
    assert!(bottleneck.is_sorted_by_key(|q| q.0));
    assert_eq!(bottleneck.iter().map(|q| q.3).max(), Some(links[0].peak_packets));
    // The integral of the record is the integral that the link kept.
    let integral: u128 =
        bottleneck.windows(2).map(|w| u128::from(w[1].0 - w[0].0) * u128::from(w[0].3)).sum();
    assert_eq!(integral, links[0].packet_nanos);
}

#[test]
fn flows_that_can_never_work_are_refused() {
    let refused = |network: &Net| Sim::new(network, 1, ()).expect_err("impossible");
    let fault = |fault| NetworkError::Flow { flow: 0, fault };
    let with = |config| over(&path(), Application::Bulk, config);
    assert_eq!(refused(&with(Config { mss: 0, ..every() })), fault(FlowFault::ZeroPacket));
    let stamped = Config { timestamps: true, ..every() };
    assert_eq!(refused(&with(Config { mss: 65_484, ..stamped })), fault(FlowFault::HugePacket));
    assert!(Sim::new(&with(Config { mss: 65_483, ..stamped }), 1, ()).is_ok());
    assert_eq!(refused(&with(Config { reads_at_once: false, ..every() })), fault(FlowFault::NeverReads));
    assert_eq!(refused(&over(&path(), Application::Sized(0), every())), fault(FlowFault::ZeroSize));
    let mut network = with(every());
    network.links = vec![LinkSpec::new(None, Span::ZERO); 2];
    assert_eq!(refused(&network), fault(FlowFault::Instant));
    network.flows[0].reverse.clear();
    assert_eq!(refused(&network), fault(FlowFault::NoRoute));
}

fn recovery() -> impl Strategy<Value = Recovery> {
    use Recovery::{NewReno, NewRenoSteady, Ns2Sack1, Rack, Reno, Sack, Vegas};
    proptest::sample::select(vec![Rack, Sack, NewReno, NewRenoSteady, Reno, Vegas, Ns2Sack1])
}

fn ack_policy() -> impl Strategy<Value = AckPolicy> {
    use AckPolicy::{Delayed, Every, FreeBsd, Linux, WindowsXp};
    proptest::sample::select(vec![Every, Delayed, Linux, FreeBsd, WindowsXp])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the path does except losing everything, every byte is delivered once, and both sides close.
    #[test]
    fn every_transfer_ends(
        rate in 100_000u64..1_000_000_000,
        rtt_us in 1u64..300_000,
        queue in 1u32..200,
        loss in 0u32..80_000,
        loss_back in 0u32..80_000,
        jitter_us in 0u64..20_000,
        size in 1u64..400_000,
        mss in 100u16..9_000,
        timestamps in any::<bool>(),
        receive_buffer in 20_000u64..1_000_000,
        recovery in recovery(),
        ack_policy in ack_policy(),
        seed in any::<u64>(),
    ) {
        let path = PathSpec {
            loss: Probability::from_ppm(loss),
            jitter: Span::from_micros(jitter_us),
            ..PathSpec::symmetric(
                Rate::from_bps(rate), Span::from_micros(rtt_us), QueueLimit::Packets(queue),
            )
        };
        let config = Config { mss, timestamps, receive_buffer, recovery, ack_policy, ..Config::default() };
        let mut network = over(&path, Application::Sized(size), config);
        network.links[1].loss = Probability::from_ppm(loss_back);
        let mut sim = Sim::new(&network, seed, Trace::default()).unwrap();
        prop_assert_eq!(sim.run_until_ended(FLOW, secs(20_000)), Stop::Finished);
        prop_assert_eq!(sim.flow(FLOW).unwrap().delivered_bytes, size);
        prop_assert_eq!(sim.run(secs(40_000)), Stop::Idle);
        prop_assert_eq!(sim.flow(FLOW).unwrap().delivered_bytes, size);
        let closed = |side| sim.recorder().events.iter().any(|h| (h.1, h.2) == (side, EndpointEvent::Closed));
        prop_assert!(closed(Role::Client));
        prop_assert!(closed(Role::Server));
    }
}
