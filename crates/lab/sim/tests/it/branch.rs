//! Runs that begin alike and go on differently.

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Rate, Span, Time};
use firstflight_sim::{
    Application, CbrSpec, Discipline, DropCause, Flow, FlowFault, FlowId, FlowStats, FqCoDelSpec, LinkId,
    LinkStats, Network, NetworkError, Packet, PathSpec, Probability, QueueLimit, Recorder, Route, RouterSpec,
    Sim, TcpSpec, Traffic, in_a_row,
};
use firstflight_tcp::{Config, Role, Segment, Snapshot};
use proptest::prelude::*;
use proptest::sample::select;

type Net = Network<SlowStart, SlowStart, Reno>;

/// The first two flows begin here, in addition to others that began before.
const BEGIN: Time = Time::from_nanos(2_000_000_000);
const END: Time = Time::from_nanos(4_000_000_000);
const MEASURED: [FlowId; 2] = [FlowId(0), FlowId(1)];

fn ends(segments: u32, bytes: u64) -> TcpSpec<SlowStart, SlowStart, Reno> {
    let initial = Initial { segments, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), SlowStart::new(initial), Reno::new());
    let config = Config { mss: 960, ..Config::default() };
    TcpSpec { client: config, server: config, controller, application: Application::Sized(bytes) }
}

fn tcp(
    route: &Route,
    start: Time,
    spec: TcpSpec<SlowStart, SlowStart, Reno>,
) -> Flow<SlowStart, SlowStart, Reno> {
    let Route { forward, reverse } = route.clone();
    Flow {
        forward,
        reverse,
        start,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(spec)),
        muted: false,
    }
}

/// A bottleneck that manages its queue, or loses and delays at random, or does neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    Lossy,
    Managed,
}

/// Two flows with the given ends, a bulk flow and a constant bit rate.
fn network(kind: Kind, spec: &TcpSpec<SlowStart, SlowStart, Reno>) -> Net {
    let rate = Rate::from_bps(5_000_000);
    let managed = Discipline::FqCoDel(FqCoDelSpec::default());
    let path = PathSpec {
        loss: if kind == Kind::Lossy { Probability::from_ppm(5_000) } else { Probability::NEVER },
        jitter: if kind == Kind::Lossy { Span::from_millis(2) } else { Span::ZERO },
        discipline: if kind == Kind::Managed { managed } else { Discipline::DropTail },
        ..PathSpec::symmetric(rate, Span::from_millis(20), QueueLimit::Packets(30))
    };
    let topology = in_a_row(&path, 1, &[(0, 1); 3]);
    let mut network = Net::new(topology.links);
    for route in &topology.routes[..2] {
        network.add(tcp(route, BEGIN, spec.clone()));
    }
    network.add(tcp(
        &topology.routes[2],
        Time::ZERO,
        TcpSpec { application: Application::Bulk, ..ends(10, 1) },
    ));
    let constant = CbrSpec { rate: Rate::from_bps(1_000_000), packet: 1_000, stop: None };
    network.add(Flow {
        forward: topology.bottlenecks,
        reverse: Vec::new(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Cbr(constant),
        muted: false,
    });
    network
}

fn with_routers(mut network: Net) -> Net {
    for link in &mut network.links {
        link.quick_start = Some(RouterSpec::default().into());
    }
    network
}

/// Records all events that it observes.
#[derive(Default, Clone, PartialEq, Debug)]
struct Heard {
    arrived: Vec<(u64, u32, Role, Segment)>,
    dropped: Vec<(u64, u32, u64, DropCause)>,
    states: Vec<(u64, u32, u64)>,
}

impl Recorder for Heard {
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        self.arrived.push((at.nanos(), flow.0, side, *segment));
    }

    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, cause: DropCause) {
        self.dropped.push((at.nanos(), packet.flow.0, packet.number, cause));
    }

    fn state(&mut self, at: Time, flow: FlowId, _: Role, snapshot: impl Fn() -> Snapshot) {
        self.states.push((at.nanos(), flow.0, snapshot().cwnd.get()));
    }
}

type Whole = (Heard, Vec<Option<FlowStats>>, Vec<Option<LinkStats>>);

