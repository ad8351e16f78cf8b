use firstflight_tcp::quick_start::ttl_diff;

use super::*;
use crate::trace::RateTrace;

const CAPACITY: Rate = Rate::from_bps(100_000_000);

fn code(number: u8) -> RateCode {
    RateCode::new(number).unwrap()
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn router(spec: RouterSpec) -> Router {
    Router::new(spec.into(), (Some(CAPACITY), None), LinkId(0), 1)
}

/// Returns a router on a link whose rates begin at these milliseconds.
fn router_along(steps: &[(u64, Rate)]) -> Router {
    let steps: Vec<_> = steps.iter().map(|(millis, rate)| (at(*millis), *rate)).collect();
    let rates = RateTrace::new(&steps).ok();
    Router::new(RouterSpec::default().into(), (Some(CAPACITY), rates.as_ref()), LinkId(0), 1)
}

fn request(rate: RateCode) -> IpOption {
    IpOption::Request { rate, ttl: 200, hop_limit: 64, nonce: Nonce::new(0x1555_5555) }
}

/// Returns rate, TTL Diff and nonce of a request after the router.
fn fields(option: IpOption) -> (RateCode, u8, Nonce) {
    match option {
        IpOption::Request { rate, ttl, hop_limit, nonce } => (rate, ttl_diff(hop_limit, ttl), nonce),
        IpOption::Report { .. } => panic!("not a request: {option:?}"),
    }
}

/// Returns the answer of a router to a request for this rate at `now`.
fn asked(router: &mut Router, now: Time, rate: RateCode) -> RateCode {
    let option = request(rate);
    let option = pass(now, Some(router), option);
    fields(option).0
}

#[test]
fn an_idle_link_approves_a_rate_below_threshold_and_keeps_ttl_diff() {
    let mut router = router(RouterSpec::default());
    let option = request(code(7));
    let (_, diff, nonce) = fields(option);
    let option = pass(at(0), Some(&mut router), option);
    assert_eq!(fields(option), (code(7), diff, nonce));
    assert_eq!(router.stats, QuickStartStats { asked: 1, granted: 1, ..QuickStartStats::default() });
}

#[test]
fn a_hop_that_does_not_take_part_changes_the_ttl_diff() {
    let option = request(code(7));
    let (_, diff, nonce) = fields(option);
    let option = pass(at(0), None, option);
    assert_eq!(fields(option), (code(7), diff.wrapping_sub(1), nonce));
}

#[test]
fn a_reduced_rate_randomises_only_the_nonce_bits_of_its_steps() {
    let mut router = router(RouterSpec::default());
    let option = request(RateCode::MAX);
    let (_, diff, nonce) = fields(option);
    let option = pass(at(0), Some(&mut router), option);
    // 95 Mbit/s are left. The next lower code is 11, 81.92 Mbit/s.
    let (rate, diff_after, after) = fields(option);
    assert_eq!((rate, diff_after), (code(11), diff));
    assert!(nonce.agrees(after, code(11)));
    assert_ne!(nonce, after);
    assert_eq!(router.stats, QuickStartStats { asked: 1, reduced: 1, ..QuickStartStats::default() });
}

#[test]
fn without_reduction_a_request_for_too_much_gets_nothing() {
    let mut router = router(RouterSpec { reduces: false, ..RouterSpec::default() });
    assert_eq!(asked(&mut router, at(0), code(12)), RateCode::DENIED);
    assert_eq!(asked(&mut router, at(0), code(11)), code(11));
    assert_eq!(
        router.stats,
        QuickStartStats { asked: 2, granted: 1, refused: 1, ..QuickStartStats::default() }
    );
}

#[test]
fn a_denied_request_carries_nothing_on_and_is_not_asked_again() {
    let mut full = router(RouterSpec { threshold_ppm: 0, ..RouterSpec::default() });
    let option = request(code(1));
    let option = pass(at(0), Some(&mut full), option);
    let (rate, _, nonce) = fields(option);
    assert_eq!((rate, nonce), (RateCode::DENIED, Nonce::default()));
    let mut next = router(RouterSpec::default());
    pass(at(0), Some(&mut next), option);
    assert_eq!(next.stats, QuickStartStats::default());
}

#[test]
fn the_measured_traffic_is_taken_off() {
    let mut router = router(RouterSpec::default());
    // The load is half of the capacity for 200 ms: 1250 bytes take 100 us at 100 Mbit/s.
    for packet in 0..1_000 {
        router.carries(Time::ZERO + Span::from_micros(200 * packet), 1_250);
    }
    // 95 - 50 Mbit/s: 40.96 Mbit/s is code 10.
    assert_eq!(asked(&mut router, at(200), RateCode::MAX), code(10));
}

#[test]
fn a_request_that_reaches_the_threshold_exactly_is_not_approved() {
    let spec = RouterSpec { threshold_ppm: 51_200, ..RouterSpec::default() };
    assert_eq!(asked(&mut router(spec), at(0), code(7)), code(6));
    let spec = RouterSpec { threshold_ppm: 51_201, ..RouterSpec::default() };
    assert_eq!(asked(&mut router(spec), at(0), code(7)), code(7));
}

#[test]
fn approvals_are_remembered_until_their_traffic_was_measured() {
    let interval = Span::from_millis(100);
    let slots = |rtt, d| RouterSpec::slots(Span::from_millis(rtt), Span::from_millis(d));
    assert_eq!([slots(100, 100), slots(500, 100), slots(100, 50), slots(250, 100)], [3, 7, 4, 5]);
    let spec =
        RouterSpec { interval, slots: slots(100, 100), threshold_ppm: 60_000, ..RouterSpec::default() };
    let mut router = router(spec);
    // 6 Mbit/s: 5.12 once, and again when 200 ms are measured since the interval of the first.
    assert_eq!(asked(&mut router, at(50), code(7)), code(7));
    assert_eq!(asked(&mut router, at(99), code(7)), code(4));
    assert_eq!(asked(&mut router, at(299), code(7)), code(2));
    assert_eq!(asked(&mut router, at(300), code(7)), code(7));
}

#[test]
fn a_report_passes_unchanged() {
    let mut router = router(RouterSpec::default());
    let report = IpOption::Report { rate: code(7), nonce: Nonce::new(9) };
    assert_eq!(pass(at(0), Some(&mut router), report), report);
    assert_eq!(router.stats, QuickStartStats::default());
}

#[test]
fn along_a_trace_the_capacity_is_that_of_the_time() {
    const SLOW: Rate = Rate::from_bps(2_000_000);
    let steps = [(0, SLOW), (1_000, CAPACITY), (3_000, Rate::ZERO), (4_000, SLOW)];
    let mut idle = router_along(&steps);
    // 1.9 Mbit/s: 1.28 is code 5; 95 Mbit/s: 81.92 is code 11; nothing; 1.9 Mbit/s again.
    let granted = [999, 2_000, 3_999, 5_000].map(|millis| asked(&mut idle, at(millis), RateCode::MAX));
    assert_eq!(granted, [code(5), code(11), RateCode::DENIED, code(5)]);
}

#[test]
fn load_measured_before_a_rate_change_is_subtracted_from_the_new_rate() {
    const SLOW: Rate = Rate::from_bps(20_000_000);
    // Each link is full in the interval before its rate changes: 1250 bytes are 500 us at 20 Mbit/s, 100 at 100.
    let mut faster = router_along(&[(0, SLOW), (100, CAPACITY)]);
    (0..200).for_each(|packet| faster.carries(Time::ZERO + Span::from_micros(500 * packet), 1_250));
    // 95 - 20 Mbit/s: 40.96 is code 10.
    assert_eq!(asked(&mut faster, at(100), RateCode::MAX), code(10));
    let mut slower = router_along(&[(0, CAPACITY), (100, SLOW)]);
    (0..1_000).for_each(|packet| slower.carries(Time::ZERO + Span::from_micros(100 * packet), 1_250));
    assert_eq!(asked(&mut slower, at(100), RateCode::MAX), RateCode::DENIED);
    // An interval later nothing is sent: 19 Mbit/s, 10.24 is code 8.
    assert_eq!(asked(&mut slower, at(200), RateCode::MAX), code(8));
}

#[test]
fn a_capacity_router_approves_up_to_the_link_rate_under_any_load() {
    let rate = code(7).rate();
    let mut router = Router::new(Approval::Capacity, (Some(rate), None), LinkId(0), 1);
    for millis in 0..300 {
        router.carries(at(millis), 1_500);
        assert_eq!(asked(&mut router, at(millis), code(7)), code(7), "{millis}");
    }
    assert_eq!(asked(&mut router, at(300), code(9)), code(7));
    let less = Rate::from_bps(rate.bps() - 1);
    let mut router = Router::new(Approval::Capacity, (Some(less), None), LinkId(0), 1);
    assert_eq!(asked(&mut router, at(0), code(7)), code(6));
    let steps = [(at(0), Rate::ZERO), (at(5), CAPACITY)];
    let trace = RateTrace::new(&steps).ok();
    let mut router = Router::new(Approval::Capacity, (None, trace.as_ref()), LinkId(0), 1);
    assert_eq!(asked(&mut router, at(1), code(7)), RateCode::DENIED);
    assert_eq!(asked(&mut router, at(6), code(7)), code(7));
}

#[test]
fn an_approve_all_router_leaves_rate_and_ttl_diff_unchanged() {
    let mut router = Router::new(Approval::All, (Some(Rate::from_bps(1)), None), LinkId(0), 1);
    let option = request(code(15));
    assert_eq!(fields(pass(at(0), Some(&mut router), option)), fields(option));
}
