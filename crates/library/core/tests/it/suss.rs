//! SUSS, by the rules of its Linux patch.

use firstflight::avoidance::Cubic;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, Event, Pacing, SendLimit, Span};

use crate::common::{Flow, MSS, micros, millis};

type SussFlow = Flow<AnyScheme, Rfc5681, Cubic>;

fn start(settings: &[(&str, Value)], rtt: Span) -> SussFlow {
    let initial = Initial { segments: 10, ssthresh: None };
    let entry = registry::scheme("suss").expect("registered");
    assert_eq!(entry.law, "cubic");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Cubic::new()), rtt)
}

/// Sends the initial window; its ACKs arrive `spacing` apart, and the data that they release is sent too.
fn second_round(settings: &[(&str, Value)], rtt: Span, spacing: Span) -> SussFlow {
    let mut flow = start(settings, rtt);
    flow.fill();
    flow.wait(rtt);
    for packet in 0..10 {
        if packet > 0 {
            flow.wait(spacing);
        }
        flow.ack_with(1, Some(rtt));
        flow.fill();
    }
    flow
}

fn wake(flow: &mut SussFlow) {
    let at = flow.plan().wake.expect("a guard");
    flow.path.now = at;
    flow.say(&Event::Woken);
}

#[test]
fn a_short_train_of_the_initial_window_quadruples_the_second_round() {
    let mut flow = second_round(&[], millis(80), micros(100));
    // Twenty blue packets.
    assert_eq!((flow.in_flight(), flow.window()), (20, 20));
    wake(&mut flow);
    assert_eq!(flow.window(), 40);
}

#[test]
fn red_packets_wait_half_an_rtt_and_are_paced_over_the_rest() {
    let mut flow = second_round(&[], millis(80), micros(100));
    let begun = flow.path.now - micros(900);
    assert_eq!(flow.plan().wake, Some(begun + millis(40)));
    assert_eq!(flow.plan().pacing, Pacing::AckClock);
    wake(&mut flow);
    // 20 packets of 1000 bytes in 40 ms.
    let Pacing::Rate { rate, burst } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!((rate.bps(), burst), (4_000_000, MSS));
    assert_eq!(flow.plan().wake, None);
}

#[test]
fn a_wake_up_that_comes_too_soon_changes_nothing() {
    let mut flow = second_round(&[], millis(80), micros(100));
    flow.wait(millis(30));
    flow.say(&Event::Woken);
    assert_eq!(flow.window(), 20);
    assert!(flow.plan().wake.is_some());
}

#[test]
fn suss_is_off_for_long_trains_and_rtts_up_to_10_ms() {
    // Nine gaps.
    for (rtt, spacing, off) in [
        (millis(80), micros(2_222), false),
        (millis(80), micros(2_223), true),
        (millis(10), micros(10), true),
        (millis(11), micros(10), false),
    ] {
        let flow = second_round(&[], rtt, spacing);
        assert_eq!(flow.plan().wake.is_none(), off, "{rtt:?} {spacing:?}");
    }
}

#[test]
fn with_no_speed_ups_allowed_it_is_slow_start_with_hystart() {
    let flow = second_round(&[("speed-ups", Value::Count(0))], millis(80), micros(100));
    assert_eq!((flow.plan().wake, flow.window()), (None, 20));
}

/// Returns the windows after each ACK of `segments`, `spacing` apart, with a delay that rises by 50 us per ACK, up to
/// the exit.
fn windows(scheme: &str, settings: &[(&str, Value)], segments: usize, spacing: Span) -> Vec<u64> {
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme = registry::scheme(scheme).expect("registered").build(initial, settings).expect("allowed");
    let mut flow =
        Flow::established(Controller::new(scheme, Rfc5681::new(initial), Cubic::new()), millis(80));
    let mut windows = Vec::new();
    flow.fill();
    flow.wait(millis(80));
    while flow.exits().is_empty() {
        flow.wait(spacing);
        flow.ack_with(segments, Some(millis(80) + micros(50 * windows.len() as u64)));
        flow.fill();
        windows.push(flow.window());
    }
    windows
}

