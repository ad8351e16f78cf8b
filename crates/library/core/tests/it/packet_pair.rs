//! Hoe's packet pair.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Cause, Controller, Event, Origin, Rate, Span};

use crate::common::{Flow, MSS, micros, millis, packets};

type PairFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(initial: Initial, settings: &[(&str, Value)]) -> PairFlow {
    let entry = registry::scheme("packet-pair").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    let mut flow =
        Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(100));
    flow.fill();
    flow.wait(millis(100));
    flow
}

fn of(segments: u32) -> Initial {
    Initial { segments, ssthresh: None }
}

const SINGLE: (&str, Value) = ("variant", Value::Word("single"));

/// Returns the threshold in segments after ACKs of `sizes` segments, each `gap` after the previous one.
fn threshold(flow: &mut PairFlow, acks: &[(usize, u64)]) -> Option<u64> {
    for &(size, gap) in acks {
        flow.wait(micros(gap));
        flow.ack_with(size, Some(millis(100)));
    }
    flow.plan().ssthresh.map(|bytes| bytes.packets(MSS))
}

#[test]
fn the_threshold_is_the_round_trip_over_the_spacing_in_whole_segments() {
    // 100 ms / 120 us = 833.3.
    for settings in [&[][..], &[SINGLE]] {
        let mut flow = start(of(2), settings);
        assert_eq!(threshold(&mut flow, &[(1, 0), (1, 120)]), Some(833), "{settings:?}");
    }
}

#[test]
fn the_median_of_three_spacings_is_used() {
    let found = |gaps: [u64; 3]| {
        let [a, b, c] = gaps;
        threshold(&mut start(of(10), &[]), &[(1, 0), (1, a), (1, b), (1, c)])
    };
    for gaps in [[80, 100, 1_000], [1_000, 80, 100], [100, 1_000, 80]] {
        assert_eq!(found(gaps), Some(1_000), "{gaps:?}");
    }
}

#[test]
fn no_more_than_three_spacings_and_none_beyond_the_first_window_count() {
    let mut flow = start(of(10), &[]);
    let first = threshold(&mut flow, &[(1, 0), (1, 100), (1, 100), (1, 100)]);
    assert_eq!(first, Some(1_000));
    assert_eq!(threshold(&mut flow, &[(1, 10), (1, 10), (1, 10)]), first);

    let mut pair = start(of(2), &[]);
    assert_eq!(threshold(&mut pair, &[(1, 0)]), None);
    pair.fill();
    // The ACKs of the second segment and the next one arrive as one, beyond the first window.
    assert_eq!(threshold(&mut pair, &[(2, 100), (1, 100)]), None);

    // So does an ACK for the third segment and one of the next window.
    let mut delayed = start(of(3), &[]);
    threshold(&mut delayed, &[(2, 0)]);
    delayed.fill();
    assert_eq!(threshold(&mut delayed, &[(2, 100), (2, 100)]), None);
}

#[test]
fn the_mean_of_two_spacings_is_used() {
    let mut flow = start(of(3), &[]);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 60), (1, 100)]), Some(1_250));
}

#[test]
fn an_ack_for_two_segments_spans_two_packet_times() {
    let mut flow = start(of(10), &[]);
    assert_eq!(threshold(&mut flow, &[(2, 0), (2, 200), (2, 200), (2, 200)]), Some(1_000));
}

#[test]
fn a_timer_ack_of_fewer_segments_is_ignored_with_the_next_spacing() {
    let mut flow = start(of(3), &[]);
    assert_eq!(threshold(&mut flow, &[(2, 0), (1, 40_000)]), None, "three segments, acknowledged 2 and 1");
    // Nor does the spacing after it.
    let mut longer = start(of(8), &[]);
    assert_eq!(threshold(&mut longer, &[(2, 0), (1, 40_000), (2, 100), (2, 200), (1, 40_000)]), Some(1_000));
    // ns-2 takes what comes.
    assert_eq!(threshold(&mut start(of(3), &[SINGLE]), &[(2, 0), (1, 40_000)]), Some(2));
}

#[test]
fn application_limited_packets_are_not_measured() {
    let initial = of(10);
    let entry = registry::scheme("packet-pair").expect("registered");
    let scheme = entry.build(initial, &[]).expect("allowed");
    let mut flow =
        Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(100));
    flow.path.backlog = Some(Bytes::ZERO);
    for _ in 0..4 {
        flow.send(1);
        flow.wait(millis(10));
    }
    flow.wait(millis(60));
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 10_000), (1, 10_000), (1, 10_000)]), None);
}

#[test]
fn packet_pair_only_ever_lowers_the_threshold() {
    let low = Initial { segments: 2, ssthresh: Some(packets(100)) };
    assert_eq!(threshold(&mut start(low, &[]), &[(1, 0), (1, 120)]), Some(100));
    assert_eq!(threshold(&mut start(low, &[]), &[(1, 0), (1, 10_000)]), Some(10));
}

#[test]
fn slow_start_leaves_at_the_threshold_with_the_rate_found() {
    let mut flow = start(of(2), &[]);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 1_000)]), Some(100));
    while flow.exits().is_empty() {
        flow.round(millis(100), 1, micros(1_000));
    }
    let exit = flow.exits()[0];
    assert_eq!(exit.cause, Cause::Threshold);
    assert_eq!((exit.learned.window, exit.learned.ssthresh), (packets(100), Some(packets(100))));
    // 1000 bytes a millisecond.
    assert_eq!(exit.learned.rate, Some(Rate::from_bps(8_000_000)));
}

