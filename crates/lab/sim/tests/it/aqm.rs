//! Queue disciplines, policers, rate traces and batches with TCP and datagrams across them.

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Bytes, Cause, Controller, Note, Rate, Span, Time};
use firstflight_sim::{
    Application, Batch, CbrSpec, CoDelSpec, Discipline, DropCause, Flow, FlowId, FqCoDelSpec, LinkFault,
    LinkId, LinkSpec, LinkStats, Network, NetworkError, Packet, PathSpec, PieSpec, PolicerSpec, QueueLimit,
    RateTrace, Recorder, RedSpec, Sim, TcpSpec, Traffic, dumbbell, single_path,
};
use firstflight_tcp::{AckPolicy, Config, EndpointEvent, Role, Segment, Snapshot};
use proptest::prelude::*;

type Net = Network<SlowStart, SlowStart, Reno>;

const PACKET: u32 = 1_000;
const LIMIT: QueueLimit = QueueLimit::Packets(1_000);

fn secs(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

fn bulk(route: &firstflight_sim::Route, ecn: bool) -> Flow<SlowStart, SlowStart, Reno> {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), SlowStart::new(initial), Reno::new());
    let config = Config { mss: 960, ack_policy: AckPolicy::Every, ecn, ..Config::default() };
    let application = Application::Bulk;
    Flow {
        forward: route.forward.clone(),
        reverse: route.reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::from_secs(1),
        traffic: Traffic::Tcp(Box::new(TcpSpec { client: config, server: config, controller, application })),
        muted: false,
    }
}

