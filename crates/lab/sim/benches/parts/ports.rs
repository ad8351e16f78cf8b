//! Packets through a port: each enters, and the host polls their fates.

use firstflight::{Rate, Span, Time};
use firstflight_sim::{
    Arriving, CoDelSpec, Discipline, FlowKey, FqCoDelSpec, LinkSpec, PieSpec, Port, PortSpec, QueueLimit,
    RedSpec,
};
use firstflight_tcp::Ecn;

use crate::Parts;

const LIMIT: QueueLimit = QueueLimit::Packets(1_000);
/// 1500 bytes take 12 microseconds at 1 Gbit/s, and packets arrive slightly faster: the queue is always full, or its
/// discipline active.
const BYTES: u16 = 1_500;
const EVERY: u64 = 11_900;

struct Host {
    port: Port<u64>,
    now: Time,
    number: u64,
}

impl Host {
    /// Returns a host that has sent until the port was as full as it gets.
    fn warmed_up(discipline: Discipline) -> Self {
        let rate = Rate::from_bps(1_000_000_000);
        let link = LinkSpec { queue: LIMIT, discipline, ..LinkSpec::new(Some(rate), Span::from_millis(20)) };
        let port = Port::new(&PortSpec::new(link), 1).expect("a possible port");
        let mut host = Self { port, now: Time::ZERO, number: 0 };
        for _ in 0..200_000 {
            host.step();
        }
        host
    }

    /// Enters the next packet, of one of 16 flows. Returns the number of packets sent since the previous one.
    fn step(&mut self) -> u64 {
        self.now = self.now.after_nanos(EVERY);
        self.number += 1;
        let flow = FlowKey::hashed(self.number % 16);
        let packet = Arriving { ecn: Ecn::Ect0, ..Arriving::new(BYTES, flow, self.number) };
        let mut gone = u64::from(self.port.enter(self.now, packet).is_err());
        while self.port.event(self.now).is_some() {
            gone += 1;
        }
        gone
    }
}

pub(crate) fn benches(criterion: &mut Parts) {
    let mut group = criterion.benchmark_group("port, a packet");
    for (name, discipline) in [
        ("drop-tail", Discipline::DropTail),
        ("FQ-CoDel", Discipline::FqCoDel(FqCoDelSpec::default())),
        ("CoDel", Discipline::CoDel(CoDelSpec::default())),
        ("RED", Discipline::Red(RedSpec::over(LIMIT, BYTES.into()))),
        ("PIE", Discipline::Pie(PieSpec::for_packets(BYTES.into()))),
    ] {
        let mut host = Host::warmed_up(discipline);
        group.bench_function(name, |bencher| bencher.iter(|| host.step()));
    }
    group.finish();
}
