//! Careful Resume, RFC 9959.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Cause, Controller, Event, Pacing, Phase, SendLimit, Span};

use crate::common::{Flow, MSS, micros, millis, packets};

type CarefulFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(settings: &[(&str, Value)], rtt: Span) -> CarefulFlow {
    let initial = Initial { segments: 10, ssthresh: None };
    let entry = registry::scheme("careful-resume").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), rtt)
}

/// 200 packets saved over a round trip of 100 ms.
const SAVED: [(&str, Value); 2] =
    [("saved", Value::Bytes(Bytes::new(200_000))), ("rtt", Value::Span(Span::from_millis(100)))];

/// Reconnaissance is over: all of the initial window is acknowledged, and slow start has sent on.
fn reconnoitred(settings: &[(&str, Value)], rtt: Span) -> CarefulFlow {
    let mut flow = start(settings, rtt);
    flow.fill();
    flow.wait(rtt);
    for _ in 0..10 {
        flow.ack_with(1, Some(rtt));
        if flow.path.una < 10_000 {
            flow.fill();
        }
    }
    flow
}

#[test]
fn an_acknowledged_initial_window_triggers_a_jump_to_half_the_saved_window() {
    // Saved 200, IW 10, jump at most 100.
    let flow = reconnoitred(&SAVED, millis(100));
    assert_eq!(flow.window(), 100);
    // Over one round trip: 100 packets of 1000 bytes in 100 ms.
    let Pacing::Rate { rate, burst } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!((rate.bps(), burst), (8_000_000, MSS));
    assert_eq!(flow.plan().wake, Some(flow.path.now + millis(100)));
}

#[test]
fn before_that_and_without_anything_saved_it_is_slow_start() {
    let mut flow = start(&SAVED, millis(100));
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(9, Some(millis(100)));
    assert_eq!(flow.window(), 11);
    for settings in [&[][..], &SAVED[..1], &SAVED[1..]] {
        let mut flow = start(settings, millis(100));
        for round in 1..5 {
            flow.round(millis(100), 1, micros(10));
            assert_eq!(flow.window(), 10 << round);
        }
    }
}

#[test]
fn another_round_trip_time_is_another_path() {
    // At most half of the saved one, or more than ten times it.
    for (rtt, jumps) in [(50, false), (51, true), (1_000, true), (1_001, false)] {
        let flow = reconnoitred(&SAVED, millis(rtt));
        assert_eq!(flow.window() == 100, jumps, "{rtt} ms: {}", flow.window());
    }
}

#[test]
fn a_jump_no_larger_than_the_window_is_no_jump() {
    let settings = [("saved", Value::Bytes(Bytes::new(40_000))), SAVED[1]];
    assert_eq!(reconnoitred(&settings, millis(100)).window(), 20);
}

#[test]
fn the_jump_can_be_bounded() {
    let settings = [SAVED[0], SAVED[1], ("max-jump", Value::Bytes(Bytes::new(50_000)))];
    assert_eq!(reconnoitred(&settings, millis(100)).window(), 50);
}

#[test]
fn congestion_in_reconnaissance_gives_the_resumption_up() {
    let mut flow = start(&SAVED, millis(100));
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(1, Some(millis(100)));
    flow.lose();
    assert_eq!(flow.exits()[0].cause, Cause::Loss);
    // Half of the nine in flight.
    assert_eq!(flow.plan().window, Bytes::new(4_500));
}

#[test]
fn the_jump_waits_until_the_application_has_more_to_send() {
    let mut flow = start(&SAVED, millis(100));
    flow.path.backlog = Some(Bytes::ZERO);
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(10, Some(millis(100)));
    assert!(flow.window() < 20, "{}", flow.window());
    flow.path.backlog = Some(Bytes::new(1 << 20));
    flow.fill();
    flow.wait(millis(100));
    flow.ack_with(1, Some(millis(100)));
    assert_eq!(flow.window(), 100);
}

#[test]
fn a_fully_sent_jump_is_validated_and_slow_start_continues_from_flight() {
    let mut flow = reconnoitred(&SAVED, millis(100));
    flow.fill();
    assert_eq!((flow.in_flight(), flow.window()), (100, 100));
    assert_eq!(flow.plan().pacing, Pacing::AckClock, "no more in the jump");
    flow.wait(millis(100));
    flow.ack_with(1, Some(millis(100)));
    assert_eq!(flow.window(), 101);
    assert!(flow.exits().is_empty(), "start-up goes on");
}