fn cbr(forward: &[LinkId], rate: Rate, packet: u32) -> Flow<SlowStart, SlowStart, Reno> {
    Flow {
        forward: forward.to_vec(),
        reverse: Vec::new(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Cbr(CbrSpec { rate, packet, stop: None }),
        muted: false,
    }
}

/// Returns `flows` bulk flows over 20 Mbit/s, 40 ms and this discipline.
fn shared(discipline: Discipline, flows: usize, ecn: bool) -> Net {
    let path = PathSpec { discipline, ..PathSpec::symmetric(mbps(20), Span::from_millis(40), LIMIT) };
    let topology = dumbbell(&path, flows);
    let mut network = Net::new(topology.links);
    for route in &topology.routes {
        network.add(bulk(route, ecn));
    }
    network
}

fn codel() -> Discipline {
    Discipline::CoDel(CoDelSpec::default())
}

fn with_ecn(discipline: Discipline) -> Discipline {
    match discipline {
        Discipline::DropTail => Discipline::DropTail,
        Discipline::Red(spec) => Discipline::Red(RedSpec { ecn: true, ..spec }),
        Discipline::CoDel(spec) => Discipline::CoDel(CoDelSpec { ecn: true, ..spec }),
        Discipline::FqCoDel(spec) => {
            Discipline::FqCoDel(FqCoDelSpec { codel: CoDelSpec { ecn: true, ..spec.codel }, ..spec })
        }
        Discipline::Pie(spec) => Discipline::Pie(PieSpec { ecn: true, ..spec }),
    }
}

fn disciplines() -> [Discipline; 4] {
    [
        Discipline::Red(RedSpec::over(LIMIT, PACKET)),
        codel(),
        Discipline::FqCoDel(FqCoDelSpec::default()),
        Discipline::Pie(PieSpec::for_packets(PACKET)),
    ]
}

/// Returns the mean wait at the bottleneck from 10 s to 60 s, in microseconds, and the utilisation, in thousandths.
fn wait_and_use(network: &Net) -> (u64, u64) {
    let mut sim = Sim::new(network, 1, ()).expect("a possible network");
    sim.run(secs(10));
    let stats = |sim: &Sim<_, _, _, ()>| sim.link(LinkId(0)).expect("the bottleneck");
    let before: LinkStats = stats(&sim);
    sim.run(secs(60));
    let after = stats(&sim);
    let packets = after.packets - before.packets;
    let wait = (after.packet_nanos - before.packet_nanos) / u128::from(packets) / 1_000;
    let dropped = after.dropped_by_queue - before.dropped_by_queue;
    let carried = (after.bytes - before.bytes) - dropped * u64::from(PACKET);
    (u64::try_from(wait).unwrap(), carried * 8 / (50 * 20_000))
}

#[test]
fn codel_holds_a_few_milliseconds_under_load_where_drop_tail_fills_up() {
    let (wait, used) = wait_and_use(&shared(codel(), 4, false));
    assert!((2_000..12_000).contains(&wait), "{wait} us");
    assert!(used > 930, "{used}");
    let (full, _) = wait_and_use(&shared(Discipline::DropTail, 4, false));
    assert!(full > 100_000, "{full} us");
}

#[test]
fn pie_holds_fifteen_milliseconds_under_load() {
    let (wait, used) = wait_and_use(&shared(Discipline::Pie(PieSpec::for_packets(PACKET)), 8, false));
    assert!((10_000..20_000).contains(&wait), "{wait} us");
    assert!(used > 950, "{used}");
}

#[test]
fn red_holds_the_mean_queue_between_its_thresholds() {
    let spec = RedSpec::over(QueueLimit::Packets(300), PACKET);
    assert_eq!((spec.min, spec.max), (50, 150));
    let (wait, used) = wait_and_use(&shared(Discipline::Red(spec), 16, false));
    // A packet takes 400 us: 50 to 150 of them.
    assert!((20_000..60_000).contains(&wait), "{wait} us");
    assert!(used > 950, "{used}");
}

#[test]
fn fq_codel_protects_a_thin_flow_and_shares_equally_between_bulk_flows() {
    let mut network = shared(Discipline::FqCoDel(FqCoDelSpec::default()), 2, false);
    let thin = network.add(cbr(&[LinkId(0)], Rate::from_bps(1_000_000), 200));
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    sim.run(secs(40));
    let of = |flow| sim.flow(flow).expect("a flow");
    assert_eq!(of(thin).data_dropped_by_queue, 0);
    let (one, other) = (of(FlowId(0)).delivered_bytes, of(FlowId(1)).delivered_bytes);
    assert!(one.abs_diff(other) < one / 20, "{one} {other}");
    // The two flows under one CoDel: the thin flow waits and loses with the other.
    let mut network = shared(codel(), 2, false);
    let thin = network.add(cbr(&[LinkId(0)], Rate::from_bps(1_000_000), 200));
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    sim.run(secs(40));
    assert!(sim.flow(thin).expect("a flow").data_dropped_by_queue > 0);
}

/// Observes marks, ECN in segments that arrive, and the reports of the first sender.
#[derive(Default, Clone, PartialEq, Debug)]
struct Ears {
    marked: Vec<(u64, u32, u64)>,
    dropped: Vec<(u64, u32, u64, DropCause)>,
    reduced: usize,
    exit: Option<Cause>,
    arrived: Vec<u64>,
    last: u64,
}

impl Recorder for Ears {
    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        assert_eq!(link, LinkId(0));
        self.in_order(at);
        self.marked.push((at.nanos(), packet.flow.0, packet.number));
    }

    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, cause: DropCause) {
        self.in_order(at);
        self.dropped.push((at.nanos(), packet.flow.0, packet.number, cause));
    }

    fn arrived(&mut self, at: Time, _: FlowId, side: Role, _: &Segment) {
        self.in_order(at);
        if side == Role::Client {
            self.arrived.push(at.nanos());
        }
    }

    fn event(&mut self, _: Time, flow: FlowId, side: Role, event: &EndpointEvent, _: impl Fn() -> Snapshot) {
        if (flow, side) != (FlowId(0), Role::Client) {
            return;
        }
        match event {
            EndpointEvent::Control(Note::Reduced { .. }) => self.reduced += 1,
            EndpointEvent::Control(Note::Exited { exit, .. }) => self.exit = self.exit.or(Some(exit.cause)),
            _ => {}
        }
    }
}

impl Ears {
    fn in_order(&mut self, at: Time) {
        assert!(at.nanos() >= self.last, "calls come in order of time");
        self.last = at.nanos();
    }
}

fn heard(network: &Net, seed: u64, until: Time) -> (Ears, Vec<firstflight_sim::FlowStats>) {
    let mut sim = Sim::new(network, seed, Ears::default()).expect("a possible network");
    sim.run(until);
    let stats = (0..sim.flow_count()).filter_map(|flow| sim.flow(FlowId(flow))).collect();
    (sim.into_recorder(), stats)
}

