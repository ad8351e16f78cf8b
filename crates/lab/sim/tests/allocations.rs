//! A port allocates nothing for a packet once it is warm.

use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    Arriving, CbrSpec, CoDelSpec, Cross, Discipline, FlowKey, FqCoDelSpec, LinkSpec, OnOffSpec, Periods,
    PieSpec, PolicerSpec, Port, PortSpec, Probability, QueueLimit, RateTrace, RedSpec, RouterSpec,
};
use firstflight_tcp::Ecn;

const WARM: u64 = 10_000;
const MEASURED: u64 = 100_000;
/// Packets of 1200 bytes arrive at 1.5 times the rate at which the link sends them.
const EVERY: u64 = 320_000;

/// Enters these packets, of sixteen flows, and polls the port every 2 ms.
fn drive(port: &mut Port<u64>, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let now = Time::from_nanos(number * EVERY);
        let packet =
            Arriving { ecn: Ecn::Ect0, ..Arriving::new(1_200, FlowKey::hashed(number % 16), number) };
        // Packets dropped at once are returned to the host.
        let _ = port.enter(now, packet);
        if number % 6 == 0 {
            while port.event(now).is_some() {}
        }
    }
}

fn link() -> LinkSpec {
    let rate = Rate::from_bps(20_000_000);
    LinkSpec { queue: QueueLimit::Packets(100), ..LinkSpec::new(Some(rate), Span::from_millis(10)) }
}

fn ports() -> Vec<(&'static str, PortSpec)> {
    let codel = CoDelSpec { ecn: true, ..CoDelSpec::default() };
    let managed = |discipline| LinkSpec { discipline, ..link() };
    let policer = PolicerSpec { rate: Rate::from_bps(10_000_000), burst: Bytes::new(20_000) };
    let rate = Rate::from_bps(5_000_003);
    let steps = [(0, 20_000_000), (1_000_000_000, 40_000_000)];
    let trace = RateTrace::new(&steps.map(|(at, bps)| (Time::from_nanos(at), Rate::from_bps(bps))));
    let on_off = OnOffSpec {
        rate,
        packet: 700,
        on: Span::from_millis(20),
        off: Span::from_millis(20),
        periods: Periods::Exponential,
        stop: None,
    };
    let cross = vec![Cross::Cbr(CbrSpec { rate, packet: 700, stop: None }), Cross::OnOff(on_off)];
    let loss = Probability::ratio(1, 100);
    let mut ports = vec![
        ("drop-tail", link()),
        ("bytes", LinkSpec { queue: QueueLimit::Bytes(Bytes::new(120_000)), ..link() }),
        ("RED", managed(Discipline::Red(RedSpec::over(QueueLimit::Packets(100), 1_200)))),
        ("CoDel", managed(Discipline::CoDel(codel))),
        ("FQ-CoDel", managed(Discipline::FqCoDel(FqCoDelSpec { codel, ..FqCoDelSpec::default() }))),
        ("PIE", managed(Discipline::Pie(PieSpec::for_packets(1_200)))),
        ("policer", LinkSpec { policer: Some(policer), ..link() }),
        ("trace", LinkSpec { rate: None, rates: trace.ok(), ..link() }),
        ("jitter and loss", LinkSpec { jitter: Span::from_millis(1), loss, ..link() }),
        ("Quick-Start", LinkSpec { quick_start: Some(RouterSpec::default().into()), ..link() }),
    ]
    .into_iter()
    .map(|(name, link)| (name, PortSpec::new(link)))
    .collect::<Vec<_>>();
    for (name, link) in [
        ("drop-tail and cross traffic", link()),
        ("FQ-CoDel and cross traffic", managed(Discipline::FqCoDel(FqCoDelSpec::default()))),
    ] {
        ports.push((name, PortSpec { cross: cross.clone(), ..PortSpec::new(link) }));
    }
    ports
}

#[test]
fn once_warm_a_port_allocates_nothing_for_a_packet() {
    for (name, spec) in ports() {
        let mut port = Port::new(&spec, 3).expect("a possible port");
        let warming = allocation_counter::measure(|| drive(&mut port, 0..WARM));
        assert!(warming.count_total > 0, "{name}: what it holds is nowhere");
        let measured = allocation_counter::measure(|| drive(&mut port, WARM..WARM + MEASURED));
        assert_eq!(measured.count_total, 0, "{name}: {} bytes", measured.bytes_total);
    }
}
