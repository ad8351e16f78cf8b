//! A port compared with a network of one link. Arrivals, transmissions and calls mostly fall on equal instants.

use std::collections::BTreeMap;

use firstflight::{Bytes, Rate, RateCode, Span};
use firstflight_tcp::quick_start::{IpOption, Nonce};
use proptest::prelude::*;

use firstflight_tcp::Role;

use super::*;
use crate::aqm::{CoDelSpec, Discipline, FqCoDelSpec, PieSpec, RedSpec};
use crate::batch::Batch;
use crate::fabric::{Device, Fabric};
use crate::network::Network;
use crate::packet::{FlowId, FlowKey, Label, Packet};
use crate::policer::PolicerSpec;
use crate::quantity::{Probability, QueueLimit};
use crate::quick_start::RouterSpec;
use crate::recorder::Recorder;
use crate::source::CbrSpec;
use crate::spec::LinkSpec;
use crate::topology::Route;
use crate::trace::{DelayTrace, RateTrace};

/// The time that 1250 bytes take at 100 Mbit/s. Arrivals are at multiples of half of this time, and packets take one or
/// two halves.
const TAKES: u64 = 100_000;
const FLOWS: u32 = 3;

/// A packet of a plan: the half steps since the previous packet, its flow, its size in half steps, whether it is
/// ECN-capable, whether it carries a Quick-Start request, and whether the port is polled before and after the packet
/// enters.
type Planned = (u64, u32, u32, bool, bool, [bool; 2]);

/// The fate of a packet, and the time at which it was sent or dropped. If it was sent, also its ECN field, whether it was marked,
/// and the rate of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Left(Time, Ecn, bool, Option<RateCode>),
    Dropped(Time, DropCause),
}

type Fates = BTreeMap<u64, Fate>;

/// Returns a delay that rises and falls by more than the time between two packets.
fn delays() -> Option<DelayTrace> {
    let steps = [(0, 3), (7, 0), (9, 20), (15, 1)]
        .map(|(at, delay)| (Time::from_nanos(at * TAKES), Span::from_nanos(delay * TAKES)));
    DelayTrace::new(&steps, Some(Span::from_nanos(20 * TAKES))).ok()
}

fn link() -> LinkSpec {
    let rate = Rate::from_bps(100_000_000);
    LinkSpec { queue: QueueLimit::Packets(6), ..LinkSpec::new(Some(rate), Span::from_nanos(3 * TAKES)) }
}

fn links() -> Vec<LinkSpec> {
    let codel =
        CoDelSpec { target: Span::from_nanos(TAKES), interval: Span::from_nanos(5 * TAKES), ecn: true };
    let red = RedSpec {
        ecn: true,
        weight: Probability::ratio(1, 4),
        ..RedSpec::over(QueueLimit::Packets(6), 1_250)
    };
    let pie = PieSpec {
        target: Span::from_nanos(TAKES),
        update: Span::from_nanos(2 * TAKES),
        ..PieSpec::for_packets(625)
    };
    let fq = FqCoDelSpec { codel, flows: 4, quantum: 1_250 };
    let mbps = |rate: u64| Rate::from_bps(rate * 1_000_000);
    let steps = [(0, mbps(100)), (20 * TAKES, mbps(0)), (30 * TAKES, mbps(50)), (60 * TAKES, mbps(100))];
    let rates = RateTrace::new(&steps.map(|(at, rate)| (Time::from_nanos(at), rate))).ok();
    let mut links = vec![
        link(),
        LinkSpec { queue: QueueLimit::Bytes(Bytes::new(5_000)), ..link() },
        LinkSpec { policer: Some(PolicerSpec { rate: mbps(50), burst: Bytes::new(4_000) }), ..link() },
        LinkSpec { rates: rates.clone(), ..link() },
        LinkSpec { rates: RateTrace::opportunities(&[0, 1, 1, 1, 2, 4, 4, 7]).ok(), ..link() },
        LinkSpec { delays: delays(), ..link() },
        LinkSpec { loss: Probability::ratio(1, 5), jitter: Span::from_nanos(TAKES), ..link() },
        LinkSpec {
            quick_start: Some(
                RouterSpec { interval: Span::from_nanos(10 * TAKES), ..RouterSpec::default() }.into(),
            ),
            ..link()
        },
        LinkSpec { rate: None, delay: Span::from_nanos(TAKES), ..link() },
    ];
    for discipline in [
        Discipline::Red(red),
        Discipline::CoDel(codel),
        Discipline::FqCoDel(fq),
        Discipline::Pie(PieSpec { burst: Span::from_nanos(TAKES), ecn: true, ..pie }),
    ] {
        let managed = LinkSpec { discipline, ..link() };
        links.push(LinkSpec { rates: rates.clone(), ..managed.clone() });
        links.push(LinkSpec { loss: Probability::ratio(1, 5), ..managed.clone() });
        links.push(LinkSpec { rate: None, ..managed.clone() });
        links.push(managed);
    }
    for (delay, hold) in [(0, 2), (3, 2), (0, 3), (3, 3)] {
        let [delay, hold] = [delay, hold].map(|steps| Span::from_nanos(steps * TAKES));
        for batch in [Batch::Every(hold), Batch::Of { packets: 3, hold }] {
            links.push(LinkSpec { batch: Some(batch), ..LinkSpec::new(None, delay) });
        }
    }
    links
}

