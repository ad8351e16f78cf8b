//! Measuring windows: the fields of rows for parts of a run.

use firstflight_lab::{How, populations, race};
use firstflight_measure::{LinkFields, PopulationRow, Row, WindowFields, Windows};
use firstflight_scenario::{Options, Scenario, parse_choices};

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

fn row(options: &[(&str, &str)]) -> Row {
    let choices = parse_choices("slow-start").expect("a scheme");
    race(&scenario(options), &choices, &How::default()).expect("a race")[0].rows[0].clone()
}

fn population_rows(options: &[(&str, &str)]) -> Vec<PopulationRow> {
    let base = [
        ("rate", "5mbit"),
        ("rtt", "40ms"),
        ("queue", "20p"),
        ("topology", "dumbbell:hosts=6"),
        ("flows", "60"),
    ];
    let rest = [("size", "40p"), ("sizes", "exponential"), ("arrivals", "poisson:20"), ("warm-up", "1s")];
    let scenario = scenario(&[&base[..], &rest, options].concat());
    let choices = parse_choices("slow-start,hystart").expect("schemes");
    let results = populations(&scenario, &choices, false, &How::default()).expect("populations");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn window<'a>(windows: &'a Windows, suffix: &str) -> &'a WindowFields {
    windows.0.iter().find(|window| window.suffix == suffix).expect(suffix)
}

#[test]
fn windows_change_no_other_number_and_no_hash() {
    for cross in ["none", "4mbit", "tcp:1", "onoff:3mbit,500ms,500ms", "web:20%"] {
        let path = [("rate", "10mbit"), ("rtt", "40ms"), ("size", "1MB"), ("cross", cross)];
        let with = row(&[&path[..], &[("windows", "123ms..457ms,0s..1s")]].concat());
        assert_eq!(Row { windows: Windows::default(), ..with }, row(&path), "{cross}");
    }
    let with = population_rows(&[("windows", "1234ms..2001ms"), ("mixed", "true")]);
    let without = population_rows(&[("mixed", "true")]);
    assert_eq!(with.len(), 4);
    for (with, without) in with.into_iter().zip(without) {
        assert_eq!(PopulationRow { windows: Windows::default(), ..with }, without);
    }
}

#[test]
fn a_window_over_the_whole_run_equals_row_throughput_and_losses() {
    let row = row(&[("rate", "10mbit"), ("rtt", "40ms"), ("duration", "5s"), ("windows", "0s..5s")]);
    let whole = window(&row.windows, "0s_5s");
    assert_eq!(whole.goodput_bps, Some(row.throughput_bps));
    assert_eq!(whole.dropped_packets, Some(row.packets_lost));
    assert!(row.packets_lost > 0);
    // Beyond the goodput, the link sent headers, the handshake, retransmissions, and packets still under way.
    let (used, payload) = (whole.utilisation.expect("a rate") * 10e6, row.throughput_bps);
    assert!(used >= payload * 1500.0 / 1460.0 && used < payload * 1500.0 / 1460.0 * 1.05, "{used} {payload}");
}

#[test]
fn a_bottleneck_that_is_never_empty_is_used_wholly() {
    let row = row(&[
        ("rate", "10mbit"),
        ("rtt", "40ms"),
        ("duration", "6s"),
        ("cross", "9mbit"),
        ("windows", "1s..6s"),
    ]);
    let used = window(&row.windows, "1s_6s").utilisation.expect("a rate");
    assert!((used - 1.0).abs() < 1e-6, "{used}");
}

#[test]
fn a_window_that_the_run_did_not_reach_is_undefined() {
    let row =
        row(&[("rate", "10mbit"), ("rtt", "40ms"), ("size", "100kB"), ("windows", "0s..100ms,100ms..60s")]);
    assert!(window(&row.windows, "0s_100ms").utilisation.is_some());
    let late = WindowFields { suffix: "100ms_60s".to_owned(), ..WindowFields::default() };
    assert_eq!(window(&row.windows, "100ms_60s"), &late);
}

