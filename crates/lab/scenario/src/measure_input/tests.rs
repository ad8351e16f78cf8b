use firstflight::{Bytes, Rate, Span, Time};
use firstflight_measure::Hop;
use firstflight_measure::ideal::{ideal_fct, ideal_line};
use firstflight_sim::PolicerSpec;

use super::*;
use crate::bulk_flows::Bulk;
use crate::options::Options;

fn mbit(mbit: u64) -> Rate {
    Rate::from_bps(mbit * 1_000_000)
}

fn alone(scenario: &Scenario) -> Vec<(u64, u64)> {
    let constant = if let Cross::Cbr(rate) = scenario.cross { rate.bps() } else { 0 };
    scenario.ideal_sender().available(&[Hop { constant, ..Hop::default() }], 0)
}

#[test]
fn available_is_the_least_over_the_links_of_what_others_leave() {
    let with = |cross, access_rate| Scenario { cross, access_rate, ..Scenario::default() };
    assert_eq!(alone(&with(Cross::Cbr(mbit(40)), mbit(1000))), [(0, 60_000_000)]);
    assert_eq!(alone(&with(Cross::Cbr(mbit(40)), mbit(10))), [(0, 10_000_000)]);
    assert_eq!(alone(&with(Cross::Cbr(mbit(140)), mbit(10))), [(0, 0)]);
    let others = Hop { lives: vec![(5, None), (9, None)], ..Hop::default() };
    let shared =
        with(Cross::Tcp(Bulk::plain(2)), mbit(45)).ideal_sender().available(std::slice::from_ref(&others), 0);
    assert_eq!(shared, [(0, 45_000_000), (9, 33_333_333)]);
}

#[test]
fn flows_that_end_give_their_share_back() {
    let scenario = Scenario { cross: Cross::Web(crate::quantity::Decimal::tenths(3)), ..Scenario::default() };
    let others = Hop { lives: vec![(10, Some(30)), (20, Some(30)), (40, Some(50))], ..Hop::default() };
    let mbps = |steps: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
        steps.into_iter().map(|(at, bps)| (at, bps / 1_000_000)).collect()
    };
    let wanted = [(0, 100), (10, 50), (20, 33), (30, 100), (40, 50), (50, 100)];
    assert_eq!(mbps(scenario.ideal_sender().available(std::slice::from_ref(&others), 0)), wanted);
}

#[test]
fn available_rate_is_bounded_over_time_by_trace_policer_and_cross_traffic() {
    let steps =
        [(Time::ZERO, mbit(100)), (Time::from_nanos(100), mbit(20)), (Time::from_nanos(200), mbit(80))];
    let scenario = Scenario {
        cross: Cross::None,
        rate_trace: firstflight_sim::RateTrace::new(&steps).ok(),
        policer: Some(PolicerSpec { rate: mbit(50), burst: Bytes::new(1) }),
        ..Scenario::default()
    };
    let wanted = [(0, 50_000_000), (100, 20_000_000), (200, 50_000_000)];
    assert_eq!(alone(&scenario), wanted);
    let others = Hop { offered: vec![(0, 0), (150, 30_000_000), (250, 0)], ..Hop::default() };
    let wanted = [(0, 50_000_000), (100, 20_000_000), (150, 0), (200, 20_000_000), (250, 50_000_000)];
    assert_eq!(scenario.ideal_sender().available(std::slice::from_ref(&others), 0), wanted);
}

#[test]
fn available_rate_over_several_hops_is_the_minimum_at_each_time() {
    let scenario = Scenario { cross: Cross::None, ..Scenario::default() };
    let hop =
        |constant, lives: &[(u64, Option<u64>)]| Hop { constant, lives: lives.to_vec(), ..Hop::default() };
    let hops = [
        hop(0, &[(10, Some(30))]),
        hop(20_000_000, &[]),
        hop(0, &[(20, Some(40)), (25, Some(40))]),
        Hop { offered: vec![(0, 0), (50, 90_000_000)], ..Hop::default() },
    ];
    let wanted = [(0, 80_000_000), (10, 50_000_000), (25, 33_333_333), (40, 80_000_000), (50, 10_000_000)];
    assert_eq!(scenario.ideal_sender().available(&hops, 0), wanted);
}

#[test]
fn a_transfer_takes_headers_for_each_segment_even_the_last_short_one() {
    assert_eq!(ip_bytes(9_600, 960, 40), 10_000);
    assert_eq!(ip_bytes(9_601, 960, 40), 10_041);
    assert_eq!(ip_bytes(1, 960, 40), 41);
}

/// 8 Mbit/s is one byte per microsecond. The base RTT is 80 ms, and the transfer has a megabyte of IP bytes in packets of 1000 bytes.
fn scenario(more: &[(&str, &str)]) -> Scenario {
    let path =
        [("rate", "8mbit"), ("rtt", "80ms"), ("size", "960kB"), ("packet", "1000B"), ("cross", "none")];
    let mut options = Options::default();
    for (key, text) in path.iter().chain(more) {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).expect("a scenario")
}

