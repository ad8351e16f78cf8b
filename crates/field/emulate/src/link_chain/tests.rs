use firstflight::Rate;
use firstflight_sim::{CbrSpec, DropCause, LossBursts, Probability, QueueLimit, RedSpec};
use firstflight_sim::{CoDelSpec, Discipline, FqCoDelSpec, PolicerSpec};
use firstflight_tcp::Ecn;

use super::*;

const MEGABIT: u64 = 1_000_000;

/// Returns a link on which 1500 bytes take a millisecond and the queue holds ten packets.
fn bottleneck() -> LinkSpec {
    let rate = Rate::from_bps(12 * MEGABIT);
    LinkSpec { queue: QueueLimit::Packets(10), ..LinkSpec::new(Some(rate), Span::from_millis(20)) }
}

fn access() -> LinkSpec {
    LinkSpec::new(Some(Rate::from_bps(120 * MEGABIT)), Span::ZERO)
}

fn packet(number: u64) -> Arriving<u64> {
    Arriving { ecn: Ecn::Ect0, ..Arriving::new(1_500, FlowKey::hashed(number % 3), number) }
}

/// Returns the fates of packets: number, time in nanoseconds, and `x` if dropped, `m` if marked, a blank otherwise.
fn outcomes_of(outcomes: Vec<Outcome<u64>>) -> Vec<(u64, u64, char)> {
    let tell = |outcome| match outcome {
        Outcome::Left(left) => (left.payload, left.at.nanos(), if left.marked { 'm' } else { ' ' }),
        Outcome::Dropped(dropped) => (dropped.payload, dropped.at.nanos(), 'x'),
    };
    outcomes.into_iter().map(tell).collect()
}

/// Sends packets at these times in nanoseconds over links that are queried late by `late`. Returns their fates.
fn send(links: &[LinkSpec], cross: &[Cross], at: &[u64], late: impl Fn(u64) -> u64) -> Vec<(u64, u64, char)> {
    let crossed = |place| if place + 1 == links.len() { cross.to_vec() } else { Vec::new() };
    let links = links.iter().enumerate().map(|(place, link)| (link.clone(), crossed(place))).collect();
    let mut chain = LinkChain::new(links, 7).expect("a chain");
    let mut outcomes = Vec::new();
    let mut arrivals = (0..).zip(at.iter().copied().map(Time::from_nanos)).peekable();
    let mut now = Time::ZERO;
    loop {
        let next = chain.next_event().map(|at| at.after_nanos(late(at.nanos())));
        let arrival = arrivals.peek().map(|(_, at)| *at);
        match (arrival, next) {
            (Some(arrives), next) if next.is_none_or(|next| arrives <= next) => {
                let (number, at) = arrivals.next().expect("an arrival");
                now = now.max(at);
                chain.enter(at, packet(number));
            }
            (_, Some(next)) => {
                now = now.max(next);
                outcomes.extend(std::iter::from_fn(|| chain.event(now)));
            }
            (_, None) => break,
        }
    }
    assert_eq!(chain.inside(), 0);
    outcomes_of(outcomes)
}

/// Returns the times of packets in bursts that overflow the bottleneck, with pauses.
fn bursts() -> Vec<u64> {
    (0..400u64)
        .map(|number| (number / 40) * 25_000_000 + (number % 40) * 90_000 + number % 7 * 1_000)
        .collect()
}

#[test]
fn packets_leave_consecutively_at_the_rate_of_the_slowest_link() {
    let left = send(&[access(), bottleneck()], &[], &[0, 0, 0, 0], |_| 0);
    let at = [1_100_000, 2_100_000, 3_100_000, 4_100_000].map(|nanos| nanos + 20_000_000);
    assert_eq!(left, [(0, at[0], ' '), (1, at[1], ' '), (2, at[2], ' '), (3, at[3], ' ')]);
}