fn request() -> IpOption {
    let rate = RateCode::new(10).expect("a code");
    IpOption::Request { rate, ttl: 60, hop_limit: 64, nonce: Nonce::new(0x1234_5678) }
}

fn rate_of(option: Option<IpOption>) -> Option<RateCode> {
    match option? {
        IpOption::Request { rate, .. } | IpOption::Report { rate, .. } => Some(rate),
    }
}

#[derive(Default)]
struct Log {
    fates: Fates,
    marked: Vec<u64>,
}

impl Recorder for Log {
    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, cause: DropCause) {
        assert!(self.fates.insert(packet.number, Fate::Dropped(at, cause)).is_none());
    }

    fn marked(&mut self, _: Time, _: LinkId, packet: &Packet) {
        self.marked.push(packet.number);
    }
}

/// Returns the fates of the packets in a network of one link.
fn in_a_network(spec: &LinkSpec, plan: &[Planned]) -> Fates {
    let mut fabric = Fabric::new(&Network::<(), (), ()>::new(vec![spec.clone()]), 9);
    let route = Route { forward: vec![LINK], reverse: Vec::new() };
    let flows: Vec<FlowId> = (0..FLOWS).map(|_| fabric.add_flow(&route)).collect();
    let (mut log, mut now) = (Log::default(), Time::ZERO);
    for (number, (halves, flow, size, capable, asks, _)) in (0..).zip(plan) {
        now = now.after_nanos(halves * TAKES / 2);
        run(&mut fabric, now, &mut log);
        let segment = fabric.next_segment();
        segment.ecn = if *capable { Ecn::Ect0 } else { Ecn::NotCapable };
        segment.quick_start.set_ip(asks.then(request));
        let label = Label {
            flow: flows[*flow as usize],
            from: Role::Client,
            retransmission: false,
            number,
            wire: size * 625,
            is_data: true,
            asks: *asks,
        };
        fabric.send_segment(now, label, &mut log);
    }
    run(&mut fabric, Time::MAX, &mut log);
    log.fates
}

/// Handles all events before `until`.
fn run(fabric: &mut Fabric, until: Time, log: &mut Log) {
    while let Some((at, sequence, device)) = fabric.next()
        && at < until
        && let Device::Link(link) = fabric.device(device)
    {
        fabric.happens(sequence);
        if let Some(name) = fabric.event(at, link, log) {
            let packet = fabric.packet(name);
            let number = packet.number;
            let rate = rate_of(packet.segment().and_then(|segment| segment.quick_start.ip()));
            let fate = Fate::Left(at, packet.ecn(), log.marked.contains(&number), rate);
            assert!(log.fates.insert(number, fate).is_none());
            fabric.forget(name);
        }
    }
}