#[test]
fn a_loss_before_it_is_answered_by_the_law() {
    let mut flow = start(of(2), &[]);
    threshold(&mut flow, &[(1, 0), (1, 120)]);
    flow.round(millis(100), 1, micros(120));
    flow.fill();
    let flight = flow.path.flight;
    flow.lose();
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.ssthresh), (Cause::Loss, None));
    assert!(exit.learned.rate.is_some(), "what was found is told");
    assert_eq!(flow.plan().window, flight / 2);
}

#[test]
fn simultaneous_acks_count_ten_microseconds_in_ns2_and_are_ignored_otherwise() {
    assert_eq!(threshold(&mut start(of(2), &[SINGLE]), &[(1, 0), (1, 0)]), Some(10_000));
    assert_eq!(threshold(&mut start(of(2), &[]), &[(1, 0), (1, 0)]), None);
    let compressed = [(1, 0), (1, 0), (1, 0), (1, 100)];
    assert_eq!(threshold(&mut start(of(4), &[]), &compressed), Some(1_000));
}

#[test]
fn ns2_uses_the_handshake_rtt_and_the_median_form_segment_rtt() {
    let found = |settings: &[(&str, Value)]| {
        let mut flow = start(of(2), settings);
        flow.ack_with(1, Some(millis(120)));
        flow.wait(micros(100));
        flow.ack_with(1, Some(millis(120)));
        flow.plan().ssthresh.map(|bytes| bytes.packets(MSS))
    };
    assert_eq!(found(&[SINGLE]), Some(1_000));
    assert_eq!(found(&[]), Some(1_200));
}

#[test]
fn slow_start_after_a_timeout_ends_at_the_law_threshold_without_measurement() {
    let mut flow = start(of(2), &[]);
    threshold(&mut flow, &[(1, 0), (1, 120)]);
    flow.round(millis(100), 1, micros(120));
    flow.fill();
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    let known = flow.plan().ssthresh;
    assert_eq!(known, Some(packets(4)));
    flow.ack_with(1, None);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 50_000)]), Some(4));
}

#[test]
fn another_path_is_measured_anew() {
    let mut flow = start(of(4), &[]);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 100), (1, 100), (1, 100)]), Some(1_000));
    flow.say(&Event::Begin(Origin::PathChange));
    assert_eq!(flow.plan().ssthresh, None);
    flow.fill();
    flow.wait(millis(100));
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 1_000), (1, 1_000), (1, 1_000)]), Some(100));
    assert!(flow.plan().window >= Bytes::new(4_000));
}

#[test]
fn the_threshold_is_two_segments_at_least() {
    for settings in [&[][..], &[SINGLE]] {
        assert_eq!(threshold(&mut start(of(2), settings), &[(1, 0), (1, 90_000)]), Some(2));
    }
}

#[test]
fn a_duplicate_ack_is_no_first_ack() {
    let mut flow = start(of(2), &[]);
    flow.ack_with(0, None);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 120)]), Some(833));
}

#[test]
fn after_a_timeout_the_first_estimate_does_not_count_any_more() {
    let mut flow = start(of(2), &[]);
    assert_eq!(threshold(&mut flow, &[(1, 0), (1, 25_000)]), Some(4));
    while flow.window() < 20 {
        flow.round(millis(100), 1, micros(10));
    }
    flow.fill();
    flow.time_out(false);
    assert_eq!(flow.plan().ssthresh, Some(packets(10)));
}

#[test]
fn acks_after_a_spurious_timeout_are_not_measured() {
    let mut flow = start(of(10), &[]);
    flow.ack_with(1, Some(millis(100)));
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    flow.wait(millis(100));
    flow.say(&Event::SpuriousLoss);
    assert_eq!(threshold(&mut flow, &[(1, 1_000), (1, 1_000), (1, 1_000), (1, 1_000)]), None);
}

#[test]
fn round_trips_and_spacings_of_many_seconds_are_measured_correctly() {
    for (rtt, gap, segments) in
        [(10_000, 12, 833), (60_000, 4_300, 13), (60_000, 12_000, 5), (360_000_000, 400_000, 900)]
    {
        for settings in [&[][..], &[SINGLE]] {
            let entry = registry::scheme("packet-pair").expect("registered");
            let scheme = entry.build(of(10), settings).expect("allowed");
            let control = Controller::new(scheme, Rfc5681::new(of(10)), Reno::new());
            let mut flow = Flow::established(control, millis(rtt));
            flow.fill();
            flow.wait(millis(rtt));
            flow.ack_with(1, Some(millis(rtt)));
            for _ in 0..3 {
                flow.wait(millis(gap));
                flow.ack_with(1, Some(millis(rtt)));
            }
            let found = flow.plan().ssthresh.map(|bytes| bytes.packets(MSS));
            assert_eq!(found, Some(segments), "{rtt} ms, {gap} ms, {settings:?}");
        }
    }
}

#[test]
fn a_spacing_far_beyond_the_handshake_is_measured() {
    let mut flow = start(of(10), &[SINGLE]);
    flow.wait(millis(4_200));
    flow.ack_with(1, Some(millis(4_300)));
    flow.wait(millis(4_300));
    flow.ack_with(1, Some(millis(8_600)));
    // 100 ms over 4.3 s: the minimum threshold.
    assert_eq!(flow.plan().ssthresh, Some(packets(2)));
}
