//! Scripted flows: each flow's own instants, scheme and hosts.

use std::sync::Mutex;

use firstflight_lab::{How, PopulationFlow, flow_start, populations, race, run_without};
use firstflight_measure::{CrossTotals, FlowRow, PopulationResult, Recording};
use firstflight_scenario::{Options, Scenario, parse_choices};

/// A path on which queues hold a bandwidth-delay product.
const PATH: [(&str, &str); 3] = [("rate", "10mbit"), ("rtt", "40ms"), ("ack", "every")];

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in PATH.iter().chain(options) {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn results(scenario: &Scenario, schemes: &str) -> Vec<PopulationResult> {
    populations(scenario, &parse_choices(schemes).expect(schemes), true, &How::default())
        .expect("populations")
}

/// The flows of all results, by number.
fn flows(results: &[PopulationResult]) -> Vec<FlowRow> {
    let mut flows: Vec<FlowRow> = results.iter().flat_map(|result| result.flows.clone()).collect();
    flows.sort_by_key(|flow| flow.flow);
    flows
}

#[test]
fn listed_arrivals_come_at_their_instants_for_every_scheme_until_the_end() {
    let path = scenario(&[
        ("topology", "dumbbell:hosts=2,ways=onward"),
        ("arrivals", "at:1s,4s"),
        ("duration", "7s"),
    ]);
    for result in results(&path, "slow-start,hystart") {
        let starts: Vec<f64> = result.flows.iter().map(|flow| flow.start_s).collect();
        assert_eq!((starts, result.rows[0].flows), (vec![1.0, 4.0], 2), "{}", result.name);
        // Until 7 s, and without a size: throughput is over the 6 s and the 3 s since the SYNs.
        assert!(result.flows.iter().all(|flow| flow.fct_s.is_none() && flow.size_bytes.is_none()));
        let bytes = |flow: &FlowRow, s: f64| flow.throughput_bps.expect("a throughput") * s / 8.0;
        let all = bytes(&result.flows[0], 6.0) + bytes(&result.flows[1], 3.0);
        assert!(all < 10e6 / 8.0 * 6.0 * 1460.0 / 1500.0 && all > 0.8 * 10e6 / 8.0 * 6.0, "{all}");
    }
}

#[test]
fn listed_arrivals_in_the_warm_up_are_not_measured() {
    let path = scenario(&[
        ("topology", "dumbbell:hosts=2"),
        ("arrivals", "at:0s,1s,2s,3s"),
        ("warm-up", "1s"),
        ("size", "30kB"),
    ]);
    let flows = flows(&results(&path, "slow-start"));
    let measured: Vec<_> = flows.iter().map(|flow| flow.measured).collect();
    assert_eq!(measured, [0, 1, 1, 1]);
    let fewer = scenario(&[
        ("topology", "dumbbell:hosts=2"),
        ("arrivals", "at:0s,1s,2s,3s"),
        ("flows", "2"),
        ("size", "30kB"),
    ]);
    assert_eq!(results(&fewer, "slow-start")[0].rows[0].flows, 2);
}

/// Deliveries and losses of bulk flows up to ten seconds after their warm-up, without a measured flow.
fn delivered(cross: &str) -> CrossTotals {
    let path = scenario(&[("cross", cross), ("duration", "10s")]);
    let end = flow_start(&path).nanos() + 10_000_000_000;
    run_without(&path, 1, &[end], &|| false).expect("a run").totals[0]
}

#[test]
fn bulk_cross_flows_take_the_scheme_and_the_law_that_are_named() {
    assert_eq!(delivered("tcp:2,slow-start"), delivered("tcp:2"));
    assert_eq!(delivered("tcp:2,cubic"), delivered("tcp:2"), "the path's law");
    let (reno, cubic) = (delivered("tcp:2,reno"), delivered("tcp:2"));
    assert_ne!(reno, cubic);
    assert_ne!(delivered("tcp:2,hystart,reno"), reno);
    assert_ne!(delivered("tcp:2,hystart"), cubic);
    assert_eq!(delivered("tcp:2,slow-start,cubic"), cubic);
    // A law set for all flows applies to bulk flows that name none.
    let forced = |cross| {
        let path = scenario(&[("cross", cross), ("duration", "10s"), ("avoidance", "westwood")]);
        run_without(&path, 1, &[flow_start(&path).nanos() + 10_000_000_000], &|| false).expect("a run").totals
    };
    assert_eq!(forced("tcp:2"), forced("tcp:2,westwood"));
    assert_ne!(forced("tcp:2"), forced("tcp:2,reno"));
}

#[test]
fn harm_is_done_to_the_scheme_that_is_named() {
    let lost = |cross| {
        let path = scenario(&[("cross", cross), ("duration", "10s")]);
        let raced =
            race(&path, &parse_choices("slow-start").expect("a scheme"), &How::default()).expect("a race");
        (raced[0].rows[0].throughput_bps, raced[0].rows[0].harm_during_bps)
    };
    let (beside_reno, beside_vegas) = (lost("tcp:1"), lost("tcp:1,vegas"));
    // Vegas gives way to a flow that fills the queue.
    assert!(beside_vegas.0 > beside_reno.0, "{beside_vegas:?} {beside_reno:?}");
    assert!(beside_vegas.1 > beside_reno.1, "{beside_vegas:?} {beside_reno:?}");
}

fn throughput(flow: &FlowRow) -> f64 {
    flow.throughput_bps.expect("a throughput")
}

#[test]
fn a_flow_alone_has_the_completion_time_of_exact_arithmetic() {
    // One segment of 1500 bytes over links of 100, 10 and 100 Mbit/s, after a SYN and its answer of 52 bytes:
    // headers of 40, and options for MSS, SACK and window scale of 12.
    let path = scenario(&[("flow", "scheme=slow-start,size=1460B,start=1s")]);
    let flow = flows(&results(&path, "slow-start")).remove(0);
    let crossing = |bytes: f64| bytes * 8.0 * (1.0 / 100e6 + 1.0 / 10e6 + 1.0 / 100e6) + 0.020;
    let wanted = 2.0 * crossing(52.0) + crossing(1500.0);
    assert!((flow.fct_s.expect("an end") - wanted).abs() < 1e-9, "{:?} {wanted}", flow.fct_s);
    assert_eq!((flow.start_s, flow.size_bytes), (1.0, Some(1460)));
}

#[test]
fn a_scripted_flow_alone_matches_a_race_within_half_a_percent() {
    for scheme in ["slow-start", "hystart", "paced"] {
        let alone = scenario(&[("flow", &format!("scheme={scheme},size=300kB"))]);
        let path = scenario(&[("size", "300kB"), ("receiver-access-rate", "100mbit")]);
        let raced = race(&path, &parse_choices(scheme).expect(scheme), &How::default()).expect("a race");
        let (one, other) = (flows(&results(&alone, scheme))[0].fct_s, raced[0].rows[0].fct_s);
        let (one, other) = (one.expect("an end"), other.flatten().expect("an end"));
        assert!((one / other - 1.0).abs() < 0.005, "{scheme}: {one} {other}");
    }
}

#[test]
fn two_equal_flows_share_the_link_fairly() {
    let path = scenario(&[
        ("flow", "scheme=slow-start;scheme=slow-start"),
        ("duration", "60s"),
        ("queue", "fq-codel:1000p"),
    ]);
    let flows = flows(&results(&path, "slow-start"));
    let (one, other) = (throughput(&flows[0]), throughput(&flows[1]));
    // Jain, Chiu and Hawe's index: 1 if both have the same.
    let index = (one + other).powi(2) / (2.0 * (one * one + other * other));
    assert!(index > 0.99, "{one} {other}");
    assert!(one + other > 0.95 * 10e6 * 1460.0 / 1500.0, "{one} {other}");
}

#[test]
fn each_scripted_flow_has_its_own_scheme_hosts_and_receiver() {
    let path = scenario(&[
        (
            "flow",
            "scheme=paced,start=2s;scheme=paced:first=4,as=four,ack=delayed;from=1/2,to=0/0;\
             scheme=vegas,restart=ssr,from=0/0",
        ),
        ("topology", "dumbbell:hosts=4"),
        ("duration", "5s"),
    ]);
    let results = results(&path, "slow-start,hystart");
    let rows: Vec<_> = results
        .iter()
        .map(|one| (one.name.as_str(), one.rows[0].population.as_str(), one.rows[0].flows))
        .collect();
    let with = |row| {
        let population = if row == "slow-start" { "with slow-start" } else { "with hystart" };
        [
            ("paced", population, 1),
            ("four", population, 1),
            (row, population, 1),
            ("vegas+ssr", population, 1),
        ]
    };
    assert_eq!(rows, [with("slow-start"), with("hystart")].concat());
    let of = |name: &str| &results.iter().find(|one| one.name == name).expect(name).flows[0];
    let ends = |name: &str| (of(name).from.clone(), of(name).to.clone(), of(name).start_s);
    let host = |from: &str, to: &str, start| (from.to_owned(), to.to_owned(), start);
    assert_eq!(ends("paced"), host("0/1", "1/0", 2.0));
    assert_eq!(ends("four"), host("0/2", "1/1", 0.0));
    assert_eq!(ends("hystart"), host("1/2", "0/0", 0.0));
    assert_eq!(ends("vegas+ssr"), host("0/0", "1/3", 0.0));
    assert_eq!(results[3].rows[0].restart, "ssr");
}

#[test]
fn a_flow_with_an_end_stops_and_leaves_the_link_empty() {
    let path =
        scenario(&[("flow", "scheme=slow-start,end=3s;scheme=slow-start,as=next,start=4s,size=500kB")]);
    let flows = flows(&results(&path, "slow-start"));
    let (first, next) = (&flows[0], &flows[1]);
    let end = first.fct_s.expect("an end");
    assert!((3.0..3.2).contains(&end) && first.size_bytes.is_none(), "{end}");
    let alone = scenario(&[("flow", "scheme=slow-start,as=next,start=4s,size=500kB")]);
    let same = self::flows(&results(&alone, "slow-start"));
    assert_eq!(next.fct_s, same[0].fct_s, "the link is empty again");
}

#[test]
fn each_flow_of_a_script_is_recorded_as_its_row_counts_it() {
    let options = [
        ("rate", "5mbit"),
        ("rtt", "40ms"),
        ("queue", "10p"),
        ("runs", "2"),
        ("flow", "size=300kB;start=500ms,size=200kB;start=700ms,size=100kB,from=1/0,to=0/0"),
    ];
    let scenario = scenario(&options);
    let choices = parse_choices("slow-start,paced").expect("schemes");
    let taken = Mutex::new(Vec::new());
    let take = |of: PopulationFlow<'_>, recording: Recording| {
        assert_eq!(of.seed, scenario.seed);
        taken.lock().expect("no panic").push(((of.group, of.flow), recording));
    };
    let how = How { record_flow: Some(&take), jobs: Some(2), ..How::default() };
    let results = populations(&scenario, &choices, true, &how).expect("flows");
    let plain = populations(&scenario, &choices, true, &How::default()).expect("flows");
    assert_eq!(flows(&results), flows(&plain), "recording changes no row");
    let taken = taken.into_inner().expect("no panic");
    assert_eq!(taken.len(), 6);
    for ((group, flow), recording) in taken {
        let rows = results[group].flows.iter();
        let row = rows.clone().find(|row| row.flow == flow && row.seed == scenario.seed).expect("a row");
        let delivered = recording.delivered.last().expect("delivered").1;
        assert_eq!(Some(delivered), row.size_bytes, "{group} {flow}");
        assert_eq!(recording.sends.len() as u64, row.packets_sent, "{group} {flow}");
        assert_eq!(recording.drops.iter().filter(|drop| drop.len > 0).count() as u64, row.packets_lost);
        assert!((firstflight_measure::arithmetic::seconds(recording.syn_at) - row.start_s).abs() < 1e-9);
        assert!(!recording.states.is_empty());
        assert!(recording.queue.iter().any(|(_, packets)| *packets > 0), "{group} {flow}: a queue");
    }
}
