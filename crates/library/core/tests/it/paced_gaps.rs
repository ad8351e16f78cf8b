//! Paced Start: the interpretation of the gaps between ACKs.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, Paced};
use firstflight::{Cause, Controller, Event, Pacing, Sent, Span};

use crate::common::{Flow, micros, millis, packets};

/// The initial window of RFC 6928.
const TEN: Initial = Initial { segments: 10, ssthresh: None };

type PacedFlow = Flow<Paced, Rfc5681, Reno>;

const RTT: Span = Span::from_millis(80);

fn start(scheme: Paced) -> PacedFlow {
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    Flow::established(Controller::new(scheme, restart, Reno::new()), RTT)
}

#[test]
fn a_new_segment_size_begins_the_search_again() {
    let mut flow = flow_after_burst(80_000);
    flow.send(20);
    flow.path.mss = packets(1) / 2;
    flow.path.wire = flow.path.mss;
    flow.say(&Event::MssChanged);
    flow.wait(RTT);
    flow.ack(20);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 10, gap: Span::ZERO });
}

/// The gap tested after the first train of 20, whose ACKs came `gap` nanoseconds apart.
fn tested_after(capacity: u64, gap: u64) -> Span {
    let mut flow = flow_after_burst(capacity);
    let source = Span::from_nanos(2 * capacity);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 20, gap: source });
    let start = flow.path.now;
    for _ in 0..20 {
        flow.send(1);
        flow.wait(source);
    }
    flow.path.now = start + RTT;
    for _ in 0..20 {
        flow.ack(1);
        flow.wait(Span::from_nanos(gap));
    }
    match flow.plan().pacing {
        Pacing::Train { gap, .. } => gap,
        other => panic!("{other:?}"),
    }
}

#[test]
fn gaps_that_grow_within_the_tolerance_are_not_congestion() {
    // 5 % of 160 µs is 8 µs, more than the slack of 5 µs. Not congested, the next gap is 4/3 of 80 µs.
    let uncongested = Span::from_nanos(106_667);
    assert_eq!(tested_after(80_000, 160_000), uncongested);
    assert_eq!(tested_after(80_000, 168_000), uncongested);
    assert_eq!(tested_after(80_000, 168_001), Span::from_nanos(336_002));
}

#[test]
fn gaps_that_grow_within_the_slack_are_not_congestion() {
    // 5 % of 80 µs is 4 µs, less than the slack.
    assert_eq!(tested_after(40_000, 85_000), Span::from_nanos(53_333));
    assert_eq!(tested_after(40_000, 85_001), Span::from_nanos(170_002));
}

#[test]
fn a_train_as_long_as_the_round_trip_is_the_last() {
    let rtt = micros(3_100);
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    let mut flow = Flow::established(Controller::new(Paced::practical(TEN), restart, Reno::new()), rtt);
    burst(&mut flow, rtt, 80_000);
    let start = flow.path.now;
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    // 20 gaps of 160 µs are 3.2 ms. At the 145 µs at which ACKs come the pipe would hold 21 packets.
    flow.path.now = start + micros(3_500);
    for _ in 0..20 {
        flow.ack(1);
        flow.wait(micros(145));
    }
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.window), (Cause::Dispersion, packets(20)));
}

/// Acknowledges the first burst by `acks`, each with the time since the previous one in microseconds and the number
/// of segments that it covers. Returns the gap of the next train, or `None` if the burst was invalid.
fn tested_after_burst(acks: &[(u64, usize)]) -> Option<Span> {
    let first = acks.iter().map(|(_, count)| *count).sum();
    let settings = [("first", Value::Count(u64::try_from(first).expect("few")))];
    let initial = Initial { segments: 2, ssthresh: None };
    let entry = registry::scheme("paced").expect("registered");
    let scheme = entry.build(initial, &settings).expect("allowed");
    let mut flow = Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), RTT);
    flow.send(first);
    flow.wait(RTT);
    for (after, count) in acks {
        flow.wait(micros(*after));
        flow.ack(*count);
    }
    match flow.plan().pacing {
        Pacing::Train { gap, .. } => Some(gap).filter(|gap| !gap.is_zero()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn three_quarters_of_single_acks_mean_a_receiver_that_acknowledges_each_segment() {
    assert_eq!(tested_after_burst(&[(0, 1), (80, 1), (80, 1), (160, 2)]), Some(micros(160)));
    assert_eq!(tested_after_burst(&[(0, 1), (80, 1), (160, 2)]), None);
}

#[test]
fn a_burst_whose_gaps_cover_less_than_half_of_it_is_void() {
    // Four ACKs at one instant; the last one, delayed on the return path, much later.
    assert_eq!(tested_after_burst(&[(0, 2), (0, 2), (0, 2), (0, 2), (20_000, 2)]), None);
    assert_eq!(tested_after_burst(&[(0, 2), (0, 2), (0, 1), (160, 2), (160, 2)]), None);
    assert_eq!(tested_after_burst(&[(0, 2), (0, 2), (160, 2), (160, 2)]), Some(micros(160)));
}

#[test]
fn acks_that_come_together_say_nothing_of_the_capacity() {
    assert_eq!(tested_after_burst(&[(0, 1), (0, 1), (80, 1), (90, 1)]), Some(micros(160)));
    assert_eq!(tested_after_burst(&[(0, 1), (0, 1), (0, 1), (0, 1)]), None);
}

#[test]
fn a_train_in_which_something_was_sent_again_is_void() {
    let mut flow = start(Paced::practical(TEN));
    flow.send(10);
    let tag = flow.plan().tag;
    flow.say(&Event::Sent(Sent { packet: 10, bytes: packets(1), tag, retransmission: true }));
    flow.wait(RTT);
    for _ in 0..10 {
        flow.ack(1);
        flow.wait(micros(80));
    }
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 10, gap: Span::ZERO }, "the burst again");
    assert_ne!(flow.plan().tag, tag);
}

