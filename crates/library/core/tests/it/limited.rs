//! Limited slow start, RFC 3742.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Controller, Event, Span};

use crate::common::{Flow, MSS, packets};

const RTT: Span = Span::from_millis(200);

fn start(segments: u32, settings: &[(&str, Value)]) -> Flow<AnyScheme, Rfc5681, Reno> {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("limited").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), RTT)
}

/// Returns by how many bytes `acks` ACKs widen a window of `segments`.
fn growth(segments: u32, acks: usize, settings: &[(&str, Value)]) -> Bytes {
    let mut flow = start(segments, settings);
    flow.fill();
    flow.wait(RTT);
    for _ in 0..acks {
        flow.ack(1);
    }
    flow.plan().window - packets(u64::from(segments))
}

#[test]
fn up_to_max_ssthresh_an_ack_adds_a_segment() {
    assert_eq!(growth(100, 1, &[]), MSS);
    assert_eq!(growth(101, 1, &[]), Bytes::new(500));
}

#[test]
fn beyond_it_an_ack_adds_a_segment_over_k() {
    // Section 2: K = int(150 / 50) = 3, int(5000 / 50) = 100.
    assert_eq!(growth(150, 1, &[]), Bytes::new(333));
    assert_eq!(growth(5_000, 1, &[]), Bytes::new(10));
}

#[test]
fn the_division_remainder_is_carried_unless_truncated() {
    assert_eq!(growth(150, 3, &[]), MSS);
    assert_eq!(growth(150, 3, &[("division", Value::Word("truncate"))]), Bytes::new(999));
}

#[test]
fn growth_continues_when_a_segment_over_k_is_below_a_byte() {
    // K = 1200.
    assert_eq!(growth(60_000, 1_200, &[]), MSS);
    assert_eq!(growth(60_000, 1_200, &[("division", Value::Word("truncate"))]), Bytes::ZERO);
}

#[test]
fn a_remainder_of_larger_k_gives_no_growth_under_smaller_k() {
    // K = 1200 leaves 1000 bytes of one ACK; with segments of 8000 bytes K = 150, and 1000 more bytes are worth 6.7.
    let mut flow = start(60_000, &[]);
    flow.fill();
    flow.wait(RTT);
    flow.ack(1);
    flow.path.mss = Bytes::new(8_000);
    flow.say(&Event::MssChanged);
    let before = flow.plan().window;
    flow.ack(1);
    assert_eq!(flow.plan().window - before, Bytes::new(7));
}

#[test]
fn a_window_of_5000_takes_105_round_trips_at_the_recommended_limit() {
    // log2(100) + (5000 - 100) / 50 = 104.6.
    let mut flow = start(1, &[]);
    let mut rounds = 0;
    while flow.window() < 5_000 {
        flow.round(RTT, 1, Span::ZERO);
        rounds += 1;
    }
    assert_eq!(rounds, 105);
}

#[test]
fn a_round_adds_at_most_half_of_max_ssthresh() {
    let mut flow = start(400, &[("max-ssthresh", Value::Count(200))]);
    for _ in 0..5 {
        let before = flow.plan().window;
        flow.round(RTT, 1, Span::ZERO);
        let added = flow.plan().window - before;
        assert!(added <= packets(100) && added > packets(97), "{added:?}");
    }
}