#[test]
fn an_ack_of_unvalidated_data_ends_the_jump_at_the_flight_size() {
    let mut flow = reconnoitred(&SAVED, millis(100));
    let before = flow.in_flight();
    flow.send(40);
    flow.wait(millis(50));
    flow.ack_with(before + 1, Some(millis(100)));
    // What was in flight before is acknowledged, and one of the 40.
    assert_eq!(flow.window(), 39);
    assert_eq!(flow.plan().pacing, Pacing::AckClock);
}

#[test]
fn a_round_trip_ends_the_jump() {
    let mut flow = reconnoitred(&SAVED, millis(100));
    flow.send(40);
    let flight = flow.in_flight() as u64;
    flow.wait(millis(99));
    flow.say(&Event::Woken);
    assert_eq!(flow.window(), 100, "a wake-up that comes too soon");
    flow.wait(millis(1));
    flow.say(&Event::Woken);
    assert_eq!(flow.window(), flight);
}

#[test]
fn a_jump_of_too_little_leaves_the_pipe_that_was_seen() {
    let mut flow = reconnoitred(&SAVED, millis(100));
    let pipe = flow.in_flight() as u64;
    flow.wait(millis(100));
    flow.say(&Event::Woken);
    assert_eq!(flow.window(), pipe.max(10));
}

/// In the jump, with 40 packets in the pipe: what was in flight when it began, and what was acknowledged since.
fn with_a_pipe_of_40() -> CarefulFlow {
    let mut flow = reconnoitred(&SAVED, millis(100));
    let before = flow.in_flight();
    flow.fill();
    flow.wait(millis(100));
    for _ in 0..40 - before {
        flow.ack_with(1, Some(millis(100)));
    }
    flow
}

#[test]
fn congestion_retreats_to_half_of_the_pipe_and_does_not_leave() {
    // A pipe of 40, a window of at most 20.
    let mut flow = with_a_pipe_of_40();
    flow.lose();
    assert_eq!(flow.window(), 20);
    assert!(flow.exits().is_empty());
    assert_eq!(flow.control.phase(), Phase::Startup);
    // No growth until all that was sent in the jump is acknowledged.
    let left = flow.in_flight();
    flow.ack_with(left - 1, None);
    assert_eq!(flow.window(), 20);
}

#[test]
fn a_retreat_continues_slow_start_to_half_the_validated_pipe() {
    let mut flow = with_a_pipe_of_40();
    flow.lose();
    let left = flow.in_flight() as u64;
    flow.ack_with(usize::try_from(left).expect("few"), None);
    let ssthresh = packets(40 + left).packets(MSS * 2);
    assert_eq!(flow.plan().ssthresh, Some(packets(40 + left) / 2));
    assert_eq!(flow.control.phase(), Phase::Startup);
    for _ in 0..8 {
        if flow.exits().is_empty() {
            flow.round(millis(100), 1, micros(10));
        }
    }
    let exit = flow.exits()[0];
    assert_eq!(exit.cause, Cause::Loss);
    assert_eq!(exit.learned.window.packets(MSS), ssthresh);
    assert!(flow.window() >= ssthresh, "not halved again: {}", flow.window());
}

#[test]
fn beta_sets_the_threshold_after_a_retreat() {
    let settings = [SAVED[0], SAVED[1], ("beta", Value::Fraction { ppm: 250_000 })];
    let mut flow = reconnoitred(&settings, millis(100));
    flow.fill();
    flow.lose();
    let left = flow.in_flight() as u64;
    let pipe = flow.plan().window.packets(MSS) * 2;
    flow.ack_with(usize::try_from(left).expect("few"), None);
    let ssthresh = (pipe + left) / 4;
    let exit = flow.exits();
    let found = exit.first().map_or(flow.plan().ssthresh, |exit| exit.learned.ssthresh).expect("set");
    assert!(found.packets(MSS).abs_diff(ssthresh) <= 1, "{found:?} for {ssthresh}");
}

#[test]
fn a_timeout_aborts_and_nothing_is_resumed_again() {
    let mut flow = with_a_pipe_of_40();
    flow.time_out(false);
    assert_eq!(flow.exits()[0].cause, Cause::Timeout);
    assert_eq!(flow.window(), 1);
    for _ in 0..3 {
        flow.round(millis(100), 1, micros(10));
        assert!(flow.window() < 100);
    }
}

#[test]
fn a_receiver_limited_connection_does_not_jump() {
    let mut flow = start(&SAVED, millis(100));
    flow.fill();
    flow.path.limit = SendLimit::Receiver;
    flow.wait(millis(100));
    flow.ack_with(10, Some(millis(100)));
    assert!(flow.window() < 20);
}
