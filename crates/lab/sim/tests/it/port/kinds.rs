//! Each kind of link that a port can be.

use firstflight::{Bytes, Rate, Span, Time};
use firstflight_sim::{
    Batch, CbrSpec, CoDelSpec, Cross, Discipline, Disorder, Displacement, DropCause, FqCoDelSpec, LinkSpec,
    LossBursts, OnOffSpec, Periods, PieSpec, PolicerSpec, PortSpec, Probability, QueueLimit, RateTrace,
    RedSpec, Reorder, RouterSpec,
};
use firstflight_tcp::quick_start::IpOption;

use super::log::Fate;

/// A kind of port, and the events that must occur on it for the comparison to be meaningful.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) spec: PortSpec,
    /// Whether the flows are ECN-capable.
    pub(crate) ecn: bool,
    pub(crate) must: Vec<What>,
}

/// Something that becomes of packets.
pub(crate) struct What {
    pub(crate) name: &'static str,
    pub(crate) is: fn(&Fate) -> bool,
}

const QUEUE: What = What {
    name: "dropped by the queue",
    is: |fate| matches!(fate, Fate::Dropped { cause: DropCause::Queue, .. }),
};
const POLICER: What =
    What { name: "policed", is: |fate| matches!(fate, Fate::Dropped { cause: DropCause::Policer, .. }) };
const RANDOM: What = What {
    name: "lost at random",
    is: |fate| matches!(fate, Fate::Dropped { cause: DropCause::Random, .. }),
};
const MARK: What = What { name: "marked", is: |fate| matches!(fate, Fate::Left { marked: true, .. }) };
const LOWERED: What = What {
    name: "lowered by the router",
    is: |fate| {
        let Fate::Left { quick_start: Some(IpOption::Request { rate, .. }), .. } = fate else { return false };
        rate.get() < 6
    },
};

fn link() -> LinkSpec {
    let rate = Rate::from_bps(20_000_000);
    LinkSpec { queue: QueueLimit::Packets(60), ..LinkSpec::new(Some(rate), Span::from_millis(11)) }
}

fn kind(name: &'static str, link: LinkSpec, must: Vec<What>) -> Kind {
    Kind { name, spec: PortSpec::new(link), ecn: false, must }
}

fn crossed(name: &'static str, link: LinkSpec, cross: &[Cross], must: Vec<What>) -> Kind {
    Kind { name, spec: PortSpec { cross: cross.to_vec(), ..PortSpec::new(link) }, ecn: false, must }
}

