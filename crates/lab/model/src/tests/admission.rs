use proptest::prelude::*;

use super::assert_decimals;
use crate::{Admission, Transfer};

fn without(threshold: f64, hold: f64) -> f64 {
    Admission { threshold, hold, halvings: 0, ..Admission::default() }.approval().unwrap().any()
}

#[test]
fn equation_10_gives_the_worked_success_probabilities() {
    for (threshold, rtt_100, rtt_500) in [
        (0.1, 0.0578, 0.0467),
        (0.2, 0.2213, 0.1330),
        (0.3, 0.4644, 0.2303),
        (0.4, 0.7145, 0.3506),
        (0.5, 0.8953, 0.5125),
        (0.6, 0.9752, 0.6949),
        (0.8, 0.9996, 0.9399),
        (0.95, 1.0000, 0.9905),
    ] {
        assert_decimals(without(threshold, 0.2), rtt_100, 4, &format!("θ = {threshold}, RTTmax 100 ms"));
        assert_decimals(without(threshold, 0.6), rtt_500, 4, &format!("θ = {threshold}, RTTmax 500 ms"));
    }
}

#[test]
fn equation_11_gives_the_worked_probabilities_of_whole_and_half() {
    for (threshold, whole, half) in [(0.3, 0.450, 0.096), (0.5, 0.893, 0.034)] {
        let approval = Admission { threshold, ..Admission::default() }.approval().unwrap();
        assert_decimals(approval.granted[0], whole, 3, &format!("p(q) at θ = {threshold}"));
        assert_decimals(approval.granted[1], half, 3, &format!("p(q/2) at θ = {threshold}"));
    }
}

/// 80 kbit/s is the smallest rate that has a code (RFC 4782 section 3.1).
#[test]
fn nothing_under_80_kbit_is_granted() {
    let granted = |request, halvings| {
        Admission { request, halvings, ..Admission::default() }.approval().unwrap().granted
    };
    assert_eq!(granted(80e3, 14), granted(80e3, 0));
    assert_eq!((granted(160e3, 14).len(), granted(159e3, 14).len()), (2, 1));
    assert_eq!(granted(5.12e6, 14), granted(5.12e6, 6));
}

#[test]
fn equation_12_gives_the_worked_mean_transfer_time() {
    let router = Admission { halvings: 0, ..Admission::default() };
    let time = router.mean_time(&Transfer::default()).unwrap();
    assert_decimals(time.mean, 0.4654, 4, "θ = .5");
    assert_decimals(time.slow_start, 0.98775, 5, "T_SS");
    assert_decimals(time.quick_start, 0.40428, 5, "T_QS");
}

#[test]
fn with_no_other_requests_equation_8_stands_alone() {
    // θ - q/r is one standard deviation above the mean load, so the probability is Φ(1).
    let threshold = 0.2 + 0.1 + 0.0512;
    let router = Admission { threshold, arrivals: 0.0, halvings: 0, ..Admission::default() };
    assert_decimals(router.approval().unwrap().any(), 0.841_344_746, 9, "Φ(1)");
}

#[test]
fn a_million_requests_are_summed_and_more_are_refused() {
    let busy = Admission { arrivals: 5e6, request: 80e3, ..Admission::default() };
    let success = busy.approval().unwrap().any();
    assert!((0.0..0.01).contains(&success), "{success}");
    let error = Admission { arrivals: 5.1e6, ..busy }.approval().unwrap_err();
    assert_eq!(error.parameter(), "arrivals", "{error}");
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let base = Admission::default();
    for (name, router) in [
        ("threshold", Admission { threshold: 1.1, ..base }),
        ("threshold", Admission { threshold: f64::NAN, ..base }),
        ("load", Admission { load: -0.1, ..base }),
        ("deviation", Admission { deviation: 0.0, ..base }),
        ("arrivals", Admission { arrivals: -1.0, ..base }),
        ("arrivals", Admission { arrivals: f64::INFINITY, ..base }),
        ("request", Admission { request: 0.0, ..base }),
        ("link-rate", Admission { link_rate: -1.0, ..base }),
        ("hold", Admission { hold: f64::NAN, ..base }),
        ("halvings", Admission { halvings: 15, ..base }),
    ] {
        let error = router.approval().unwrap_err();
        assert_eq!(error.parameter(), name, "{error}");
    }
}

prop_compose! {
    fn any_router()(
        threshold in 0.0f64..=1.0,
        load in 0.0f64..=1.0,
        deviation in 0.01f64..=0.5,
        arrivals in 0.0f64..2_000.0,
        request in 80e3f64..100e6,
        hold in 0.001f64..2.0,
        halvings in 0u32..=14,
    ) -> Admission {
        Admission { threshold, load, deviation, arrivals, request, hold, halvings, link_rate: 100e6 }
    }
}

proptest! {
    #[test]
    fn probabilities_lie_between_0_and_1(router in any_router()) {
        let approval = router.approval().unwrap();
        for probability in &approval.granted {
            prop_assert!((0.0..=1.0 + 1e-9).contains(probability), "{approval:?}");
        }
        prop_assert!(approval.granted.iter().sum::<f64>() <= 1.0 + 1e-9, "{approval:?}");
    }

    #[test]
    fn reduction_grants_something_at_least_as_often_to_the_first_request(router in any_router()) {
        let first = Admission { arrivals: 0.0, ..router };
        let without = Admission { halvings: 0, ..first };
        prop_assert!(first.approval().unwrap().any() >= without.approval().unwrap().any() - 1e-12);
    }

    // The recursion is monotone as long as a request is small compared with the spread of the load: the promised
    // share of an additional request, q/r F(x), must grow more slowly than x.
    #[test]
    fn a_higher_threshold_or_a_lower_load_grants_more(router in any_router(), more in 0.0f64..1.0) {
        let request = router.request.min(router.link_rate * router.deviation * 2.0);
        let router = Admission { request, halvings: 0, ..router };
        let any = |router: Admission| router.approval().unwrap().any();
        let higher = Admission { threshold: router.threshold + (1.0 - router.threshold) * more, ..router };
        prop_assert!(any(higher) >= any(router) - 1e-9);
        let idler = Admission { load: router.load * more, ..router };
        prop_assert!(any(idler) >= any(router) - 1e-9);
    }

    #[test]
    fn the_longer_approvals_count_the_fewer_succeed(router in any_router(), more in 1.0f64..4.0) {
        let any = |hold: f64| Admission { hold, halvings: 0, ..router }.approval().unwrap().any();
        prop_assert!(any(router.hold * more) <= any(router.hold) + 1e-9);
    }

    #[test]
    fn the_mean_time_lies_between_slow_start_and_the_whole_rate(router in any_router()) {
        let router = Admission { request: 5.12e6, ..router };
        let time = router.mean_time(&Transfer::default()).unwrap();
        prop_assert!(time.mean <= time.slow_start + 1e-9 && time.mean >= time.quick_start - 1e-9);
        let without = Admission { halvings: 0, ..router }.mean_time(&Transfer::default()).unwrap();
        prop_assert!(without.mean <= without.slow_start + 1e-9 && without.mean >= without.quick_start - 1e-9);
    }
}