#[test]
fn without_speed_ups_it_is_hystart_linux_whatever_an_ack_counts_for() {
    for segments in [1, 2, 3] {
        for spacing in [micros(50), micros(300), millis(3)] {
            let without = windows("suss", &[("speed-ups", Value::Count(0))], segments, spacing);
            assert_eq!(without, windows("hystart-linux", &[], segments, spacing), "{segments} {spacing:?}");
        }
    }
}

#[test]
fn application_limited_rounds_are_not_sped_up() {
    let mut flow = start(&[], millis(80));
    flow.fill();
    flow.path.limit = SendLimit::App;
    flow.wait(millis(80));
    for _ in 0..10 {
        flow.ack_with(1, Some(millis(80)));
    }
    assert_eq!(flow.plan().wake, None);
}

/// Returns a flow in the third round: 20 blue packets and 20 red ones are in flight; the blue ACKs arrive `spacing`
/// apart.
fn third_round(spacing: Span, rtt: Span) -> SussFlow {
    let mut flow = second_round(&[], millis(80), micros(100));
    wake(&mut flow);
    flow.fill();
    assert_eq!(flow.in_flight(), 40);
    flow.wait(millis(40));
    for packet in 0..20 {
        if packet > 0 {
            flow.wait(spacing);
        }
        flow.ack_with(1, Some(rtt));
        flow.fill();
    }
    flow
}

#[test]
fn the_third_round_quadruples_if_its_predicted_train_fits_one_rtt() {
    let mut flow = third_round(micros(100), millis(80));
    // 40 blue and the 20 red of the last round are in flight.
    assert_eq!((flow.in_flight(), flow.window()), (60, 60));
    wake(&mut flow);
    assert_eq!(flow.window(), 160);
    // 120 red packets over three quarters of the round trip: 2 Mbit/s a packet and 60 ms.
    let Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!(rate.bps(), 120 * 8_000 * 1_000 / 60);
}

#[test]
fn acks_of_red_packets_do_not_widen_the_window_when_sped_up() {
    let mut flow = third_round(micros(100), millis(80));
    wake(&mut flow);
    flow.fill();
    flow.wait(millis(10));
    for _ in 0..20 {
        flow.ack_with(1, Some(millis(80)));
    }
    assert_eq!(flow.window(), 160);
}

#[test]
fn a_stretching_train_is_not_sped_up_and_its_red_acks_widen() {
    // The first train was 0.9 ms; one of 19 × 0.3 ms, counted twice for the red half, predicts 144 ms.
    let mut flow = third_round(micros(300), millis(80));
    assert_eq!((flow.plan().wake, flow.window()), (None, 60));
    for _ in 0..20 {
        flow.ack_with(1, Some(millis(80)));
        flow.fill();
    }
    assert_eq!(flow.window(), 80);
}

#[test]
fn a_round_whose_delay_rose_is_not_sped_up() {
    // The second round with ACKs, k = 1: a sixteenth more than 80 ms is 85 ms, which another round would raise to an
    // eighth.
    assert!(third_round(micros(100), micros(85_000)).plan().wake.is_some());
    assert!(third_round(micros(100), micros(85_001)).plan().wake.is_none());
}

#[test]
fn the_train_that_hystart_tests_is_counted_for_the_red_share_too() {
    // Half of 80 ms and a cushion of up to a millisecond: a blue train of 20.5 ms counted twice. With gaps of 1.2 ms it
    // lasts 22.8 ms at the twentieth ACK.
    let flow = third_round(micros(1_200), millis(80));
    assert_eq!(flow.exits().first().map(|exit| exit.cause), Some(Cause::AckTrain));
    // Uncounted, it would have been too short.
    let flow = third_round(micros(900), millis(80));
    assert!(flow.exits().is_empty());
}

#[test]
fn a_timeout_turns_it_off() {
    let mut flow = second_round(&[], millis(80), micros(100));
    flow.time_out(false);
    assert_eq!(flow.window(), 1);
    flow.ack_with(flow.in_flight(), None);
    for _ in 0..3 {
        let window = flow.window();
        flow.round(millis(80), 1, micros(10));
        assert!(flow.window() <= 2 * window && flow.plan().wake.is_none());
    }
}
