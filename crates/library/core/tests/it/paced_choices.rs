//! Paced Start's choices, one by one: the behaviour of the practical profile, and that of the paper or its text.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Kind, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, Paced};
use firstflight::{Cause, Controller, Pacing, Phase, Span};

use crate::common::{Flow, micros, millis, packets};

/// The initial window of RFC 6928.
const TEN: Initial = Initial { segments: 10, ssthresh: None };

type PacedFlow = Flow<AnyScheme, Rfc5681, Reno>;

const INITIAL: Initial = Initial { segments: 2, ssthresh: None };
const RTT: Span = Span::from_millis(80);
/// `g_B`, and the gap of the first train after the burst.
const G_B: Span = Span::from_micros(80);
const TWICE: Span = Span::from_micros(160);
/// The next gap tested if that train was not congested.
const FOUR_THIRDS: Span = Span::from_nanos(106_667);

fn word(name: &'static str, word: &'static str) -> (&'static str, Value) {
    (name, Value::Word(word))
}

fn build(settings: &[(&'static str, Value)]) -> AnyScheme {
    registry::scheme("paced").expect("registered").build(TEN, settings).expect("allowed")
}

fn start_at(rtt: Span, settings: &[(&'static str, Value)]) -> PacedFlow {
    Flow::established(Controller::new(build(settings), Rfc5681::new(INITIAL), Reno::new()), rtt)
}

fn start(settings: &[(&'static str, Value)]) -> PacedFlow {
    start_at(RTT, settings)
}

/// Sends the train of the plan; its ACKs begin one RTT later. `acks`: the time of each ACK since the previous one,
/// and the number of segments that it acknowledges.
fn train(flow: &mut PacedFlow, acks: impl IntoIterator<Item = (Span, usize)>) {
    let begun = flow.path.now;
    let Pacing::Train { packets, gap } = flow.plan().pacing else { panic!("a train") };
    for _ in 0..packets {
        flow.send(1);
        flow.wait(gap);
    }
    flow.path.now = begun + RTT;
    for (after, segments) in acks {
        flow.wait(after);
        flow.ack(segments);
    }
}

fn each(count: usize, gap: Span) -> impl Iterator<Item = (Span, usize)> {
    std::iter::repeat_n((gap, 1), count)
}

/// The first burst was acknowledged segment by segment.
fn after_burst(settings: &[(&'static str, Value)]) -> PacedFlow {
    let mut flow = start(settings);
    train(&mut flow, each(10, G_B));
    assert_eq!(next(&flow), (20, TWICE));
    flow
}

/// Returns a flow that is about to send the fill, 874 packets at 8/7 `g_B`.
fn before_fill(settings: &[(&'static str, Value)]) -> PacedFlow {
    let mut flow = after_burst(settings);
    train(&mut flow, each(20, TWICE));
    train(&mut flow, each(40, FOUR_THIRDS));
    flow
}

/// Packets and gap of the train that is to be sent.
fn next(flow: &PacedFlow) -> (u32, Span) {
    match flow.plan().pacing {
        Pacing::Train { packets, gap } => (packets, gap),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_choice_is_a_parameter_and_the_profile_gives_only_the_defaults() {
    let entry = registry::scheme("paced").expect("registered");
    let others = || entry.parameters.iter().filter(|parameter| parameter.name != "profile");
    let mut practical: Vec<_> = others().map(|parameter| (parameter.name, parameter.default)).collect();
    practical.push(word("profile", "paper"));
    assert_eq!(format!("{:?}", build(&practical)), format!("{:?}", AnyScheme::from(Paced::practical(TEN))));

    let paper = [
        ("first", Value::Count(2)),
        word("exit-ssthresh", "unset"),
        word("mean", "acks"),
        word("coverage", "any"),
        ("tolerance", Value::Fraction { ppm: 0 }),
        ("slack", Value::Span(Span::ZERO)),
        word("short-pipe", "search"),
        word("fill-window", "whole"),
        word("cut", "judge"),
        word("compressed", "judge"),
        word("again", "first"),
    ];
    let of_paper = format!("{:?}", AnyScheme::from(Paced::paper()));
    assert_eq!(format!("{:?}", build(&paper)), of_paper);
    assert_eq!(format!("{:?}", build(&[word("profile", "paper")])), of_paper);
}

#[test]
fn every_word_of_a_choice_makes_another_scheme() {
    for parameter in registry::scheme("paced").expect("registered").parameters {
        let Kind::Word(words) = parameter.kind else { continue };
        let built: Vec<_> =
            words.iter().map(|one| format!("{:?}", build(&[word(parameter.name, one)]))).collect();
        for (index, one) in built.iter().enumerate() {
            assert!(!built[..index].contains(one), "{} of {}", words[index], parameter.name);
        }
    }
}

#[test]
fn choice_4_first_burst_is_the_initial_window_and_a_pair_minimum() {
    let first = |segments, settings: &[(&'static str, Value)]| {
        let initial = Initial { segments, ssthresh: None };
        let scheme =
            registry::scheme("paced").expect("registered").build(initial, settings).expect("allowed");
        next(&Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(80))).0
    };
    assert_eq!([1, 2, 4, 10, 1000, 5000].map(|iw| first(iw, &[])), [2, 2, 4, 10, 1000, 1000]);
    assert_eq!(first(10, &[("first", Value::Count(4))]), 4);
    assert_eq!(first(10, &[word("profile", "paper")]), 2, "the paper's pair");
    assert_eq!(first(10, &[word("profile", "paper"), word("first", "iw")]), 10);
}

#[test]
fn choice_1_ssthresh_is_the_window_at_the_exit_or_stays_unset() {
    let after_idle = |settings: &[_]| {
        let mut flow = before_fill(settings);
        train(&mut flow, each(874, G_B));
        let exit = flow.exits()[0];
        assert_eq!((exit.cause, exit.learned.window), (Cause::Dispersion, packets(874)));
        flow.wait(Span::from_secs(10));
        assert!(flow.before_new_data(), "a restart begins");
        (exit.learned.ssthresh, flow.window(), flow.plan().ssthresh)
    };
    // Slow start after the idle time ends at the window found …
    assert_eq!(after_idle(&[]), (Some(packets(874)), 2, Some(packets(874))));
    // … or, as the paper leaves it, nowhere.
    assert_eq!(after_idle(&[word("exit-ssthresh", "unset")]), (None, 2, None));
}

#[test]
fn choice_2_literal_rule_ignores_acks_of_single_segments() {
    let mut flow = start(&[word("acks", "literal")]);
    train(&mut flow, each(10, G_B));
    assert_eq!(next(&flow), (10, Span::ZERO), "the burst again");
    // ACKs of two segments count.
    let mut flow = start(&[word("acks", "literal")]);
    train(&mut flow, [(TWICE, 2); 5]);
    assert_eq!(next(&flow), (20, TWICE));
}

#[test]
fn choice_2_timer_acks_are_excluded_or_counted_according_to_the_mode() {
    // ACKs of two segments every 480 µs, congested; a timer's ACK 40 ms late, and the next soon after it.
    let arrivals = || {
        let two = std::iter::repeat_n((micros(480), 2), 8);
        two.chain([(millis(40), 1), (micros(30), 3)])
    };
    let tested = |mode| {
        let mut flow = start(&[word("acks", mode)]);
        train(&mut flow, [(TWICE, 2); 5]);
        train(&mut flow, arrivals());
        next(&flow)
    };
    // 7 gaps of 480 µs cover 14 segments.
    assert_eq!(tested("detect"), (40, micros(480)));
    // The paper ignores only the gap before: 3390 µs over 17 segments.
    assert_eq!(tested("literal"), (40, Span::from_nanos(2 * 199_412)));
    // 43390 µs over 18 segments.
    assert_eq!(tested("all"), (40, Span::from_nanos(2 * 2_410_556)));
}

#[test]
fn choice_3_the_mean_gap_is_over_segments_or_over_acks() {
    let tested = |mean| {
        let mut flow = after_burst(&[word("mean", mean)]);
        train(&mut flow, each(10, TWICE).chain([(micros(3_200), 10)]));
        next(&flow).1
    };
    // 9 gaps of 160 µs and one of 3200 µs for 10 segments: 4640 µs over 19 segments …
    assert_eq!(tested("segments"), Span::from_nanos(2 * 244_211));
    // … or 1440 µs and 320 µs over 10 ACKs.
    assert_eq!(tested("acks"), micros(2 * 176));
}

#[test]
fn choice_3_gaps_covering_under_half_a_train_void_it_or_suffice() {
    let tested = |coverage| {
        let mut flow = after_burst(&[word("coverage", coverage)]);
        train(&mut flow, [(TWICE, 11)].into_iter().chain(each(9, TWICE)));
        next(&flow)
    };
    assert_eq!(tested("half"), (20, TWICE), "the same train again");
    assert_eq!(tested("any"), (40, FOUR_THIRDS));
}

#[test]
fn choice_3_a_train_without_countable_gaps_is_always_void() {
    let mut flow = after_burst(&[word("coverage", "any")]);
    train(&mut flow, [(TWICE, 20)]);
    assert_eq!(next(&flow), (20, TWICE));
}

#[test]
fn choice_4_capacity_is_the_minimum_burst_gap_or_the_pair_gap() {
    let capacity = |first, arrivals: &[(Span, usize)]| {
        let mut flow = start(&[("first", Value::Count(first))]);
        train(&mut flow, arrivals.iter().copied());
        next(&flow).1
    };
    // Cross traffic got between the first two packets.
    let mut burst = vec![(G_B, 1), (micros(240), 1)];
    assert_eq!(capacity(2, &burst), micros(480));
    burst.extend(each(8, G_B));
    assert_eq!(capacity(10, &burst), TWICE);
}

#[test]
fn choice_5_without_a_tolerance_a_nanosecond_is_congestion() {
    let exact = [("tolerance", Value::Fraction { ppm: 0 }), ("slack", Value::Span(Span::ZERO))];
    let tested = |settings: &[_]| {
        let mut flow = after_burst(settings);
        train(&mut flow, each(20, TWICE + Span::from_nanos(1)));
        next(&flow).1
    };
    assert_eq!(tested(&[]), FOUR_THIRDS);
    assert_eq!(tested(&exact), (TWICE + Span::from_nanos(1)) * 2);
}

#[test]
fn choice_6_a_pipe_shorter_than_the_next_train_exits_or_searches() {
    // 0.8 ms of 80 µs packets hold 10, as many as the burst.
    let after_burst = |settings: &[_]| {
        let mut flow = start_at(micros(800), settings);
        flow.send(10);
        flow.wait(micros(800));
        for _ in 0..10 {
            flow.ack(1);
            flow.wait(G_B);
        }
        flow
    };
    assert_eq!(after_burst(&[]).exits().len(), 1);
    let flow = after_burst(&[word("short-pipe", "search")]);
    assert!(flow.exits().is_empty());
    assert_eq!(next(&flow), (20, TWICE));
}

#[test]
fn choice_7_the_fill_uses_minimum_smoothed_or_latest_rtt() {
    let fill = |settings: &[_]| {
        let mut flow = after_burst(settings);
        train(&mut flow, each(20, TWICE));
        train(&mut flow, each(39, FOUR_THIRDS));
        flow.wait(FOUR_THIRDS);
        (flow.path.srtt, flow.path.latest_rtt) = (Some(millis(100)), Some(millis(120)));
        flow.ack_with(1, None);
        next(&flow)
    };
    let gap = Span::from_nanos(91_429);
    // The minimum is the RTT of the handshake, 80 ms.
    assert_eq!(fill(&[]), (874, gap));
    assert_eq!(fill(&[word("fill-rtt", "smoothed")]), (1_093, gap));
    assert_eq!(fill(&[word("fill-rtt", "latest")]), (1_312, gap));
}

#[test]
fn choice_7_window_after_the_fill_covers_sent_packets_or_all() {
    let window = |settings: &[_]| {
        let mut flow = before_fill(settings);
        flow.send(100);
        flow.wait(RTT);
        flow.ack(1);
        assert_eq!(flow.control.phase(), Phase::Avoidance);
        flow.exits()[0].learned.window
    };
    assert_eq!(window(&[]), packets(100));
    assert_eq!(window(&[word("fill-window", "whole")]), packets(874));
}

#[test]
fn choice_8_as_many_void_trains_as_are_set_mean_slow_start() {
    let voids_until_slow = |settings: &[_]| {
        let mut flow = start(settings);
        let mut voids = 0;
        while let Pacing::Train { .. } = flow.plan().pacing {
            // All of it acknowledged at once: no gap.
            train(&mut flow, [(G_B, 10)]);
            voids += 1;
        }
        assert!(matches!(flow.plan().pacing, Pacing::Rate { .. }), "paced slow start");
        voids
    };
    assert_eq!(voids_until_slow(&[]), 2);
    assert_eq!(voids_until_slow(&[("voids", Value::Count(1))]), 1);
    assert_eq!(voids_until_slow(&[("voids", Value::Count(4))]), 4);
}

#[test]
fn choice_8_a_cut_train_is_void_or_judged_by_sent_packets() {
    let tested = |cut| {
        let mut flow = after_burst(&[word("cut", cut)]);
        let begun = flow.path.now;
        for _ in 0..12 {
            flow.send(1);
            flow.wait(TWICE);
        }
        let tag = flow.plan().tag;
        flow.train_cut(tag);
        flow.path.now = begun + RTT;
        for _ in 0..12 {
            flow.ack(1);
            flow.wait(TWICE);
        }
        next(&flow)
    };
    assert_eq!(tested("void"), (20, TWICE), "the same train again");
    assert_eq!(tested("judge"), (40, FOUR_THIRDS));
}

#[test]
fn choice_8_a_train_whose_acks_were_compressed_is_void_or_judged() {
    let tested = |compressed| {
        let mut flow = after_burst(&[word("compressed", compressed)]);
        train(&mut flow, each(20, micros(119)));
        next(&flow)
    };
    assert_eq!(tested("void"), (20, TWICE), "the same train again");
    assert_eq!(tested("judge"), (40, FOUR_THIRDS));
}
