//! SEARCH, draft-chung-ccwg-search-09.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, SendLimit, Span};

use crate::common::{Flow, millis, packets};

type SearchFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(segments: u32, settings: &[(&str, Value)]) -> SearchFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("search").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(100))
}

/// Runs rounds of 100 ms, in each of which the window is sent and acknowledged evenly, until `rounds` have passed;
/// from `flat` on at most `max` packets are delivered per round, while twice as many are sent. Returns the time of
/// the exit, in RTTs.
fn leaves_after(flow: &mut SearchFlow, rounds: u64, flat: u64, max: u64) -> Option<f64> {
    let begin = flow.path.now;
    for round in 0..rounds {
        flow.fill();
        let count = flow.in_flight() as u64;
        let delivered = if round < flat { count } else { count.min(max) };
        let gap = Span::from_nanos(millis(100).nanos() / delivered);
        for _ in 0..delivered {
            flow.wait(gap);
            // The round-trip time is reported as fixed: the bytes and not the delay are tested.
            flow.ack_with(1, Some(millis(100)));
            flow.fill();
            if !flow.exits().is_empty() {
                let passed = flow.path.now.since(begin).nanos();
                #[expect(clippy::cast_precision_loss, reason = "seconds of nanoseconds")]
                return Some(passed as f64 / 1e8);
            }
        }
    }
    None
}

#[test]
fn doubling_alone_never_leaves() {
    let mut flow = start(10, &[]);
    assert_eq!(leaves_after(&mut flow, 8, u64::MAX, u64::MAX), None);
}

/// Runs deliveries that double every RTT of 100 ms without steps, and stop growing after `flat` RTTs. Returns the
/// number of RTTs from there to the exit.
fn leaves_after_flat(flow: &mut SearchFlow, flat: f64) -> f64 {
    leaves_after_flat_with(flow, flat, millis(100))
}

/// Runs [`leaves_after_flat`] with ACKs that report the RTT `rtt` once the growth has stopped.
fn leaves_after_flat_with(flow: &mut SearchFlow, flat: f64, rtt: Span) -> f64 {
    let begin = flow.path.now + millis(100);
    flow.fill();
    let rate = 10.0 * flat.exp2() * std::f64::consts::LN_2;
    let flat_packets = 10.0 * (flat.exp2() - 1.0);
    for packet in 1..100_000 {
        let packet = f64::from(packet);
        let at = if packet <= flat_packets {
            (packet / 10.0 + 1.0).log2()
        } else {
            flat + (packet - flat_packets) / rate
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "nanoseconds of a few seconds"
        )]
        let nanos = (at * 1e8) as u64;
        flow.path.now = begin + Span::from_nanos(nanos);
        flow.ack_with(1, Some(if packet <= flat_packets { millis(100) } else { rtt }));
        flow.fill();
        if !flow.exits().is_empty() {
            return at - flat;
        }
    }
    panic!("it does not leave");
}

#[test]
fn search_exits_by_rate_flat_soon_after_deliveries_stop_growing() {
    // With D the deliveries and 2 D the data sent, the difference is 26 % where D(t) - D(t - 3.5) is 0.74 of 2 D(t -
    // 1) - 2 D(t - 4.5): 1.45 RTTs after. It is seen at the next edge of a bin of 0.35.
    for tenth in 0..10 {
        let mut flow = start(10, &[]);
        let left = leaves_after_flat(&mut flow, 6.0 + f64::from(tenth) / 10.0);
        assert!((1.45..1.45 + 0.36).contains(&left), "{left}");
        let exit = flow.exits()[0];
        assert_eq!(exit.cause, Cause::RateFlat);
        assert_eq!(exit.learned.ssthresh, Some(exit.learned.window));
        assert!(exit.learned.rate.is_some());
    }
}

#[test]
fn the_first_draft_leaves_later() {
    // 35 % of twice D(t - 1) - D(t - 4.5): 2.22 round trips after, and at the next edge.
    for tenth in 0..10 {
        let mut flow = start(10, &[("variant", Value::Word("00"))]);
        let left = leaves_after_flat(&mut flow, 6.0 + f64::from(tenth) / 10.0);
        assert!((2.21..2.22 + 0.36).contains(&left), "{left}");
    }
}

