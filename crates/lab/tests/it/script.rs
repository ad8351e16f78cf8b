//! Scripted flows: instants, schemes and hosts of each flow by itself.

use firstflight_lab::{How, flow_start, populations, race, run_without};
use firstflight_measure::{CrossTotals, FlowRow, PopulationResult};
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

/// What bulk flows deliver and lose up to ten seconds after their warm-up, with nothing measured beside them.
fn delivered(cross: &str) -> CrossTotals {
    let path = scenario(&[("cross", cross), ("duration", "10s")]);
    let end = flow_start(&path).nanos() + 10_000_000_000;
    run_without(&path, 1, &[end], &|| false).expect("a run").totals[0]
}

#[test]
fn bulk_cross_flows_take_the_scheme_and_the_law_that_are_named() {
    assert_eq!(delivered("tcp:2,slow-start"), delivered("tcp:2"));
    assert_eq!(delivered("tcp:2,reno"), delivered("tcp:2"), "slow start's own law");
    let (reno, cubic) = (delivered("tcp:2"), delivered("tcp:2,cubic"));
    assert_ne!(reno, cubic);
    assert_ne!(delivered("tcp:2,hystart"), reno);
    assert_ne!(delivered("tcp:2,hystart,cubic"), cubic);
    assert_eq!(delivered("tcp:2,slow-start,cubic"), cubic);
    // One law for all is that of bulk flows that name none.
    let forced = |cross| {
        let path = scenario(&[("cross", cross), ("duration", "10s"), ("avoidance", "cubic")]);
        run_without(&path, 1, &[flow_start(&path).nanos() + 10_000_000_000], &|| false).expect("a run").totals
    };
    assert_eq!(forced("tcp:2"), forced("tcp:2,cubic"));
    assert_ne!(forced("tcp:2"), forced("tcp:2,reno"));
}

#[test]
fn harm_is_done_to_the_scheme_that_is_named() {
    let lost = |cross| {
        let path = scenario(&[("cross", cross), ("duration", "10s")]);
        let raced =
            race(&path, &parse_choices("slow-start").expect("a scheme"), &How::default()).expect("a race");
        (raced[0].rows[0].throughput_bps, raced[0].rows[0].harm_bps)
    };
    let (beside_reno, beside_vegas) = (lost("tcp:1"), lost("tcp:1,vegas"));
    // Vegas gives way to a flow that fills the queue.
    assert!(beside_vegas.0 > beside_reno.0, "{beside_vegas:?} {beside_reno:?}");
    assert!(beside_vegas.1 > beside_reno.1, "{beside_vegas:?} {beside_reno:?}");
}