fn disciplines(ecn: bool) -> [(&'static str, Discipline); 4] {
    let codel = CoDelSpec { ecn, ..CoDelSpec::default() };
    let red =
        RedSpec { ecn, weight: Probability::ratio(1, 100), ..RedSpec::over(QueueLimit::Packets(60), 1_000) };
    [
        ("RED", Discipline::Red(red)),
        ("CoDel", Discipline::CoDel(codel)),
        ("FQ-CoDel", Discipline::FqCoDel(FqCoDelSpec { codel, ..FqCoDelSpec::default() })),
        (
            "PIE",
            Discipline::Pie(PieSpec {
                ecn,
                target: Span::from_millis(4),
                burst: Span::from_millis(20),
                ..PieSpec::for_packets(1_000)
            }),
        ),
    ]
}

fn cbr(bps: u64, packet: u32) -> Cross {
    Cross::Cbr(CbrSpec { rate: Rate::from_bps(bps), packet, stop: None })
}

fn on_off() -> Cross {
    Cross::OnOff(OnOffSpec {
        rate: Rate::from_bps(9_000_011),
        packet: 811,
        on: Span::from_millis(70),
        off: Span::from_millis(50),
        periods: Periods::Pareto(1.5),
        stop: Some(Time::from_nanos(2_500_000_000)),
    })
}

fn trace() -> LinkSpec {
    let mbps = [20, 3, 0, 45, 12];
    let steps: Vec<(Time, Rate)> = (0..)
        .zip(mbps)
        .map(|(n, rate)| (Time::from_nanos(n * 350_000_001), Rate::from_bps(rate * 1_000_003)))
        .collect();
    LinkSpec { rate: None, rates: RateTrace::new(&steps).ok(), ..link() }
}

fn bursts() -> LossBursts {
    LossBursts {
        to_bad: Probability::ratio(1, 100),
        to_good: Probability::ratio(1, 3),
        in_bad: Probability::ratio(4, 5),
        in_good: Probability::ratio(1, 1_000),
    }
}

fn lossy(link: LinkSpec) -> LinkSpec {
    LinkSpec { loss: Probability::ratio(1, 50), jitter: Span::from_millis(2), ..link }
}

pub(crate) fn kinds() -> Vec<Kind> {
    let mut kinds = vec![
        kind("drop-tail in packets", link(), vec![QUEUE]),
        kind(
            "drop-tail in bytes",
            LinkSpec { queue: QueueLimit::Bytes(Bytes::new(40_000)), ..link() },
            vec![QUEUE],
        ),
        kind("without a limit", LinkSpec { queue: QueueLimit::Unlimited, ..link() }, vec![]),
        kind("without a rate", LinkSpec { rate: None, ..lossy(link()) }, vec![RANDOM]),
        kind("rate trace", trace(), vec![QUEUE]),
        kind("jitter", LinkSpec { jitter: Span::from_millis(3), ..link() }, vec![QUEUE]),
        kind("loss", LinkSpec { loss: Probability::ratio(1, 50), ..link() }, vec![RANDOM]),
        kind("bursty loss", LinkSpec { bursts: Some(bursts()), ..link() }, vec![RANDOM]),
        crossed(
            "bursty and other loss, and constant rate",
            LinkSpec { bursts: Some(bursts()), ..lossy(link()) },
            &[cbr(7_000_003, 777)],
            vec![QUEUE, RANDOM],
        ),
        crossed("constant rate", link(), &[cbr(7_000_003, 777)], vec![QUEUE]),
        crossed("two constant rates", link(), &[cbr(4_000_003, 777), cbr(3_000_017, 333)], vec![QUEUE]),
        crossed("constant rate and loss", lossy(link()), &[cbr(7_000_003, 777)], vec![QUEUE, RANDOM]),
        crossed("on/off", link(), &[on_off()], vec![QUEUE]),
        crossed("on/off and constant rate", link(), &[cbr(4_000_003, 777), on_off()], vec![QUEUE]),
        kind(
            "Quick-Start",
            LinkSpec { quick_start: Some(RouterSpec::default().into()), ..link() },
            vec![LOWERED],
        ),
        crossed(
            "Quick-Start along a trace",
            LinkSpec { quick_start: Some(RouterSpec::default().into()), ..trace() },
            &[cbr(1_000_003, 777)],
            vec![LOWERED],
        ),
    ];
    let policer = PolicerSpec { rate: Rate::from_bps(10_000_000), burst: Bytes::new(15_000) };
    kinds.push(kind("policer", LinkSpec { policer: Some(policer), ..link() }, vec![POLICER]));
    let also_crossed = LinkSpec { policer: Some(policer), ..link() };
    kinds.push(crossed("policer and constant rate", also_crossed, &[cbr(3_000_017, 777)], vec![POLICER]));
    for batch in [Batch::Every(Span::from_millis(7)), Batch::Of { packets: 9, hold: Span::from_millis(2) }] {
        let batched = LinkSpec { batch: Some(batch), ..LinkSpec::new(None, Span::from_millis(11)) };
        kinds.push(kind("batches", batched, vec![]));
    }
    for by in [
        Displacement::Packets { count: 3, hold: Span::from_millis(4) },
        Displacement::Time(Span::from_micros(2_700)),
    ] {
        let reorder = Some(Reorder { share: Probability::ratio(1, 20), by });
        let disorder = Some(Disorder { reorder, ..Disorder::default() });
        let disordered = LinkSpec { disorder, ..LinkSpec::new(None, Span::from_millis(11)) };
        kinds.push(kind("disorder", disordered, vec![]));
    }
    for (name, discipline) in disciplines(false) {
        let managed = LinkSpec { discipline, ..link() };
        let asking = LinkSpec { quick_start: Some(RouterSpec::default().into()), ..managed.clone() };
        let cross = [cbr(4_000_003, 777), on_off()];
        kinds.push(kind(name, managed.clone(), vec![QUEUE]));
        kinds.push(kind(name, lossy(managed.clone()), vec![RANDOM]));
        kinds.push(kind(name, LinkSpec { discipline, ..trace() }, vec![QUEUE]));
        kinds.push(kind(name, LinkSpec { policer: Some(policer), ..managed.clone() }, vec![POLICER]));
        kinds.push(crossed(name, asking, &cross, vec![QUEUE, LOWERED]));
        let bytes = LinkSpec { queue: QueueLimit::Bytes(Bytes::new(40_000)), ..managed };
        if name != "RED" {
            kinds.push(kind(name, bytes, vec![QUEUE]));
        }
    }
    for (name, discipline) in disciplines(true) {
        let managed = LinkSpec { discipline, ..link() };
        kinds.push(Kind { ecn: true, ..kind(name, managed.clone(), vec![MARK]) });
        kinds.push(Kind { ecn: true, ..crossed(name, managed, &[on_off()], vec![MARK]) });
    }
    kinds
}