#[test]
fn the_gap_after_a_delayed_ack_does_not_count() {
    let acks = [(0, 2), (40_000, 1), (20, 2), (160, 2), (160, 2)];
    assert_eq!(tested_after_burst(&acks), Some(micros(160)));
}

#[test]
fn a_timers_ack_in_a_train_does_not_count() {
    let mut flow = start(Paced::practical(TEN));
    flow.send(10);
    flow.wait(RTT);
    for _ in 0..5 {
        flow.ack(2);
        flow.wait(micros(160));
    }
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 20, gap: micros(160) });
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    flow.wait(RTT);
    for segments in [2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2] {
        // The timer's ACKs are 40 ms late.
        flow.wait(if segments == 1 { millis(40) } else { micros(320) });
        flow.ack(segments);
    }
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 40, gap: Span::from_nanos(106_667) });
}

/// Returns the train after a first train of 20 at twice 80 µs. `acks`: the time of each ACK since the previous one in
/// microseconds, and the number of segments that it covers.
fn tested_after_acks(acks: impl IntoIterator<Item = (u64, usize)>) -> Pacing {
    let mut flow = flow_after_burst(80_000);
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    flow.wait(RTT);
    for (after, segments) in acks {
        flow.wait(micros(after));
        flow.ack(segments);
    }
    flow.plan().pacing
}

#[test]
fn acks_becoming_delayed_within_a_train_do_not_slow_it() {
    let uncongested = Pacing::Train { packets: 40, gap: Span::from_nanos(106_667) };
    // As Linux acknowledges: each segment up to a number, then every second, and the last one by a timer of 40 ms.
    for quick in 0..20 {
        let delayed = std::iter::repeat_n((320, 2), (20 - quick) / 2);
        let timed = (quick % 2 == 1).then_some((40_160, 1));
        let acks = std::iter::repeat_n((160, 1), quick).chain(delayed).chain(timed);
        assert_eq!(tested_after_acks(acks), uncongested, "{quick} quick ACKs");
    }
}

#[test]
fn the_gap_after_a_timers_ack_within_a_train_does_not_count() {
    // The timer expired while a segment was waiting, so the next ACK is closer.
    let acks = [(320, 2), (320, 2), (40_160, 1), (20, 2)].into_iter().chain(std::iter::repeat_n((320, 2), 6));
    assert_eq!(
        tested_after_acks(acks.chain([(40_160, 1)])),
        Pacing::Train { packets: 40, gap: Span::from_nanos(106_667) }
    );
}

#[test]
fn acks_of_one_segment_count_again_after_a_lost_ack() {
    let acks = [(160, 1), (320, 2)].into_iter().chain(std::iter::repeat_n((200, 1), 17));
    // Mean of the gaps that count: 200 µs are congestion.
    let Pacing::Train { packets: 40, gap } = tested_after_acks(acks) else { panic!("a train of 40") };
    assert!(gap > micros(360), "twice the gap of arrival: {gap:?}");
}

#[test]
fn an_ack_that_also_acknowledges_selectively_does_not_count() {
    let mut flow = flow_after_burst(80_000);
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    flow.wait(RTT);
    for ack in 0..19 {
        if ack == 10 {
            flow.wait(millis(5));
            flow.ack_and_sack();
            flow.wait(millis(5));
        } else {
            flow.ack(1);
            flow.wait(micros(160));
        }
    }
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 40, gap: Span::from_nanos(106_667) });
}

#[test]
fn a_train_of_which_less_than_half_is_covered_is_void() {
    let mut flow = flow_after_burst(80_000);
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    flow.wait(RTT);
    flow.ack(11);
    for _ in 0..9 {
        flow.wait(micros(160));
        flow.ack(1);
    }
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 20, gap: micros(160) }, "the same train again");
}

#[test]
fn acks_a_quarter_closer_than_departures_are_judged_and_closer_ones_void() {
    assert_eq!(tested_after(80_000, 120_000), Span::from_nanos(106_667));
    assert_eq!(tested_after(80_000, 119_999), Span::from_nanos(160_000), "void, and sent again");
}

#[test]
fn a_train_whose_acks_were_compressed_is_void() {
    let mut flow = flow_after_burst(80_000);
    let tag = flow.plan().tag;
    for _ in 0..20 {
        flow.send(1);
        flow.wait(micros(160));
    }
    flow.wait(RTT);
    for _ in 0..20 {
        flow.ack(1);
        flow.wait(micros(119));
    }
    assert_ne!(flow.plan().tag, tag);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 20, gap: micros(160) }, "the same train again");
}

/// The first burst has shown a gap of `capacity` nanoseconds.
fn flow_after_burst(capacity: u64) -> PacedFlow {
    let mut flow = start(Paced::practical(TEN));
    burst(&mut flow, RTT, capacity);
    flow
}

fn burst(flow: &mut PacedFlow, rtt: Span, capacity: u64) {
    flow.send(10);
    flow.wait(rtt);
    for _ in 0..10 {
        flow.ack(1);
        flow.wait(Span::from_nanos(capacity));
    }
}
