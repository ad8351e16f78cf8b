//! Packets and streams for the tests of the disciplines, and the laws that all disciplines obey.

use firstflight::Rate;
use firstflight_tcp::{Ecn, Role};
use proptest::prelude::*;

use super::*;
use crate::descriptor::Descriptor;
use crate::packet::{FlowId, FlowKey, PacketId, Position};

/// Returns a packet that arrived at time zero. Its descriptor has its flow and its number.
pub(super) fn of_flow(flow: u32, number: u64, wire: u32) -> Waiting {
    let name = PacketId(u32::try_from(number).expect("small"));
    let descriptor = Descriptor::segment(name, Position::at(flow), wire, false);
    let flow = FlowKey::of(FlowId(flow), Role::Client);
    Waiting { descriptor, flow, ecn: Ecn::NotCapable, since: Time::ZERO }
}

/// Returns the number of a packet of [`of_flow`].
pub(super) fn number(descriptor: Descriptor) -> u64 {
    descriptor.packet().0.into()
}

/// Returns the flow and the number of a packet of [`of_flow`].
pub(super) fn name(descriptor: Descriptor) -> (u32, u64) {
    (descriptor.position().place(), number(descriptor))
}

/// Returns a packet of 1000 bytes that arrived at time zero.
pub(super) fn plain(number: u64) -> Waiting {
    of_flow(0, number, 1_000)
}

/// Returns a packet that may be marked.
pub(super) fn ect(number: u64) -> Waiting {
    Waiting { ecn: Ecn::Ect0, ..plain(number) }
}

pub(super) fn stream() -> Stream {
    Stream::new(1, Purpose::Discipline, 0, 0)
}

#[test]
fn only_packets_of_capable_transports_are_marked() {
    let mut out = Outbox::default();
    assert!(!out.mark(&mut plain(0)));
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let mut waiting = Waiting { ecn, ..plain(0) };
        assert!(out.mark(&mut waiting));
        assert_eq!(waiting.ecn, Ecn::Ce);
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
        assert_eq!(discipline.check(), Err(fault));
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
    /// For any arrivals and any polling times: each accepted packet leaves or is dropped exactly once, flows stay in
    /// order, and the counts are right at every step.
    #[test]
    fn no_packet_is_lost_sight_of(
        discipline in disciplines(),
        steps in proptest::collection::vec((0u64..30_000_000, 0u32..6, 40u32..1_600, any::<bool>()), 1..500),
    ) {
        let limit = QueueLimit::Packets(30);
        let rate = Some(Rate::from_bps(8_000_000));
        let mut aqm = Aqm::new(discipline, limit, (LinkId(0), 7)).expect("a discipline");
        let (mut now, mut inside, mut last_of) = (0, std::collections::BTreeMap::new(), [None; 6]);
        for (index, (gap, flow, wire, leaves)) in (0u64..).zip(steps) {
            now += gap;
            let time = Time::from_nanos(now);
            let mut out = Outbox::default();
            let mut left = None;
            if leaves {
                left = aqm.depart(time, &mut out);
            } else {
                let mut waiting = of_flow(flow, index, wire);
                waiting.since = time;
                if index % 2 == 0 {
                    waiting.ecn = Ecn::Ect0;
                }
                let arrival = Arrival { now: time, room: aqm.packets() + 1 < 30, idle_since: None, rate };
                if aqm.arrive(arrival, waiting, &mut out) {
                    inside.insert(index, wire);
                }
            }
            for descriptor in &out.dropped {
                prop_assert!(inside.remove(&number(*descriptor)).is_some());
            }
            if let Some(Waiting { descriptor, .. }) = left {
                let (flow, number) = name(descriptor);
                prop_assert!(inside.remove(&number).is_some());
                let last = &mut last_of[flow as usize];
                prop_assert!(last.is_none_or(|last| last < number), "a flow is kept in order");
                *last = Some(number);
            }
            prop_assert!(aqm.packets() < 30);
            prop_assert_eq!(aqm.packets() as usize, inside.len());
            prop_assert_eq!(aqm.bytes(), inside.values().map(|wire| u64::from(*wire)).sum::<u64>());
        }
        // If packets are requested often enough, all leave.
        while aqm.packets() > 0 {
            now += 1_000_000;
            let before = aqm.packets();
            aqm.depart(Time::from_nanos(now), &mut Outbox::default());
            prop_assert!(aqm.packets() < before);
        }
    }
}