/// Returns the ideal completion time if the propagation delay after the only hop is `delay` ms.
fn fct_after(scenario: &Scenario, delay: u64, hop: Hop) -> Option<u64> {
    let hop = Hop { delay: Span::from_millis(delay), ..hop };
    let stream = scenario.ideal_sender().stream(&[hop], 5_000);
    let Goal::Size(size) = scenario.goal else { return None };
    ideal_fct(&stream, 5_000, ip_bytes(size.get(), 960, 40))
}

fn fct(more: &[(&str, &str)]) -> Option<u64> {
    fct_after(&scenario(more), 40, Hop::default())
}

const MS: u64 = 1_000_000;

#[test]
fn ideal_time_is_a_round_trip_plus_transmission_and_one_way_delay() {
    assert_eq!(fct(&[]), Some(120 * MS + 1_000 * MS));
    // All of the propagation delay is on the return path, or on the forward path.
    assert_eq!(fct_after(&scenario(&[]), 0, Hop::default()), Some(80 * MS + 1_000 * MS));
    assert_eq!(fct_after(&scenario(&[]), 80, Hop::default()), Some(160 * MS + 1_000 * MS));
    // The access link is slower than the bottleneck.
    assert_eq!(fct(&[("access-rate", "4mbit")]), Some(120 * MS + 2_000 * MS));
    // The receiver's link, which is the last, is slower than the bottleneck.
    let slow = [("receiver-access-rate", "4mbit")];
    assert_eq!(fct(&slow), Some(120 * MS + 2_000 * MS));
    assert_eq!(fct(&[slow[0], ("access-rate", "2mbit")]), Some(120 * MS + 4_000 * MS));
    assert_eq!(fct(&[("receiver-access-rate", "8mbit")]), fct(&[]));
    // The receiver's link sends its own queue while the bottleneck sends nothing.
    let outage = ("rate-trace", "0s=8mbit,580005us=0,1080005us=8mbit");
    assert_eq!(fct(&[slow[0], outage]), Some(120 * MS + 2_000 * MS));
    // Losses on the reverse path cost an ideal sender nothing.
    assert_eq!(fct(&[("ack-loss", "20%")]), fct(&[]));
    // Traffic with a constant rate takes half of the link's rate, then all of it.
    let beside = |constant| fct_after(&scenario(&[]), 40, Hop { constant, ..Hop::default() });
    assert_eq!(beside(4_000_000), Some(120 * MS + 2_000 * MS));
    assert_eq!(beside(8_000_000), None);
}

#[test]
fn the_rate_that_counts_is_that_at_the_bottleneck() {
    // The rate halves half a second after the earliest arrival of the first byte.
    let trace = [("rate-trace", "0s=8mbit,580005us=4mbit")];
    assert_eq!(fct(&trace), Some(120 * MS + 500 * MS + 1_000 * MS));
    // An outage that begins when the last byte has passed the bottleneck does not delay it.
    assert_eq!(fct(&[("rate-trace", "0s=8mbit,1080005us=0,9s=8mbit")]), fct(&[]));
    // The access link delivers bytes during an outage of the bottleneck. After the outage these bytes are sent at the bottleneck's rate,
    // however slow the access link is.
    let trace = [("rate-trace", "0s=0,2080005us=80mbit"), ("access-rate", "4mbit")];
    assert_eq!(fct(&trace), Some(120 * MS + 2_000 * MS + 100 * MS));
}

#[test]
fn a_policers_bucket_comes_at_the_rate_of_the_link() {
    // 500 kB are in the bucket; while they are sent in 4/7 s, 71428 bytes more are added to it.
    let fluid = |burst: u64| (burst * 8 / 7, 1_000_000 - burst * 8 / 7);
    let (fast, slow) = fluid(500_000);
    let wanted = (fast + slow * 8) * 1_000;
    let found = fct(&[("policer", "1mbit,500kB")]).expect("an end");
    assert!(found.abs_diff(120 * MS + wanted) < 10_000, "{found} {wanted}");
    // If the bucket holds the whole transfer, the policer has no effect.
    assert_eq!(fct(&[("policer", "1mbit,1MB")]), fct(&[]));
    // Other traffic that uses the whole policer rate leaves the bucket to the flow.
    let beside = |burst| {
        let hop = Hop { constant: 1_000_000, ..Hop::default() };
        fct_after(&scenario(&[("policer", burst)]), 40, hop)
    };
    assert_eq!(beside("1mbit,999999B"), None);
    assert_eq!(beside("1mbit,1MB"), Some(120 * MS + 1_142_857_143));
}