#[test]
fn the_windows_compared_are_the_latest_round_trip_apart_or_the_least() {
    let left =
        |settings: &[(&str, Value)]| leaves_after_flat_with(&mut start(10, settings), 6.0, millis(250));
    // The minimum is 100 ms, as above. With the latest RTT, 2.5 RTTs, D(t) - D(t - 3.5) is 0.74 of 2 D(t - 2.5) - 2
    // D(t - 6) 3.72 RTTs after; it is seen at the next edge of a bin of 0.35.
    assert!((1.45..1.81).contains(&left(&[("lookback", Value::Word("least"))])));
    assert!((3.72..3.72 + 0.36).contains(&left(&[])));
}

#[test]
fn the_interpolation_as_printed_takes_growth_for_its_end() {
    let mut flow = start(10, &[("interpolation", Value::Word("newer"))]);
    assert!(leaves_after_flat(&mut flow, 7.0) < 0.0);
}

#[test]
fn the_rate_it_leaves_with_is_that_of_the_last_window() {
    // A whole window of 3.5 round trips is flat when the latest round trip is 2.5 of the first.
    let mut flow = start(10, &[]);
    leaves_after_flat_with(&mut flow, 6.0, millis(250));
    let rate = flow.exits()[0].learned.rate.expect("it was measured").bps();
    // 640 ln 2 packets of 1000 bytes in 100 ms.
    assert!((35_400_000..35_550_000).contains(&rate), "{rate}");
}

#[test]
fn only_the_first_draft_exits_for_a_sender_that_stops_doubling() {
    let exits = |variant| {
        let mut flow = start(20, &[("variant", Value::Word(variant))]);
        for _ in 0..10 {
            flow.send(20);
            for _ in 0..20 {
                flow.wait(millis(5));
                flow.ack_with(1, Some(millis(100)));
            }
        }
        flow.exits().len()
    };
    // All data sent was delivered; it is half of twice the deliveries of one RTT earlier.
    assert_eq!((exits("09"), exits("00")), (0, 1));
}

#[test]
fn nothing_is_judged_before_a_window_and_a_round_trip_were_seen() {
    // 4.5 initial round trips.
    let mut flow = start(100, &[]);
    let left = leaves_after(&mut flow, 14, 1, 100).expect("it leaves");
    assert!(left > 4.5, "{left}");
}

#[test]
fn the_window_can_be_what_was_delivered_in_an_initial_round_trip() {
    let mut flow = start(10, &[("window", Value::Word("delivered"))]);
    leaves_after(&mut flow, 14, 6, 640).expect("it leaves");
    let window = flow.exits()[0].learned.window;
    // 640 packets a round trip, rounded up to a whole bin.
    assert!(window >= packets(640) && window <= packets(640 * 27 / 20), "{window:?}");
    assert_eq!(flow.plan().window, window);
}

#[test]
fn a_higher_threshold_leaves_later_or_never() {
    let mut flow = start(10, &[("threshold", Value::Fraction { ppm: 600_000 })]);
    assert_eq!(leaves_after(&mut flow, 12, 6, 640), None);
}

#[test]
fn bins_that_the_application_left_empty_do_not_count() {
    let mut flow = start(10, &[]);
    leaves_after(&mut flow, 6, u64::MAX, u64::MAX);
    flow.path.limit = SendLimit::App;
    // Far fewer than before, as the application wants it.
    for _ in 0..50 {
        flow.wait(millis(20));
        flow.ack_with(1, Some(millis(100)));
    }
    assert!(flow.exits().is_empty());
}

#[test]
fn more_than_a_window_of_missed_bins_begins_anew() {
    let mut flow = start(10, &[]);
    leaves_after(&mut flow, 6, u64::MAX, u64::MAX);
    flow.wait(Span::from_secs(1));
    flow.ack_with(1, Some(millis(100)));
    flow.wait(millis(50));
    flow.ack_with(1, Some(millis(100)));
    assert!(flow.exits().is_empty());
}

#[test]
fn after_a_timeout_it_does_not_search() {
    let mut flow = start(10, &[]);
    flow.fill();
    flow.time_out(false);
    assert_eq!(flow.exits().len(), 1);
    let mut again = flow.clone();
    again.notes.clear();
    // Slow start runs up to the threshold of the timeout, and by no flat rate.
    leaves_after(&mut again, 3, 0, 1);
    assert!(again.exits().iter().all(|exit| exit.cause == Cause::Threshold), "{:?}", again.exits());
}

#[test]
fn a_loss_leaves_as_in_slow_start() {
    let mut flow = start(10, &[]);
    flow.fill();
    flow.wait(millis(100));
    flow.ack(1);
    flow.lose();
    assert_eq!(flow.exits()[0].cause, Cause::Loss);
}