#[test]
fn packet_outcomes_are_independent_of_polling_times() {
    let codel = Discipline::CoDel(CoDelSpec { ecn: true, ..CoDelSpec::default() });
    let fq_codel = Discipline::FqCoDel(FqCoDelSpec::default());
    let red = Discipline::Red(RedSpec::over(QueueLimit::Packets(10), 1_500));
    let policer = PolicerSpec { rate: Rate::from_bps(10 * MEGABIT), burst: firstflight::Bytes::new(15_000) };
    let gilbert = LossBursts {
        to_bad: Probability::ratio(1, 10),
        to_good: Probability::ratio(1, 3),
        in_bad: Probability::ratio(1, 1),
        in_good: Probability::NEVER,
    };
    let links = [
        bottleneck(),
        LinkSpec { discipline: codel, ..bottleneck() },
        LinkSpec { discipline: fq_codel, ..bottleneck() },
        LinkSpec { discipline: red, ..bottleneck() },
        LinkSpec { policer: Some(policer), jitter: Span::from_millis(3), ..bottleneck() },
        LinkSpec { loss: Probability::ratio(1, 10), ..bottleneck() },
        LinkSpec { bursts: Some(gilbert), ..bottleneck() },
    ];
    let cross = [Cross::Cbr(CbrSpec { rate: Rate::from_bps(3 * MEGABIT), packet: 1_500, stop: None })];
    for link in links {
        for cross in [&cross[..], &[]] {
            let of = |late: &dyn Fn(u64) -> u64| {
                let mut outcomes_of = send(&[access(), link.clone(), bottleneck()], cross, &bursts(), late);
                outcomes_of.sort_unstable();
                outcomes_of
            };
            let in_time = of(&|_| 0);
            assert!(in_time.iter().any(|(_, _, what)| *what == 'x'), "nothing is dropped: {link:?}");
            assert_eq!(in_time.len(), 400);
            assert_eq!(of(&|at| at % 1_700_000), in_time, "{link:?}");
            assert_eq!(of(&|_| 60_000_000), in_time, "{link:?}");
        }
    }
}

#[test]
fn drops_of_a_later_link_occur_at_that_link() {
    let narrow = LinkSpec { queue: QueueLimit::Packets(1), ..bottleneck() };
    let outcomes_of = send(&[access(), narrow], &[], &[0, 0], |_| 0);
    assert_eq!(outcomes_of.iter().find(|(_, _, what)| *what == 'x'), Some(&(1, 200_000, 'x')));
}

#[test]
fn a_mark_of_any_link_is_kept() {
    let mut red = RedSpec::over(QueueLimit::Packets(1_000), 1_500);
    (red.min, red.max, red.ecn, red.max_p) = (1, 2, true, Probability::ratio(1, 1));
    let marking =
        LinkSpec { discipline: Discipline::Red(red), queue: QueueLimit::Packets(1_000), ..bottleneck() };
    let after = LinkSpec::new(None, Span::from_millis(1));
    let at: Vec<u64> = (0..400).map(|number| number * 900_000).collect();
    let outcomes_of = send(&[marking, after], &[], &at, |_| 0);
    assert!(outcomes_of.iter().any(|(_, _, what)| *what == 'm'), "{outcomes_of:?}");
}

#[test]
fn links_without_packets_catch_up_with_their_cross_traffic() {
    let cross = Cross::Cbr(CbrSpec { rate: Rate::from_bps(24 * MEGABIT), packet: 1_500, stop: None });
    let mut chain: LinkChain<u64> = LinkChain::new(vec![(bottleneck(), vec![cross])], 1).expect("a chain");
    assert!(chain.event(Time::from_nanos(3_000_000_000)).is_none());
    chain.enter(Time::from_nanos(3_000_000_001), packet(0));
    let stats = chain.stats(Time::from_nanos(3_000_000_001));
    assert!(stats[0].dropped_by_queue > 2_900, "{stats:?}");
}

#[test]
fn the_cause_of_a_drop_is_told() {
    let lossy = LinkSpec { loss: Probability::ratio(1, 1), ..bottleneck() };
    let mut chain = LinkChain::new(vec![(lossy, Vec::new())], 1).expect("a chain");
    chain.enter(Time::ZERO, packet(0));
    let outcome = chain.event(Time::from_nanos(1_000_000_000));
    assert!(
        matches!(outcome, Some(Outcome::Dropped(Dropped { cause: DropCause::Random, .. }))),
        "{outcome:?}"
    );
}
