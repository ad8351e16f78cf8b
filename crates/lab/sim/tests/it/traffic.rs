//! Flows that arrive, traffic that starts and stops, and consecutive routers.

use std::collections::BTreeMap;

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Rate, Span, Time};
use firstflight_sim::{
    Application, Arrivals, Content, Ends, Flow, FlowFault, FlowId, FlowStats, Gap, LinkId, LinkSpec, Network,
    NetworkError, OnOffSpec, ParkingLot, PathSpec, Periods, QueueLimit, Recorder, Route, Sim, Sizes, Stop,
    TcpSpec, Traffic, Ways, single_path,
};
use firstflight_tcp::{AckPolicy, Config, Role};

type Net = Network<SlowStart, SlowStart, Reno>;

fn secs(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

fn config() -> Config {
    Config { mss: 960, ack_policy: AckPolicy::Every, ..Config::default() }
}

fn controller() -> Controller<SlowStart, SlowStart, Reno> {
    let initial = Initial { segments: 4, ssthresh: None };
    Controller::new(SlowStart::new(initial), SlowStart::new(initial), Reno::new())
}

fn arrivals(routes: Vec<Route>, content: Content, gap_millis: u64) -> Arrivals<SlowStart, SlowStart, Reno> {
    Arrivals {
        ways: Ways::Listed(routes),
        start: Time::ZERO,
        stop: Some(secs(20)),
        most: None,
        until: None,
        gap: Gap::Exponential(Span::from_millis(gap_millis)),
        content,
        mix: vec![Ends { client: config(), server: config(), controller: controller() }],
    }
}

fn bulk(route: &Route) -> Flow<SlowStart, SlowStart, Reno> {
    let application = Application::Bulk;
    Flow {
        forward: route.forward.clone(),
        reverse: route.reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec {
            client: config(),
            server: config(),
            controller: controller(),
            application,
        })),
        muted: false,
    }
}

/// Returns a bulk flow with 20 transfers per second of 20 kB on average: a third of 10 Mbit/s.
fn busy() -> Net {
    let path = PathSpec {
        loss: firstflight_sim::Probability::from_ppm(5_000),
        ..PathSpec::symmetric(mbps(10), Span::from_millis(20), QueueLimit::Packets(50))
    };
    let topology = single_path(&path);
    let mut network = Net::new(topology.links);
    network.add(bulk(&topology.routes[0]));
    let content = Content::Transfer(Sizes::Exponential { mean: 20_000.0 });
    network.arrivals.push(arrivals(topology.routes, content, 50));
    network
}

/// Returns every flow that arrived: its time, its size, and its result.
fn came_up(network: &Net, seed: u64, until: Time) -> (Vec<(u64, FlowStats)>, u64) {
    let mut sim = Sim::new(network, seed, ()).expect("a possible network");
    sim.run(until);
    let own = u32::try_from(network.flows.len()).unwrap();
    let flows = own..sim.flow_count();
    let all =
        flows.map(FlowId).map(|flow| (sim.arrived(flow).expect("came up").bytes, sim.flow(flow).unwrap()));
    (all.collect(), sim.packet_hops())
}

#[test]
fn transfers_come_up_deliver_all_their_bytes_and_are_gone() {
    let network = busy();
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    sim.run(secs(40));
    let count = sim.flow_count();
    // 400 expected, standard deviation 20.
    assert!(count.abs_diff(401) < 100, "{count}");
    assert_eq!(sim.arrived(FlowId(0)), None);
    for flow in (1..count).map(FlowId) {
        let (arrived, stats) = (sim.arrived(flow).expect("came up"), sim.flow(flow).expect("a flow"));
        assert_eq!(stats.delivered_bytes, arrived.bytes);
        assert!(stats.finished().expect("long over") > stats.started.expect("it started"));
        assert!(sim.endpoint(flow, Role::Client).is_none(), "its hosts are gone");
    }
    assert!(sim.endpoint(FlowId(0), Role::Client).is_some());
}