#[test]
fn every_discipline_marks_ecn_packets_and_the_sender_reduces() {
    for discipline in disciplines() {
        // One flow whose start-up ends with a mark: the queue must not overflow before.
        let (ears, stats) = heard(&shared(with_ecn(discipline), 1, true), 1, secs(30));
        assert!(stats[0].data_marked > 0, "{discipline:?}");
        assert_eq!(stats[0].data_marked, ears.marked.len() as u64);
        assert_eq!(ears.exit, Some(Cause::Mark), "{discipline:?}");
        assert!(ears.reduced > 0, "{discipline:?}");
        // Without ECN at the ends the network drops.
        let (ears, stats) = heard(&shared(with_ecn(discipline), 1, false), 1, secs(30));
        assert_eq!(stats[0].data_marked, 0);
        assert!(!ears.dropped.is_empty(), "{discipline:?}");
        assert!(matches!(ears.exit, Some(Cause::Loss)), "{discipline:?}: {:?}", ears.exit);
    }
}

/// RFC 3168 section 6.1.2: a mark counts as much as a drop, once per window of data.
#[test]
fn marks_hold_a_flow_back_as_drops_do() {
    let carried = |ecn| {
        let mut network = shared(with_ecn(codel()), 1, ecn);
        network.add(cbr(&[LinkId(0)], mbps(8), PACKET));
        let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
        sim.run(secs(60));
        sim.flow(FlowId(0)).expect("the flow").delivered_bytes
    };
    let (marked, dropped) = (carried(true), carried(false));
    assert!(marked.abs_diff(dropped) < dropped / 10, "{marked} {dropped}");
}

#[test]
fn runs_are_reproducible_by_seed_and_independent_of_intermediate_stops() {
    for discipline in disciplines() {
        let network = shared(discipline, 3, false);
        let first = heard(&network, 1, secs(10));
        assert_eq!(first, heard(&network, 1, secs(10)));
        assert_ne!(first.0, heard(&network, 2, secs(10)).0);
        let mut sim = Sim::new(&network, 1, Ears::default()).expect("a possible network");
        for step in 1..=10_000 {
            sim.run(Time::from_nanos(step * 1_000_000));
        }
        assert_eq!(sim.recorder(), &first.0, "{discipline:?}");
    }
}

#[test]
fn every_packet_of_a_managed_link_is_delivered_or_dropped() {
    for discipline in disciplines() {
        let spec = LinkSpec {
            discipline,
            queue: QueueLimit::Packets(50),
            ..LinkSpec::new(Some(mbps(10)), Span::from_millis(5))
        };
        let mut network = Net::new(vec![spec]);
        for (rate, packet) in [(4_000_000, 1_000), (5_000_000, 300), (6_000_000, 1_500)] {
            let mut flow = cbr(&[LinkId(0)], Rate::from_bps(rate), packet);
            let Traffic::Cbr(spec) = &mut flow.traffic else { unreachable!() };
            spec.stop = Some(secs(5));
            network.add(flow);
        }
        let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
        assert_eq!(sim.run(secs(20)), firstflight_sim::Stop::Idle);
        let link = sim.link(LinkId(0)).expect("the link");
        let mut dropped = 0;
        for (flow, packet) in [(0, 1_000), (1, 300), (2, 1_500)] {
            let stats = sim.flow(FlowId(flow)).expect("a flow");
            assert_eq!(stats.data_sent, stats.data_dropped_by_queue + stats.delivered_bytes / packet);
            dropped += stats.data_dropped_by_queue;
        }
        assert!(dropped > 1_000, "{discipline:?}");
        assert_eq!(link.dropped_by_queue, dropped);
    }
}

/// Drops and changes of the queue. Arrivals of datagram flows are not reported to recorders.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    dropped: Vec<(u64, u32, u64)>,
    queue: Vec<(u64, u64, u32)>,
}

impl Recorder for Seen {
    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, _: DropCause) {
        self.dropped.push((at.nanos(), packet.flow.0, packet.number));
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        if link != LinkId(0) {
            return;
        }
        // Of several changes at one instant the last one counts.
        if self.queue.last().is_some_and(|last| last.0 == at.nanos()) {
            self.queue.pop();
        }
        // A change that leaves the queue as it was does not count.
        if self.queue.last().map_or((0, 0), |last| (last.1, last.2)) != (bytes.get(), packets) {
            self.queue.push((at.nanos(), bytes.get(), packets));
        }
    }
}

