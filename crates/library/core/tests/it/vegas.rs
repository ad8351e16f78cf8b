//! Vegas: its start-up and its law, as in ns-2 and in Linux.

use firstflight::avoidance::{Reno, Vegas, VegasVariant};
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Cause, Controller, Event, Exit, Origin, Phase, Span};

use crate::common::{Flow, MSS, micros, millis, packets};

const SPACING: Span = Span::from_micros(10);
const LINUX: (&str, Value) = ("variant", Value::Word("linux"));

type StartFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(segments: u32, settings: &[(&str, Value)]) -> StartFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("vegas").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    // The handshake is faster than any data, and does not count.
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(50))
}

fn exit(flow: &StartFlow) -> Option<Exit> {
    flow.exits().first().copied()
}

/// Returns a flow of the ns-2 variant at 20 segments, about to receive the ACKs of its frozen round, with a base
/// delay of 100 ms.
fn frozen_at_twenty(settings: &[(&str, Value)]) -> StartFlow {
    let mut flow = start(10, settings);
    flow.round(millis(100), 1, SPACING);
    assert_eq!(flow.window(), 20);
    flow
}

#[test]
fn the_window_doubles_every_other_round_trip() {
    let mut flow = start(2, &[]);
    let windows: Vec<u64> = (0..7)
        .map(|_| {
            flow.round(millis(100), 1, SPACING);
            flow.window()
        })
        .collect();
    assert_eq!(windows, [4, 4, 8, 8, 16, 16, 32]);
}

#[test]
fn ns2_starts_with_one_segment_and_opens_the_initial_window_plus_one() {
    // ns-2 2.35, 100 Mbit/s, 80 ms, windowInit_ 2: cwnd_ 1, 3, 3, 6, 6, 12, 12 … 96.
    let ns2 = [("variant", Value::Word("ns2"))];
    let mut flow = start(2, &ns2);
    let mut windows = vec![flow.window()];
    for _ in 0..6 {
        flow.round(millis(100), 1, SPACING);
        windows.push(flow.window());
    }
    assert_eq!(windows, [1, 3, 3, 6, 6, 12, 12]);
}

#[test]
fn in_linux_it_doubles_every_round_trip() {
    let mut flow = start(2, &[LINUX]);
    flow.round(millis(100), 1, SPACING);
    flow.round(millis(100), 1, SPACING);
    assert_eq!(flow.window(), 8);
}

/// Returns the cause and the window of the exit of 20 segments whose frozen round had `rtt`.
fn leaves_at(rtt: Span, settings: &[(&str, Value)]) -> Option<(Cause, u64)> {
    let mut flow = frozen_at_twenty(settings);
    // The first ACK ends the round of 100 ms and is the first sample of the next.
    flow.round(rtt, 1, SPACING);
    flow.round(rtt, 1, SPACING);
    exit(&flow).map(|exit| (exit.cause, exit.learned.window.get()))
}

#[test]
fn ns2_rounds_to_segments_and_exits_with_one_and_a_half_waiting() {
    // 20 (1 - 100 / rtt) >= 1.5 from 108.108 ms.
    assert_eq!(leaves_at(micros(106_000), &[]), None, "1.13 segments, and the papers' formula would leave");
    assert_eq!(leaves_at(micros(108_100), &[]), None);
    assert_eq!(leaves_at(micros(108_109), &[]), Some((Cause::Delay, 17_500)), "less an eighth");
}

#[test]
fn choice_14_the_papers_formula_rounds_nothing() {
    // 20 (1 - 100 / rtt) is .77 at 104 ms and 1.13 at 106 ms; more than 1 from 105.263 ms.
    let paper = [("variant", Value::Word("paper"))];
    assert_eq!(leaves_at(millis(104), &paper), None);
    assert_eq!(leaves_at(micros(105_200), &paper), None);
    assert_eq!(leaves_at(micros(105_300), &paper), Some((Cause::Delay, 17_500)));
    assert_eq!(leaves_at(millis(106), &paper), Some((Cause::Delay, 17_500)), "less an eighth");
}

#[test]
fn gamma_is_how_many_segments_may_wait() {
    // 20 (1 - 100 / rtt) >= 2.5 from 114.286 ms.
    let gamma = [("gamma", Value::Count(2))];
    assert_eq!(leaves_at(micros(114_200), &gamma), None);
    assert_eq!(leaves_at(micros(114_300), &gamma).map(|(cause, _)| cause), Some(Cause::Delay));
}

