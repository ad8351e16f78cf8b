//! A network whose links process announced packets when something depends on them, compared with one whose links
//! handle each packet at its arrival.

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, QuickStart, QuickStartConfig, SlowStart};
use firstflight::{Bytes, Controller, Rate, Sent, Span, Startup};
use firstflight_tcp::{AckPolicy, Config, EndpointEvent, Snapshot};
use proptest::prelude::*;

use super::*;
use crate::network::{Application, Flow, TcpSpec};
use crate::policer::PolicerSpec;
use crate::quantity::{Probability, QueueLimit};
use crate::sim::Sim;
use crate::source::CbrSpec;
use crate::topology::{ParkingLot, PathSpec, in_a_row};
use crate::{
    Arrivals, CoDelSpec, Content, Discipline, DropCause, Ends, Gap, OnOffSpec, Periods, Sizes, Ways,
};

impl Fabric {
    pub(crate) fn has_ties(&self) -> bool {
        self.links.iter().any(|hop| matches!(&hop.link, Link::DropTail(link) if link.ties))
    }

    /// Makes links handle each packet at its arrival from now on. No event may have happened yet.
    pub(crate) fn look_at_once(&mut self) -> Vec<Cbr> {
        let links = self.links.iter_mut();
        let sources = links.filter_map(|hop| match &mut hop.link {
            Link::DropTail(link) => Some(link.look_at_once()),
            Link::Other(_) => None,
        });
        let sources = sources.flatten().collect();
        for index in 0..self.links.len() {
            self.refresh(LinkId(u32::try_from(index).expect("few links")));
        }
        sources
    }
}

type Net = Network<SlowStart, SlowStart, Reno>;

/// All calls of the recorder. Calls about queues are in a list for each link.
#[derive(Default, PartialEq, Debug)]
struct Log {
    said: Vec<(Time, String)>,
    /// Drops that were reported late.
    drops: Vec<(Time, String)>,
    queues: Vec<Vec<(Time, Bytes, u32)>>,
}

impl Log {
    /// Only calls about queues may come late.
    fn say(&mut self, at: Time, what: String) {
        assert!(self.said.last().is_none_or(|(last, _)| *last <= at), "{what} at {at:?} comes late");
        self.said.push((at, what));
    }

    fn drop(link: LinkId, packet: &Packet, cause: DropCause) -> String {
        format!("{link:?} dropped {:?} {} {cause:?}", packet.flow, packet.number)
    }
}

impl Recorder for Log {
    fn sent(&mut self, at: Time, flow: FlowId, side: Role, number: u64, _: &Segment, sent: Option<&Sent>) {
        self.say(at, format!("{flow:?} {side:?} sent {number} {sent:?}"));
    }
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        self.say(at, format!("{flow:?} {side:?} arrived {} {}", segment.seq, segment.ack));
    }
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        self.say(at, Self::drop(link, packet, cause));
    }
    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        self.queues.resize_with(self.queues.len().max(link.index() + 1), Vec::new);
        self.queues[link.index()].push((at, bytes, packets));
    }
    fn event(&mut self, at: Time, flow: FlowId, _: Role, what: &EndpointEvent, _: impl Fn() -> Snapshot) {
        self.say(at, format!("{flow:?} {what:?}"));
    }
    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        self.say(at, format!("{flow:?} delivered {bytes}"));
    }
}

/// A log that does not observe queues.
#[derive(Default)]
struct Deaf(Log);

impl Recorder for Deaf {
    const NEEDS_QUEUES: bool = false;

    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (Some(&mut self.0), None::<&mut ()>)
    }
    fn queue(&mut self, _: Time, _: LinkId, _: Bytes, _: u32) {}
}

/// A log that does not observe queues, and observes drops late.
#[derive(Default)]
struct Careless(Log);

impl Recorder for Careless {
    const NEEDS_QUEUES: bool = false;
    const NEEDS_DROPS_IN_ORDER: bool = false;

    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (Some(&mut self.0), None::<&mut ()>)
    }
    fn queue(&mut self, _: Time, _: LinkId, _: Bytes, _: u32) {}
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        self.0.drops.push((at, Log::drop(link, packet, cause)));
    }
}

impl From<Careless> for Log {
    fn from(Careless(mut log): Careless) -> Self {
        log.said.append(&mut log.drops);
        log
    }
}

