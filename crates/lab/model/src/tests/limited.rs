use proptest::prelude::*;

use super::assert_decimals;
use crate::{Division, LimitedGrowth};

/// Returns the whole RTTs of the rule itself, simulated ACK by ACK. Each ACK adds a K-th of a segment.
fn simulated(window: f64, max_ssthresh: f64) -> u32 {
    let mut now = 1.0;
    let mut round_trips = 0;
    while now < window {
        let mut acks = now;
        while acks >= 1.0 {
            now += if now <= max_ssthresh { 1.0 } else { 1.0 / (now / (0.5 * max_ssthresh)).floor() };
            acks -= 1.0;
        }
        round_trips += 1;
    }
    round_trips
}

#[test]
fn five_thousand_segments_take_104_6_round_trips_or_20_9_seconds() {
    let growth = LimitedGrowth::default().growth().unwrap();
    assert_decimals(growth.round_trips.unwrap(), 104.6, 1, "round trips");
    assert_decimals(growth.formula_round_trips, 104.6, 1, "by the formula");
    assert_decimals(growth.time.unwrap(), 20.9, 1, "seconds");
    assert_eq!(simulated(5_000.0, 100.0), 105);
}

#[test]
fn the_rfc_3742_example_takes_1664_6_round_trips() {
    let growth = LimitedGrowth { window: 83_000.0, ..LimitedGrowth::default() }.growth().unwrap();
    assert_decimals(growth.round_trips.unwrap(), 1664.6, 1, "round trips");
    assert_decimals(growth.formula_round_trips, 1664.6, 1, "by the formula");
    assert_eq!(simulated(83_000.0, 100.0), 1665);
}

#[test]
fn an_ack_adds_what_section_2_says() {
    for (window, divisor) in
        [(100.0, 1.0), (101.0, 2.0), (149.0, 2.0), (150.0, 3.0), (199.0, 3.0), (200.0, 4.0), (5000.0, 100.0)]
    {
        let growth = LimitedGrowth { window, ..LimitedGrowth::default() }.growth().unwrap();
        assert_decimals(growth.divisor, divisor, 9, &format!("K at {window}"));
        assert_decimals(growth.bytes_per_ack, 1460.0 / divisor, 9, &format!("bytes at {window}"));
    }
}

#[test]
fn truncation_stops_growth_where_k_exceeds_the_segment_size() {
    let truncated = LimitedGrowth { division: Division::Truncate, ..LimitedGrowth::default() };
    // K is 1461 for windows of 73050 segments or more.
    let below = LimitedGrowth { window: 73_050.0, ..truncated }.growth().unwrap();
    assert!(below.round_trips.unwrap() > below.formula_round_trips, "{below:?}");
    let beyond = LimitedGrowth { window: 73_051.0, ..truncated }.growth().unwrap();
    assert_eq!((beyond.round_trips, beyond.time), (None, None));
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let base = LimitedGrowth::default();
    for (name, model) in [
        ("window", LimitedGrowth { window: f64::NAN, ..base }),
        ("window", LimitedGrowth { window: 0.0, ..base }),
        ("window", LimitedGrowth { window: 5.0, initial_window: 6.0, ..base }),
        ("max-ssthresh", LimitedGrowth { max_ssthresh: 1.0, ..base }),
        ("iw", LimitedGrowth { initial_window: -1.0, ..base }),
        ("rtt", LimitedGrowth { rtt: 0.0, ..base }),
        ("mss", LimitedGrowth { mss: f64::INFINITY, ..base }),
        ("segments-per-ack", LimitedGrowth { segments_per_ack: 0.0, ..base }),
    ] {
        let error = model.growth().unwrap_err();
        assert_eq!(error.parameter(), name, "{error}");
    }
}

proptest! {
    #[test]
    fn the_rule_and_the_formula_agree_where_k_changes(k in 2u32..500, half in 1u32..200) {
        let max_ssthresh = f64::from(half) * 2.0;
        let window = f64::from(k) * f64::from(half);
        let growth = LimitedGrowth { window, max_ssthresh, ..LimitedGrowth::default() }.growth().unwrap();
        let found = growth.round_trips.unwrap();
        prop_assert!((found - growth.formula_round_trips).abs() < 1e-6, "{found} {growth:?}");
    }

    #[test]
    fn a_larger_window_takes_longer_and_the_limit_never_hastens(
        window in 1.0f64..20_000.0, more in 1.0f64..3.0, max_ssthresh in 2.0f64..1_000.0, acks in 1u32..4,
    ) {
        let segments_per_ack = f64::from(acks);
        let base = LimitedGrowth { window, max_ssthresh, segments_per_ack, ..LimitedGrowth::default() };
        let growth = base.growth().unwrap();
        let found = growth.round_trips.unwrap();
        prop_assert!(found >= growth.slow_start_round_trips - 1e-9);
        let larger = LimitedGrowth { window: window * more, ..base }.growth().unwrap();
        prop_assert!(larger.round_trips.unwrap() >= found - 1e-9);
        let delayed = LimitedGrowth { segments_per_ack: segments_per_ack + 1.0, ..base }.growth().unwrap();
        prop_assert!(delayed.round_trips.unwrap() >= found - 1e-9);
    }
}