#[test]
fn summed_goodput_of_mixed_schemes_is_near_that_of_one_scheme() {
    let rows = population_rows(&[("mixed", "true"), ("windows", "1s..3s")]);
    let of = |population: &str| -> Vec<f64> {
        let rows = rows.iter().filter(|row| row.population == population);
        rows.map(|row| window(&row.windows, "1s_3s").goodput_bps.expect("reached")).collect()
    };
    let (only, mixed) = (of("only"), of("mixed"));
    let sum: f64 = mixed.iter().sum();
    assert!(only.iter().all(|goodput| (goodput / sum - 1.0).abs() < 0.1), "{only:?} {mixed:?}");
    let used: Vec<_> =
        rows.iter().map(|row| window(&row.windows, "1s_3s").utilisation.expect("a rate")).collect();
    assert!(used.iter().all(|used| *used > 0.4 && *used < 1.0), "{used:?}");
}

/// The fields of a link in a window.
fn link<'a>(windows: &'a Windows, of: &str, name: &str) -> &'a LinkFields {
    window(windows, of).links.iter().find(|link| link.suffix == name).expect(name)
}

#[test]
fn named_links_have_fields_of_their_own_in_a_race() {
    let path = [("rate", "10mbit"), ("rtt", "40ms"), ("duration", "5s"), ("access-rate", "20mbit")];
    let more = [
        ("reverse-rate", "1mbit"),
        ("receiver-access-rate", "16mbit"),
        ("windows", "0s..5s"),
        ("links", "forward:1,reverse:1,from:0/0,to:1/0"),
    ];
    let row = row(&[&path[..], &more].concat());
    let whole = window(&row.windows, "0s_5s");
    let of = |name: &str| link(&row.windows, "0s_5s", name);
    let bottleneck = of("forward_1");
    assert_eq!(
        (bottleneck.utilisation, bottleneck.goodput_bps, bottleneck.dropped_packets),
        (whole.utilisation, whole.goodput_bps, whole.dropped_packets)
    );
    assert!(bottleneck.dropped_packets > Some(0));
    let used = |name: &str| of(name).utilisation.expect("a rate");
    // The sender's link also carries the packets that the bottleneck drops, at twice the rate; the receiver's link carries those that it
    // forwards.
    let dropped = u32::try_from(bottleneck.dropped_packets.expect("a count")).expect("few");
    let (sent, dropped) = (used("forward_1") * 10e6, f64::from(dropped));
    let offered = sent + dropped * 1500.0 * 8.0 / 5.0;
    assert!((used("from_0_0") * 20e6 / offered - 1.0).abs() < 0.01, "{} {offered}", used("from_0_0") * 20e6);
    assert!((used("to_1_0") * 16e6 / sent - 1.0).abs() < 0.01, "{} {sent}", used("to_1_0") * 16e6);
    // ACKs of 40 bytes at most one a packet of 1500.
    let acks = used("reverse_1") * 1e6;
    assert!(acks > sent * 40.0 / 3000.0 * 0.9 && acks < sent * 52.0 / 1500.0 * 1.05, "{acks} {sent}");
    assert_eq!(of("reverse_1").goodput_bps, Some(0.0), "it carries no data");
}

#[test]
fn a_named_link_counts_the_goodput_of_all_flows_across_it() {
    let flows = "start=0s,from=0/0,to=1/0;start=0s,from=1/1,to=0/1;start=0s,size=1p,from=0/1,to=1/1";
    let scenario = scenario(&[
        ("rate", "10mbit"),
        ("rtt", "40ms"),
        ("queue", "50p"),
        ("topology", "dumbbell:hosts=2"),
        ("duration", "4s"),
        ("flow", flows),
        ("windows", "0s..4s"),
        ("links", "forward:1,reverse:1,from:1/1,to:0/1,from:0/1"),
    ]);
    let choices = parse_choices("slow-start").expect("a scheme");
    let results = populations(&scenario, &choices, true, &How::default()).expect("flows");
    let rows = &results[0].flows;
    let goodput = |flow: usize| window(&rows[flow].windows, "0s_4s").goodput_bps.expect("reached");
    let row = &results[0].rows[0];
    let of = |name: &str| link(&row.windows, "0s_4s", name).goodput_bps.expect("reached");
    assert!(goodput(0) > 1e6 && goodput(1) > 1e6, "{} {}", goodput(0), goodput(1));
    assert!((of("forward_1") - goodput(0) - goodput(2)).abs() < 1.0);
    for name in ["reverse_1", "from_1_1", "to_0_1"] {
        assert!((of(name) - goodput(1)).abs() < 1.0, "{name}");
    }
    assert!((of("from_0_1") - goodput(2)).abs() < 1.0);
}