impl From<Deaf> for Log {
    fn from(deaf: Deaf) -> Self {
        deaf.0
    }
}

/// Returns the calls of a recorder, and the counters at each of these instants. A run whose links process packets
/// late also pauses in between.
fn outcome<S: Startup, R: Startup>(
    network: &Network<S, R, Reno>,
    seed: u64,
    stops: &[Time],
    ahead: bool,
) -> (Log, Vec<String>, bool) {
    outcome_told_to::<S, R, Log>(network, seed, stops, ahead)
}

/// Returns the [`outcome`] with this recorder.
fn outcome_told_to<S: Startup, R: Startup, W: Recorder + Default + Into<Log>>(
    network: &Network<S, R, Reno>,
    seed: u64,
    stops: &[Time],
    ahead: bool,
) -> (Log, Vec<String>, bool) {
    let mut sim = Sim::new(network, seed, W::default()).expect("a possible network");
    if !ahead {
        sim.look_at_once();
    }
    let mut counted = Vec::new();
    for stop in stops {
        if ahead {
            sim.run_on(Time::from_nanos(sim.now().nanos().midpoint(stop.nanos())));
        }
        let why = sim.run(*stop);
        let links = (0u32..).map_while(|link| sim.link(LinkId(link)));
        let flows = (0..sim.flow_count()).map(|flow| sim.flow(FlowId(flow)));
        counted.push(format!(
            "{why:?} {:?} {:?} {:?} {}",
            sim.now(),
            links.collect::<Vec<_>>(),
            flows.collect::<Vec<_>>(),
            sim.packet_hops()
        ));
    }
    let ties = sim.has_ties();
    let mut log = sim.into_recorder().into();
    // At one instant the order of calls differs.
    log.said.sort();
    (log, counted, ties)
}

const INITIAL: Initial = Initial { segments: 4, ssthresh: None };

fn tcp(route: &Route, start: u64, bytes: Option<u64>, policy: AckPolicy) -> Flow<SlowStart, SlowStart, Reno> {
    let controller = Controller::new(SlowStart::new(INITIAL), SlowStart::new(INITIAL), Reno::new());
    tcp_by(controller, route, start, bytes, policy)
}

fn tcp_by<S, R>(
    controller: Controller<S, R, Reno>,
    route: &Route,
    start: u64,
    bytes: Option<u64>,
    policy: AckPolicy,
) -> Flow<S, R, Reno> {
    let config = Config { mss: 960, ack_policy: policy, ..Config::default() };
    Flow {
        forward: route.forward.clone(),
        reverse: route.reverse.clone(),
        start: Time::from_nanos(start),
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec {
            client: config,
            server: config,
            controller,
            application: bytes.map_or(Application::Bulk, Application::Sized),
        })),
        muted: false,
    }
}

/// Returns transfers that arrive on all routes, wherever the other flows are.
fn arrivals(routes: &[Route], gap: u64) -> Arrivals<SlowStart, SlowStart, Reno> {
    let config = Config { mss: 960, ..Config::default() };
    let controller = Controller::new(SlowStart::new(INITIAL), SlowStart::new(INITIAL), Reno::new());
    Arrivals {
        ways: Ways::Listed(routes.to_vec()),
        start: Time::from_nanos(1_000_003),
        stop: None,
        most: Some(20),
        until: None,
        gap: Gap::Exponential(Span::from_nanos(gap)),
        content: Content::Transfer(Sizes::Exponential { mean: 20_000.0 }),
        mix: vec![Ends { client: config, server: config, controller }],
    }
}

fn cbr(
    forward: Vec<LinkId>,
    start: u64,
    bps: u64,
    packet: u32,
    stop: Option<u64>,
) -> Flow<SlowStart, SlowStart, Reno> {
    let spec = CbrSpec { rate: Rate::from_bps(bps), packet, stop: stop.map(Time::from_nanos) };
    Flow {
        forward,
        reverse: Vec::new(),
        start: Time::from_nanos(start),
        start_spread: Span::ZERO,
        traffic: Traffic::Cbr(spec),
        muted: false,
    }
}

