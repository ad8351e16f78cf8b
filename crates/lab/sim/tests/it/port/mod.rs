//! A port driven by a test's clock produces, packet by packet, the same results as the link of a simulation.

mod kinds;
mod log;
mod replay;

use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    Arriving, CbrSpec, Cross, Discipline, FlowFault, FlowKey, FqCoDelSpec, LinkFault, LinkSpec, OnOffSpec,
    Outcome, Periods, PolicerSpec, Port, PortFault, PortSpec, QueueLimit,
};

use kinds::{Kind, kinds};
use log::{END, simulate};
use replay::{Asking, replay};

const SEED: u64 = 5;

fn same(asking: Asking) {
    for Kind { name, spec, ecn, must } in kinds() {
        let simulated = simulate(&spec, ecn, SEED);
        assert!(simulated.arrivals.len() > 1_000, "{name}: {} packets", simulated.arrivals.len());
        for what in must {
            assert!(simulated.fates.values().any(what.is), "{name}: nothing was {}", what.name);
        }
        let replayed = replay(&spec, SEED, &simulated.arrivals, asking);
        let wrong = simulated.fates.iter().find(|(name, fate)| replayed.get(*name) != Some(*fate));
        let (packet, fate) = wrong.unzip();
        assert_eq!(fate, packet.and_then(|packet| replayed.get(packet)), "{name}: of packet {packet:?}");
        let early = |at: Time| at <= END;
        assert_eq!(
            replayed.values().filter(|fate| early(fate.at())).count(),
            simulated.fates.len(),
            "{name}"
        );
    }
}

#[test]
fn a_port_polled_at_every_event_reproduces_the_simulator() {
    same(Asking::Promptly);
}

#[test]
fn asked_up_to_five_milliseconds_late_it_gives_the_same() {
    same(Asking::Late);
}

#[test]
fn a_port_polled_at_packet_instants_reproduces_the_simulator() {
    same(Asking::AroundEachPacket);
}

#[test]
fn never_asked_until_the_end_it_gives_the_same() {
    same(Asking::AtTheEnd);
}

#[test]
fn a_port_on_a_shifted_clock_reproduces_the_simulator() {
    same(Asking::OnAnotherClock);
}

fn link() -> LinkSpec {
    LinkSpec::new(Some(Rate::from_bps(12_000_000)), Span::from_millis(20))
}

fn plain<T>(payload: T) -> Arriving<T> {
    Arriving::new(1_500, FlowKey::hashed(1), payload)
}

#[test]
fn a_host_with_nothing_inside_need_not_wake_up() {
    let cbr = CbrSpec { rate: Rate::from_bps(1_000_000), packet: 500, stop: None };
    let mut port = Port::new(&PortSpec { cross: vec![Cross::Cbr(cbr)], ..PortSpec::new(link()) }, 1).unwrap();
    assert_eq!((port.next_event(), port.inside()), (None, 0));
    assert_eq!(port.event(Time::from_nanos(10_000_000_000)), None);
    port.enter(Time::from_nanos(10_000_000_000), plain(())).unwrap();
    assert_eq!(port.inside(), 1);
    let at = port.next_event().expect("a packet is inside");
    assert!(matches!(port.event(at), Some(Outcome::Left(departure)) if departure.at == at));
    assert_eq!((port.next_event(), port.inside()), (None, 0));
    // A datagram every 4 ms for ten seconds, those that the packet needs, and the packet.
    assert!((2_506..=2_508).contains(&port.stats(at).packets));
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut port = Port::new(&PortSpec::new(link()), 1).unwrap();
    port.enter(Time::from_nanos(5_000_000), plain(1)).unwrap();
    port.enter(Time::from_nanos(3_000_000), plain(2)).unwrap();
    let late = Time::from_nanos(1_000_000_000);
    let left: Vec<u64> = std::iter::from_fn(|| match port.event(late)? {
        Outcome::Left(departure) => Some(departure.at.nanos() / 1_000_000),
        Outcome::Dropped(_) => None,
    })
    .collect();
    assert_eq!(left, [26, 27]);
}

#[test]
fn invalid_port_specifications_are_refused_with_their_place() {
    let cbr = CbrSpec { rate: Rate::from_bps(1_000_000), packet: 500, stop: None };
    let on_off = OnOffSpec {
        rate: cbr.rate,
        packet: 500,
        on: Span::ZERO,
        off: Span::from_millis(1),
        periods: Periods::Exponential,
        stop: None,
    };
    let no_flows = Discipline::FqCoDel(FqCoDelSpec { flows: 0, ..FqCoDelSpec::default() });
    let no_burst = PolicerSpec { rate: cbr.rate, burst: Bytes::new(0) };
    for (spec, message) in [
        (LinkSpec { rate: Some(Rate::ZERO), ..link() }, "the port's link: its rate is zero"),
        (LinkSpec { queue: QueueLimit::Packets(0), ..link() }, "the port's link: its queue holds nothing"),
        (
            LinkSpec { discipline: no_flows, ..link() },
            "the port's link: its queue's discipline: there are no queues, or a turn is worth nothing",
        ),
        (LinkSpec { policer: Some(no_burst), ..link() }, "the port's link: its policer lets nothing pass"),
    ] {
        let refused = Port::<()>::new(&PortSpec::new(spec), 1).expect_err("impossible");
        assert_eq!(refused.to_string(), message);
    }
    let cross = vec![Cross::Cbr(cbr), Cross::OnOff(on_off)];
    let refused = Port::<()>::new(&PortSpec { cross, ..PortSpec::new(link()) }, 1).expect_err("impossible");
    assert_eq!(refused, PortFault::Cross { place: 1, fault: FlowFault::ZeroSpan });
    assert_eq!(refused.to_string(), "cross traffic 1 of the port: a mean time of it is zero");
    let huge = LinkSpec { rate: Some(Rate::from_bps(u64::MAX)), ..link() };
    let refused = Port::<()>::new(&PortSpec::new(huge), 1).expect_err("impossible");
    assert_eq!(refused, PortFault::Link(LinkFault::HugeRate));
}
