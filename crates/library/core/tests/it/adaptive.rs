//! Adaptive start and Westwood: the slides of March 2003.

use firstflight::avoidance::{Reno, Westwood};
use firstflight::registry::{self, AnyLaw, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{
    Ack, Avoidance, Bytes, Cause, Controller, Event, Exit, Note, Pacing, PathEstimate, Phase, SendLimit, Span,
};

use crate::common::{Flow, MSS, micros, millis, packets};

type AdaptiveFlow = Flow<AnyScheme, Rfc5681, AnyLaw>;

fn start(segments: u32, settings: &[(&str, Value)], rtt: Span) -> AdaptiveFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("adaptive").expect("registered");
    assert_eq!(entry.law, "westwood");
    let scheme = entry.build(initial, settings).expect("allowed");
    let law = registry::law(entry.law).expect("registered").build();
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), law), rtt)
}

fn word(name: &'static str, word: &'static str) -> (&'static str, Value) {
    (name, Value::Word(word))
}

/// ACKs a millisecond apart over a round trip of 100 ms: 8 Mbit/s, 100 packets.
fn steady(settings: &[(&str, Value)]) -> AdaptiveFlow {
    let mut flow = start(50, settings, millis(100));
    flow.clocked(millis(100), millis(1), Span::from_secs(2));
    flow
}

#[test]
fn the_window_grows_per_ack_below_the_threshold_and_per_window_above() {
    let mut flow = start(10, &[("ssthresh0", Value::Count(20)), word("sampler", "re")], millis(100));
    // The first ACK gives no estimate, and neither do ACKs of the same instant.
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(1, Some(millis(100)));
    assert_eq!(flow.window(), 11);
    for _ in 0..9 {
        flow.ack_with(1, Some(millis(100)));
    }
    assert_eq!(flow.window(), 20);
    flow.fill();
    // At the threshold it still grows by a segment (choice-16), beyond it no more.
    flow.ack_with(1, Some(millis(100)));
    assert_eq!(flow.window(), 21);
    flow.ack_with(10, Some(millis(100)));
    assert_eq!(flow.window(), 21);
    flow.fill();
    flow.ack_with(10, Some(millis(100)));
    flow.fill();
    flow.ack_with(1, Some(millis(100)));
    assert_eq!(flow.window(), 22, "twenty-one packets were acknowledged");
}

#[test]
fn choice_16_at_the_threshold_the_window_doubles_or_creeps() {
    let after_an_ack = |at: &[_]| {
        let mut flow = start(20, &[&[("ssthresh0", Value::Count(20))], at].concat(), millis(100));
        flow.fill();
        flow.wait(millis(100));
        flow.ack_with(1, Some(millis(100)));
        flow.window()
    };
    assert_eq!(after_an_ack(&[]), 21);
    assert_eq!(after_an_ack(&[word("at-threshold", "creep")]), 20);
}

#[test]
fn the_threshold_follows_the_estimate_upwards_and_never_down() {
    let mut flow = steady(&[]);
    let bdp = 100;
    let threshold = flow.plan().ssthresh.expect("always one").packets(MSS);
    assert!((bdp * 9 / 10..=bdp * 13 / 10).contains(&threshold), "{threshold}");
    assert_eq!(flow.control.phase(), Phase::Startup);
    // A tenth of the rate.
    flow.clocked(millis(100), millis(10), Span::from_secs(2));
    assert!(flow.plan().ssthresh.expect("always one").packets(MSS) >= threshold);
    assert!(flow.exits().is_empty(), "there is no exit but by loss");
}

#[test]
fn without_a_first_threshold_below_the_path_it_is_slow_start() {
    let mut flow = start(10, &[("ssthresh0", Value::Count(65_535))], millis(100));
    for round in 1..=8 {
        flow.round(millis(100), 1, micros(10));
        assert_eq!(flow.window(), 10 << round);
    }
}