/// Small packets that enter a link by events, before announced ones.
fn on_off(forward: Vec<LinkId>, bps: u64) -> Flow<SlowStart, SlowStart, Reno> {
    let period = Span::from_nanos(40_000_003);
    let spec = OnOffSpec {
        rate: Rate::from_bps(bps),
        packet: 41,
        on: period,
        off: period,
        periods: Periods::Exponential,
        stop: None,
    };
    Flow { traffic: Traffic::OnOff(spec), ..cbr(forward, 0, 1, 41, None) }
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..80).prop_map(QueueLimit::Packets),
        (1_500u64..80_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
    ]
}

/// Rates and delays with few common multiples, because the order of calls differs at coinciding instants.
fn path() -> impl Strategy<Value = PathSpec> {
    let rate = (2_000_003u64..60_000_017).prop_map(Rate::from_bps);
    let chance = prop_oneof![3 => Just((0u32, 0u64)), 1 => (0u32..20_000, 0u64..3_000_000)];
    let more = (any::<[bool; 5]>(), 1u64..30, 1u64..6);
    (rate, queue(), 10_007u64..30_000_011, 10_009u64..30_000_023, chance, more).prop_map(
        |(
            rate,
            queue,
            there,
            back,
            (loss, jitter),
            ([access, reverse, policed, managed, bounded], share, times),
        )| {
            let scaled = |part: u64| Rate::from_bps(rate.bps() * part / 7 + 13);
            PathSpec {
                forward_delay: Span::from_nanos(there),
                reverse_delay: Span::from_nanos(back),
                loss: Probability::from_ppm(loss),
                jitter: Span::from_nanos(jitter),
                access_rate: access.then(|| scaled(7 * times)),
                reverse_rate: reverse.then(|| scaled(share)),
                reverse_queue: if bounded { QueueLimit::Packets(9) } else { QueueLimit::Unlimited },
                policer: (policed && managed)
                    .then(|| PolicerSpec { rate: scaled(6), burst: Bytes::new(15_000) }),
                discipline: if managed && !policed {
                    Discipline::CoDel(CoDelSpec::default())
                } else {
                    Discipline::DropTail
                },
                ..PathSpec::symmetric(rate, Span::ZERO, queue)
            }
        },
    )
}

fn network() -> impl Strategy<Value = Net> {
    let row = (path(), 1u32..4, proptest::collection::vec((0u32..3, 1u32..4), 1..4)).prop_map(
        |(path, hops, ways)| {
            let ways: Vec<_> =
                ways.iter().map(|(from, over)| (from % hops, (from % hops + over).min(hops))).collect();
            let row = in_a_row(&path, hops, &ways);
            (row.links, row.routes)
        },
    );
    let lot = (path(), 1u32..4, 1u32..3).prop_map(|(path, hops, hosts)| {
        let link = LinkSpec {
            queue: path.queue,
            loss: path.loss,
            ..LinkSpec::new(Some(path.rate), path.forward_delay)
        };
        let edge = path.access_rate.map(|rate| LinkSpec::new(Some(rate), Span::from_nanos(1_003)));
        let lot = ParkingLot { backbone: link, backbone_back: None, hops, hosts, edge, edge_down: None };
        let ends = (0..=hops)
            .flat_map(|to| [((0, 0), (to, hosts - 1)), ((to, 0), (0, hosts - 1)), ((hops, 0), (to, 0))]);
        let routes: Vec<_> = ends.filter_map(|(from, to)| lot.route(from, to)).collect();
        (lot.links(), routes)
    });
    let flow = (0u64..400_000_000, proptest::option::of(1_000u64..400_000), any::<bool>());
    let constant = (
        0u64..100_000_000,
        400_009u64..30_000_001,
        41u32..1_501,
        proptest::option::of(0u64..600_000_000),
        any::<bool>(),
    );
    let flows = (proptest::collection::vec(flow, 1..5), proptest::collection::vec(constant, 0..3));
    let gap = proptest::option::of(5_000_011u64..90_000_049);
    let on_off_rate = proptest::option::of(1_000_003u64..20_000_003);
    (prop_oneof![row, lot], flows, (gap, on_off_rate)).prop_map(
        |((links, routes), (flows, constant), more)| {
            let (gap, on_off_rate) = more;
            let mut network = Net::new(links);
            network.arrivals = gap.map(|gap| arrivals(&routes, gap)).into_iter().collect();
            for ((start, bytes, every), route) in flows.into_iter().zip(routes.iter().cycle()) {
                let policy = if every { AckPolicy::Every } else { AckPolicy::Delayed };
                network.add(tcp(route, start, bytes, policy));
            }
            for ((start, bps, packet, stop, whole), route) in
                constant.into_iter().zip(routes.iter().rev().cycle())
            {
                let way =
                    if whole { route.forward.clone() } else { vec![route.forward[route.forward.len() - 1]] };
                network.add(cbr(way, start, bps, packet, stop));
            }
            if let (Some(bps), Some(route)) = (on_off_rate, routes.first()) {
                network.add(on_off(vec![route.forward[route.forward.len() / 2]], bps));
            }
            network
        },
    )
}

