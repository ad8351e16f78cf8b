//! Scripted flows: instants, schemes and hosts of each flow by itself.

use firstflight_lab::{How, populations};
use firstflight_measure::{FlowRow, PopulationResult};
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