#[test]
fn arrivals_are_the_same_whatever_the_others_do() {
    let network = busy();
    let (with, _) = came_up(&network, 3, secs(30));
    let mut muted = network.clone();
    muted.mute(FlowId(0));
    let (without, _) = came_up(&muted, 3, secs(30));
    let births = |all: &[(u64, FlowStats)]| -> Vec<_> { all.iter().map(|(b, s)| (*b, s.started)).collect() };
    assert_eq!(births(&with), births(&without));
    // Alone they are faster.
    let taken = |all: &[(u64, FlowStats)]| -> u64 {
        all.iter().map(|(_, s)| s.finished().unwrap().since(s.started.unwrap()).nanos()).sum()
    };
    assert!(taken(&without) < taken(&with));
    assert_eq!(came_up(&network, 3, secs(30)), came_up(&network, 3, secs(30)));
    assert_ne!(births(&came_up(&network, 4, secs(30)).0), births(&with));
}

#[test]
fn stopping_on_the_way_changes_nothing() {
    let network = busy();
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    for step in 1..=3_000 {
        sim.run(Time::from_nanos(step * 1_000_000));
    }
    let whole = came_up(&network, 1, secs(3));
    assert_eq!(u64::from(sim.flow_count()), 1 + whole.0.len() as u64);
    assert_eq!(sim.packet_hops(), whole.1);
}

#[test]
fn web_pages_offer_the_load_that_their_means_say() {
    let path = PathSpec::symmetric(mbps(1_000), Span::from_millis(2), QueueLimit::Unlimited);
    let topology = single_path(&path);
    let mut network = Net::new(topology.links);
    network
        .arrivals
        .push(Arrivals { stop: None, ..arrivals(topology.routes, Content::Page(Sizes::Web), 20) });
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    sim.run(secs(200));
    let delivered: u64 =
        (0..sim.flow_count()).filter_map(|f| sim.flow(FlowId(f))).map(|f| f.delivered_bytes).sum();
    let wanted = Content::Page(Sizes::Web).mean_bytes() * 50.0 * 200.0;
    #[expect(clippy::cast_precision_loss, reason = "a test's sums")]
    let share = delivered as f64 / wanted;
    // 10 000 pages of files whose deviation is ten times their mean.
    assert!((0.8..1.2).contains(&share), "{share}");
}

/// The reports of an on/off source.
#[derive(Default)]
struct Offered(Vec<(u64, u64)>);

impl Recorder for Offered {
    fn offered(&mut self, at: Time, _: FlowId, bps: u64) {
        self.0.push((at.nanos(), bps));
    }
}