/// Returns the fates of the packets in a port.
fn in_a_port(spec: &LinkSpec, plan: &[Planned]) -> Fates {
    let mut port = Port::new(&PortSpec::new(spec.clone()), 9).expect("a possible port");
    let (mut fates, mut now) = (Fates::new(), Time::ZERO);
    for (number, (halves, flow, size, capable, asks, [before, after])) in (0..).zip(plan) {
        now = now.after_nanos(halves * TAKES / 2);
        if *before {
            ask(&mut port, now, &mut fates);
        }
        let packet = Arriving {
            bytes: u16::try_from(size * 625).expect("small"),
            flow: FlowKey::of(FlowId(*flow), Role::Client),
            ecn: if *capable { Ecn::Ect0 } else { Ecn::NotCapable },
            quick_start: asks.then(request),
            payload: number,
        };
        if let Err(Dropped { payload, at, cause }) = port.enter(now, packet) {
            assert!(fates.insert(payload, Fate::Dropped(at, cause)).is_none());
        }
        if *after {
            ask(&mut port, now, &mut fates);
        }
    }
    while let Some(at) = port.next_event() {
        ask(&mut port, at, &mut fates);
    }
    fates
}

fn ask(port: &mut Port<u64>, now: Time, fates: &mut Fates) {
    while let Some(outcome) = port.event(now) {
        let (number, fate) = match outcome {
            Outcome::Left(Departure { payload, at, ecn, marked, quick_start, .. }) => {
                (payload, Fate::Left(at, ecn, marked, rate_of(quick_start)))
            }
            Outcome::Dropped(Dropped { payload, at, cause }) => (payload, Fate::Dropped(at, cause)),
        };
        assert!(fates.insert(number, fate).is_none());
    }
}

fn managed() -> LinkSpec {
    LinkSpec { discipline: Discipline::CoDel(CoDelSpec::default()), ..link() }
}

#[test]
fn a_query_advances_cross_traffic_while_the_port_is_empty() {
    let cross = vec![Cross::Cbr(CbrSpec { rate: Rate::from_bps(40_000_000), packet: 500, stop: None })];
    for link in [link(), managed()] {
        let mut port =
            Port::<()>::new(&PortSpec { cross: cross.clone(), ..PortSpec::new(link) }, 9).expect("possible");
        // 40 Mbit/s are 10 000 datagrams of 500 bytes in a second.
        let second = Time::ZERO + Span::from_secs(1);
        assert_eq!((port.next_event(), port.event(second)), (None, None));
        let entered = port.link.accepted(second);
        assert!((9_990..=10_010).contains(&entered), "{entered} have entered");
    }
}

#[test]
fn empty_packets_fill_a_queue_of_bytes() {
    let queue = QueueLimit::Bytes(Bytes::new(5_000));
    for link in [LinkSpec { queue, ..link() }, LinkSpec { queue, ..managed() }] {
        let mut port = Port::new(&PortSpec::new(link), 9).expect("possible");
        let enters = |number| port.enter(Time::ZERO, Arriving::new(0, FlowKey::hashed(1), number)).is_ok();
        let entered = (0..6_000).map(enters).filter(|enters| *enters).count();
        assert!((5_000..=5_002).contains(&entered), "{entered} are inside");
    }
}

#[test]
fn a_host_is_not_woken_for_events_at_the_end_of_time() {
    for discipline in [Discipline::DropTail, Discipline::FqCoDel(FqCoDelSpec::default())] {
        for (rate, delay) in [(None, Span::MAX), (Some(Rate::from_bps(1)), Span::ZERO)] {
            let link = LinkSpec { discipline, ..LinkSpec::new(rate, delay) };
            let mut port = Port::new(&PortSpec::new(link), 9).expect("possible");
            let near = Time::from_nanos(u64::MAX - 1_000_000_000);
            for number in 0..5 {
                let _ = port.enter(near, Arriving::new(1_500, FlowKey::hashed(number), number));
            }
            let mut calls = 0;
            while let Some(at) = port.next_event() {
                let _ = port.event(at);
                calls += 1;
                assert!(calls < 100, "{rate:?} {delay:?}: at {at:?} for ever");
            }
        }
    }
}

proptest! {
    #[test]
    fn a_port_equals_a_network_also_for_simultaneous_events(
        kind in 0..links().len(),
        plan in proptest::collection::vec(
            (0u64..4, 0..FLOWS, 1u32..3, any::<bool>(), proptest::bool::weighted(0.1), any::<[bool; 2]>()),
            1..200,
        ),
    ) {
        let spec = &links()[kind];
        let (network, port) = (in_a_network(spec, &plan), in_a_port(spec, &plan));
        prop_assert_eq!(network.len(), plan.len());
        prop_assert_eq!(network, port);
    }
}
