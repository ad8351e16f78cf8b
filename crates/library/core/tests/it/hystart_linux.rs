//! HyStart as Linux has it.

use firstflight::avoidance::Cubic;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, Exit, Pacing, Span};

use crate::common::{Flow, micros, millis, packets};

type HyFlow = Flow<AnyScheme, Rfc5681, Cubic>;

fn start(segments: u32, settings: &[(&str, Value)]) -> HyFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("hystart-linux").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Cubic::new()), millis(100))
}

/// ACKs this far apart are no train.
const SPARSE: Span = Span::from_millis(3);
const DENSE: Span = Span::from_millis(1);

fn exit(flow: &HyFlow) -> Option<Exit> {
    flow.exits().first().copied()
}

#[test]
fn its_default_law_is_cubic() {
    assert_eq!(registry::scheme("hystart-linux").expect("registered").law, "cubic");
}

#[test]
fn delay_above_nine_eighths_of_the_minimum_exits_at_the_ninth_sample() {
    let second = |rtt| {
        let mut flow = start(20, &[]);
        flow.round(millis(100), 1, SPARSE);
        flow.round(rtt, 1, SPARSE);
        exit(&flow).map(|exit| (exit.cause, exit.learned.window))
    };
    assert_eq!(second(micros(112_500)), None, "it must be more");
    // Forty after the first round; the test comes before the ninth ACK's growth.
    assert_eq!(second(micros(112_501)), Some((Cause::Delay, packets(48))));
}

#[test]
fn delay_is_compared_with_the_overall_minimum_instead_of_the_last_round() {
    // Ten milliseconds more every round: never an eighth more than the previous round, but soon more than the first.
    let mut flow = start(20, &[]);
    flow.round(millis(100), 1, SPARSE);
    flow.round(millis(110), 1, SPARSE);
    assert_eq!(exit(&flow), None);
    flow.round(millis(120), 1, SPARSE);
    assert_eq!(exit(&flow).map(|exit| exit.cause), Some(Cause::Delay));
}

#[test]
fn one_low_sample_among_all_of_a_round_keeps_it_going() {
    let mut flow = start(20, &[]);
    flow.round(millis(100), 1, SPARSE);
    flow.fill();
    flow.wait(millis(150));
    for sample in 0..40 {
        flow.ack_with(1, Some(millis(if sample == 3 { 105 } else { 150 })));
        flow.wait(SPARSE);
    }
    assert_eq!(exit(&flow), None);
}

#[test]
fn an_ack_train_longer_than_half_the_minimum_delay_plus_cushion_exits() {
    let left_with = |settings: &[(&str, Value)]| {
        let mut flow = start(200, settings);
        flow.round(millis(100), 1, DENSE);
        exit(&flow).map(|exit| (exit.cause, exit.learned.window))
    };
    // (100 ms + 1 ms) / 2 = 50.5 ms: the ACK 51 ms after the first leaves, 51 ACKs having grown the window.
    assert_eq!(left_with(&[]), Some((Cause::AckTrain, packets(251))));
    // Paced: all of 101 ms must be exceeded.
    assert_eq!(left_with(&[("paced", Value::Word("yes"))]), Some((Cause::AckTrain, packets(302))));
    assert_eq!(left_with(&[("detect", Value::Word("delay"))]), None);
    assert_eq!(left_with(&[("ack-delta", Value::Span(micros(999)))]), None);
}

#[test]
fn the_cushion_is_four_bursts_at_pacing_rate_up_to_a_millisecond() {
    // 40000 segments of 1000 bytes in 100 ms, twice as fast: 262144 bytes take 327 us, so that the train must be
    // longer than 50.163 ms.
    let leaves_at = |last: u64| {
        let mut flow = start(40_000, &[]);
        flow.fill();
        flow.wait(millis(100));
        for _ in 0..50 {
            flow.ack_with(1, Some(millis(100)));
            flow.wait(millis(1));
        }
        assert_eq!(exit(&flow), None);
        flow.wait(micros(last));
        flow.ack_with(1, Some(millis(100)));
        exit(&flow).is_some()
    };
    assert!(!leaves_at(160));
    assert!(leaves_at(170));
}

#[test]
fn below_sixteen_segments_nothing_is_tested_and_nothing_latched() {
    let mut flow = start(4, &[]);
    flow.round(millis(4), 1, DENSE);
    flow.round(millis(40), 1, DENSE);
    assert_eq!(flow.window(), 16);
    assert_eq!(exit(&flow), None);
    let mut low = start(4, &[("low-window", Value::Count(2))]);
    low.round(millis(4), 1, DENSE);
    assert_eq!(exit(&low).map(|exit| exit.cause), Some(Cause::AckTrain));
}

#[test]
fn a_timeout_forgets_the_least_delay() {
    let mut flow = start(40, &[]);
    flow.round(millis(20), 1, SPARSE);
    flow.fill();
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    flow.ack_with(flow.in_flight(), None);
    // ssthresh is 56: until there, a delay of five times the forgotten one is no rise.
    while flow.exits().len() < 2 {
        flow.round(millis(100), 1, SPARSE);
    }
    assert_eq!(flow.exits()[1].cause, Cause::Threshold);
}

#[test]
fn paced_it_paces_at_twice_the_window_a_round_trip() {
    let flow = start(10, &[("paced", Value::Word("yes"))]);
    let Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!(rate.bps(), 2 * 10_000 * 8 * 10);
    assert_eq!(start(10, &[]).plan().pacing, Pacing::AckClock);
}

#[test]
fn acks_exactly_the_delta_apart_belong_to_one_train() {
    let mut flow = start(200, &[("ack-delta", Value::Span(DENSE))]);
    flow.round(millis(100), 1, DENSE);
    assert_eq!(exit(&flow).map(|exit| exit.cause), Some(Cause::AckTrain));
}

#[test]
fn where_both_signs_come_with_one_ack_the_train_is_the_cause() {
    let mut flow = start(20, &[]);
    flow.round(millis(16), 1, SPARSE);
    // (16 ms + 1 ms) / 2 = 8.5 ms: the ninth ACK comes 8.8 ms after the first.
    flow.round(millis(40), 1, micros(1_100));
    assert_eq!(
        exit(&flow).map(|exit| (exit.cause, exit.learned.window)),
        Some((Cause::AckTrain, packets(48)))
    );
}