proptest! {
    /// A discipline that never acts leaves a drop-tail queue, event for event: the two kinds of link agree.
    #[test]
    fn a_managed_link_whose_discipline_sleeps_is_a_drop_tail_link(
        which in 0usize..3,
        limit in prop_oneof![(1u32..40).prop_map(QueueLimit::Packets), (1_500u64..40_000).prop_map(|b| QueueLimit::Bytes(Bytes::new(b)))],
        rates in proptest::collection::vec((500_000u64..6_000_000, 40u32..1_500), 1..5),
        loss in prop_oneof![Just(0u32), Just(20_000u32)],
        seed in 0u64..1_000,
    ) {
        let asleep = [
            Discipline::Red(RedSpec { min: 1 << 40, max: 1 << 41, ..RedSpec::over(limit, 1_000) }),
            Discipline::CoDel(CoDelSpec { target: Span::from_secs(1_000), ..CoDelSpec::default() }),
            Discipline::Pie(PieSpec { target: Span::from_secs(1_000), ..PieSpec::for_packets(1_000) }),
        ][which];
        let run = |discipline| {
            let spec = LinkSpec {
                queue: limit,
                discipline,
                loss: firstflight_sim::Probability::from_ppm(loss),
                jitter: Span::from_micros(200),
                ..LinkSpec::new(Some(Rate::from_bps(8_000_000)), Span::from_millis(3))
            };
            let mut network = Net::new(vec![spec, LinkSpec::new(Some(Rate::from_bps(9_000_000)), Span::ZERO)]);
            for (rate, packet) in &rates {
                network.add(cbr(&[LinkId(0), LinkId(1)], Rate::from_bps(*rate), *packet));
            }
            let mut sim = Sim::new(&network, seed, Seen::default()).expect("a possible network");
            sim.run(secs(2));
            let links: Vec<LinkStats> = (0..2).filter_map(|link| sim.link(LinkId(link))).collect();
            let flows: Vec<_> = (0..sim.flow_count()).filter_map(|flow| sim.flow(FlowId(flow))).collect();
            let seen = sim.into_recorder();
            (links, flows, seen)
        };
        let (managed, plain) = (run(asleep), run(Discipline::DropTail));
        prop_assert_eq!(managed.0, plain.0);
        prop_assert_eq!(managed.1, plain.1);
        prop_assert!(managed.2.dropped == plain.2.dropped, "drops differ");
        prop_assert!(managed.2.queue == plain.2.queue, "queues differ");
    }
}

#[test]
fn a_policer_lets_pass_its_rate_and_its_drops_are_its_own() {
    let policer = Some(PolicerSpec { rate: mbps(2), burst: Bytes::new(10_000) });
    for discipline in [Discipline::DropTail, codel()] {
        let spec = LinkSpec { policer, discipline, ..LinkSpec::new(Some(mbps(10)), Span::ZERO) };
        let mut network = Net::new(vec![spec]);
        let flow = network.add(cbr(&[LinkId(0)], mbps(6), 1_000));
        let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
        sim.run(secs(100));
        let stats = sim.flow(flow).expect("a flow");
        // The bucket, and 250 packets a second.
        assert!(stats.delivered_bytes.abs_diff(25_010_000) <= 2_000, "{}", stats.delivered_bytes);
        assert_eq!(stats.data_dropped_by_queue, 0);
        assert_eq!(sim.link(LinkId(0)).expect("the link").dropped_by_policer, stats.data_dropped_by_policer);
        assert!(stats.data_dropped_by_policer > 49_000);
    }
}

#[test]
fn a_rate_trace_limits_delivery_to_its_steps_across_an_outage() {
    // A byte a microsecond for a second, nothing for half of one, then twice the rate.
    let steps = [(Time::ZERO, mbps(8)), (secs(1), Rate::ZERO), (Time::from_nanos(1_500_000_000), mbps(16))];
    let rates = RateTrace::new(&steps).ok();
    for discipline in [Discipline::DropTail, codel()] {
        let spec = LinkSpec { rates: rates.clone(), discipline, ..LinkSpec::new(None, Span::ZERO) };
        // CoDel would empty the queue: let it sleep.
        let spec = match spec.discipline {
            Discipline::CoDel(codel) => LinkSpec {
                discipline: Discipline::CoDel(CoDelSpec { target: Span::from_secs(100), ..codel }),
                ..spec
            },
            _ => spec,
        };
        let mut network = Net::new(vec![spec]);
        // 25 Mbit/s of packets that all arrive at once wait from the first on.
        let flow = network.add(cbr(&[LinkId(0)], mbps(25), 1_000));
        let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
        let mut delivered = |millis: u64| {
            sim.run(Time::from_nanos(millis * 1_000_000));
            sim.flow(flow).expect("a flow").delivered_bytes
        };
        let at: Vec<u64> = [1_000, 1_499, 1_500, 2_500].into_iter().map(&mut delivered).collect();
        // The first packet is sent within its period of 320 us; at each instant one packet may be in transmission.
        assert!(at[0].abs_diff(999_000) <= 1_000, "{at:?}");
        assert_eq!(at[0], at[1]);
        assert_eq!(at[1], at[2]);
        assert!((at[3] - at[2]).abs_diff(2_000_000) <= 1_000, "{at:?}");
    }
}

