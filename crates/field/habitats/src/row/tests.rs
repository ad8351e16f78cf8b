use super::*;

use crate::habitat::HABITATS;

/// Returns a row of an environment with these runs: completion time, drops, estimated rate.
fn row(habitat: usize, runs: &[(f64, u64, Option<f64>)]) -> Row {
    let mut row = Row {
        scheme: "paced".to_owned(),
        choice: "paced".to_owned(),
        avoidance: "reno",
        habitat: HABITATS[habitat],
        congestion_control: (habitat == 4).then_some("reno"),
        runs: 0,
        finished: 0,
        repeated: 0,
        void: 0,
        exit_cause: None,
        summaries: Vec::new(),
        differences: Vec::new(),
        finishes_unlike: false,
        by_chance: Vec::new(),
    };
    let runs: Vec<Figures> = runs
        .iter()
        .map(|(fct, lost, rate)| Figures {
            fct_s: Some(*fct),
            packets_lost: *lost,
            exit_rate_bps: *rate,
            exit_cause: Some(if *lost > 0 { "loss" } else { "dispersion" }.to_owned()),
            exit_window_packets: Some(60.0),
            ..Figures::default()
        })
        .collect();
    row.take_runs(&runs);
    row
}

fn pair(simulated: (f64, u64, Option<f64>), live: &[(f64, u64, Option<f64>)]) -> [Row; 2] {
    let simulator = row(0, &[simulated]);
    let mut live = row(1, live);
    live.compare_with(&simulator);
    [simulator, live]
}

#[test]
fn a_value_of_several_runs_is_the_median_with_minimum_and_maximum() {
    let three = row(1, &[(1.2, 0, None), (1.0, 7, None), (1.9, 3, None)]);
    let Summary { median, min, max } = three.summary("fct_s").expect("a time");
    assert_eq!((median, min, max), (1.2, 1.0, 1.9));
    assert_eq!(
        row(1, &[(1.0, 2, None), (2.0, 5, None)]).summary("packets_lost").map(|lost| lost.median),
        Some(3.5)
    );
    assert_eq!(three.exit_cause.as_deref(), Some("mixed"));
    assert_eq!(three.summary("exit_rate_bps"), None, "no run found a rate");
    assert_eq!((row(1, &[]).exit_cause, row(1, &[]).runs), (None, 0));
}

#[test]
fn a_difference_is_from_the_simulators_number() {
    let [simulator, live] = pair((1.0, 60, Some(17.5e6)), &[(1.1, 57, Some(19.6e6))]);
    assert_eq!(simulator.difference("fct_s"), None);
    assert!((live.difference("fct_s").expect("one") - 0.1).abs() < 1e-12);
    assert!((live.share("fct_s").expect("one") - 0.1).abs() < 1e-12);
    assert_eq!(live.difference("packets_lost"), Some(-3.0));
    let [_, live] = pair((1.0, 0, None), &[(1.1, 4, None)]);
    assert_eq!((live.difference("packets_lost"), live.share("packets_lost")), (Some(4.0), None));
}

#[test]
fn a_transfer_that_finishes_in_one_of_two_habitats_is_told() {
    let runs = |times: &[Option<f64>]| -> Vec<Figures> {
        times.iter().map(|fct| Figures { fct_s: *fct, ..Figures::default() }).collect()
    };
    let of = |simulated: &[Option<f64>], live: &[Option<f64>]| {
        let (mut simulator, mut own) = (row(0, &[]), row(1, &[]));
        simulator.take_runs(&runs(simulated));
        own.take_runs(&runs(live));
        own.compare_with(&simulator);
        (own.finished, own.finishes_unlike)
    };
    assert_eq!(of(&[Some(1.0)], &[None, None]), (0, true));
    assert_eq!(of(&[None], &[Some(1.0), None]), (1, true));
    assert_eq!(of(&[Some(1.0)], &[Some(1.0), None]), (1, false));
    assert_eq!(of(&[None], &[None]), (0, false));
    assert_eq!(of(&[Some(1.0)], &[]), (0, false), "void runs tell nothing");
}

#[test]
fn kernel_bytes_in_flight_are_not_compared_with_a_window() {
    let simulator = row(2, &[(1.0, 0, None)]);
    let mut kernel = row(4, &[(1.0, 0, None)]);
    kernel.compare_with(&simulator);
    assert!(kernel.summary("exit_window_packets").is_some());
    assert_eq!(kernel.difference("exit_window_packets"), None);
    assert_eq!(kernel.difference("packets_lost"), Some(0.0));
}

#[test]
fn the_largest_difference_is_measured_by_what_each_number_may_differ() {
    let of = |simulated, live| {
        let rows = pair(simulated, &[live]);
        largest(&rows).map(|most| (most.metric, most.excess > 1.0))
    };
    assert_eq!(of((1.0, 0, None), (1.04, 1, None)), Some(("fct_s", false)));
    assert_eq!(of((1.0, 0, None), (1.06, 1, None)), Some(("fct_s", true)));
    assert_eq!(of((1.0, 0, None), (1.0, 3, None)), Some(("packets_lost", false)));
    assert_eq!(of((1.0, 0, None), (1.0, 4, None)), Some(("packets_lost", true)));
    // 5 % of 200 packets are more than 3 packets.
    assert_eq!(of((1.0, 200, None), (1.0, 209, None)), Some(("packets_lost", false)));
    assert_eq!(of((1.0, 0, Some(20e6)), (1.0, 0, Some(17.9e6))), Some(("exit_rate_bps", true)));
    assert_eq!(of((1.0, 0, Some(20e6)), (1.0, 0, Some(18.1e6))), Some(("exit_rate_bps", false)));
    assert!(largest(&[row(0, &[(1.0, 0, None)])]).is_none());
}

#[test]
fn where_the_simulators_runs_differ_too_overlapping_ranges_are_left_to_chance() {
    let runs = |by: f64| [(1.0 + by, 1, None), (2.0 + by, 9, None), (3.0 + by, 5, None)];
    let simulator = row(0, &runs(0.0));
    let of = |by| {
        let mut live = row(1, &runs(by));
        live.compare_with(&simulator);
        largest(std::slice::from_ref(&live)).map(|most| most.metric)
    };
    assert_eq!((of(1.9), of(2.1)), (None, Some("fct_s")));
}
