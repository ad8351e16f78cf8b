//! Packets and streams for the tests of the disciplines, and what all of them have to keep to.

use firstflight_tcp::Segment;
use proptest::prelude::*;

use super::*;
use crate::packet::{FlowId, PacketId, Side};
use crate::routes::Step;

pub(super) fn of_flow(flow: u32, number: u64, wire: u32) -> Waiting {
    let packet = Packet {
        flow: FlowId(flow),
        from: Side::Client,
        retransmission: false,
        wire,
        number,
        sent_at: Time::ZERO,
        payload: Payload::Segment(Segment::default()),
    };
    let parcel = Parcel::segment(PacketId::default(), Step::default(), packet.wire, false);
    Waiting { packet, parcel, since: Time::ZERO }
}

/// A packet of 1000 bytes that came at time zero.
pub(super) fn plain(number: u64) -> Waiting {
    of_flow(0, number, 1_000)
}

/// One that may be marked.
pub(super) fn ect(number: u64) -> Waiting {
    let mut waiting = plain(number);
    waiting.packet.payload = Payload::Segment(Segment { ecn: Ecn::Ect0, ..Segment::default() });
    waiting
}

pub(super) fn stream() -> Stream {
    Stream::new(1, Purpose::Discipline, 0, 0)
}

#[test]
fn only_packets_of_capable_transports_are_marked() {
    let mut out = Outbox::default();
    let mut packet = plain(0).packet;
    assert!(!out.mark(&mut packet));
    packet.payload = Payload::Datagram;
    assert!(!out.mark(&mut packet));
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        packet.payload = Payload::Segment(Segment { ecn, ..Segment::default() });
        assert!(out.mark(&mut packet));
        assert_eq!(packet.segment().map(|segment| segment.ecn), Some(Ecn::Ce));
    }
    assert_eq!(out.marked.len(), 3);
}

#[test]
fn impossible_parameters_are_refused() {
    let red = RedSpec::over(QueueLimit::Packets(100), 1_000);
    let pie = PieSpec::for_packets(1_000);
    let zero = firstflight::Span::ZERO;
    for (discipline, fault) in [
        (Discipline::Red(RedSpec { min: 0, ..red }), DisciplineFault::Thresholds),
        (Discipline::Red(RedSpec { min: 50, ..red }), DisciplineFault::Thresholds),
        (Discipline::Red(RedSpec { max_p: crate::Probability::NEVER, ..red }), DisciplineFault::Nought),
        (Discipline::CoDel(CoDelSpec { target: zero, ..CoDelSpec::default() }), DisciplineFault::ZeroSpan),
        (Discipline::FqCoDel(FqCoDelSpec { flows: 0, ..FqCoDelSpec::default() }), DisciplineFault::NoQueues),
        (Discipline::Pie(PieSpec { update: zero, ..pie }), DisciplineFault::ZeroSpan),
    ] {
        assert_eq!(discipline.check(), Err(LinkFault::Discipline(fault)));
    }
    assert_eq!(Discipline::Red(red).check(), Ok(()));
    assert_eq!(Discipline::Pie(pie).check(), Ok(()));
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let codel = CoDelSpec::default();
    prop_oneof![
        any::<bool>().prop_map(|ecn| {
            Discipline::Red(RedSpec { ecn, ..RedSpec::over(QueueLimit::Packets(30), 1_000) })
        }),
        any::<bool>().prop_map(move |ecn| Discipline::CoDel(CoDelSpec { ecn, ..codel })),
        any::<bool>().prop_map(move |ecn| {
            Discipline::FqCoDel(FqCoDelSpec { codel: CoDelSpec { ecn, ..codel }, flows: 4, quantum: 1_514 })
        }),
        any::<bool>().prop_map(|ecn| Discipline::Pie(PieSpec { ecn, ..PieSpec::for_packets(1_000) })),
    ]
}

proptest! {
    /// Whatever comes and whenever it leaves: what is accepted leaves or is dropped, each once, flows in order, and
    /// the counts are right at every step.
    #[test]
    fn no_packet_is_lost_sight_of(
        discipline in disciplines(),
        steps in proptest::collection::vec((0u64..30_000_000, 0u32..6, 40u32..1_600, any::<bool>()), 1..500),
    ) {
        let limit = QueueLimit::Packets(30);
        let spec = LinkSpec { queue: limit, discipline, ..LinkSpec::new(Some(Rate::from_bps(8_000_000)), firstflight::Span::ZERO) };
        let mut aqm = Aqm::new(&spec, LinkId(0), 7).expect("a discipline");
        let (mut now, mut inside, mut last_of) = (0, std::collections::BTreeMap::new(), [None; 6]);
        for (number, (gap, flow, wire, leaves)) in (0u64..).zip(steps) {
            now += gap;
            let time = Time::from_nanos(now);
            let mut out = Outbox::default();
            let mut left = None;
            if leaves {
                left = aqm.depart(time, &mut out);
            } else {
                let mut waiting = of_flow(flow, number, wire);
                waiting.since = time;
                if number % 2 == 0 {
                    waiting.packet.payload = Payload::Segment(Segment { ecn: Ecn::Ect0, ..Segment::default() });
                }
                let arrival = Arrival { now: time, room: aqm.packets() + 1 < 30, idle_since: None, rate: spec.rate };
                if aqm.arrive(arrival, waiting, &mut out) {
                    inside.insert(number, wire);
                }
            }
            for packet in &out.dropped {
                prop_assert!(inside.remove(&packet.number).is_some());
            }
            if let Some(Waiting { packet, .. }) = left {
                prop_assert!(inside.remove(&packet.number).is_some());
                let last = &mut last_of[packet.flow.0 as usize];
                prop_assert!(last.is_none_or(|last| last < packet.number), "a flow is kept in order");
                *last = Some(packet.number);
            }
            prop_assert!(aqm.packets() < 30);
            prop_assert_eq!(aqm.packets() as usize, inside.len());
            prop_assert_eq!(aqm.bytes(), inside.values().map(|wire| u64::from(*wire)).sum::<u64>());
        }
        // Asked often enough, all leave.
        while aqm.packets() > 0 {
            now += 1_000_000;
            let before = aqm.packets();
            aqm.depart(Time::from_nanos(now), &mut Outbox::default());
            prop_assert!(aqm.packets() < before);
        }
    }
}