#[test]
fn ns2_takes_the_mean_of_a_round() {
    let left_with_every_other_at = |late: u64| {
        let mut flow = frozen_at_twenty(&[]);
        flow.fill();
        flow.wait(millis(100));
        for sample in 0..20 {
            flow.ack_with(1, Some(millis(if sample % 2 == 0 { 100 } else { late })));
        }
        flow.fill();
        flow.ack_with(1, Some(millis(100)));
        exit(&flow).is_some()
    };
    // Means of 108 and 108.5 ms.
    assert!(!left_with_every_other_at(116));
    assert!(left_with_every_other_at(117));
}

#[test]
fn linux_takes_the_least_of_a_round_and_truncates_over_the_base() {
    let second = |rtts: [u64; 2]| {
        let mut flow = start(10, &[LINUX]);
        flow.round(millis(100), 1, SPACING);
        assert_eq!(flow.window(), 20);
        // The ACK that ends the round belongs to it, so that the round of 20 is judged an ACK later.
        flow.fill();
        flow.wait(millis(100));
        for sample in 0..20_usize {
            flow.ack_with(1, Some(micros(rtts[sample % 2])));
        }
        flow.fill();
        let window = flow.window();
        flow.ack_with(1, Some(micros(rtts[1])));
        (window, exit(&flow).map(|exit| exit.learned.window.packets(MSS)))
    };
    // 40 (rtt - 100) / 100 >= 2 from 105 ms.
    assert_eq!(second([104_900, 104_900]), (40, None));
    // min(40, int(40 x 100 / 105) + 1) = 39.
    assert_eq!(second([105_000, 105_000]), (40, Some(39)));
    assert_eq!(second([200_000, 104_900]), (40, None), "the least counts");
}

#[test]
fn linux_leaves_twenty_segments_from_110_milliseconds() {
    let judged = |rtt| {
        let mut flow = start(10, &[LINUX]);
        flow.fill();
        flow.wait(millis(100));
        flow.ack_with(1, Some(millis(100)));
        for _ in 1..10 {
            flow.ack_with(1, Some(rtt));
        }
        flow.fill();
        assert_eq!((flow.window(), exit(&flow)), (20, None));
        flow.ack_with(1, Some(rtt));
        exit(&flow).map(|exit| (exit.cause, exit.learned.window))
    };
    assert_eq!(judged(micros(109_999)), None);
    // int(20 x 100 / 110) + 1.
    assert_eq!(judged(millis(110)), Some((Cause::Delay, packets(19))));
}

#[test]
fn a_round_not_limited_by_the_window_is_not_judged() {
    let left = |starved: bool| {
        let mut flow = start(20, &[]);
        for _ in 0..6 {
            if starved {
                flow.send(2);
            } else {
                flow.fill();
            }
            flow.wait(millis(100));
            flow.ack_with(1, Some(millis(100)));
            while flow.in_flight() > 0 {
                flow.ack_with(1, Some(millis(900)));
            }
        }
        exit(&flow).is_some()
    };
    assert!(left(false));
    assert!(!left(true));
}

#[test]
fn a_delayed_ack_timer_counts_as_delay_in_ns2_only() {
    let delayed = |lone: u64, settings: &[(&str, Value)]| {
        let mut flow = start(10, settings);
        for _ in 0..4 {
            flow.fill();
            let count = flow.in_flight();
            flow.wait(millis(100));
            for _ in 0..count / 2 {
                flow.ack_with(2, Some(millis(100)));
            }
            flow.send(1);
            flow.wait(millis(lone));
            flow.ack_with(1, Some(millis(lone)));
        }
        exit(&flow).is_some()
    };
    assert!(!delayed(100, &[]));
    assert!(delayed(600, &[]));
    assert!(!delayed(600, &[LINUX]));
}

#[test]
fn after_a_timeout_growth_does_not_wait_for_the_repair_to_end() {
    let mut flow = frozen_at_twenty(&[]);
    flow.round(millis(100), 1, SPACING);
    flow.fill();
    flow.time_out(false);
    assert_eq!(flow.window(), 1);
    flow.ack_with(1, None);
    assert_eq!(flow.window(), 2);
}

/// Returns a flow under the law whose start-up exited at `segments` by its threshold.
fn avoiding(law: Vegas, segments: u64) -> Flow<SlowStart, Rfc5681, Vegas> {
    let few = u32::try_from(segments).expect("few");
    let initial = Initial { segments: few, ssthresh: Some(packets(segments)) };
    let control = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), law);
    let mut flow = Flow::established(control, millis(50));
    assert_eq!(flow.control.phase(), Phase::Avoidance);
    flow.round(millis(100), 1, SPACING);
    flow
}

#[test]
fn the_law_adds_a_segment_per_rtt_while_fewer_than_alpha_wait() {
    for (variant, rounds) in [(VegasVariant::Ns2, 4), (VegasVariant::Linux, 4)] {
        let mut flow = avoiding(Vegas::new(variant), 20);
        let before = flow.window();
        for _ in 0..rounds {
            flow.round(millis(100), 1, SPACING);
        }
        assert_eq!(flow.window(), before + rounds, "{variant:?}");
    }
}