#[test]
fn responsive_flows_share_the_bucket_too() {
    let hop = || Hop { lives: vec![(0, None)], ..Hop::default() };
    let of = |policer| fct_after(&scenario(&[("policer", policer)]), 40, hop());
    assert_eq!(of("1mbit,2MB"), Some(120 * MS + 2_000 * MS));
    assert!(of("1mbit,1MB") > of("1mbit,2MB"));
}

#[test]
fn each_hop_limits_the_ideal_when_the_stream_reaches_it() {
    // Each of two hops sends one byte per microsecond except for half a second. The outage of the second hop is over when the stream
    // arrives there.
    let outage = |from: u64| Hop {
        offered: vec![(from * MS, 8_000_000), ((from + 500) * MS, 0)],
        delay: Span::from_millis(20),
        ..Hop::default()
    };
    let scenario = scenario(&[]);
    let of = |hops: &[Hop]| ideal_fct(&scenario.ideal_sender().stream(hops, 0), 0, 1_000_000);
    assert_eq!(of(&[Hop { delay: Span::from_millis(20), ..Hop::default() }, outage(0)]), Some(1_520 * MS));
    assert_eq!(of(&[outage(180), outage(200)]), Some(120 * MS + 1_500 * MS));
    assert_eq!(of(&[outage(180), outage(700)]), Some(120 * MS + 2_000 * MS));
}

#[test]
fn ideal_time_includes_waiting_for_late_application_writes() {
    // The path is the limit: half of the data, written at 300 ms, is in time.
    assert_eq!(fct(&[("app", "480kB,300ms")]), Some(1_120 * MS));
    // The application is the limit: the second half is written at two seconds and arrives half an RTT plus its transmission time later.
    assert_eq!(fct(&[("app", "480kB,2s")]), Some(2_540 * MS));
    // Data written before the handshake is complete counts as written at once.
    assert_eq!(fct(&[("app", "480kB,80ms")]), Some(1_120 * MS));
}

#[test]
fn the_ideal_line_turns_where_the_rate_does() {
    let hop = Hop { delay: Span::from_millis(40), ..Hop::default() };
    let scenario = scenario(&[("rate-trace", "0s=8mbit,580ms=4mbit")]);
    let line = ideal_line(&scenario.ideal_sender().stream(&[hop], 0), 820 * MS, (24, 25));
    assert_eq!(line, [(120 * MS, 0), (620 * MS, 480_000), (820 * MS, 576_000)]);
    assert_eq!(ideal_line(&[], 820 * MS, (24, 25)), []);
}

fn of(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in [("rate", "10mbit")].iter().chain(options) {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

#[test]
fn deployment_needs_combine_scheme_law_and_restart_policy() {
    let deploy = |options: &[(&str, &str)], scheme: &str| {
        of(options).deploy(&crate::parse_choices(scheme).expect("a scheme")[0])
    };
    assert_eq!(deploy(&[], "suss"), "alone");
    assert_eq!(deploy(&[], "quick-start"), "router-help");
    assert_eq!(deploy(&[], "quick-start:around=careful-resume"), "router-help+memory");
    assert_eq!(deploy(&[], "suss:restart=quick-start"), "router-help");
    assert_eq!(deploy(&[("restart", "quick-start")], "careful-resume"), "router-help+memory");
}

#[test]
fn the_seed_changes_runs_where_something_is_drawn() {
    let changes = |options: &[(&str, &str)]| of(options).seed_changes_runs();
    for fixed in [
        &[][..],
        &[("loss", "0"), ("queue", "codel:100p")],
        &[("queue", "fq-codel:100p")],
        &[("ack-loss", "0.0")],
        &[("policer", "5mbit,64kB")],
        &[("rounds", "3"), ("idle", "1s")],
        &[("app", "10p,1s")],
    ] {
        assert!(!changes(fixed), "{fixed:?}");
    }
    for drawn in [
        &[("loss", "0.1%")][..],
        &[("ack-loss", "1%")],
        &[("timer-noise", "20us")],
        &[("flow", "scheme=slow-start;scheme=bbr")],
        &[("jitter", "1ms")],
        &[("cross", "5mbit")],
        &[("cross", "tcp:1")],
        &[("queue", "red:100p")],
        &[("queue", "pie:100p")],
        &[("rounds", "3"), ("idle", "1s"), ("clients", "2")],
    ] {
        assert!(changes(drawn), "{drawn:?}");
    }
    assert!(Scenario::default().seed_changes_runs());
}

#[test]
fn slow_start_counting_bytes_has_a_schemes_own_options_and_counts_bytes() {
    let choice = crate::parse_choices("hystart++:rounds=3,iw=4p,slow-start-counts=acks,as=x")
        .expect("a scheme")
        .remove(0);
    let slow_start = choice.slow_start_counting_bytes();
    assert_eq!(slow_start.to_string(), "slow-start:iw=4p,slow-start-counts=bytes");
    let own = of(&[]).for_scheme(&slow_start);
    assert_eq!((own.iw, own.slow_start_counts), (4, Some(firstflight_tcp::SlowStartCounts::Bytes)));
}
