//! CUBIC, RFC 9438, against its formulas.

use firstflight::avoidance::Cubic;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Event, Phase, Span, Time};

use crate::common::{Flow, packets};

type CubicFlow = Flow<SlowStart, Rfc5681, Cubic>;

/// Between two ACKs.
const SPACING: Span = Span::from_micros(50);

/// In avoidance with a window of `window` segments and nothing in flight.
fn at(window: u32, rtt: Span) -> CubicFlow {
    let initial = Initial { segments: window, ssthresh: Some(packets(u64::from(window))) };
    let restart = Rfc5681::new(initial);
    let flow = Flow::established(Controller::new(SlowStart::new(initial), restart, Cubic::new()), rtt);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, u64::from(window)));
    flow
}

/// One loss with the window full, repaired; says when.
fn lose_once(flow: &mut CubicFlow, rtt: Span) -> Time {
    flow.fill();
    flow.wait(rtt);
    flow.lose();
    flow.ack(flow.in_flight());
    assert!(!flow.path.recovering);
    flow.path.now
}

fn seconds(span: Span) -> f64 {
    f64::from(u32::try_from(span.nanos() / 1_000).expect("under an hour")) / 1e6
}

fn segments(flow: &CubicFlow) -> f64 {
    f64::from(u32::try_from(flow.plan().window.get()).expect("small")) / 1_000.0
}

#[test]
fn a_loss_leaves_seven_tenths_of_the_flight() {
    let rtt = Span::from_millis(100);
    let mut flow = at(100, rtt);
    lose_once(&mut flow, rtt);
    assert_eq!((flow.window(), flow.plan().ssthresh), (70, Some(packets(70))));
}

#[test]
fn the_window_follows_the_cubic_function() {
    let rtt = Span::from_millis(100);
    let mut flow = at(1_000, rtt);
    let epoch = lose_once(&mut flow, rtt);
    let k = (300.0_f64 / 0.4).cbrt();
    let function = |t: f64| 0.4 * (t - k).powi(3) + 1_000.0;
    while seconds(flow.path.now.since(epoch)) < 2.0 * k {
        flow.clocked(rtt, SPACING, rtt);
        let t = seconds(flow.path.now.since(epoch));
        // Each ACK moves a part of the way to the function's value one RTT later; after a few RTTs the window follows
        // the function closely.
        if t < 0.5 {
            continue;
        }
        let (low, high) = (function(t - 0.06), function(t + 0.06));
        let window = segments(&flow);
        assert!((low - 1.0..=high + 1.0).contains(&window), "{t} s: {window} not in {low}..{high}");
    }
    assert!(segments(&flow) > 1_200.0, "convex beyond K");
}

#[test]
fn a_time_in_which_nothing_was_under_way_is_no_time() {
    let rtt = Span::from_millis(100);
    let after = |idle: Span| {
        let mut flow = at(1_000, rtt);
        lose_once(&mut flow, rtt);
        flow.clocked(rtt, SPACING, rtt * 5);
        // Everything is acknowledged, and nothing follows for a time that is too short for a restart.
        flow.ack(flow.in_flight());
        flow.wait(idle);
        flow.fill();
        flow.wait(rtt);
        flow.ack(1);
        segments(&flow)
    };
    let (at_once, later) = (after(Span::ZERO), after(Span::from_millis(900)));
    assert!((later - at_once).abs() < 0.01, "{later} after 900 ms, {at_once} at once");
}

#[test]
fn where_reno_is_faster_the_window_is_renos() {
    // 20 segments, 10 ms: K is 2.5 s. Reno with α = 9/17 is back at 20 after 11.3 round trips, then adds one
    // a round trip.
    let rtt = Span::from_millis(10);
    let mut flow = at(20, rtt);
    lose_once(&mut flow, rtt);
    flow.clocked(rtt, Span::ZERO, rtt * 20);
    let expected = 20.0 + (20.0 - 6.0 * 17.0 / 9.0);
    assert!((segments(&flow) - expected).abs() < 1.0, "{}, not {expected}", segments(&flow));
}

#[test]
fn a_second_loss_below_the_first_gives_way_by_fast_convergence() {
    // W_max is 0.85 × 700 = 595 rather than 700: K = ((595 - 490) / 0.4)^(1/3) = 6.40 s.
    let rtt = Span::from_millis(100);
    let mut flow = at(1_000, rtt);
    lose_once(&mut flow, rtt);
    let epoch = lose_once(&mut flow, rtt);
    assert_eq!(flow.window(), 490);
    flow.clocked(rtt, SPACING, (epoch + Span::from_millis(6_400)).since(flow.path.now));
    assert!((segments(&flow) - 595.0).abs() < 1.0, "{}", segments(&flow));
}

#[test]
fn time_in_which_the_window_was_not_the_limit_does_not_count() {
    let rtt = Span::from_millis(100);
    let mut flow = at(1_000, rtt);
    lose_once(&mut flow, rtt);
    // Two rounds replace the flight of before, then half a minute of little traffic.
    for _ in 0..300 {
        flow.send(1);
        flow.wait(rtt);
        flow.ack(1);
    }
    let before = segments(&flow);
    flow.clocked(rtt, SPACING, rtt * 3);
    let grown = segments(&flow) - before;
    // The function rises by 0.4 × 3 K² = 99 segments a second at its start. Two tenths of a second pass here with
    // growth, up to two before the flight of the loss was forgotten, and the aim is a tenth ahead. At 30 s it
    // would aim at more than 4000 segments.
    assert!((15.0..40.0).contains(&grown), "{grown}");
}

#[test]
fn after_a_timeout_the_stage_starts_flat_at_its_own_window() {
    let rtt = Span::from_millis(100);
    let mut flow = at(1_000, rtt);
    flow.fill();
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    assert_eq!((flow.window(), flow.plan().ssthresh), (1, Some(packets(700))));
    flow.ack(flow.in_flight());
    while flow.control.phase() == Phase::Startup {
        flow.round(rtt, 1, Span::from_micros(50));
    }
    let start = segments(&flow);
    flow.clocked(rtt, SPACING, rtt * 10);
    // Section 4.8: K = 0, so 0.4 t³ is half a segment after 1 s; with the K = 9 s of a loss it would gain ninety.
    // Reno's part is 9/17 per RTT for nine RTTs.
    let grown = segments(&flow) - start;
    assert!((4.0..6.0).contains(&grown), "{grown}");
}

#[test]
fn the_target_is_at_most_half_as_much_again() {
    // With a round trip of 10 s the function aims at 220 segments; K is 1.96 s.
    let rtt = Span::from_secs(10);
    let mut flow = at(10, rtt);
    lose_once(&mut flow, rtt);
    flow.clocked(rtt, SPACING, rtt);
    assert!((8.0..=10.5).contains(&segments(&flow)), "{}", segments(&flow));
}

#[test]
fn a_window_of_smaller_segments_grows_as_one_segment_of_the_larger() {
    let rtt = Span::from_millis(100);
    let mut flow = at(2, rtt);
    flow.path.mss = packets(100);
    flow.say(&Event::MssChanged);
    flow.send(1);
    flow.wait(rtt);
    flow.ack(1);
    assert!(flow.plan().window <= packets(200), "{:?}", flow.plan().window);
}