/// Runs to the end and returns all observed events and all counters.
fn whole(mut sim: Sim<SlowStart, SlowStart, Reno, Heard>) -> Whole {
    sim.run(END);
    let flows = (0..4).map(|flow| sim.flow(FlowId(flow))).collect();
    let links = (0..8).map(|link| sim.link(LinkId(link))).collect();
    (sim.into_recorder(), flows, links)
}

fn begin(network: &Net) -> Sim<SlowStart, SlowStart, Reno, Heard> {
    Sim::new(network, 7, Heard::default()).expect("a possible network")
}

/// A run of other ends up to `instant`.
fn until(network: &Net, instant: Time) -> Sim<SlowStart, SlowStart, Reno, Heard> {
    let mut sim = begin(network);
    sim.run(instant);
    sim
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_with_ends_replaced_midway_equals_one_with_them_initially(
        instant in 0..BEGIN.nanos(),
        segments in 1u32..40,
        bytes in 1u64..200_000,
        kind in select(&[Kind::Plain, Kind::Lossy, Kind::Managed][..]),
        routers in any::<bool>(),
    ) {
        let wanted = ends(segments, bytes);
        let from_the_beginning = whole(begin(&network(kind, &wanted)));
        let other = network(kind, &ends(3, 5_000));
        let before = until(&if routers { with_routers(other) } else { other }, Time::from_nanos(instant));
        let mut sim = before.clone();
        sim.remove_routers();
        for flow in MEASURED {
            sim.set_ends(flow, &wanted).expect("a flow that has yet to start");
        }
        prop_assert!(whole(sim) == from_the_beginning);
        // The first simulation continued as if there were no second.
        let mut again = before;
        again.remove_routers();
        prop_assert!(whole(again) == whole(begin(&network(kind, &ends(3, 5_000)))));
    }

    #[test]
    fn a_run_muted_midway_equals_a_run_muted_from_the_beginning(instant in 0..BEGIN.nanos()) {
        let network = network(Kind::Managed, &ends(10, 50_000));
        let mut sim = until(&network, Time::from_nanos(instant));
        let mut muted = network;
        for flow in MEASURED {
            sim.mute(flow).expect("a flow that has yet to start");
            muted.mute(flow);
        }
        let (mute, silent) = (whole(sim), whole(begin(&muted)));
        prop_assert_eq!(mute.1[0], Some(FlowStats::default()));
        prop_assert!(mute == silent);
    }
}

#[test]
fn a_changed_observer_does_not_change_the_run() {
    let network = network(Kind::Plain, &ends(10, 50_000));
    let (heard, flows, links) = whole(begin(&network));
    let mut sim = until(&network, BEGIN).watched_by(|heard| {
        assert!(!heard.arrived.is_empty());
    });
    sim.run(END);
    assert_eq!((0..4).map(|flow| sim.flow(FlowId(flow))).collect::<Vec<_>>(), flows);
    let (later, _, other_links) = whole(until(&network, BEGIN).watched_by(|_| Heard::default()));
    assert_eq!(other_links, links);
    let after = heard.arrived.iter().filter(|(at, ..)| *at > BEGIN.nanos());
    assert!(after.eq(&later.arrived));
}

#[test]
fn only_a_tcp_flow_that_has_yet_to_start_takes_other_ends() {
    let network = network(Kind::Plain, &ends(10, 50_000));
    let mut sim = until(&network, Time::from_nanos(BEGIN.nanos() - 1));
    let under_way = |flow| Err(NetworkError::Flow { flow, fault: FlowFault::UnderWay });
    assert_eq!(sim.set_ends(FlowId(0), &ends(2, 1)), Ok(()));
    assert_eq!(sim.set_ends(FlowId(2), &ends(2, 1)), under_way(2));
    assert_eq!(sim.mute(FlowId(3)), under_way(3));
    assert_eq!(sim.mute(FlowId(9)), under_way(9));
    assert_eq!(
        sim.set_ends(FlowId(1), &ends(2, 0)),
        Err(NetworkError::Flow { flow: 1, fault: FlowFault::ZeroSize })
    );
    sim.run(BEGIN);
    assert_eq!(sim.set_ends(FlowId(0), &ends(2, 1)), under_way(0));
    assert_eq!(sim.mute(FlowId(0)), under_way(0));
}