#[test]
fn three_duplicates_leave_with_what_the_estimate_entitles_to() {
    let mut flow = steady(&[]);
    let window = flow.plan().window;
    flow.lose();
    let [Exit { cause: Cause::Loss, learned }] = flow.exits()[..] else { panic!("{:?}", flow.exits()) };
    let ssthresh = learned.ssthresh.expect("an estimate");
    assert!((90..=130).contains(&ssthresh.packets(MSS)), "{ssthresh:?}");
    assert_eq!(learned.window, window.min(ssthresh));
    let mbit = learned.rate.expect("an estimate").bps() / 100_000;
    assert!((72..=104).contains(&mbit), "{mbit} of 80 tenths of a megabit");
    assert_eq!(flow.plan().window, learned.window);
}

#[test]
fn a_timeout_begins_again_below_the_threshold_of_the_estimate() {
    let mut flow = steady(&[]);
    flow.time_out(false);
    assert_eq!(flow.exits()[0].cause, Cause::Timeout);
    assert_eq!(flow.control.phase(), Phase::Startup);
    assert_eq!(flow.window(), 1);
    let threshold = flow.plan().ssthresh.expect("kept").packets(MSS);
    assert!((90..=130).contains(&threshold), "{threshold}");
}

#[test]
fn without_an_estimate_a_loss_is_answered_as_by_rfc_5681() {
    let mut flow = start(10, &[], millis(100));
    flow.fill();
    flow.lose();
    assert_eq!(flow.exits()[0].learned.ssthresh, None);
    assert_eq!(flow.window(), 5);
}

#[test]
fn adaptive_start_paces_at_twice_the_window_per_round_trip_by_default() {
    let flow = start(10, &[], millis(100));
    let firstflight::Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!(rate.bps(), 2 * 10 * 8_000 * 10);
    let flow = start(10, &[word("paced", "no")], millis(100));
    assert_eq!(flow.plan().pacing, firstflight::Pacing::AckClock);
}

/// Returns the estimate of a sampler for ACKs in pairs: two 0.2 ms apart every 2 ms, over an RTT of 100 ms of which
/// 20 ms are queueing.
fn paired(sampler: &'static str) -> u64 {
    let mut flow = start(100, &[word("sampler", sampler), ("ssthresh0", Value::Count(2))], millis(80));
    for _ in 0..200 {
        flow.fill();
        flow.wait(micros(1_800));
        flow.ack_with(1, Some(millis(100)));
        flow.wait(micros(200));
        flow.ack_with(1, Some(millis(100)));
    }
    flow.lose();
    flow.exits()[0].learned.rate.expect("an estimate").bps()
}

#[test]
fn re_is_at_most_the_eligible_rate_and_that_at_most_be() {
    let (re, eligible, be) = (paired("re"), paired("vegas"), paired("be"));
    assert!(re <= eligible && eligible <= be, "{re} {eligible} {be}");
    // A packet a millisecond.
    assert!((7_800_000..=8_200_000).contains(&re), "{re}");
    assert!(be > 9_000_000, "packet pairs over-estimate: {be}");
}

/// Returns the estimate for duplicate ACKs one millisecond apart, each of which acknowledges two segments
/// selectively.
fn of_duplicates(count: &'static str) -> u64 {
    let mut flow = start(100, &[word("sampler", "re"), word("count", count)], millis(100));
    flow.fill();
    for _ in 0..500 {
        flow.wait(millis(1));
        flow.say(&Event::Acked({
            let mut ack = Ack::of_stream(&[]);
            ack.packets = &[];
            ack.bytes = packets(2);
            ack.advanced = Bytes::ZERO;
            ack.sacked = packets(2);
            ack.segments = 0;
            ack.duplicate = true;
            ack.rtt = None;
            ack.delivery_rate = None;
            ack
        }));
    }
    flow.lose();
    flow.exits()[0].learned.rate.expect("an estimate").bps()
}

#[test]
fn choice_17_a_duplicate_counts_as_delivered_bytes_or_one_segment() {
    // Two segments of 1000 bytes a millisecond are 16 Mbit/s.
    let (delivered, duplicates) = (of_duplicates("delivered"), of_duplicates("duplicates"));
    assert!((15_500_000..=16_500_000).contains(&delivered), "{delivered}");
    assert!((7_750_000..=8_250_000).contains(&duplicates), "{duplicates}");
}