fn on_off(periods: Periods, on: u64, off: u64) -> Net {
    let mut network = Net::new(vec![LinkSpec::new(None, Span::ZERO)]);
    let spec = OnOffSpec {
        rate: mbps(8),
        packet: 1_000,
        on: Span::from_micros(on),
        off: Span::from_micros(off),
        periods,
        stop: Some(secs(100)),
    };
    network.add(Flow {
        forward: vec![LinkId(0)],
        reverse: Vec::new(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::OnOff(spec),
        muted: false,
    });
    network
}

#[test]
fn an_on_off_source_sends_its_rate_while_on_and_reports_changes() {
    for (periods, on, off) in [
        (Periods::Exponential, 500_000, 500_000),
        // Shorter than a packet takes: still exactly the rate over the time on.
        (Periods::Exponential, 300, 900),
        (Periods::Pareto(1.5), 100_000, 300_000),
    ] {
        let mut sim = Sim::new(&on_off(periods, on, off), 2, Offered::default()).expect("a possible network");
        assert_eq!(sim.run(secs(200)), Stop::Idle);
        let sent = sim.flow(FlowId(0)).expect("a flow").data_sent;
        let said = sim.into_recorder().0;
        assert!(said.windows(2).all(|w| w[0].0 < w[1].0 && (w[0].1 == 0) != (w[1].1 == 0)));
        assert!(said.iter().all(|(_, bps)| *bps == 0 || *bps == 8_000_000));
        assert!(said[0].0 == 0 && said.last().is_some_and(|(at, bps)| *at <= 100_000_000_000 && *bps == 0));
        let time_on: u64 = said.windows(2).filter(|w| w[0].1 > 0).map(|w| w[1].0 - w[0].0).sum();
        // A packet for every millisecond on.
        assert!(sent.abs_diff(time_on / 1_000_000) <= 1, "{sent} {time_on}");
        let share = time_on / 100_000_000;
        let wanted = 1_000 * on / (on + off);
        assert!(share.abs_diff(wanted) < 100, "{periods:?}: {share} for {wanted}");
    }
}

#[test]
fn a_parking_lot_routes_along_the_row_and_back() {
    let backbone = LinkSpec::new(Some(mbps(20)), Span::from_millis(20));
    let edge = LinkSpec::new(Some(mbps(50)), Span::ZERO);
    let lot = ParkingLot {
        backbone: backbone.clone(),
        hops: 10,
        hosts: 6,
        edge: Some(edge),
        backbone_back: None,
        edge_down: None,
    };
    assert_eq!(lot.links().len(), 20 + 2 * 11 * 6);
    let ids = |links: &[LinkId]| links.iter().map(|link| link.0).collect::<Vec<_>>();
    let route = lot.route((2, 3), (4, 1)).expect("two routers");
    // Up from host 15, links 2 and 3, down to host 25; back up from it, links 13 and 12, down to host 15.
    assert_eq!(ids(&route.forward), [20 + 30, 2, 3, 20 + 51]);
    assert_eq!(ids(&route.reverse), [20 + 50, 13, 12, 20 + 31]);
    let back = lot.route((4, 1), (2, 3)).expect("two routers");
    assert_eq!((back.forward, back.reverse), (route.reverse, route.forward));
    for (from, to) in [((0, 0), (0, 1)), ((11, 0), (0, 0)), ((0, 6), (1, 0))] {
        assert_eq!(lot.route(from, to), None);
    }
    let bare = ParkingLot { edge: None, hosts: 1, hops: 3, backbone, backbone_back: None, edge_down: None };
    let through = bare.through().expect("a row");
    assert_eq!((ids(&through.forward), ids(&through.reverse)), (vec![0, 1, 2], vec![5, 4, 3]));
}

#[test]
fn a_parking_lot_through_flow_receives_less_than_single_hop_flows() {
    let backbone =
        LinkSpec { queue: QueueLimit::Packets(50), ..LinkSpec::new(Some(mbps(10)), Span::from_millis(10)) };
    let lot = ParkingLot {
        backbone,
        hops: 3,
        hosts: 2,
        edge: Some(LinkSpec::new(Some(mbps(100)), Span::ZERO)),
        backbone_back: None,
        edge_down: None,
    };
    let mut network = Net::new(lot.links());
    network.add(bulk(&lot.through().expect("a row")));
    for hop in 0..3 {
        network.add(bulk(&lot.route((hop, 1), (hop + 1, 1)).expect("neighbours")));
    }
    let mut sim = Sim::new(&network, 1, ()).expect("a possible network");
    sim.run(secs(60));
    let got: BTreeMap<u32, u64> = (0..4).map(|f| (f, sim.flow(FlowId(f)).unwrap().delivered_bytes)).collect();
    for hop in 1..4 {
        assert!(got[&hop] > 2 * got[&0], "{got:?}");
        // Each hop is full: 96 % of 10 Mbit/s for 60 s are 72 MB of payload.
        assert!(got[&hop] + got[&0] > 65_000_000, "{got:?}");
    }
}

/// Transfers of ten packets between random hosts at the two ends of a backbone of 20 Mbit/s and 20 ms, 20 a second.
fn dumbbell(ways: fn(ParkingLot) -> Ways) -> Net {
    let edge = LinkSpec::new(Some(mbps(50)), Span::ZERO);
    let backbone = LinkSpec::new(Some(mbps(20)), Span::from_millis(20));
    let lot =
        ParkingLot { backbone, hops: 1, hosts: 20, edge: Some(edge), backbone_back: None, edge_down: None };
    let mut network = Net::new(lot.links());
    let content = Content::Transfer(Sizes::Fixed(9_600));
    network.arrivals.push(Arrivals { ways: ways(lot), ..arrivals(Vec::new(), content, 50) });
    network
}

#[test]
fn transfers_between_random_hosts_cross_the_backbone_both_ways() {
    let count = |network: &Net| {
        let mut sim = Sim::new(network, 1, ()).expect("a possible network");
        assert_eq!(sim.run(secs(60)), Stop::Idle);
        let flows: Vec<FlowStats> = (0..sim.flow_count()).filter_map(|id| sim.flow(FlowId(id))).collect();
        assert!(flows.iter().all(|flow| flow.delivered_bytes == 9_600 && flow.finished().is_some()));
        let packets = |link| sim.link(LinkId(link)).expect("a link").packets;
        (flows.len() as u64, packets(0), packets(1))
    };
    // 14 packets a flow and way of data, SYN and FINs; about half of the 400 flows go each way.
    let (flows, there, back) = count(&dumbbell(Ways::Between));
    assert!(flows.abs_diff(400) < 100 && there.abs_diff(back) < there / 3, "{flows} {there} {back}");
    // All data go one way.
    let one_way = dumbbell(Ways::Onward);
    assert_eq!(count(&one_way).0, flows);
    let mut sim = Sim::new(&one_way, 1, ()).expect("a possible network");
    sim.run(secs(60));
    let bytes = |link| sim.link(LinkId(link)).expect("a link").bytes;
    assert!(bytes(0) > flows * 10_000 && bytes(1) < bytes(0) / 10);
}

#[test]
fn impossible_traffic_is_refused_by_name() {
    let refused = |network: &Net| Sim::new(network, 1, ()).expect_err("impossible");
    let base = busy();
    let with = |change: &dyn Fn(&mut Arrivals<SlowStart, SlowStart, Reno>)| {
        let mut network = base.clone();
        change(&mut network.arrivals[0]);
        refused(&network)
    };
    let fault = |fault| NetworkError::Arrivals { process: 0, fault };
    assert_eq!(with(&|a| a.gap = Gap::Exponential(Span::ZERO)), fault(FlowFault::ZeroSpan));
    assert_eq!(with(&|a| a.gap = Gap::Constant(Span::ZERO)), fault(FlowFault::ZeroSpan));
    assert_eq!(with(&|a| a.mix.clear()), fault(FlowFault::NoChoice));
    assert_eq!(with(&|a| a.content = Content::Transfer(Sizes::Fixed(0))), fault(FlowFault::Sizes));
    let nowhere = Route { forward: vec![LinkId(9)], reverse: vec![LinkId(0)] };
    assert_eq!(
        with(&|a| a.ways = Ways::Listed(vec![nowhere.clone()])),
        fault(FlowFault::UnknownLink { link: 9 })
    );
    let flow = |fault| NetworkError::Flow { flow: 0, fault };
    assert_eq!(refused(&on_off(Periods::Exponential, 0, 1)), flow(FlowFault::ZeroSpan));
    assert_eq!(refused(&on_off(Periods::Pareto(1.0), 1, 1)), flow(FlowFault::Sizes));
}

/// Returns users who wait between pages, each loading one page of fixed files after the other, at a bottleneck of
/// this rate.
fn users(rate: Rate, count: usize) -> Net {
    let topology = single_path(&PathSpec::symmetric(rate, Span::from_millis(20), QueueLimit::Packets(50)));
    let mut network = Net::new(topology.links);
    let content = Content::Page(Sizes::Fixed(96_000));
    let user = Arrivals { gap: Gap::Thinking, stop: None, ..arrivals(topology.routes, content, 1) };
    network.arrivals = vec![user; count];
    network
}

#[test]
fn a_waiting_user_has_one_flow_and_requests_less_on_slow_paths() {
    let count = |rate| {
        let mut sim = Sim::new(&users(rate, 3), 1, ()).expect("a network");
        sim.run(secs(300));
        let flows: Vec<(u32, FlowStats)> = (0..sim.flow_count())
            .map(FlowId)
            .map(|id| (sim.arrived(id).expect("came up").process, sim.flow(id).expect("a flow")))
            .collect();
        for user in 0..3 {
            let own: Vec<_> =
                flows.iter().filter(|(process, _)| *process == user).map(|(_, flow)| flow).collect();
            let waits = |pair: &[&FlowStats]| pair[0].finished() < pair[1].started;
            assert!(own.windows(2).all(waits) && own.len() > 20, "{}", own.len());
        }
        flows.len()
    };
    let (slow, fast) = (count(mbps(1)), count(mbps(100)));
    assert!(slow * 3 < fast * 2, "{slow} files and {fast}");
    assert_eq!(fast, count(mbps(100)));
}