/// The log fails if it is not.
#[test]
fn an_early_source_added_last_has_its_drops_reported_in_time() {
    let queue = QueueLimit::Packets(1);
    let link = LinkSpec { queue, ..LinkSpec::new(Some(Rate::from_bps(2_000_003)), Span::from_micros(10)) };
    let back = LinkSpec::new(None, Span::from_micros(10));
    let route = Route { forward: vec![LinkId(0)], reverse: vec![LinkId(1)] };
    let mut network = Net::new(vec![link, back]);
    network.add(tcp(&route, 53_076_413, None, AckPolicy::Delayed));
    network.add(cbr(vec![LinkId(0)], 53_042_087, 400_009, 41, None));
    network.add(cbr(vec![LinkId(0)], 0, 3_638_781, 95, None));
    let (log, ..) = outcome(&network, 1, &[Time::from_nanos(60_000_000)], true);
    assert!(log.said.iter().any(|(at, what)| at.nanos() < 53_000_000 && what.contains("dropped")));
}

/// Every hop handles a Quick-Start request at its arrival. The request therefore enters by an event, and packets after
/// it would be announced before it enters.
#[test]
fn nothing_is_let_in_ahead_of_a_request_for_quick_start() {
    let link = |bps, nanos| LinkSpec::new(Some(Rate::from_bps(bps)), Span::from_nanos(nanos));
    let lot = ParkingLot {
        backbone: link(2_000_003, 10_000_019),
        hops: 1,
        hosts: 1,
        edge: Some(link(4_000_019, 1_003)),
        backbone_back: None,
        edge_down: None,
    };
    let route = lot.route((0, 0), (1, 0)).expect("two hosts");
    let mut network = Network::new(lot.links());
    let asks = || QuickStart::new(SlowStart::new(INITIAL), QuickStartConfig::default());
    for start in [0, 500_000_009, 613_000_007] {
        let controller = Controller::new(asks(), asks(), Reno::new());
        network.add(tcp_by(controller, &route, start, None, AckPolicy::Every));
    }
    let stops = [700_000_000, 1_000_000_000].map(Time::from_nanos);
    let (late, counted_late, _) = outcome(&network, 1, &stops, true);
    let (at_once, counted_at_once, _) = outcome(&network, 1, &stops, false);
    assert_eq!(late.said, at_once.said);
    assert_eq!(counted_late, counted_at_once);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn looking_late_at_what_comes_changes_nothing(
        network in network(),
        seed in any::<u64>(),
        stops in proptest::collection::vec(1u64..900_000_000, 1..4),
    ) {
        let mut stops: Vec<_> = stops.into_iter().map(Time::from_nanos).collect();
        stops.sort_unstable();
        let (late, counted_late, ties) = outcome(&network, seed, &stops, true);
        prop_assume!(!ties);
        let (at_once, counted_at_once, _) = outcome(&network, seed, &stops, false);
        prop_assert_eq!(&counted_late, &counted_at_once);
        for (late, at_once) in late.said.iter().zip(&at_once.said) {
            prop_assert_eq!(late, at_once);
        }
        prop_assert_eq!(late.said.len(), at_once.said.len());
        prop_assert_eq!(late.queues, at_once.queues);
        let (deaf, counted_deaf, _) = outcome_told_to::<_, _, Deaf>(&network, seed, &stops, true);
        prop_assert_eq!(&counted_deaf, &counted_at_once);
        prop_assert_eq!(&deaf.said, &at_once.said);
        let (careless, counted, _) = outcome_told_to::<_, _, Careless>(&network, seed, &stops, true);
        prop_assert_eq!(counted, counted_at_once);
        prop_assert_eq!(careless.said, at_once.said);
    }
}
