//! Several consecutive bottlenecks, slow return paths, and what routers and queues report.

use firstflight_lab::{How, race, run};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, SchemeChoice, parse_choices};

/// 10 Mbit/s and 60 ms, which three hops share evenly.
const PATH: [(&str, &str); 4] = [("rate", "10mbit"), ("rtt", "60ms"), ("queue", "50p"), ("size", "1MB")];

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in PATH.iter().chain(options) {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

fn choices(schemes: &str) -> Vec<SchemeChoice> {
    parse_choices(schemes).expect(schemes)
}

fn rows(schemes: &str, options: &[(&str, &str)]) -> Vec<Row> {
    let results = race(&scenario(options), &choices(schemes), &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn row(options: &[(&str, &str)]) -> Row {
    rows("slow-start", options).remove(0)
}

fn lot(hops: u32, cross: &str) -> String {
    format!("parking-lot:hops={hops},cross={cross}")
}

/// Whole nanoseconds of seconds.
#[expect(clippy::cast_possible_truncation, reason = "seconds of a short run")]
fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn fct(row: &Row) -> i64 {
    nanos(row.fct_s.flatten().expect("a transfer that ends"))
}

#[test]
fn a_hop_more_takes_one_more_transmission_and_no_more_propagation() {
    let after = |hops| fct(&row(&[("topology", &lot(hops, "each")), ("size", "1460B")]));
    let single = fct(&row(&[("size", "1460B")]));
    assert_eq!(after(1), single, "a lot of one hop is the single path");
    // A packet of 1500 bytes and a SYN at 10 Mbit/s, a SYN-ACK at 100 Mbit/s; SYNs are from 40 to 60 bytes.
    let hop = after(2) - after(1);
    assert!((1_200_000 + 35_200..=1_200_000 + 52_800).contains(&hop), "{hop}");
    // Shares of the propagation are whole nanoseconds, and all of them are the path's.
    for hops in [3, 7] {
        assert!((after(hops) - after(1) - hop * i64::from(hops - 1)).abs() <= 1, "{hops}");
    }
}

#[test]
fn available_is_the_least_over_the_hops_wherever_the_cross_traffic_is() {
    let ideal = |row: &Row| nanos(row.ideal_fct_s.flatten().expect("an ideal"));
    let crossed = |topology: &str| ideal(&row(&[("topology", topology), ("cross", "6mbit")]));
    let single = crossed("single");
    for cross in ["each", "through", "1", "2", "3"] {
        assert_eq!(crossed(&lot(3, cross)), single, "{cross}");
    }
    let empty = ideal(&row(&[("topology", &lot(3, "each"))]));
    assert!(single - empty > 1_000_000_000, "{single} {empty}");
}

#[test]
fn responsive_cross_traffic_counts_at_the_hop_that_it_crosses() {
    // One flow at each of three hops halves the available rate; three flows at one hop leave a quarter.
    let share = |topology: &str, cross: &str| {
        let options = [("topology", topology), ("cross", cross), ("size", "200kB")];
        let scenario = scenario(&options);
        let outcome = run(&scenario, &choices("slow-start")[0], 1, false, None, &|| false).expect("a run");
        let recording = outcome.evidence.recording;
        firstflight_measure::available::rate_at(&recording.available, recording.syn_at).expect("a rate")
    };
    assert_eq!(share(&lot(3, "each"), "tcp:1"), 5_000_000);
    assert_eq!(share(&lot(3, "through"), "tcp:1"), 5_000_000);
    assert_eq!(share(&lot(3, "2"), "tcp:3"), 2_500_000);
}

#[test]
fn on_off_traffic_counts_at_its_own_hop() {
    // Two sources of 6 Mbit/s, each at its own hop of 10 Mbit/s, leave 4 Mbit/s when both are on, never less.
    let options = [("topology", "parking-lot:hops=2"), ("cross", "onoff:6mbit,500ms,500ms"), ("size", "5MB")];
    let scenario = scenario(&options);
    let outcome = run(&scenario, &choices("slow-start")[0], 1, false, None, &|| false).expect("a run");
    let available = outcome.evidence.recording.available;
    assert!(available.iter().all(|(_, bps)| [4_000_000, 10_000_000].contains(bps)), "{available:?}");
    assert!(available.len() > 4, "{available:?}");
}

#[test]
fn losses_and_queues_are_those_of_every_hop() {
    let options = |cross| [("topology", lot(3, cross)), ("cross", "8mbit".to_owned())];
    for cross in ["1", "3", "each"] {
        let options = options(cross);
        let options: Vec<(&str, &str)> = options.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let row = row(&options);
        assert!(row.packets_lost > 0 && row.overshoot_lost_packets > 0, "{cross}: {row:?}");
        // The limit of 50 counts the packet in transmission.
        assert_eq!(row.queue_peak_packets, 49, "{cross}");
        assert!(row.queue_mean_packets > 1.0 && row.harm_during_lost_packets > 0, "{cross}: {row:?}");
    }
}

#[test]
fn all_routers_of_the_way_count_what_they_did() {
    let counts = |schemes: &str, options: &[(&str, &str)]| {
        let more = [("iw", "3p"), ("topology", "parking-lot:hops=3")];
        let row = rows(schemes, &[&more[..], options].concat()).remove(0);
        (row.qs_asked, row.qs_granted, row.qs_reduced, row.qs_refused, row.granted_rate_bps)
    };
    let asking = "quick-start:request=5.12mbit";
    // The sender's own router, of a link ten times as fast, and three.
    assert_eq!(counts(asking, &[]), (Some(4), Some(4), Some(0), Some(0), Some(5.12e6)));
    // The first of the three lowers it below a tenth of 10 Mbit/s, and the next two have nothing to lower.
    let tenth = [("qs-router", "threshold=10%")];
    assert_eq!(counts(asking, &tenth), (Some(4), Some(3), Some(1), Some(0), Some(0.64e6)));
    // Without reduction the router refuses, and a refused request is no longer a request.
    let all_or_nothing = [("qs-router", "threshold=10%,reduction=no")];
    assert_eq!(counts(asking, &all_or_nothing), (Some(2), Some(1), Some(0), Some(1), None));
    assert_eq!(counts("slow-start", &[]), (None, None, None, None, None));
}

#[test]
fn a_peak_remembers_a_burst_that_the_newest_interval_does_not_hold() {
    // On for 200 ms in the mean, off for 800 ms: the newest of 50 ms is often idle, the peak of two seconds is not. The
    // mean load, 1.8 Mbit/s, leaves room for the request at all times.
    let granted = |estimator: &str| {
        let router = format!("interval=50ms,rtt-max=100ms,{estimator}");
        let options = [
            ("iw", "3p"),
            ("cross", "onoff:9mbit,200ms,800ms"),
            ("size", "20kB"),
            ("runs", "40"),
            ("qs-router", &router),
        ];
        let rows = rows("quick-start:request=5.12mbit", &options);
        rows.iter().filter_map(|row| row.granted_rate_bps).sum::<f64>() / 40.0
    };
    let (interval, peak) = (granted("estimator=interval"), granted("estimator=peak,intervals=40"));
    let ewma = granted("estimator=ewma,weight=10%");
    assert!(interval > 2.0 * peak, "{interval} {peak}");
    assert!(ewma > interval, "{interval} {ewma} {peak}");
}

#[test]
fn packets_that_queues_mark_are_counted_once_each() {
    let queue = ("queue", "red:50p,min=2p,max=40p,p=0.5,ecn");
    let marked = |options: &[(&str, &str)]| row(options);
    let single = marked(&[queue, ("ecn", "true")]);
    assert!(single.packets_marked > 0 && single.packets_marked <= single.packets_sent, "{single:?}");
    assert_eq!(marked(&[queue]).packets_marked, 0, "without ECN nobody is marked");
    let lot = marked(&[queue, ("ecn", "true"), ("topology", "parking-lot:hops=3"), ("cross", "7mbit")]);
    assert!(lot.packets_marked > 0 && lot.packets_marked <= lot.packets_sent, "{lot:?}");
}

#[test]
fn a_short_queue_on_a_slow_way_back_drops_acks() {
    let dropped = |queue: &str| {
        let options = [("reverse-rate", "100kbit"), ("reverse-queue", queue), ("ack", "every")];
        let scenario = scenario(&options);
        let outcome = run(&scenario, &choices("slow-start")[0], 1, true, None, &|| false).expect("a run");
        outcome.evidence.recording.drops.iter().filter(|drop| drop.len == 0).count()
    };
    assert_eq!(dropped("none"), 0);
    assert!(dropped("5p") > 10);
}

#[test]
fn default_topology_and_router_options_leave_the_scenario_hash_unchanged() {
    let hash = |options: &[(&str, &str)]| scenario(options).hash();
    assert_eq!(hash(&[("topology", "single"), ("reverse-queue", "none")]), hash(&[]));
    assert_eq!(hash(&[("qs-router", "threshold=95%")]), hash(&[]));
    let hashes = [
        hash(&[]),
        hash(&[("topology", "parking-lot:hops=2")]),
        hash(&[("topology", "parking-lot:hops=2,cross=1")]),
        hash(&[("qs-router", "reduction=no")]),
        hash(&[("reverse-queue", "10p")]),
    ];
    for (index, one) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(one), "{index}");
    }
}