/// Returns the change of the window over a few rounds of `rtt` after rounds of 100 ms.
fn drift(law: Vegas, rtt: Span) -> i64 {
    let mut flow = avoiding(law, 20);
    flow.round(rtt, 1, SPACING);
    flow.round(rtt, 1, SPACING);
    let before = flow.window();
    for _ in 0..3 {
        flow.round(rtt, 1, SPACING);
    }
    i64::try_from(flow.window()).unwrap() - i64::try_from(before).unwrap()
}

#[test]
fn the_law_holds_between_alpha_and_beta_and_decreases_above() {
    let ns2 = || Vegas::new(VegasVariant::Ns2);
    // About 20 segments: 1.1 wait at 106 ms, 4.6 at 130 ms.
    assert_eq!(drift(ns2(), millis(106)), 0);
    // Up to three may wait.
    assert_eq!(drift(ns2(), millis(116)), 0);
    assert_eq!(drift(ns2(), millis(130)), -3);
    let linux = || Vegas::new(VegasVariant::Linux);
    // int(21 x .13) = 2, int(21 x .30) = 6.
    assert_eq!(drift(linux(), millis(113)), 0);
    assert_eq!(drift(linux(), millis(130)), -3);
    // With other bounds the same delay is too little.
    assert_eq!(drift(Vegas::between(VegasVariant::Ns2, 8, 9), millis(130)), 3);
}

#[test]
fn the_law_never_goes_below_two_segments_by_delay() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Linux), 8);
    for _ in 0..40 {
        flow.round(Span::from_secs(2), 1, SPACING);
    }
    // int(cwnd (2 s - .1 s) / .1 s) is 38 at two segments.
    assert_eq!(flow.window(), 2);
}

#[test]
fn ns2_keeps_three_quarters_at_a_loss_and_half_at_a_timeout() {
    let lost = |segments| {
        let mut flow = avoiding(Vegas::new(VegasVariant::Ns2), segments);
        flow.fill();
        flow.lose();
        flow.window()
    };
    // Whole segments: 9 - 2, 4 - 1; three and fewer become two.
    assert_eq!([20, 9, 4, 3, 2].map(lost), [15, 7, 3, 2, 2]);
    let mut flow = avoiding(Vegas::new(VegasVariant::Ns2), 20);
    flow.send(4);
    flow.time_out(false);
    assert_eq!(flow.plan().ssthresh, Some(packets(10)), "of the window, not of the four in flight");
}

#[test]
fn the_linux_law_halves_at_loss_and_ignores_delays_during_repair() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Linux), 20);
    flow.fill();
    flow.lose();
    assert_eq!(flow.window(), 10);
    while flow.in_flight() > 1 {
        flow.ack_with(1, Some(Span::from_secs(3)));
    }
    flow.ack_with(1, None);
    assert!(!flow.path.recovering);
    flow.fill();
    flow.ack_with(1, None);
    assert_eq!(flow.window(), 10, "the delays of the repair are not judged");
}

#[test]
fn the_law_knows_the_shortest_round_trip_of_start_up() {
    let initial = Initial { segments: 10, ssthresh: Some(packets(20)) };
    let law = Vegas::new(VegasVariant::Ns2);
    let control = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), law);
    let mut flow = Flow::established(control, millis(50));
    flow.round(millis(100), 1, SPACING);
    assert_eq!(flow.control.phase(), Phase::Avoidance);
    let before = flow.window();
    for _ in 0..5 {
        flow.round(millis(130), 1, SPACING);
    }
    assert!(flow.window() < before, "130 ms would be the shortest, had it not overheard 100 ms");
}

#[test]
fn another_path_has_another_shortest_round_trip() {
    let mut flow = frozen_at_twenty(&[]);
    flow.say(&Event::Begin(Origin::PathChange));
    let exits = flow.exits().len();
    while flow.window() < 160 {
        flow.round(millis(300), 1, SPACING);
    }
    assert_eq!(flow.exits().len(), exits, "300 ms is not 200 ms of queue");
}

#[test]
fn linux_judges_a_round_by_three_samples_at_least() {
    let judged = |samples: usize| {
        let mut flow = start(10, &[LINUX]);
        flow.fill();
        flow.wait(millis(100));
        flow.ack_with(1, Some(millis(100)));
        for ack in 2..=10 {
            flow.ack_with(1, (ack > 11 - samples).then_some(millis(300)));
        }
        flow.fill();
        flow.ack_with(1, Some(millis(300)));
        exit(&flow).is_some()
    };
    assert!(!judged(2));
    assert!(judged(3));
}