#[test]
fn an_application_limited_period_freezes_the_estimate() {
    let mut flow = steady(&[]);
    let threshold = |flow: &mut AdaptiveFlow| {
        let mut copy = flow.clone();
        copy.path.limit = SendLimit::Window;
        copy.lose();
        copy.exits()[0].learned.ssthresh
    };
    let before = threshold(&mut flow);
    flow.path.limit = SendLimit::App;
    flow.clocked(millis(100), millis(50), Span::from_secs(5));
    assert_eq!(threshold(&mut flow), before);
}

fn westwood(window: u64) -> Flow<AnyScheme, Rfc5681, Westwood> {
    let initial = Initial { segments: 100, ssthresh: Some(packets(window)) };
    let scheme = registry::scheme("slow-start").expect("registered").build(initial, &[]).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Westwood::new()), millis(100))
}

#[test]
fn westwood_estimates_while_start_up_governs() {
    let mut flow = westwood(10_000);
    flow.clocked(millis(100), millis(1), Span::from_secs(2));
    assert_eq!(flow.control.phase(), Phase::Startup);
    let cut_from = flow.plan().window;
    flow.lose();
    let kept = flow.window();
    assert!(
        (90..=130).contains(&kept),
        "{kept} of {cut_from:?}: 8 Mbit/s in 100 ms, and not half of the flight"
    );
}

#[test]
fn westwood_keeps_the_exit_window_and_its_higher_threshold() {
    let mut law = Westwood::new();
    let mut flow = westwood(10_000);
    flow.clocked(millis(100), millis(1), Span::from_secs(2));
    let exit = Exit {
        cause: Cause::Threshold,
        learned: PathEstimate { window: packets(20), ssthresh: Some(packets(50)), rate: None },
    };
    law.enter(&exit, &flow.path);
    assert_eq!(law.plan(&flow.path).window, packets(20));
    assert_eq!(law.plan(&flow.path).ssthresh, Some(packets(50)));
}

#[test]
fn westwood_halves_before_it_has_an_estimate() {
    let mut flow = westwood(100);
    flow.fill();
    flow.path.limit = SendLimit::App;
    flow.wait(millis(100));
    flow.ack(1);
    flow.lose();
    assert_eq!(flow.window(), 49);
}

#[test]
fn a_reduction_is_noted_once_an_episode() {
    let mut flow = steady(&[]);
    flow.lose();
    flow.lose();
    let cuts = flow.notes.iter().filter(|note| matches!(note, Note::Reduced { .. })).count();
    assert_eq!(cuts, 1);
}

#[test]
fn another_law_takes_over_at_what_the_estimate_entitles_to() {
    let initial = Initial { segments: 50, ssthresh: None };
    let entry = registry::scheme("adaptive").expect("registered");
    let scheme = entry.build(initial, &[]).expect("allowed");
    let mut flow =
        Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(100));
    flow.clocked(millis(100), millis(1), Span::from_secs(2));
    flow.lose();
    let learned = flow.exits()[0].learned;
    assert_eq!(flow.plan().window, learned.window, "not halved again");
    flow.say(&Event::MssChanged);
    assert!(flow.plan().window > Bytes::ZERO);
}

#[test]
fn another_segment_size_before_the_handshake_is_over_changes_window_and_threshold() {
    let resized = |mss: u64, ssthresh: Option<u64>| {
        let initial = Initial { segments: 10, ssthresh: ssthresh.map(packets) };
        let scheme = registry::scheme("adaptive").expect("registered").build(initial, &[]).expect("allowed");
        let mut flow = Flow::new(Controller::new(scheme, Rfc5681::new(initial), Reno::new()));
        flow.path.mss = Bytes::new(mss);
        flow.path.wire = Bytes::new(mss);
        flow.say(&Event::MssChanged);
        assert_eq!(flow.plan().pacing, Pacing::Hold);
        flow.establish(millis(100), false);
        (flow.plan().window, flow.plan().ssthresh)
    };
    let bytes = |count| Bytes::new(count);
    assert_eq!(resized(536, None), (bytes(10 * 536), Some(bytes(64 * 536))));
    assert_eq!(resized(1_460, Some(80)), (bytes(14_600), Some(packets(80))), "less than 64 segments");
    assert_eq!(resized(1_000, Some(80)), (packets(10), Some(packets(64))));
}