proptest! {
    /// A trace whose steps have one rate equals that rate, to the nanosecond.
    #[test]
    fn a_trace_of_one_rate_is_that_rate(
        bps in 1_000_000u64..50_000_000,
        cuts in proptest::collection::vec(1u64..400_000_000, 1..12),
        offered in 1_000_000u64..60_000_000,
    ) {
        let mut at = 0;
        let mut steps = vec![(Time::ZERO, Rate::from_bps(bps))];
        for gap in cuts {
            at += gap;
            steps.push((Time::from_nanos(at), Rate::from_bps(bps)));
        }
        let run = |spec: LinkSpec| {
            let spec = LinkSpec { queue: QueueLimit::Packets(20), ..spec };
            let mut network = Net::new(vec![spec]);
            network.add(cbr(&[LinkId(0)], Rate::from_bps(offered), 700));
            let mut sim = Sim::new(&network, 1, Seen::default()).expect("a possible network");
            sim.run(secs(1));
            sim.into_recorder()
        };
        let traced = run(LinkSpec { rates: RateTrace::new(&steps).ok(), ..LinkSpec::new(None, Span::ZERO) });
        let plain = run(LinkSpec::new(Some(Rate::from_bps(bps)), Span::ZERO));
        prop_assert!(traced.dropped == plain.dropped, "drops differ");
        // At a step the fraction of a nanosecond begins anew, so a transmission may be one nanosecond later for each
        // step passed.
        prop_assert_eq!(traced.queue.len(), plain.queue.len());
        for (one, other) in traced.queue.iter().zip(&plain.queue) {
            prop_assert!(one.0.abs_diff(other.0) <= steps.len() as u64);
            prop_assert_eq!((one.1, one.2), (other.1, other.2));
        }
    }
}

#[test]
fn acks_come_in_batches() {
    let run = |ack_batch| {
        let path = PathSpec { ack_batch, ..PathSpec::symmetric(mbps(20), Span::from_millis(40), LIMIT) };
        let topology = single_path(&path);
        let mut network = Net::new(topology.links);
        network.add(bulk(&topology.routes[0], false));
        heard(&network, 1, secs(5)).0.arrived
    };
    let plain = run(None);
    assert!(plain.windows(2).filter(|pair| pair[0] == pair[1]).count() < plain.len() / 100);
    let every = run(Some(Batch::Every(Span::from_millis(5))));
    let phase = every[0] % 5_000_000;
    assert!(every.iter().all(|at| at % 5_000_000 == phase));
    assert!(every.len() > 5_000);
    let mut runs = std::collections::BTreeMap::new();
    for at in run(Some(Batch::Of { packets: 8, hold: Span::from_millis(20) })) {
        *runs.entry(at).or_insert(0) += 1;
    }
    assert!(runs.values().all(|count| *count <= 8));
    let full = runs.values().filter(|count| **count == 8).count();
    assert!(full > runs.len() * 9 / 10, "{full} of {}", runs.len());
}

#[test]
fn impossible_links_are_refused_by_name() {
    let refused = |spec| Sim::new(&Net::new(vec![spec]), 1, ()).expect_err("impossible");
    let fault = |fault| NetworkError::Link { link: 0, fault };
    let base = LinkSpec::new(Some(mbps(1)), Span::ZERO);
    let policer = Some(PolicerSpec { rate: Rate::ZERO, burst: Bytes::new(1) });
    assert_eq!(refused(LinkSpec { policer, ..base.clone() }), fault(LinkFault::EmptyPolicer));
    let free = LinkSpec::new(None, Span::ZERO);
    let nothing = Some(Batch::Of { packets: 0, hold: Span::from_millis(1) });
    assert_eq!(refused(LinkSpec { batch: nothing, ..free }), fault(LinkFault::EmptyBatch));
    let batch = Some(Batch::Every(Span::from_millis(1)));
    assert_eq!(refused(LinkSpec { batch, ..base }), fault(LinkFault::BusyBatch));
}