#[test]
fn the_delay_of_a_lone_segment_becomes_the_base_in_ns2() {
    let mut flow = start(1, &[]);
    flow.round(millis(100), 1, SPACING);
    for _ in 0..3 {
        flow.send(1);
        flow.wait(millis(200));
        flow.ack_with(1, Some(millis(200)));
    }
    while flow.window() < 64 {
        flow.round(millis(200), 1, SPACING);
    }
    assert_eq!(exit(&flow), None, "200 ms is not 100 ms of queue");
}

#[test]
fn vegas_exits_with_a_minimum_of_two_segments() {
    let mut flow = start(1, &[("gamma", Value::Count(0))]);
    for rtt in [millis(100), Span::from_secs(1), Span::from_secs(1)] {
        flow.round(rtt, 1, SPACING);
    }
    // Two less an eighth would be 1750 bytes.
    assert_eq!(exit(&flow).map(|exit| exit.learned.window), Some(packets(2)));
}

#[test]
fn a_reduction_ends_the_growth_of_its_round() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Ns2), 20);
    flow.round(millis(100), 1, SPACING);
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(1, Some(millis(100)));
    flow.say(&Event::Marked { sent_at: None });
    let reduced = flow.plan().window;
    assert!(reduced < packets(12));
    while flow.in_flight() > 0 {
        flow.ack_with(1, Some(millis(100)));
    }
    assert_eq!(flow.plan().window, reduced);
}

#[test]
fn the_law_too_forgets_the_base_of_another_path() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Ns2), 20);
    flow.say(&Event::Begin(Origin::PathChange));
    flow.round(millis(300), 1, SPACING);
    flow.fill();
    flow.lose();
    assert_eq!(flow.control.phase(), Phase::Avoidance);
    flow.round(millis(300), 1, SPACING);
    let before = flow.window();
    for _ in 0..4 {
        flow.round(millis(300), 1, SPACING);
    }
    assert!(flow.window() > before, "300 ms is not 200 ms of queue");
}

/// `tcp_vegas.c`: "We don't have enough RTT samples to do the Vegas calculation, so we'll behave like Reno."
#[test]
fn linux_vegas_grows_like_reno_after_rounds_with_too_few_samples() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Linux), 4);
    // Two ACKs a round trip: the first ends the round, and its two segments are half of a window.
    let windows: Vec<u64> = (0..8)
        .map(|_| {
            flow.round(millis(100), 2, SPACING);
            flow.window()
        })
        .collect();
    // The first round still has the samples of one ACK for each segment, and one segment was acknowledged by an ACK
    // that ended the previous round. Of five segments the timer acknowledges the last, which is no sample; of six
    // there are three samples, and the window is judged.
    assert_eq!(windows, [5, 5, 6, 6, 7, 8, 9, 10]);
}

#[test]
fn without_any_sample_linux_grows_as_reno_too() {
    let mut flow = avoiding(Vegas::new(VegasVariant::Linux), 4);
    flow.fill();
    // This ACK ends the round of the samples before it.
    flow.ack_with(4, None);
    let before = flow.window();
    for _ in 0..2 {
        flow.fill();
        flow.ack_with(flow.in_flight(), None);
    }
    assert_eq!(flow.window(), before + 2);
    // The others judge nothing then.
    let mut ns2 = avoiding(Vegas::new(VegasVariant::Ns2), 4);
    ns2.fill();
    ns2.ack_with(4, None);
    ns2.fill();
    let before = ns2.window();
    ns2.ack_with(ns2.in_flight(), None);
    assert_eq!(ns2.window(), before);
}

#[test]
fn in_linuxs_start_up_too_few_samples_are_slow_start() {
    let mut flow = start(4, &[LINUX]);
    let windows: Vec<u64> = (0..4)
        .map(|_| {
            flow.round(millis(100), 2, SPACING);
            flow.window()
        })
        .collect();
    // By all that an ACK acknowledges.
    assert_eq!(windows, [8, 16, 32, 64]);
}

#[test]
fn linux_rounds_double_regardless_of_ack_coverage_up_to_the_threshold() {
    let window = |ssthresh: Option<u64>| {
        let initial = Initial { segments: 10, ssthresh: ssthresh.map(packets) };
        let scheme =
            registry::scheme("vegas").expect("registered").build(initial, &[LINUX]).expect("allowed");
        let control = Controller::new(scheme, Rfc5681::new(initial), Reno::new());
        let mut flow = Flow::established(control, millis(100));
        flow.round(millis(100), 2, SPACING);
        flow.round(millis(100), 2, SPACING);
        flow.window()
    };
    assert_eq!(window(None), 40);
    assert_eq!(window(Some(33)), 33);
}
